"""Trials: what is read and tuned, on which device; English under a permutation."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.papers.ramen.small import TINY, bilingual, masked_lm
from xlrepro.data.sentences import Sentence
from xlrepro.encoders.pretrained import Encoder
from xlrepro.encoders.subwords import Special, Subwords, learnt
from xlrepro.experiments import experiment
from xlrepro.papers.ramen import adaptation, data, heads, initialisation, run
from xlrepro.papers.ramen.settings import EvaluationSettings, HeadSettings
from xlrepro.precision import computing
from xlrepro.trials import TrialContext

HEADS = {"head.train": 24, "head.test": 6}
TUNED = "ud-tuned:RAMEN-BASE + RoBERTa, rnd"
PAIR = "xnli-pair:RAMEN-BASE + RoBERTa, rnd"
HEAD = HeadSettings(
    hidden=8, relation_hidden=8, learning_rate=0.02, epochs=2, patience=2, batch_size=8
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path_factory.getbasetemp() / "ramen"))
    run._encoders.cache_clear()


def trial_of(key, system, seed=0, **changes):
    (trial,) = experiment(f"ramen/{key}").trials(
        "smoke", [system], [seed], TINY | HEADS | {"parts": ["fr"]} | changes
    )
    return trial


def readers_of(trial, device="cpu"):
    settings = trial.typed(EvaluationSettings)
    layer = settings.head.layer
    return adaptation.readers(settings.adaptation, "fr", "end", layer, device)


def english_trees(encoder):
    """English trees, whatever the encoder takes their words for."""
    trees = data.trees("artificial", "en", "train", 24)
    return heads.of_trees(encoder, trees, [tree.tokens for tree in trees])


def english_pairs(together):
    pairs = data.inference("artificial", "en", "train", 24)
    return lambda encoder: heads.of_pairs(encoder, pairs, together)


@pytest.mark.parametrize(
    ("key", "system"),
    [
        ("table2", "base:RAMEN-BASE + BERT (parallel)"),
        ("table3", "xnli:RAMEN-BASE + RoBERTa, rnd"),
        ("table4", "bert:RAMEN-BASE + BERT"),
    ],
)
def test_a_trial_fills_its_cells_names_right_items_and_repeats(key, system, tmp_path, monkeypatch):
    trial, asked, whole = trial_of(key, system), [], run.examples
    monkeypatch.setattr(run, "examples", lambda *g, **m: asked.append(g[2:4]) or whole(*g, **m))
    results = []
    for name in ("one", "two"):
        monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / name))
        run._encoders.cache_clear()
        results.append(run.run(trial, TrialContext()))
    result, again = results
    assert result.cells == again.cells
    own = "fr" if key == "table4" else "en"  # a supervised encoder's head is of its language
    read = [(own, "train"), (own, "dev"), (own, "test"), ("fr", "test")]
    assert asked == 2 * [*dict.fromkeys(read)]
    assert [(c.system, c.column) for c in result.cells] == [(system, c) for c in trial.columns]
    for cell in result.cells:
        assert cell.value == pytest.approx(100 * np.mean(result.items[cell.column]))
    assert result.details["adaptation"]["fr"]["end"]["pieces"] > 0


def test_a_multilingual_encoder_has_one_head_for_all_languages_unless_it_learns_theirs():
    shared = experiment("ramen/table2").trials("smoke", ["baseline:mBERT (mono)"], [0])
    assert [len(t.columns) for t in shared] == [12]
    alone = experiment("ramen/table4").trials("smoke", ["mbert:mBERT"], [0])
    assert [t.columns for t in alone] == [("fr",), ("ru",), ("ar",), ("hi",), ("vi",), ("zh",)]
    (trial,) = experiment("ramen/table1").trials("smoke", ["ours:*"], [0], HEADS)
    heads = run.run(trial, TrialContext()).details["heads"]
    assert list(heads) == ["fr+ru+ar+hi+vi+zh+end"]


def test_figure_2_is_read_at_three_points_whose_encoders_are_never_held_together(monkeypatch):
    alive, find = [], adaptation.readers

    def watched(*which):
        gc.collect()
        assert [ref for ref in alive if ref()] == []
        found = find(*which)
        alive.append(weakref.ref(found["fr"].model))
        return found

    monkeypatch.setattr(adaptation, "readers", watched)
    changes = TINY | HEADS | {"parts": ["UD v2.4/fr"], "tuned_epochs": 1}
    (trial,) = experiment("ramen/figure2").trials("smoke", None, [0], changes)
    result = run.run(trial, TrialContext())
    assert len(alive) == 3
    assert [c.column for c in result.cells] == [f"UD v2.4/fr/{n}" for n in ("0k", "25k", "175k")]
    assert list(result.details["heads"]) == ["fr+start", "fr+embeddings", "fr+end"]


@pytest.mark.parametrize("row", [PAIR, TUNED])
def test_tuning_begins_where_the_tables_head_ends_and_tunes_layers_alone(row, monkeypatch):
    trial, read = trial_of("table3", row), []
    find = adaptation.readers
    with monkeypatch.context() as patch:
        patch.setattr(adaptation, "readers", lambda *g: read.append(find(*g)) or read[-1])
        curves = run.run(trial, TrialContext()).details["heads"]["fr+end"]
    if row == PAIR:  # nothing is trained before
        assert set(curves) == {"tuned", "english"}
    else:
        plain = trial_of("table3", row.replace("-tuned", ""))
        frozen = run.run(plain, TrialContext()).details["heads"]["fr+end"]
        assert curves["frozen"]["dev"] == frozen["dev"]
        assert len(curves["tuned"]["train_loss"]) == trial.settings["tuned_epochs"]
        assert curves["tuned"]["train_loss"][0] < curves["frozen"]["train_loss"][0]
    before, after = readers_of(trial), read[0]
    moved = set()
    for language in ("en", "fr"):
        for part in ("model", "embeddings"):
            old, new = (getattr(r[language], part).state_dict() for r in (before, after))
            moved |= {f"{part}.{name}" for name in old if not torch.equal(old[name], new[name])}
    assert moved
    assert not [name for name in moved if not name.startswith("model.encoder.layer.")]


@pytest.mark.parametrize("read", [heads.framed, Encoder.text])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_before_tuning_subwords_give_the_kept_states(language, read):
    encoder = readers_of(trial_of("table3", TUNED))[language]
    words = [s.tokens for s in data.trees("artificial", language, "test", 5)]
    words.insert(1, words[0])  # a text that occurs twice is read once
    with computing("double"), torch.inference_mode():
        kept = heads.Texts.of(encoder, words, read)
        assert len(kept.ids) == 5
        states = replace(kept, frozen=False).states(range(6))
        assert torch.equal(kept.states([0]), kept.states([1]))
        for i, sentence in enumerate(words):
            alone = kept.states([i])[0]
            assert read is not heads.framed or len(alone) == len(sentence)
            found = states[i, : len(sentence)] if read is heads.framed else states[i]
            torch.testing.assert_close(found, alone)


def test_a_text_too_long_keeps_a_subword_of_each_word_and_a_pair_most_of_the_shorter():
    encoder = readers_of(trial_of("table3", TUNED))["en"]
    ids, reads = heads.framed(encoder, ["a" * 9, "b" * 9] * 20)  # 94 subwords at most
    assert len(reads) == 40
    assert len(ids) <= 96
    end, short = encoder.subwords.special.end, ["b"] * 3
    ids, reads = heads.paired(encoder, (["a" * 9] * 40, short))
    own = [number for word in short for number in encoder.subwords.numbers(word)]
    assert (len(ids), reads) == (96, [0])
    assert ids[-len(own) - 2 :] == [end, *own, end]


def test_in_mixed_precision_states_of_a_tuned_encoder_are_rounded_and_the_heads_are_not(plain):
    model = masked_lm(len(plain), 16, 96).bert.eval()
    pairs = data.inference("artificial", "en", "dev", 6)
    found = heads.of_pairs(Encoder("pairs", model, plain), pairs, True)
    exact, rounded = (found.tuned(mixed).texts.states(range(6)) for mixed in (False, True))
    assert rounded.dtype == torch.float32
    assert 1e-5 < (exact - rounded).abs().max() < 0.1


@pytest.mark.parametrize("segments", [1, 2])
def test_a_pair_is_read_as_transformers_reads_two_segments(plain, segments):
    model = masked_lm(len(plain), 16, 96, type_vocab_size=segments).bert.double().eval()
    encoder, pairs = Encoder("pairs", model, plain), data.inference("artificial", "en", "dev", 6)
    with torch.inference_mode():
        states = heads.of_pairs(encoder, pairs, True).tuned(mixed=False).texts.states(range(6))
        for state, pair in zip(states, pairs, strict=True):
            one, two = (
                [n for w in t for n in plain.numbers(w)] for t in (pair.premise, pair.hypothesis)
            )
            ids = [plain.special.begin, *one, plain.special.end, *two, plain.special.end]
            types = [0] * (len(one) + 2) + [segments - 1] * (len(two) + 1)
            whole = model(torch.tensor([ids]), token_type_ids=torch.tensor([types]))
            torch.testing.assert_close(state, whole.last_hidden_state[0, 0])


def test_a_multilingual_encoder_has_the_dropout_of_an_english_one_while_it_is_tuned():
    encoder = run._encoders.__wrapped__(None, "tiny", None, "fr", "end", "cpu")("en")
    assert {m.p for m in encoder.model.modules() if isinstance(m, torch.nn.Dropout)} == {0.1}


def test_relations_lose_their_subtypes():
    sentence = Sentence(tokens=("she", "seen"), deprels=("nsubj:pass", "root"))
    assert heads.names(sentence) == ["nsubj", "root"]


# ---- English under a permutation of its subwords: the strongest test of the whole line. A language
# whose subwords are English's under other numbers, aligned one to one without noise, must give back
# English's scores exactly before any update.

OTHER = "xx"


class Permuted(Subwords):
    """English subwords under other numbers."""

    def __init__(self, plain, order):
        self._plain, self._order = plain, order
        self.special = Special(*(int(order[n]) for n in plain.special[:5]), 0)
        self._marker = int(order[plain._marker])

    def numbers(self, word):
        return [int(self._order[n]) for n in self._plain.numbers(word)]


@pytest.fixture(scope="module")
def plain():
    return learnt([s.tokens for s in data.trees("artificial", "en", "train", 60)], 300, 200)


@pytest.fixture(scope="module")
def order(plain):
    """English number to number in the other language; special subwords move too."""
    return np.random.default_rng(0).permutation(len(plain))


@pytest.fixture
def english(plain):
    whole, rows = masked_lm(len(plain), 16, 96).double().eval(), len(plain)
    table, bias = (torch.randn(shape, dtype=torch.double) for shape in ((rows, 16), (rows,)))
    return bilingual(whole, table, bias)


@pytest.fixture
def readers(english, plain, order):
    pairs = [([n], [int(order[n])]) for n in range(len(plain))] * 2
    counts = initialisation.parallel_counts(pairs, (len(plain), len(plain)))
    special = {int(order[n]): n for n in plain.special[:5]}
    weights = initialisation.with_special(initialisation.parallel_weights(counts), special)
    side = english.side("en")
    numbers = [part.detach().numpy() for part in (side.embeddings.weight, side.bias)]
    begin = initialisation.start(weights, *numbers, "code", np.random.default_rng(0))
    assert begin.estimated.all()
    english.add(OTHER, torch.from_numpy(begin.embeddings), torch.from_numpy(begin.bias))
    english.eval()
    split = {"en": plain, OTHER: Permuted(plain, order)}
    return {
        code: Encoder(f"permutation {code}", english.encoder, s, english.side(code).embeddings)
        for code, s in split.items()
    }


def test_scores_of_hidden_subwords_are_english_ones_under_the_permutation(english, readers, order):
    ids = torch.randint(5, len(order), (4, 20))
    hidden = torch.rand(4, 20) < 0.3
    with torch.inference_mode():
        own = english("en", ids, hidden)
        other = english(OTHER, torch.from_numpy(order)[ids], hidden)
    torch.testing.assert_close(other[:, torch.from_numpy(order)], own)


@pytest.mark.parametrize(
    ("kind", "of"),
    [
        (heads.Parser, english_trees),
        (heads.Classifier, english_pairs(together=False)),
        (heads.PairClassifier, english_pairs(together=True)),
    ],
)
def test_a_parser_and_a_classifier_score_exactly_as_on_english(readers, kind, of):
    with computing("double"):
        own, other = (of(readers[code]) for code in ("en", OTHER))
        np.testing.assert_allclose(own.texts.kept, other.texts.kept, atol=1e-12)
        head = kind(own, HEAD, 0, "cpu")
        heads.fit(head, head.module, own, own, HEAD, 0, lambda fraction, text: None)
        assert head.right(other) == head.right(own)
        first, again, another = (kind(own, HEAD, seed, "cpu").module for seed in (0, 0, 1))
        assert all(map(torch.equal, first.parameters(), again.parameters()))
        assert not all(map(torch.equal, first.parameters(), another.parameters()))


@pytest.mark.usefixtures("double_precision")
def test_a_classifier_is_chosen_on_dev_and_reads_means_their_distance_and_product(readers):
    own = english_pairs(together=False)(readers["en"])
    dev, head = own._replace(gold=[(n + 1) % 3 for n in own.gold]), heads.Classifier
    head = head(own, HEAD, 0, "cpu")
    found = heads.fit(head, head.module, own, dev, HEAD, 0, lambda fraction, text: None)
    assert max(found.dev_scores) == heads.percent(head.right(dev)["accuracy"])
    head.module = torch.nn.Identity()
    u, v, distance, product = head._scores(own, range(24)).chunk(4, 1)
    torch.testing.assert_close(torch.cat([distance, product]), torch.cat([(u - v).abs(), u * v]))
    torch.testing.assert_close(torch.cat([u, v]).std(0, correction=0), torch.ones(16))
