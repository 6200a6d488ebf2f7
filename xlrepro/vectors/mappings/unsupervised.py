"""Word vectors mapped without any dictionary, as MAN-MoE's authors used them: by MUSE and by UMWE.

Whether the maps collapsed is found out once and kept beside them: vectors of a collapsed map are
not handed out. Those of open text are judged by the languages' seed dictionaries, which learning
does not see.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from xlrepro.artefacts import built
from xlrepro.vectors.mappings.muse import muse
from xlrepro.vectors.mappings.open_spaces import dictionary_rows, monolingual_space
from xlrepro.vectors.mappings.recipes import (
    SEED,
    SETTINGS,
    WORDS,
    AdversarialSettings,
    check_name,
    foreign,
    recipe,
    recipe_hash,
)
from xlrepro.vectors.mappings.spaces import (
    COLLAPSED,
    CollapsedError,
    Mapped,
    MappingProblem,
    MappingReport,
    Pairs,
    Space,
)
from xlrepro.vectors.mappings.umwe import umwe
from xlrepro.vectors.open import vectors as open_vectors
from xlrepro.vectors.open.settings import open_settings
from xlrepro.vectors.tables import VectorSet, load_language


def load(name: str, languages: Sequence[str]) -> VectorSet:
    """Return the open vectors of some languages in the English space, learning the maps first.

    Raises:
        CollapsedError: if the map of a language collapsed; names it and the number that says so.
        SettingsError: for an unknown name or language.
        DataError: if a file it is built from cannot be had.
    """
    source = open_settings().source
    mapped = foreign(languages)
    maps = kept_maps(name, mapped, recipe(name, mapped), lambda: learn(name, mapped))
    words, matrices = {}, {}
    for code in (source, *mapped):
        words[code], matrix = load_language(open_vectors.monolingual_folder(code))
        matrices[code] = np.asarray(matrix) @ maps[code] if code in maps else matrix
    content = recipe_hash(name, languages)
    return VectorSet(name, words, matrices, source=source, content_hash=content)


def kept_maps(
    name: str,
    foreign: Sequence[str],
    recipe: Mapping[str, Any],
    learn: Callable[[], dict[str, Mapped]],
) -> dict[str, np.ndarray]:
    """Return the maps of languages other than English, learning them if they are not in the cache.

    Args:
        name: of the method.
        foreign: the languages.
        recipe: what decides the maps.
        learn: learns them.

    Returns:
        Per language its map into the English space, ``(dim, dim)``.

    Raises:
        CollapsedError: as :func:`refuse_collapsed`.
    """

    def build(folder: Path) -> None:
        maps = learn()
        for code, mapped in maps.items():
            np.save(folder / f"{code}.npy", mapped.w)
        reports = {code: asdict(mapped.report) for code, mapped in maps.items()}
        (folder / "reports.json").write_text(json.dumps(reports, indent=1), encoding="utf-8")

    folder = built(name, "-".join(foreign), recipe, build)
    reports = json.loads((folder / "reports.json").read_text(encoding="utf-8"))
    refuse_collapsed(name, {code: MappingReport(**values) for code, values in reports.items()})
    return {code: np.load(folder / f"{code}.npy") for code in foreign}


def refuse_collapsed(name: str, reports: Mapping[str, MappingReport]) -> None:
    """Let nothing be trained on vectors of a map that is none.

    Raises:
        CollapsedError: naming each language whose map collapsed and the number that says so.
    """
    collapsed = [f"{c} ({r.why})" for c, r in reports.items() if r.status == COLLAPSED]
    if collapsed:
        raise CollapsedError(
            f"vectors {name!r}: the maps of {', '.join(collapsed)} collapsed, nothing is trained "
            "on them: use vectors 'mapped' or 'dictionary'"
        )


def learn(name: str, languages: Sequence[str]) -> dict[str, Mapped]:
    """Learn the maps of open vectors into the English space; seed dictionaries judge them."""
    english = monolingual_space(open_settings().source, WORDS)
    spaces = {code: monolingual_space(code, WORDS) for code in languages}
    checks = {code: dictionary_rows(code, space, english) for code, space in spaces.items()}
    return learnt_maps(name, spaces, english, SETTINGS, checks)


def learnt_maps(
    name: str,
    spaces: Mapping[str, Space],
    english: Space,
    settings: AdversarialSettings,
    checks: Mapping[str, Pairs] | None = None,
    device: str = "cpu",
) -> dict[str, Mapped]:
    """Learn a map per language, by UMWE all at once, by MUSE one after the other.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        spaces: those that are mapped, by language.
        english: the space that they are mapped into.
        settings: of either method.
        checks: per language (row of its space, row of English), which only the reports look at.
        device: ``"cpu"`` or ``"cuda"``.

    Raises:
        SettingsError: for another name.
    """
    check_name(name)
    problems = {
        code: MappingProblem(
            space, english, check=(checks or {}).get(code), seed=SEED, device=device
        )
        for code, space in spaces.items()
    }
    if name == "umwe":
        return umwe(problems, settings)
    return {code: muse(problem, settings) for code, problem in problems.items()}
