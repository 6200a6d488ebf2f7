"""Open word vectors mapped without any dictionary, as MAN-MoE's authors used them: MUSE and UMWE.

Whether the maps collapsed is found out once, with the languages' seed dictionaries, which learning
does not see, and kept beside them: vectors of a collapsed map are not handed out.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from xlrepro.embeddings import open_vectors
from xlrepro.embeddings.adversarial import AdversarialSettings
from xlrepro.embeddings.artefacts import built, hash_of
from xlrepro.embeddings.muse import muse
from xlrepro.embeddings.open_spaces import dictionary_rows, monolingual_space
from xlrepro.embeddings.settings import open_settings
from xlrepro.embeddings.spaces import COLLAPSED, CollapsedError, Mapped
from xlrepro.embeddings.umwe import umwe
from xlrepro.embeddings.vectors import VectorSet, load_language
from xlrepro.errors import SettingsError

NAMES = ("muse", "umwe")
VERSION = 1  # raised when the code changes the vectors
SEED = 0
WORDS = 20_000  # most frequent words that maps are learnt from
# As in the open preset of man_moe/mappings: a minute per language on one core.
SETTINGS = AdversarialSettings(
    hidden=256,
    batch_size=64,
    epochs=5,
    epoch_steps=1_000,
    frequent=WORDS,
    criterion_words=2_500,
    refinement_words=5_000,
)


def recipe(name: str, languages: Sequence[str]) -> dict[str, Any]:
    """Return what decides the maps of some languages; builds and downloads nothing.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        languages: all of them, English among them or not.

    Raises:
        SettingsError: for another name.
    """
    if name not in NAMES:
        raise SettingsError(f"no vectors without a dictionary are called {name!r}: {NAMES}")
    return {
        "version": VERSION,
        "method": name,
        "words": WORDS,
        "seed": SEED,
        "settings": asdict(SETTINGS),
        # A mapped recipe names the vectors of both languages and the checking dictionary.
        "languages": {
            code: hash_of(open_vectors.mapped_recipe(code)) for code in _foreign(languages)
        },
    }


def recipe_hash(name: str, languages: Sequence[str]) -> str:
    """Return the hash of :func:`recipe`."""
    return hash_of(recipe(name, languages))


def load(name: str, languages: Sequence[str]) -> VectorSet:
    """Return the vectors of some languages in the English space, learning the maps first.

    Raises:
        CollapsedError: if the map of a language collapsed; names it and the number that says so.
        SettingsError: for an unknown name or language.
        DataError: if a file it is built from cannot be had.
    """
    source = open_settings().source
    folder = _maps(name, languages)
    reports = json.loads((folder / "reports.json").read_text(encoding="utf-8"))
    collapsed = [
        f"{code} (P@1 of its checking dictionary {100 * report['precision']:.1f} %)"
        for code, report in reports.items()
        if report["status"] == COLLAPSED
    ]
    if collapsed:
        raise CollapsedError(
            f"vectors {name!r}: the maps of {', '.join(collapsed)} collapsed, nothing is trained "
            "on them: use vectors 'mapped' or 'dictionary'"
        )
    words, matrices = {}, {}
    for code in (source, *_foreign(languages)):
        words[code], matrix = load_language(open_vectors.monolingual_folder(code))
        own = code != source
        matrices[code] = np.asarray(matrix) @ np.load(folder / f"{code}.npy") if own else matrix
    content = recipe_hash(name, languages)
    return VectorSet(name, words, matrices, source=source, content_hash=content)


def _foreign(languages: Sequence[str]) -> list[str]:
    return sorted(set(languages) - {open_settings().source})


def _maps(name: str, languages: Sequence[str]) -> Path:
    """Return the folder of the maps: ``<language>.npy`` and ``reports.json``."""
    foreign = _foreign(languages)

    def build(folder: Path) -> None:
        found = learn(name, foreign)
        for code, mapped in found.items():
            np.save(folder / f"{code}.npy", mapped.w)
        reports = {code: asdict(mapped.report) for code, mapped in found.items()}
        (folder / "reports.json").write_text(json.dumps(reports, indent=1), encoding="utf-8")

    return built(name, "-".join(foreign), recipe(name, foreign), build)


def learn(name: str, languages: Sequence[str]) -> dict[str, Mapped]:
    """Learn the maps of languages other than English; reports are judged by seed dictionaries."""
    english = monolingual_space(open_settings().source, WORDS)
    spaces = {code: monolingual_space(code, WORDS) for code in languages}
    checks = {code: dictionary_rows(code, space, english) for code, space in spaces.items()}
    if name == "umwe":
        return umwe(spaces, english, settings=SETTINGS, seed=SEED, check=checks)
    return {
        code: muse(space, english, settings=SETTINGS, seed=SEED, check=checks[code])
        for code, space in spaces.items()
    }
