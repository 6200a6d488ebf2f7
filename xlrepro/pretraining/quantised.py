"""Read an encoder in 4 bits from one file: sizes, pieces, normaliser, tensors.

The layout (little-endian), as its authors' converter writes it: magic and sizes, the tokenizer,
the normaliser, a directory of tensors, the tensors. A quantised tensor is a sequence of blocks of
18 bytes, each 32 weights: a half-precision scale ``d``, then 16 bytes; byte ``j`` holds weight
``j`` in its low and weight ``j + 16`` in its high four bits; weight = (bits - 8) * d.
"""

import struct
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from xlrepro.errors import DataError
from xlrepro.nn.bert import BertSizes

MAGIC = b"E5S1"
BLOCK = 32  # weights
BLOCK_BYTES = 2 + BLOCK // 2


class Special(NamedTuple):
    """Numbers of the special pieces."""

    begin: int
    end: int
    pad: int
    unknown: int


class QuantisedFile:
    """A file of this format, memory-mapped: a tensor is decoded when it is asked for.

    Args:
        path: of the file.

    Raises:
        DataError: if it is not of this format, or ends too early.

    Attributes:
        sizes: of the network; without dropout.
        special: numbers of the special pieces.
        pieces: (piece, log probability), in the order of their numbers.
        normaliser: code point to what stands for it; others stay as they are.
        names: of the tensors, in the order of the file.
    """

    def __init__(self, path: Path) -> None:
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        self._at = 0
        try:
            self._read_header()
        except (struct.error, UnicodeDecodeError, ValueError) as error:
            raise DataError(
                f"{path} is not an encoder in 4 bits that can be read ({error}): fetch it again"
            ) from error

    def _read_header(self) -> None:
        magic, _, *sizes, eps, block = self._take("<4sI7ifi")
        if magic != MAGIC or block != BLOCK:
            raise ValueError(f"it begins with {magic!r}, blocks of {block}")
        dim, layers, heads, ff_dim, vocabulary, positions, _ = sizes
        self.sizes = BertSizes(vocabulary, dim, layers, heads, ff_dim, positions, 0.0, eps)
        self._read_tokenizer()
        self._tensors: dict[str, tuple[int, int, int]] = {}
        (count,) = self._take("<i")
        for _ in range(count):
            (length,) = self._take("<H")
            name = self._raw(length).decode("ascii")
            quantised, _, start, size = self._take("<BIQQ")
            if start + size > len(self._bytes):
                raise ValueError(f"tensor {name} lies beyond its end")
            self._tensors[name] = (quantised, start, size)
        self.names = tuple(self._tensors)

    def _read_tokenizer(self) -> None:
        count, begin, end, pad, unknown, size = self._take("<5iQ")
        self.special = Special(begin, end, pad, unknown)
        offsets = np.frombuffer(self._raw(4 * (count + 1)), dtype="<u4").tolist()
        scores = np.frombuffer(self._raw(4 * count), dtype="<f4").tolist()
        blob = self._raw(size)
        names = [blob[a:b].decode("utf-8") for a, b in pairwise(offsets)]
        self.pieces = list(zip(names, scores, strict=True))
        entries, _ = self._take("<iI")
        self.normaliser: dict[int, str] = {}
        for _ in range(entries):
            code, length = self._take("<IB")
            self.normaliser[code] = "".join(map(chr, self._take(f"<{length}I")))

    def _take(self, form: str) -> tuple:
        return struct.unpack(form, self._raw(struct.calcsize(form)))

    def _raw(self, size: int) -> bytes:
        raw = self._bytes[self._at : self._at + size].tobytes()
        self._at += size
        return raw

    def tensor(self, name: str) -> Tensor:
        """Return a tensor in full precision, flat.

        Raises:
            KeyError: if there is none of this name.
        """
        quantised, start, size = self._tensors[name]
        raw = self._bytes[start : start + size]
        if quantised:
            return torch.from_numpy(decode(raw.reshape(-1, BLOCK_BYTES)).reshape(-1))
        return torch.from_numpy(np.frombuffer(raw.tobytes(), dtype="<f4").copy())

    def rows(self, name: str, width: int) -> np.ndarray:
        """Return a quantised matrix as the bytes of its rows, still on the disk.

        Returns:
            ``(rows, width / 32, 18)`` uint8
        """
        _, start, size = self._tensors[name]
        return self._bytes[start : start + size].reshape(-1, width // BLOCK, BLOCK_BYTES)


def decode(blocks: np.ndarray) -> np.ndarray:
    """Return the weights of blocks.

    Args:
        blocks: ``(..., 18)`` uint8.

    Returns:
        ``(..., 32)`` float32

    Example:
        >>> block = np.array([[0, 60] + [0x98] * 16], dtype=np.uint8)  # scale 1.0, bits 8 and 9
        >>> decode(block)[0, :2].tolist(), decode(block)[0, 16:18].tolist()
        ([0.0, 0.0], [1.0, 1.0])
    """
    scale = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    bits = blocks[..., 2:]
    weights = np.concatenate([bits & 15, bits >> 4], axis=-1).astype(np.float32)
    return (weights - 8) * scale


class QuantisedEmbedding(nn.Module):
    """Rows of a table in 4 bits, decoded when they are looked up; nothing of it is trained.

    A word's vectors cost a few bytes of the file each, instead of a table of hundreds of MB.

    Args:
        blocks: rows of the table. ``(rows, dim / 32, 18)`` uint8
    """

    def __init__(self, blocks: np.ndarray) -> None:
        super().__init__()
        self._blocks = blocks

    def forward(self, ids: Tensor) -> Tensor:
        """Return ``(..., dim)`` for numbers of rows ``(...)``."""
        wanted, place = torch.unique(ids.cpu(), return_inverse=True)
        # shape: (distinct rows, dim)
        rows = torch.from_numpy(decode(self._blocks[wanted.numpy()]).reshape(len(wanted), -1))
        return rows[place].to(ids.device)
