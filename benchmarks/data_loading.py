"""From a treebank file to padded batches: English EWT train, parsed, indexed and batched."""

from collections.abc import Sequence

import numpy as np

from benchmarks.timing import Result, interleaved_medians, torch_threads
from xlrepro.data import loading, registry
from xlrepro.tasks.tagging import UPOS
from xlrepro.training.batches import shuffled_batches
from xlrepro.vectors.encoding import encode

DATASET, FILE_ID = "ud-r2.2", "en/train"
BATCH_SIZE = 32
TARGET_SECONDS = 3.0
REPETITIONS = 5


class NoVectors:
    """A lookup that costs nothing: what is timed is the data's way, not the vectors'."""

    dim = 1

    def lookup(self, language: str, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return a zero vector for every word."""
        return np.zeros((len(words), 1), np.float32), np.zeros(len(words), np.int8)


def measure(device: str, threads: int) -> list[Result]:
    """Time reading, checking, indexing and batching; downloading is done before.

    Raises:
        DataError: where the corpus is neither in the cache nor in a mirror.
    """
    registry.fetch(DATASET, FILE_ID)
    tokens = 0

    def load_and_batch() -> None:
        nonlocal tokens
        sentences = loading.load(DATASET, FILE_ID)
        words = [sentence.tokens for sentence in sentences]
        tags = [sentence.upos or () for sentence in sentences]
        split = encode("en", words, tags, UPOS, NoVectors())
        tokens = sum(map(len, words))
        for batch in shuffled_batches(split, BATCH_SIZE, np.random.default_rng(0)):
            batch.to(device)

    with torch_threads(threads):
        medians = interleaved_medians({"ours": load_and_batch}, REPETITIONS, device, warmup=1)
    seconds = medians["ours"]
    return [
        Result(
            benchmark="data loading",
            case=f"EWT train, {tokens} tokens: parsed, indexed, batched by {BATCH_SIZE}",
            device=device,
            threads=threads,
            value=seconds,
            unit="s",
            repetitions=REPETITIONS,
            target=f"under {TARGET_SECONDS:g} s",
            met=seconds < TARGET_SECONDS,
            tokens_per_second=tokens / seconds,
        )
    ]
