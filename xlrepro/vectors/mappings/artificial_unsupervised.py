"""Word vectors of the artificial languages, mapped without a dictionary: MUSE and UMWE on a CPU.

Each language's own space is its dictionary vectors, turned and with noise, so that there is an
alignment to be found. What the methods do with it is real: they see no dictionary.
"""

from collections.abc import Sequence

import numpy as np

from xlrepro.artificial import Family
from xlrepro.vectors import artificial as artificial_vectors
from xlrepro.vectors.artificial import SOURCE
from xlrepro.vectors.mappings.artificial_spaces import turned
from xlrepro.vectors.mappings.recipes import AdversarialSettings, check_name
from xlrepro.vectors.mappings.spaces import Space
from xlrepro.vectors.mappings.unsupervised import learnt_maps, refuse_collapsed
from xlrepro.vectors.open.dictionary import pair_rows
from xlrepro.vectors.tables import VectorSet

NOISE = 0.1  # length of the noise beside vectors of length 1, as in man_moe/mappings
# Sizes that find the alignment in seconds.
SETTINGS = AdversarialSettings(
    hidden=64,
    batch_size=64,
    epochs=3,
    epoch_steps=100,
    learning_rate=0.2,
    criterion_words=300,
    refinement_words=500,
    refinements=3,
)


def load(name: str, family: Family, codes: Sequence[str], dim: int = 50) -> VectorSet:
    """Make vectors for artificial languages; seconds, so nothing is cached.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        family: the languages' family.
        codes: the languages; English is always among them.
        dim: dimensions of the vectors.

    Raises:
        CollapsedError: if the map of a language collapsed, by the true dictionary.
        SettingsError: for another name.

    Example:
        >>> load("umwe", Family(0), ["de"], 16).languages
        ('en', 'de')
    """
    check_name(name)
    whole = artificial_vectors.load(family, codes, dim)
    english = Space(whole.words(SOURCE), np.asarray(whole.matrix(SOURCE)))
    spaces = {code: _own_space(family, whole, code) for code in whole.languages if code != SOURCE}
    checks = {code: _check(family, code, space, english) for code, space in spaces.items()}
    maps = learnt_maps(name, spaces, english, SETTINGS, checks)
    refuse_collapsed(name, {code: mapped.report for code, mapped in maps.items()})
    words, matrices = {SOURCE: english.words}, {SOURCE: english.matrix}
    for code, space in spaces.items():
        words[code] = space.words
        matrices[code], _ = maps[code].apply(space.matrix, english.matrix)
    return VectorSet(name, words, matrices, source=SOURCE)


def _own_space(family: Family, whole: VectorSet, code: str) -> Space:
    rng = np.random.default_rng([family.seed, *code.encode()])
    plain = Space(whole.words(code), np.asarray(whole.matrix(code)))
    return turned(plain, code, NOISE, rng, same_spelling=1.0)[0]


def _check(family: Family, code: str, space: Space, english: Space) -> np.ndarray:
    """Return the true dictionary as rows, ``(pairs, 2)``."""
    return pair_rows(artificial_vectors.dictionary(family, code), space.words, english.words)
