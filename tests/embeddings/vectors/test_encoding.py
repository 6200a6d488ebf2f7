import numpy as np
import pytest
import torch

from xlrepro.embeddings.vectors.encoding import (
    TagSet,
    collate,
    encode,
    ordered_batches,
    shuffled_batches,
)
from xlrepro.errors import DataError

WORDS = [["a", "b"], ["b", "c", "a", "d"], ["d"], ["a", "a", "b"]]
TAGS = [["X", "Y"], ["Y", "X", "X", "Z"], ["Z"], ["X", "X", "Y"]]


class Spelling:
    """Vectors that name their word: (code of the first letter, calls so far)."""

    dim = 2

    def __init__(self):
        self.asked = []

    def lookup(self, language, words):
        self.asked += [(language, tuple(words))]
        return np.array([[ord(w[0]), 1.0] for w in words], np.float32), np.ones(len(words), np.int8)


def split_of(words=WORDS, tags=TAGS):
    return encode("xx", words, tags, TagSet(["X", "Y"]), Spelling())


def test_every_token_gets_the_vector_of_its_word():
    split = split_of()
    for words, rows in zip(WORDS, split.rows, strict=True):
        assert split.table[rows][:, 0].tolist() == [ord(w) for w in words]


def test_row_zero_is_the_zero_vector():
    assert split_of().table[0].tolist() == [0.0, 0.0]


def test_each_word_is_looked_up_once():
    vectors = Spelling()
    encode("xx", WORDS, TAGS, TagSet(["X", "Y"]), vectors)
    assert vectors.asked == [("xx", ("a", "b", "c", "d"))]


def test_a_tag_outside_the_set_can_never_be_predicted_right():
    assert split_of().tags[2].tolist() == [-1]


def test_padding_is_masked_and_nothing_else():
    batch = collate(split_of(), [0, 1])
    assert batch.mask.tolist() == [[True, True, False, False], [True] * 4]
    assert batch.rows[0].tolist()[2:] == [0, 0]


@pytest.mark.parametrize("batch_size", [1, 2, 3, 10])
def test_an_epoch_holds_every_sentence_once(batch_size):
    batches = list(shuffled_batches(split_of(), batch_size, np.random.default_rng(0)))
    assert sorted(i for b in batches for i in b.indices) == [0, 1, 2, 3]


def test_evaluation_holds_every_sentence_once_within_the_token_budget():
    batches = list(ordered_batches(split_of(), max_tokens=6))
    assert sorted(i for b in batches for i in b.indices) == [0, 1, 2, 3]
    assert all(b.rows.numel() <= 6 for b in batches)


def test_a_sentence_longer_than_the_budget_is_still_evaluated():
    batches = list(ordered_batches(split_of(), max_tokens=2))
    assert sorted(i for b in batches for i in b.indices) == [0, 1, 2, 3]


def test_tags_and_tokens_of_different_length_are_refused():
    with pytest.raises(DataError, match="2 tokens and 1 tags"):
        split_of([["a", "b"]], [["X"]])


def test_batches_differ_between_seeds_and_not_within_one():
    def order(seed):
        generator = np.random.default_rng(seed)
        return [b.indices for b in shuffled_batches(split_of(), 1, generator)]

    assert order(1) == order(1)
    assert any(order(1) != order(seed) for seed in range(2, 8))


def test_collate_keeps_tags_with_their_tokens():
    split = split_of()
    batch = collate(split, [3, 1])
    assert torch.equal(batch.tags[0][batch.mask[0]], split.tags[3])
    assert torch.equal(batch.tags[1][batch.mask[1]], split.tags[1])
