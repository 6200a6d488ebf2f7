from types import SimpleNamespace

import pytest
import torch

from xlrepro.nn.recurrent import BiLSTM
from xlrepro.tasks import tagging
from xlrepro.tasks.tagging import joined, score, span_tags, tag_counts, tag_set, tagger_learner
from xlrepro.training.settings import FitSettings
from xlrepro.vectors.encoding import EncodedSplit, TagSet, collate

TAGS = TagSet(["A", "B", "C"])


def test_joined_splits_keep_their_vectors():
    first = EncodedSplit(torch.tensor([[0.0], [1.0], [2.0]]), [torch.tensor([1, 2])], [])
    second = EncodedSplit(torch.tensor([[0.0], [7.0]]), [torch.tensor([1])], [])
    both = joined(first, second)
    assert [both.table[rows].flatten().tolist() for rows in both.rows] == [[1.0, 2.0], [7.0]]
    assert both.table[0].tolist() == [0.0]


def test_a_tag_that_training_lacks_counts_as_missed():
    predicted = [torch.tensor([0, 1]), torch.tensor([2])]
    assert score("POS", [("A", "NEW"), ("C",)], predicted, TAGS) == pytest.approx(200 / 3)


def test_tags_are_counted_where_gold_has_them():
    gold, predicted = [torch.tensor([0, 1]), torch.tensor([0])], [torch.tensor([0, 0])] * 2
    predicted[1] = torch.tensor([1])
    assert tag_counts(gold, predicted, TAGS) == {"A": [1, 2], "B": [0, 1]}


@pytest.mark.parametrize(("head", "weights"), [("crf", (1, 1)), ("linear", (3, 1))])
def test_padding_does_not_change_a_tagger_s_loss(head, weights):
    """A mean over sentences with a CRF, over tokens without one."""
    torch.manual_seed(0)
    tagger = tagging.SequenceTagger(BiLSTM(2, 4, layers=1, dropout=0.0), len(TAGS), head).eval()
    rows = [torch.tensor([1, 2, 3]), torch.tensor([4])]
    tags = [torch.tensor([2, 1, 0]), torch.tensor([1])]
    split = EncodedSplit(torch.randn(5, 2), rows, tags)
    both, *alone = (tagger.loss(collate(split, of), split.table) for of in ([0, 1], [0], [1]))
    mean = sum(w * loss for w, loss in zip(weights, alone, strict=True)) / sum(weights)
    torch.testing.assert_close(both, mean)


class TwoLanguages:
    """A corpus whose test language has a kind of slot that its training language lacks."""

    task, languages = "SF", ("en", "es")

    def sentences(self, language, split):
        return [SimpleNamespace(slots=("B-time", f"B-{split}" if language == "en" else "B-hora"))]


def test_tags_are_those_of_the_training_language_s_training_sentences():
    assert tag_set(TwoLanguages()).names == span_tags([("B-time", "B-train")]).names


class Watched(torch.nn.Module):
    """A tagger that notes what it is given."""

    def __init__(self):
        super().__init__()
        self.weight, self.rows = torch.nn.Parameter(torch.ones(1)), []

    def loss(self, batch, table):
        self.rows.append(batch.rows[batch.mask])
        return self.weight.sum()


def learner_of(model, rows, tags, seed=0, share=None):
    split = EncodedSplit(torch.zeros(101, 2), rows, tags)
    settings = FitSettings(learning_rate=0.1, epochs=3, patience=1, batch_size=4)
    return tagger_learner(model, split, lambda: 0.0, settings, seed, "cpu", share)


@pytest.mark.parametrize(("share", "low", "high"), [(None, 0, 0), (0.0, 0, 0), (0.5, 0.4, 0.6)])
def test_word_dropout_takes_its_share_of_words_in_training(share, low, high):
    rows, model = [torch.arange(1, 11)] * 100, Watched()
    learner = learner_of(model, rows, [torch.zeros_like(row) for row in rows], share=share)
    steps = [learner.step(batch) for batch in learner.batches(0)]
    seen = torch.cat(model.rows)
    assert low <= float((seen == 0).double().mean()) <= high
    assert sum(step.tokens for step in steps) == 1000


def test_the_seed_decides_the_order_and_the_dropped_words():
    rows = [torch.arange(1, 6) + 5 * i for i in range(20)]
    seen = []
    for seed in (3, 3, 4):
        model = Watched()
        learner = learner_of(model, rows, [torch.zeros_like(row) for row in rows], seed, 0.3)
        for batch in learner.batches(0):
            learner.step(batch)
        seen.append(torch.cat(model.rows).tolist())
    assert seen[0] == seen[1] != seen[2]


def test_the_schedule_ends_with_the_last_step_of_all_epochs(monkeypatch):
    asked = []
    monkeypatch.setattr("xlrepro.tasks.tagging.schedule", lambda *of: asked.append(of) or float)
    learner_of(Watched(), [torch.tensor([1])] * 10, [torch.tensor([0])] * 10)
    assert asked == [("linear", 200, 9)]


def test_tokens_without_a_label_are_not_counted():
    learner = learner_of(Watched(), [torch.tensor([1, 2])], [torch.tensor([0, -100])])
    assert [learner.step(batch).tokens for batch in learner.batches(0)] == [1]
