"""Batches of similar lengths, shuffled or longest first; predictions in the data's order."""

import numpy as np
import pytest
import torch

from xlrepro.training.batches import (
    ordered,
    pooled,
    predicted_tags,
    rows_of_step,
    shuffled,
    shuffled_batches,
)
from xlrepro.vectors.encoding import EncodedSplit

LENGTHS = [2, 4, 1, 3]


def split():
    rows = [torch.ones(length, dtype=torch.long) for length in LENGTHS]
    return EncodedSplit(torch.zeros(2, 3), rows, [row - 1 for row in rows])


@pytest.mark.parametrize("batch_size", [1, 3, 10])
def test_an_epoch_holds_every_sentence_once(batch_size):
    batches = list(shuffled_batches(split(), batch_size, np.random.default_rng(0)))
    assert sorted(i for b in batches for i in b.indices) == [0, 1, 2, 3]


def test_an_epoch_from_pools_holds_every_example_once_and_like_lengths_together():
    batches = pooled(range(23, 0, -1), 4, 3, np.random.default_rng(0))
    assert sorted(i for batch in batches for i in batch) == list(range(23))
    assert sorted(map(len, batches)) == [3, 4, 4, 4, 4, 4]
    assert all(batch == sorted(batch, reverse=True) for batch in batches)
    one_pool = pooled(range(24), 4, 6, np.random.default_rng(0))
    assert one_pool != sorted(one_pool)


def test_what_is_longer_than_the_budget_is_still_evaluated():
    assert list(ordered(LENGTHS, 2)) == [[1], [3], [0], [2]]


def test_batches_differ_between_seeds_and_not_within_one():
    def order(seed):
        return list(shuffled(LENGTHS, 1, np.random.default_rng(seed)))

    assert order(1) == order(1)
    assert any(order(1) != order(seed) for seed in range(2, 8))
    assert any(order(seed)[0] == [1] for seed in range(9))  # the longest may be the first


def test_the_noise_of_lengths_is_two_units():
    """Examples whose lengths differ by two or more never change places, those of one length do."""
    batches = [sorted(shuffled([1, 1, 3, 3], 2, np.random.default_rng(s))) for s in range(20)]
    assert {tuple(sorted(b)) for pair in batches for b in pair} == {(0, 1), (2, 3)}


class Numbered(torch.nn.Module):
    """Predicts each token's row, and notes how large its batches are."""

    sizes = ()

    def predict(self, batch, table):
        assert not self.training
        self.sizes += (tuple(batch.mask.shape),)
        return batch.rows


def test_predictions_are_in_the_order_of_the_data_and_no_batch_is_too_large(
    monkeypatch,
):
    monkeypatch.setattr("xlrepro.training.batches.EVALUATION_TOKENS", 14)
    lengths, model = (3, 1, 7, 7, 2, 12, 5, 1), Numbered()
    rows = list(torch.arange(1, 39).split(lengths))
    given = EncodedSplit(torch.zeros(39, 8), rows, [row % 5 for row in rows])
    found = predicted_tags(model, given, "cpu")
    assert [t.tolist() for t in found] == [row.tolist() for row in rows]
    assert model.sizes == ((1, 12), (2, 7), (2, 5), (3, 2))


def test_an_epoch_takes_every_row_once_and_the_next_in_another_order():
    steps = [rows_of_step(step, 9, 3, [1, 0]) for step in range(6)]
    first, second = np.concatenate(steps[:3]).tolist(), np.concatenate(steps[3:]).tolist()
    assert sorted(first) == sorted(second) == list(range(9))
    assert first != second
    assert rows_of_step(2, 9, 3, [2, 0]).tolist() != steps[2].tolist()
    assert {len(rows_of_step(step, 10, 4, [1])) for step in range(6)} == {4}  # two are left out


def test_a_step_larger_than_the_text_takes_all_of_it():
    assert sorted(rows_of_step(5, 4, 9, [1])) == [0, 1, 2, 3]
