"""Small invented texts and vectors."""

import numpy as np
import pytest
import torch

from tests.papers.man_moe.small_models import LABELS, VECTOR_DIM, WORDS, character_ids
from xlrepro.papers.man_moe import data
from xlrepro.papers.man_moe.encoding import EncodedTexts, WordTable
from xlrepro.papers.man_moe.training import TrainingTexts


@pytest.fixture
def texts():
    """Random texts of three sources and a target, 6 each, over one table of words."""
    draw = np.random.default_rng(0)
    ids = character_ids()
    spellings = ["".join(draw.choice(list("abcdefg"), int(n))) for n in draw.integers(1, 8, WORDS)]
    characters = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor([0]), *(torch.tensor(ids.spell(word)) for word in spellings)],
        batch_first=True,
    )
    numbers = draw.standard_normal((WORDS + 1, VECTOR_DIM))
    vectors = torch.from_numpy(numbers).to(torch.get_default_dtype())
    table = WordTable({}, vectors, torch.arange(WORDS + 1), characters)
    found = []
    for number in range(4):
        rows = [torch.from_numpy(draw.integers(1, WORDS + 1, n)) for n in draw.integers(1, 9, 6)]
        gold = [torch.from_numpy(draw.integers(0, LABELS, len(r))) for r in rows]
        found.append(EncodedTexts(number, rows, gold))
    unlabelled = [EncodedTexts(t.language, t.rows) for t in found]
    return TrainingTexts(table, found[:3], unlabelled)


class InventedVectors:
    """A vector per word, from its characters; no word is unknown."""

    dim = VECTOR_DIM

    def lookup(self, language, words):
        draws = [np.random.default_rng(list(word.encode())) for word in words]
        rows = np.array([draw.standard_normal(self.dim) for draw in draws], dtype=np.float32)
        return rows, np.ones(len(words), dtype=np.int8)


@pytest.fixture
def invented_vectors(monkeypatch):
    """Spare tests the training of word vectors."""
    monkeypatch.setattr(data, "vectors", lambda *names: InventedVectors())
