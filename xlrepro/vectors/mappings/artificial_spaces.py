"""Pairs of artificial spaces whose alignment is known: what mapping methods are tested on.

Words lie in clusters of unequal size and spread, as words of a language lie in fields of meaning;
the other space is the same cloud, turned and with noise.
"""

import numpy as np
from scipy.linalg import expm

from xlrepro.vectors.mappings.spaces import Space
from xlrepro.vectors.open.dictionary import centred_unit_rows, unit_rows


def rotation(dim: int, rng: np.random.Generator, angle: float = 1.5) -> np.ndarray:
    """Draw a rotation, ``(dim, dim)``, whose largest turn in any plane is ``angle`` (radians).

    At 1.5, nearly a right angle, words are no longer near their translations, and adversarial
    training still finds its way in seconds; from a rotation drawn evenly it often does not.
    """
    skew = rng.normal(size=(dim, dim))
    skew -= skew.T
    return np.asarray(expm(angle * skew / np.linalg.norm(skew, 2)))


def clusters(words: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a cloud of clusters, ``(words, dim)``, rows centred and of length 1.

    Sizes of clusters fall off as in Zipf's law; each has its own spread in each dimension.
    """
    number = dim + 2
    shares = 1 / np.arange(1, number + 1)
    centres = rng.gamma(0.5, size=(number, dim)) * np.linspace(2.0, 0.7, dim)
    spreads = rng.uniform(0.1, 0.5, size=(number, dim))
    chosen = rng.choice(number, size=words, p=shares / shares.sum())
    return centred_unit_rows(centres[chosen] + spreads[chosen] * rng.normal(size=(words, dim)))


def turned(
    space: Space, code: str, noise: float, rng: np.random.Generator, *, same_spelling: float = 0.0
) -> tuple[Space, np.ndarray]:
    """Return a copy of a space in another language: turned, with noise, in another order.

    Args:
        space: the space.
        code: what the words of the copy end in.
        noise: length of the noise beside vectors of length 1.
        rng: source of chance.
        same_spelling: share of words that keep their spelling.

    Returns:
        The copy, and the row of ``space`` that each of its rows translates, int64 ``(words,)``.
    """
    n, dim = space.matrix.shape
    # Frequency ranks of translations are close, not equal.
    order = np.argsort(np.arange(n) + rng.normal(scale=n / 50, size=n), kind="stable")
    shaken = space.matrix[order] + noise * unit_rows(rng.normal(size=(n, dim)))
    words = [
        space.words[row] if rng.random() < same_spelling else f"{space.words[row]}-{code}"
        for row in order
    ]
    return Space(words, centred_unit_rows(shaken @ rotation(dim, rng))), order


def source(words: int, dim: int, seed: int = 0) -> Space:
    """Draw the space that the others are copies of."""
    rng = np.random.default_rng([seed, 0])
    return Space([f"w{row}" for row in range(words)], clusters(words, dim, rng))


def unrelated(words: int, dim: int, code: str, seed: int = 0) -> Space:
    """Draw a space that has nothing to do with any other: one round cloud."""
    rng = np.random.default_rng([seed, 1])
    return Space(
        [f"v{row}-{code}" for row in range(words)], unit_rows(rng.normal(size=(words, dim)))
    )
