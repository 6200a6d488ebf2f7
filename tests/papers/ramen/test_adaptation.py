"""The stages: what they tune, how they step, and that a kill changes nothing."""

import itertools
from multiprocessing import get_context

import numpy as np
import pytest
import torch
from torch import distributed, nn

from tests.papers.ramen.small import TINY, bilingual, masked_lm
from xlrepro.encoders.subwords import Special
from xlrepro.errors import DataError
from xlrepro.experiments import experiment
from xlrepro.papers.ramen import adaptation
from xlrepro.papers.ramen.adaptation import Lookahead, Stage, Text, accuracy, batch_of, rate
from xlrepro.papers.ramen.settings import EvaluationSettings, StageSettings
from xlrepro.training.loop import Fit

SPECIAL = Special(2, 3, 0, 1, 4, 5)
STAGE = StageSettings(updates=25, sequences=4, length=9, learning_rate=0.01, warmup_steps=3)


def text(subwords, seed=0):
    body = np.random.default_rng(seed).integers(5, subwords, (22, 9))
    body[:, 0] = SPECIAL.begin
    return Text(body, SPECIAL, subwords)


TEXTS = {"en": text(20), "fr": text(15, 1)}


def model(dropout=0.1):
    whole = masked_lm(20, 8, 9, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    table = whole.bert.embeddings.word_embeddings.weight.detach()
    made = bilingual(whole, table, whole.cls.predictions.bias.detach())
    made.add("fr", torch.randn(15, 8) / 4, torch.zeros(15))
    return made


def stage(ours, what, settings=STAGE, target="fr", texts=None):
    languages = {"head": ["en"], "embeddings": ["fr"], "all": ["en", "fr"]}[what]
    texts = texts or {language: TEXTS[language] for language in languages}
    return Stage(ours, texts, what, target, settings, [1])


def changed(before, after):
    return {n for n, p in after.items() if not torch.equal(p, before[n])}


def one_of(rank, ranks, folder, initial):
    ours = model(dropout=0.0).double()
    ours.load_state_dict(initial)
    store = distributed.FileStore(str(folder / "store"), ranks)
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=ranks)
    fitted = stage(ours, "all").run(folder / "checkpoint.pt")
    torch.save((ours.state_dict(), fitted.step_losses), folder / f"{rank}.pt")
    distributed.destroy_process_group()


def test_processes_that_train_together_take_the_steps_of_one(tmp_path):
    """Three processes for four sequences: their parts are not alike."""
    alone = model(dropout=0.0).double()
    initial = {n: p.clone() for n, p in alone.state_dict().items()}
    fitted = stage(alone, "all").run(tmp_path / "alone.pt")
    context = get_context("fork")
    given = [(rank, 3, tmp_path, initial) for rank in range(3)]
    started = [context.Process(target=one_of, args=each, daemon=True) for each in given]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
        assert process.exitcode == 0
    for rank in range(3):
        weights, losses = torch.load(tmp_path / f"{rank}.pt")
        for name, value in alone.state_dict().items():
            torch.testing.assert_close(weights[name], value, rtol=0, atol=1e-10)
        assert losses == fitted.step_losses


@pytest.mark.parametrize(
    ("what", "prefixes"),
    [
        ("head", ("transform.", "norm.", "sides.en.bias")),
        ("embeddings", ("sides.fr.",)),
        ("all", ("",)),
    ],
)
def test_a_stage_tunes_its_parameters_and_no_other(tmp_path, what, prefixes):
    ours = model()
    before = {n: p.clone() for n, p in ours.state_dict().items()}
    stage(ours, what).run(tmp_path / "a.pt")
    expected = {n for n in before if n.startswith(prefixes) and "token_type" not in n}
    assert changed(before, ours.state_dict()) == expected


def test_a_stage_that_is_cut_off_goes_on_to_the_last_bit(tmp_path, monkeypatch):
    def tuned(name):
        ours = model()
        return stage(ours, "all").run(tmp_path / name).step_losses, ours.state_dict()

    wanted, unbroken = tuned("unbroken.pt")
    step = Stage.step

    def broken(self, number):
        if number == 22:  # two after a checkpoint
            raise KeyboardInterrupt
        return step(self, number)

    monkeypatch.setattr(Stage, "step", broken)
    with pytest.raises(KeyboardInterrupt):
        tuned("broken.pt")
    monkeypatch.setattr(Stage, "step", step)
    torch.rand(5)  # it goes on in another process, which has drawn other numbers
    losses, resumed = tuned("broken.pt")
    assert losses == wanted
    assert changed(unbroken, resumed) == set()


def test_parts_of_a_batch_add_up_to_its_gradients(tmp_path):
    whole, parts = model(dropout=0.0).double(), model(dropout=0.0).double()
    one = STAGE.model_copy(update={"updates": 1})
    stage(whole, "all", one).run(tmp_path / "a.pt")
    stage(parts, "all", one.model_copy(update={"accumulation": 3})).run(tmp_path / "b.pt")
    for first, second in zip(whole.parameters(), parts.parameters(), strict=True):
        torch.testing.assert_close(first, second, atol=1e-9, rtol=1e-6)


def test_a_step_has_its_own_dropout_its_rate_and_a_bounded_gradient(monkeypatch):
    monkeypatch.setattr(adaptation, "CLIP_NORM", 1e-3)
    one, seeds = stage(model(), "all"), set()
    for number in (0, 1):
        one.step(number)
        seeds.add(torch.initial_seed())
        assert one.adam.param_groups[0]["lr"] == rate(number, STAGE)
    assert len(seeds) == 2
    norms = torch.stack([p.grad.norm() for p in one.chosen if p.grad is not None])
    assert float(norms.norm()) == pytest.approx(1e-3, rel=1e-2)


def test_slow_weights_go_part_of_the_way_every_k_steps():
    # Alg. 1 written out for k = 3, alpha = 0.25 with plain SGD on a quadratic
    theta = nn.Parameter(torch.tensor([4.0]))
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


def test_lookahead_is_for_the_target_alone():
    assert stage(model(), "head", target="en").slow is None
    assert stage(model(), "all").slow is not None


def test_tuning_learns_to_name_subwords_that_are_not_seen(tmp_path):
    ours, learnable = model(), np.tile(np.arange(5, 13), (22, 1))
    learnable = np.concatenate([np.full((22, 1), 2), learnable], axis=1)
    easy = Text(learnable, SPECIAL, 15)
    before = accuracy(ours, "fr", easy)
    settings = STAGE.model_copy(update={"updates": 120, "learning_rate": 0.02, "warmup_steps": 60})
    stage(ours, "all", settings, texts={"fr": easy}).run(tmp_path / "a.pt")
    after = accuracy(ours, "fr", easy)
    assert before[1] == after[1]
    assert after[0] > 0.8 * after[1] > before[0]
    ours.forward = lambda language, ids, hidden: nn.functional.one_hot(ids[hidden], 15)
    assert accuracy(ours, "fr", easy)[0] < 0.5 * after[1]


def test_scores_are_those_of_the_masked_language_model_it_began_as():
    ours, theirs = model().eval(), masked_lm(20, 8, 9).eval()
    ids = torch.randint(5, 20, (3, 9))
    hidden = ids > 9
    with torch.inference_mode():
        expected = theirs(input_ids=ids).logits[hidden]
        torch.testing.assert_close(ours("en", ids, hidden), expected)


# ---- a model from its first rows to its last stage


def settings_of(kind="mono", **changes):
    row = "base:RAMEN-BASE + BERT (mono)"
    trials = experiment("ramen/table1").trials("smoke", [row], [0], {**TINY, "parts": ["fr"]})
    made = trials[0].typed(EvaluationSettings).adaptation
    begin = made.initialisation.model_copy(update={"kind": kind, **changes})
    return made.model_copy(update={"initialisation": begin})


@pytest.fixture
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path_factory.getbasetemp() / "adaptation"))


def english(settings):
    return adaptation._read(settings, adaptation.english_folder(settings) / "english.pt")


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("kind", ["mono", "parallel", "random"])
def test_special_subwords_begin_as_copies_of_their_namesakes(kind):
    settings = settings_of(kind)
    whole = english(settings)
    with torch.no_grad():
        whole.side("en").bias.copy_(torch.arange(1.0, len(whole.side("en").bias) + 1))
    start = adaptation.initial(settings, "fr", whole)
    source, split = (adaptation.subwords_in(settings, code) for code in ("en", "fr"))
    own, theirs = list(split.special[:5]), list(source.special[:5])
    assert start.estimated[own].all()
    side = whole.side("en")
    np.testing.assert_allclose(start.embeddings[own], side.embeddings.weight.detach()[theirs])
    np.testing.assert_allclose(start.bias[own], side.bias.detach().numpy()[theirs])
    assert (start.estimated.sum() == 5) == (kind == "random")


@pytest.mark.usefixtures("own_cache")
def test_a_model_starts_from_its_first_rows_and_ends_with_both_languages_tuned():
    settings = settings_of()
    at = adaptation.folder(settings, "fr")
    points = [torch.load(at / f"{name}.pt", weights_only=True) for name in adaptation.CHECKPOINTS]
    begin = adaptation.initial(settings, "fr", english(settings))
    np.testing.assert_array_equal(points[0]["sides.fr.embeddings.weight"].numpy(), begin.embeddings)
    np.testing.assert_array_equal(points[0]["sides.fr.bias"].numpy(), begin.bias)
    moved = [changed(before, after) for before, after in itertools.pairwise(points)]
    assert moved[0] == {"sides.fr.embeddings.weight", "sides.fr.bias"}
    assert {"sides.en.embeddings.weight", "sides.fr.embeddings.weight"} < moved[1]
    log = adaptation.logs(settings, "fr")
    assert set(log["embeddings"]["loss"]) == {"fr"}
    assert set(log["end"]["loss"]) == {"fr", "en"}
    assert log["end"]["pieces"] == 2 * log["embeddings"]["pieces"]


def test_no_stage_has_the_batches_and_masks_of_another(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))  # models are made, not found
    drawn = []

    def run(self, *given):
        drawn.append(batch_of(TEXTS["fr"], "fr", STAGE, self.key, 0))
        return Fit(step_losses=[dict.fromkeys(self.texts, 0.0)])

    monkeypatch.setattr(Stage, "run", run)
    adaptation.folder(settings_of(), "fr")
    assert len(drawn) == 4
    for what in ("ids", "hidden"):
        assert len({getattr(batch, what).tobytes() for batch in drawn}) == 4


def test_models_of_two_targets_have_two_names():
    """Their English states are kept by this name: with one name the first target's served all."""
    row = "base:RAMEN-BASE + BERT (parallel)"
    trial = experiment("ramen/table1").trials("smoke", [row])[0]
    settings = trial.typed(EvaluationSettings).adaptation
    names = {adaptation.hash_of(adaptation.recipe(settings, code)) for code in ("fr", "ar", "zh")}
    assert len(names) == 3


def test_a_separator_ends_each_sentence_and_is_never_hidden():
    settings = experiment("ramen/table2").trials("smoke")[1]
    made = settings.typed(EvaluationSettings).adaptation
    lines = adaptation.data.words(made, "fr")
    numbers = np.load(adaptation.stream_folder(made, "fr") / "numbers.npy")
    split = adaptation.subwords_in(made, "fr")
    assert (numbers == split.special.end).sum() == len(lines)
    whole, held_out = adaptation.text_of(made, "fr", 24)
    assert len(whole.sequences) + len(held_out.sequences) == len(numbers) // 23
    draw = np.random.default_rng(0)
    gold = adaptation.masked(whole, whole.sequences.astype(np.int64), draw).gold
    assert gold.min() >= split.special.first_ordinary
    assert numbers[-1] == split.special.end
    with pytest.raises(DataError, match=f"fr has {len(numbers)} subwords: .* a sequence of 99999"):
        adaptation.text_of(made, "fr", 99_999)


def test_the_unigram_baseline_says_the_texts_most_frequent_subword():
    body = np.full((40, 9), 7)
    body[:, 0] = SPECIAL.begin
    often, other = Text(body, SPECIAL, 9), Text(np.where(body == 7, 8, body), SPECIAL, 9)
    right, hidden = adaptation.unigram_accuracy(often, often)
    assert right == hidden > 0
    assert adaptation.unigram_accuracy(often, other) == [0, hidden]
