"""From sentences to padded tensors: word types get a row of a vector table, tags get numbers.

A frozen word vector depends on the word alone, so a split keeps one row per distinct word and
sentences are lists of row numbers. Row 0 is the zero vector: padding, and dropped words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from xlrepro.vectors.tables import WordVectors


@dataclass(frozen=True)
class EncodedSplit:
    """One split of one language, ready to batch.

    Attributes:
        table: vectors of the distinct words; row 0 is zero. (types + 1, dim)
        rows: per sentence the table rows of its tokens. each (length,)
        tags: per sentence the tag numbers of its tokens; -1 for a tag outside the tag set.
            each (length,)
    """

    table: torch.Tensor
    rows: list[torch.Tensor]
    tags: list[torch.Tensor]

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.rows)


@dataclass(frozen=True)
class Batch:
    """Padded sentences.

    Attributes:
        rows: table rows, 0 where padded. (batch, length)
        tags: tag numbers, 0 where padded (the mask says where). (batch, length)
        mask: True on tokens. (batch, length)
        indices: numbers of the sentences in their split. (batch,)
    """

    rows: torch.Tensor
    tags: torch.Tensor
    mask: torch.Tensor
    indices: list[int]

    def to(self, device: str) -> "Batch":
        """Return the batch on ``device``."""
        return Batch(self.rows.to(device), self.tags.to(device), self.mask.to(device), self.indices)


class TagSet:
    """Tag names and their numbers, in sorted order.

    Example:
        >>> TagSet(["VERB", "NOUN"]).number("VERB")
        1
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(sorted(set(names)))
        self._numbers = {name: i for i, name in enumerate(self.names)}

    def __len__(self) -> int:
        """Return the number of tags."""
        return len(self.names)

    def number(self, name: str) -> int:
        """Return the number of ``name``, -1 where the tag set lacks it."""
        return self._numbers.get(name, -1)


def encode(
    language: str,
    tokens: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    tag_set: TagSet,
    vectors: WordVectors,
) -> EncodedSplit:
    """Encode sentences of one language; each distinct word is looked up once.

    Args:
        language: code that ``vectors`` knows.
        tokens: words, a sequence per sentence.
        tags: tag names, as long as ``tokens``.
        tag_set: numbers of the tags.
        vectors: where words get their vectors.
    """
    numbers: dict[str, int] = {}
    rows, tag_rows = [], []
    for words, names in zip(tokens, tags, strict=True):
        rows.append(torch.tensor([numbers.setdefault(w, len(numbers) + 1) for w in words]))
        tag_rows.append(torch.tensor([tag_set.number(name) for name in names]))
    matrix, _ = vectors.lookup(language, list(numbers))
    table = torch.zeros(len(numbers) + 1, vectors.dim)
    if numbers:
        table[1:] = torch.from_numpy(np.array(matrix))
    return EncodedSplit(table, rows, tag_rows)


def collate(split: EncodedSplit, indices: Sequence[int]) -> Batch:
    """Pad the sentences ``indices`` of ``split`` to the longest of them."""
    rows, mask = padded([split.rows[i] for i in indices])  # (batch, length)
    tags, _ = padded([split.tags[i] for i in indices])
    return Batch(rows, tags, mask, list(indices))


def ordered(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield the number of every example once, longest first, at most ``most`` padded units a batch.

    Args:
        lengths: of the examples; one that is longer than ``most`` is a batch by itself.
        most: examples of a batch times the length of its longest.

    Example:
        >>> list(ordered([1, 3, 2], 4))
        [[1], [2, 0]]
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    start = 0
    while start < len(order):
        count = max(1, most // lengths[order[start]])
        yield order[start : start + count]
        start += count


def padded(rows: Sequence[Sequence[int] | Tensor]) -> tuple[Tensor, Tensor]:
    """Return sequences as one tensor, 0 at the right where they are short, and the mask.

    Returns:
        The sequences, and True where they are; both ``(sequences, longest)``.

    Example:
        >>> padded([[5, 6], [7]])[1].tolist()
        [[True, True], [True, False]]
    """
    lengths = torch.tensor([len(row) for row in rows])
    values = nn.utils.rnn.pad_sequence([torch.as_tensor(row) for row in rows], batch_first=True)
    return values, torch.arange(values.shape[1]) < lengths[:, None]
