"""Monolingual word vectors: skip-gram with negative sampling, by gensim.

Training is repeatable bit for bit on one machine: one worker, a fixed seed, a hash of words that
does not depend on ``PYTHONHASHSEED``, and the sentences read from a file in order.

Reference:
    Mikolov et al. (2013), Distributed representations of words and phrases and their
    compositionality.
"""

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xlrepro.errors import SettingsError


@dataclass(frozen=True)
class SkipGram:
    """Settings of one skip-gram training.

    Attributes:
        dim: dimensions of the vectors.
        window: largest distance between a word and its context, in words.
        epochs: passes over the text.
        negative: noise words per pair.
        sample: words more frequent than this share of the text are thinned out.
        min_count: rarer words get no vector.
        max_words: most frequent words kept.
        seed: seed of the initial vectors and of all sampling.
    """

    dim: int = 200
    window: int = 4
    epochs: int = 4
    negative: int = 5
    sample: float = 1e-4
    min_count: int = 3
    max_words: int = 200_000
    seed: int = 1


def train(corpus: Path, settings: SkipGram) -> tuple[list[str], np.ndarray]:
    """Train on a text file with one sentence a line, words separated by single spaces.

    Args:
        corpus: the tokenised text.
        settings: see :class:`SkipGram`.

    Returns:
        The words, most frequent first; their vectors, float32 ``(words, dim)``.

    Raises:
        SettingsError: for a text in which no word is frequent enough.
    """
    from gensim.models import Word2Vec

    given = vars(settings).copy()  # of the same names there, but for two
    given |= {"vector_size": given.pop("dim"), "max_final_vocab": given.pop("max_words")}
    given["hashfxn"] = lambda word: zlib.crc32(word.encode())  # the same in every process
    try:
        model = Word2Vec(corpus_file=str(corpus), sg=1, workers=1, **given)
    except RuntimeError:  # there is no vocabulary
        raise SettingsError(
            f"no word occurs {settings.min_count} times in {corpus}: give more text or a smaller "
            "min_count"
        ) from None
    return list(model.wv.index_to_key), np.asarray(model.wv.vectors, dtype=np.float32)
