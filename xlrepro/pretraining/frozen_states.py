"""States of a frozen encoder: computed once, kept in half precision on the disk, memory-mapped.

They are named by what decides them: the weights, the pieces of the text, the layers. A trial that
reads them again, or another one on the same text, costs no pass through the encoder. A trial that
computes in double precision keeps them so: rounding would make much of the last bit of a sum.
"""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from xlrepro.artefacts import built
from xlrepro.nn.bert import Bert
from xlrepro.precision import working_dtype

VERSION = 1  # raised when the code changes the states
BATCH_PIECES = 4096  # padded pieces of a batch: more is slower on a CPU

Rows = Sequence[Sequence[int]]


def frozen_states(
    network: Bert,
    weights: str,
    sequences: Rows,
    reads: Rows,
    layers: Sequence[int],
    device: str = "cpu",
    mean: bool = False,
) -> dict[int, np.ndarray]:
    """Return the states of some layers at some pieces, from the cache where they are there.

    Args:
        network: the encoder.
        weights: what identifies its weights: their SHA-256, or the hash of their recipe.
        sequences: numbers of the pieces of each sequence, first and last piece included.
        reads: places in each sequence whose states are wanted, such as first pieces of words.
        layers: which; 0 are the embeddings.
        device: where to compute.
        mean: the mean over the places of each sequence instead, one row a sequence.

    Returns:
        Layer to ``(places of all sequences, dim)`` float16 (or float64), in the order of
        ``reads``, or with ``mean`` ``(sequences, dim)``; memory-mapped and read-only.

    Example:
        >>> from xlrepro.nn.bert import BertSizes
        >>> network = Bert(BertSizes(9, dim=4, layers=2, heads=1, ff_dim=8, positions=6))
        >>> states = frozen_states(network, "toy", [[1, 5, 6, 2]], [[1]], [2])  # doctest: +SKIP
        >>> states[2].shape  # doctest: +SKIP
        (1, 4)
    """
    wanted = sorted(set(layers))
    recipe = {
        "weights": weights,
        "text": text_hash(sequences, reads),
        "layers": wanted,
        "version": VERSION,
        "mean": mean,
        "type": _kept().__name__,
    }
    write = partial(_write, network, sequences, reads, wanted, device, mean, _kept())
    folder = built("states", weights[:8], recipe, write)
    return {layer: np.load(_file(folder, layer), mmap_mode="r") for layer in wanted}


def _kept() -> type[np.floating[Any]]:
    """The type that states are kept in."""
    return np.float64 if working_dtype() is np.float64 else np.float16


def text_hash(sequences: Rows, reads: Rows) -> str:
    """Return the SHA-256 of pieces and places, 64 hex digits."""
    digest = hashlib.sha256()
    for rows in (sequences, reads):
        lengths = np.array([len(row) for row in rows], dtype="<i8")
        numbers = np.array([n for row in rows for n in row], dtype="<i8")
        for array in (lengths, numbers):
            digest.update(array.tobytes())
        digest.update(b"|")
    return digest.hexdigest()


def _file(folder: Path, layer: int) -> Path:
    return folder / f"layer-{layer}.npy"


@torch.inference_mode()
def _write(
    network: Bert,
    sequences: Rows,
    reads: Rows,
    layers: Sequence[int],
    device: str,
    mean: bool,
    kept: type[np.floating[Any]],
    folder: Path,
) -> None:
    """Compute the states in batches of like lengths and write them where they belong."""
    lengths = [1 if mean else len(row) for row in reads]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
    arrays = {
        layer: np.lib.format.open_memmap(
            _file(folder, layer), "w+", kept, (int(starts[-1]), network.sizes.dim)
        )
        for layer in layers
    }
    network = network.to(device).eval()
    order = sorted(range(len(sequences)), key=lambda i: -len(sequences[i]))
    while order:
        count = max(1, BATCH_PIECES // len(sequences[order[0]]))
        chosen, order = order[:count], order[count:]
        ids, mask = padded([sequences[i] for i in chosen])
        states = network.hidden_states(ids.to(device), mask.to(device), max(layers))
        for layer in layers:
            vectors = states[layer].cpu().numpy()
            for row, i in enumerate(chosen):
                at = vectors[row, list(reads[i])]
                arrays[layer][starts[i] : starts[i + 1]] = at.mean(0) if mean else at
    for array in arrays.values():
        array.flush()


def padded(rows: Rows) -> tuple[torch.Tensor, torch.Tensor]:
    """Return sequences as one tensor, 0 at the right where they are short, and the mask.

    Returns:
        Numbers of pieces, and True at pieces; both ``(sequences, longest)``.

    Example:
        >>> padded([[5, 6], [7]])[1].tolist()
        [[True, True], [True, False]]
    """
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]
