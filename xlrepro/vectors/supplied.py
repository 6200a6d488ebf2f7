"""Vectors of a user's own monolingual ``.vec`` files, mapped into one space without a dictionary.

As MAN-MoE's authors made theirs: fastText's vectors of each language's Wikipedia, mapped by MUSE or
UMWE, here with the sizes and rates of Conneau et al. (2018). The maps are kept, per kind of device.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from xlrepro.artefacts import hash_of
from xlrepro.vectors.mappings.recipes import AdversarialSettings, common_recipe
from xlrepro.vectors.mappings.spaces import Space
from xlrepro.vectors.open.dictionary import centred_unit_rows
from xlrepro.vectors.tables import VectorSet
from xlrepro.vectors.vec_files import load_vec

SOURCE = "en"
WORDS = 200_000  # most frequent words of each file (authors' code, options.py:167-208)
SETTINGS = AdversarialSettings()


def recipe(
    name: str, files: Mapping[str, Path], settings: AdversarialSettings = SETTINGS
) -> dict[str, Any]:
    """Return what decides the maps: files are named by their size.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        files: language to ``.vec`` file, English among them.
        settings: of either method.

    Raises:
        SettingsError: for another name.
    """
    sizes = {code: files[code].stat().st_size for code in sorted(files)}
    return common_recipe(name, WORDS, settings) | {"files": sizes}


def load(
    name: str, files: Mapping[str, Path], settings: AdversarialSettings = SETTINGS
) -> VectorSet:
    """Return the vectors of all languages in the English space, learning the maps first.

    They are centred and of length 1 before mapping, as all our spaces are. Learning takes a GPU
    where this process sees one; a trial that was told to use the CPU sees none.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        files: language to ``.vec`` file, English among them.
        settings: of either method.

    Raises:
        CollapsedError: if the map of a language collapsed, by the criterion of MUSE against chance.
        DataError: if a file is missing or malformed.
        SettingsError: for another name.
    """
    vectors = load_vec(files, WORDS)
    spaces = {
        code: Space(
            vectors.words(code), centred_unit_rows(np.asarray(vectors.matrix(code), np.float32))
        )
        for code in files
    }
    english = spaces.pop(SOURCE)
    import torch  # only here: hashes of files need none of these

    from xlrepro.vectors.mappings import unsupervised

    device = "cuda" if torch.cuda.is_available() else "cpu"
    what = {**recipe(name, files, settings), "device": device}
    maps = unsupervised.kept_maps(
        name,
        sorted(spaces),
        what,
        lambda: unsupervised.learnt_maps(name, spaces, english, settings, device=device),
    )
    matrices = {SOURCE: english.matrix}
    matrices |= {code: space.matrix @ maps[code] for code, space in spaces.items()}
    words = {SOURCE: english.words} | {code: space.words for code, space in spaces.items()}
    return VectorSet(name, words, matrices, source=SOURCE, content_hash=hash_of(what))
