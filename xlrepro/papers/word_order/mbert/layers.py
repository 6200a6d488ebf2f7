"""The layer that the M-BERT rows read a released encoder at: a linear probe on English dev decides.

    python -m xlrepro.papers.word_order.mbert.layers multilingual-e5-small

prints a line per layer. Only English is read, and of it no test sentence; what came out stands in
``presets/mbert.yaml`` and in the list of deviations.
"""

import sys
from dataclasses import replace

import numpy as np
import torch

from xlrepro.papers.word_order.experiments.mbert import mbert_settings
from xlrepro.papers.word_order.hashes import RELEASED, mbert_source
from xlrepro.papers.word_order.mbert import encoders, pieces
from xlrepro.pretraining.frozen_states import frozen_states
from xlrepro.tasks.source import Source

TRAINED_ON, SCORED_ON = 1000, 1000  # English sentences: about 16,000 and 14,000 words
States = dict[int, tuple[np.ndarray, np.ndarray]]
STEPS = 200  # of L-BFGS over all words: far more than it takes


def probe(
    train: tuple[np.ndarray, np.ndarray], dev: tuple[np.ndarray, np.ndarray], decay: float = 1e-5
) -> float:
    """Return the accuracy on ``dev`` of a linear softmax fitted to ``train``, percent.

    Args:
        train: states ``(words, dim)`` and tag numbers ``(words,)``.
        dev: likewise.
        decay: weight of half the squared length of the weights, beside the mean loss.

    Example:
        >>> states = np.array([[1.0, 0.0], [0.0, 1.0]] * 4, dtype="float32")
        >>> probe((states, np.array([0, 1] * 4)), (states[:2], np.array([0, 1])))
        100.0
    """
    mean, spread = train[0].mean(0), train[0].std(0) + 1e-6
    # shape of each: (words, dim)
    x, z = (torch.from_numpy((part[0] - mean) / spread).float() for part in (train, dev))
    tags = torch.from_numpy(train[1])
    linear = torch.nn.Linear(x.shape[1], int(tags.max()) + 1)
    torch.nn.init.zeros_(linear.weight)
    search = torch.optim.LBFGS(linear.parameters(), max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        search.zero_grad()
        penalty = decay / 2 * linear.weight.square().sum()
        total = torch.nn.functional.cross_entropy(linear(x), tags) + penalty
        total.backward()  # type: ignore[no-untyped-call]
        return total

    search.step(loss)  # type: ignore[no-untyped-call]
    return 100.0 * float((linear(z).argmax(1).numpy() == dev[1]).mean())


def english(
    encoder: encoders.MultilingualBert, source: Source, split: str, layers: range
) -> States:
    """Return per layer states ``(words, dim)`` and tag numbers ``(words,)`` of an English split."""
    parts = pieces.pieces_of(encoder, source, "en", split)
    ids, first = ([row.tolist() for row in rows] for rows in (parts.ids, parts.first))
    assert encoder.weights is not None
    states = frozen_states(encoder.network, encoder.weights, ids, first, layers)  # type: ignore[arg-type]
    tags = torch.cat(parts.tags).numpy()
    return {layer: (np.asarray(states[layer], dtype="float32"), tags) for layer in layers}


def main(name: str) -> None:
    """Print the accuracy on English dev at every layer."""
    settings = mbert_settings("open", "POS", "mbert:ORT", {"checkpoint": f"{RELEASED}{name}"})
    source = replace(mbert_source(settings), train_sentences=TRAINED_ON, test_sentences=SCORED_ON)
    encoder = encoders.load_bert(settings.checkpoint)
    layers = range(1, len(encoder.network.layers) + 1)  # type: ignore[arg-type]
    train, dev = (english(encoder, source, split, layers) for split in ("train", "dev"))
    for layer in layers:
        print(f"layer {layer:2d}: {probe(train[layer], dev[layer]):.2f} on English dev", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
