from collections import Counter

import pytest
import torch

from xlrepro.experiments import experiment
from xlrepro.papers.word_order import data
from xlrepro.papers.word_order import run as tagging
from xlrepro.papers.word_order.settings import TaggingSettings
from xlrepro.tasks.source import Source
from xlrepro.tasks.tagging import UPOS, split_of
from xlrepro.trials import TrialContext

SMALL = {"targets": ("de", "hi"), "train_sentences": 40, "test_sentences": 8, "epochs": 2}


def small_trial(row="word:ORT", seed=0, **overrides):
    table = experiment("word_order/table2")
    return table.trials("smoke", [row], [seed], {**SMALL, **overrides})[0]


def cells(trial):
    result = tagging.tagging(trial, TrialContext())
    return {(c.system, c.column): c.value for c in result.cells}


@pytest.fixture(scope="module")
def ort_cells():
    return cells(small_trial())


def test_the_same_seed_gives_the_same_numbers_and_another_does_not(ort_cells):
    assert cells(small_trial()) == ort_cells
    assert cells(small_trial(seed=1)) != ort_cells


def test_avg_is_the_mean_over_targets_without_the_source(ort_cells):
    targets = [ort_cells["word:ORT", code] for code in ("de", "hi")]
    assert ort_cells["word:ORT", "avg"] == pytest.approx(sum(targets) / 2)


def settings_of(row, **overrides):
    return small_trial(f"word:{row}", **overrides).typed(TaggingSettings)


def trained(settings, seed=0):
    return tagging.trained(settings, Source.of(settings, "POS"), seed, TrialContext())


def test_training_and_selection_read_source_train_and_dev_only(read, monkeypatch):
    monkeypatch.setattr(tagging, "score", lambda *_: 50.0)
    _, curve = trained(settings_of("BiLSTM", epochs=5, patience=2))
    assert set(read) == {("en", "train"), ("en", "dev")}
    assert len(curve.dev_scores) == 3


def test_each_language_is_scored_on_its_own_test_set(read, monkeypatch):
    """German and Hindi swapped would be seen."""
    settings = settings_of("BiLSTM")
    source, seen = Source.of(settings, "POS"), []
    gold = {code: split_of(source, code, "test").gold for code in ("en", "de", "hi")}
    monkeypatch.setattr(tagging, "score", lambda task, gold, *_: seen.append(gold) or 0.0)
    _, by_tag = tagging.evaluated(trained(settings)[0], settings, source, 0, "cpu")
    *_, english, german, hindi = seen
    assert [english, german, hindi] == list(gold.values())
    for code in ("de", "hi"):
        counts = Counter(tag for sentence in gold[code] for tag in sentence)
        assert {tag: total for tag, (_, total) in by_tag[code].items()} == counts


def test_initial_weights_follow_from_the_seed():
    first, again, other = (
        trained(settings_of("ORT", epochs=1, learning_rate=1e-12), seed)[0].linear.weight
        for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.allclose(first, other, atol=1e-3)


def shuffled(epoch, seed=0, **overrides):
    settings = settings_of("TRS w/ shuffled data", **overrides)
    split = split_of(Source.of(settings, "POS"), "en", "train").encoded
    return split, data.shuffled_copy(split, UPOS, settings.shuffle_k, epoch, seed)


def test_shuffling_moves_tags_with_their_tokens():
    split, copy = shuffled(0)
    for i in range(len(split)):
        before = Counter(zip(split.rows[i].tolist(), split.tags[i].tolist(), strict=True))
        after = Counter(zip(copy.rows[i].tolist(), copy.tags[i].tolist(), strict=True))
        assert before == after
    assert any(not torch.equal(a, b) for a, b in zip(split.rows, copy.rows, strict=True))


@pytest.mark.parametrize(("row", "copies"), [("TRS", 0), ("TRS w/ shuffled data", 2)])
def test_only_the_shuffled_rows_shuffle(monkeypatch, row, copies):
    made, original = [], tagging.shuffled_copy
    monkeypatch.setattr(tagging, "shuffled_copy", lambda *g: made.append(1) or original(*g))
    trained(settings_of(row))
    assert len(made) == copies  # one an epoch


def test_ten_copies_are_ten_and_then_repeat():
    orders = [tuple(map(tuple, (r.tolist() for r in shuffled(e)[1].rows))) for e in range(12)]
    assert len(set(orders)) == 10
    assert orders[10] == orders[0]
    assert orders[0] != tuple(map(tuple, (r.tolist() for r in shuffled(0, seed=1)[1].rows)))
