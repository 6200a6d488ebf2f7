import pytest
import torch

from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings.vectors.encoding import EncodedSplit, TagSet
from xlrepro.errors import DataError
from xlrepro.tasks.tagging import joined, labels, score, span_tags, tag_counts

TAGS = TagSet(["A", "B", "C"])


def test_joined_splits_keep_their_vectors():
    first = EncodedSplit("a", torch.tensor([[0.0], [1.0], [2.0]]), [torch.tensor([1, 2])], [])
    second = EncodedSplit("b", torch.tensor([[0.0], [7.0]]), [torch.tensor([1])], [])
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


def test_every_kind_of_span_has_both_tags():
    assert span_tags([Sentence(("a",), slots=("B-x",))], "SF").names == ("B-x", "I-x", "O")


def test_a_missing_layer_is_named():
    with pytest.raises(DataError, match="no NER tags"):
        labels(Sentence(("a",), slots=("O",)), "NER")
