"""The stages: what they tune, how they step, and that a kill changes nothing."""

import numpy as np
import pytest
import torch

from xlrepro.nn.bert import BertSizes, MaskedLanguageModel
from xlrepro.papers.ramen.encoders.pieces import Special
from xlrepro.papers.ramen.experiments import evaluation_settings
from xlrepro.papers.ramen.model import BilingualModel
from xlrepro.papers.ramen.recipes import adaptation_of
from xlrepro.papers.ramen.rows import MONO
from xlrepro.papers.ramen.settings import StageSettings
from xlrepro.papers.ramen.stages import adaptation, tuning
from xlrepro.papers.ramen.stages.lookahead import Lookahead
from xlrepro.papers.ramen.stages.masking import hidden_pieces
from xlrepro.papers.ramen.stages.tuning import Text, batch_of, rate, tune
from xlrepro.training.steps import Progress

SPECIAL = Special(2, 3, 0, 1, 4, 5)
STAGE = StageSettings(
    updates=8, sequences=4, length=9, learning_rate=0.01, warmup_steps=3, checkpoint_every=3,
    lookahead_k=2,
)  # fmt: skip


def text(pieces, seed=0):
    body = np.random.default_rng(seed).integers(5, pieces, (22, 9))
    body[:, 0] = SPECIAL.begin
    return Text(body, SPECIAL, pieces)


TEXTS = {"en": text(20), "fr": text(15, 1)}


def model():
    torch.manual_seed(0)
    english = MaskedLanguageModel(BertSizes(20, 8, 2, 2, 16, 9, dropout=0.1))
    made = BilingualModel(english)
    made.add("fr", torch.randn(15, 8) / 4, torch.zeros(15))
    return made


def texts_of(what):
    languages = {"head": ["en"], "embeddings": ["fr"], "all": ["en", "fr"]}[what]
    return {language: TEXTS[language] for language in languages}


def changed(before, after):
    return {n for n, p in after.items() if not torch.equal(p, before[n])}


@pytest.mark.parametrize(
    ("what", "prefixes"),
    [
        ("head", ("transform.", "norm.", "sides.en.bias")),
        ("embeddings", ("sides.fr.",)),
        ("all", ("",)),
    ],
)
def test_a_stage_tunes_its_parameters_and_no_other(what, prefixes):
    ours = model()
    before = {n: p.clone() for n, p in ours.state_dict().items()}
    tune(ours, texts_of(what), what, "fr", STAGE, [1])
    expected = {n for n in before if n.startswith(prefixes)}
    assert changed(before, ours.state_dict()) == expected


@pytest.mark.parametrize("killed_after", [1, 3, 5, 6])
@pytest.mark.parametrize("what", ["embeddings", "all"])
def test_a_killed_run_ends_with_the_bits_of_an_unbroken_one(tmp_path, what, killed_after):
    unbroken, broken, resumed = model(), model(), model()
    tune(unbroken, texts_of(what), what, "fr", STAGE, [1], tmp_path / "a.pt")
    tune(broken, texts_of(what), what, "fr", STAGE, [1], tmp_path / "b.pt", stop_after=killed_after)
    torch.manual_seed(99)  # another process has another random state
    progress = tune(resumed, texts_of(what), what, "fr", STAGE, [1], tmp_path / "b.pt")
    assert changed(unbroken.state_dict(), resumed.state_dict()) == set()
    assert progress.step == STAGE.updates


def test_parts_of_a_batch_add_up_to_its_gradients():
    whole, parts = model(), model()
    no_dropout = STAGE.model_copy(update={"updates": 1, "lookahead_k": 0})
    for each in (whole, parts):
        for module in each.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        each.double()
    tune(whole, TEXTS, "all", "fr", no_dropout, [1])
    tune(parts, TEXTS, "all", "fr", no_dropout.model_copy(update={"accumulation": 3}), [1])
    for one, other in zip(whole.parameters(), parts.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-9, rtol=1e-6)


def test_slow_weights_go_half_of_the_way_every_k_steps():
    # Alg. 1 written out for k = 3, alpha = 0.25 with plain SGD on a quadratic
    theta = torch.nn.Parameter(torch.tensor([4.0]))
    sgd, slow = torch.optim.SGD([theta], lr=0.1), Lookahead([theta], k=3, alpha=0.25)
    fast = phi = 4.0
    for step in range(1, 8):
        sgd.zero_grad()
        (theta**2).sum().backward()
        sgd.step()
        slow.step()
        fast -= 0.1 * 2 * fast
        if step % 3 == 0:
            phi += 0.25 * (fast - phi)
            fast = phi
        assert theta.item() == pytest.approx(fast, rel=1e-6)


def test_the_rate_climbs_to_its_peak_and_falls_with_the_root():
    stage = StageSettings(updates=1, sequences=1, length=9)
    rates = [rate(step, stage) for step in (0, 2000, 4000, 8000, 36000)]
    expected = [1e-7, 5.005e-5, 1e-4, 1e-4 / 2**0.5, 1e-4 / 3]
    np.testing.assert_allclose(rates, expected)


def test_the_code_masks_multiples_of_eight_and_never_a_first_piece():
    ids = np.random.default_rng(0).integers(5, 90, (16, 40))
    masked = hidden_pieces(ids, SPECIAL, 90, "code", np.random.default_rng(1))
    assert masked.hidden.sum() % 8 == 0
    assert not masked.hidden[:, 0].any()
    assert set(masked.ids[masked.hidden & (masked.ids != ids)]) == {SPECIAL.mask}
    kept = (masked.ids == ids)[masked.hidden].mean()
    assert 0 < kept < 0.25


def test_an_epoch_has_every_sequence_once_in_the_language_of_the_batch():
    stage = STAGE.model_copy(update={"sequences": 11})
    batches = [batch_of(TEXTS["fr"], "fr", stage, [3], step) for step in (0, 1)]
    restored = []
    for masked in batches:
        ids = masked.ids.copy()
        ids[masked.hidden] = masked.gold
        restored += ids.tolist()
    assert sorted(restored) == sorted(TEXTS["fr"].sequences.tolist())


def test_no_stage_has_the_batches_and_masks_of_another(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))  # models are made, not found
    drawn = []

    def tuned(model, texts, what, target, settings, key, *rest):
        drawn.extend(
            (what, batch_of(text, language, STAGE, key, 0)) for language, text in TEXTS.items()
        )
        return Progress([dict.fromkeys(texts, 0.0)])

    monkeypatch.setattr(adaptation, "tune", tuned)
    monkeypatch.setattr(adaptation, "_held_out", lambda *given: [0, 0])
    settings = evaluation_settings("smoke", "XNLI", MONO, ["fr"], {})
    adaptation.folder(adaptation_of(settings, "fr"))
    assert [what for what, _ in drawn[::2]] == ["head", "all", "embeddings", "all"]
    for of_language in (drawn[::2], drawn[1::2]):
        for what in ("ids", "hidden"):
            assert len({getattr(masked, what).tobytes() for _, masked in of_language}) == 4


def test_a_side_shares_the_encoder_and_nothing_else():
    ours = model()
    view = ours.in_language("fr")
    assert view.layers is ours.encoder.layers
    assert view.pieces is ours.side("fr").pieces
    assert ours.in_language("en").pieces is ours.side("en").pieces
    assert not any(name.startswith("encoder.pieces") for name in ours.state_dict())


def test_the_english_side_alone_gives_the_scores_of_the_model_it_began_as():
    torch.manual_seed(0)
    english = MaskedLanguageModel(BertSizes(20, 8, 2, 2, 16, 9)).eval()
    ids = torch.randint(5, 20, (3, 9))
    with torch.inference_mode():
        before = english(ids, ids > 9)
        after = BilingualModel(english).eval()("en", ids, ids > 9)
    assert torch.equal(before, after)


def test_tuning_learns_to_name_pieces():
    ours, learnable = model(), np.tile(np.arange(5, 13), (22, 1))
    learnable = np.concatenate([np.full((22, 1), 2), learnable], axis=1)
    easy = Text(learnable, SPECIAL, 15)
    before = tuning.accuracy(ours, "fr", easy)
    stage = STAGE.model_copy(update={"updates": 120, "learning_rate": 0.02, "warmup_steps": 60})
    tune(ours, {"fr": easy}, "all", "fr", stage, [0])
    after = tuning.accuracy(ours, "fr", easy)
    assert before[1] == after[1]
    assert after[0] > 0.8 * after[1] > before[0]
