"""Orthogonal Procrustes in the common call shape of the mapping methods."""

import time
from dataclasses import dataclass

from xlrepro.vectors.mappings.collapse import report_of
from xlrepro.vectors.mappings.seeded import refined
from xlrepro.vectors.mappings.spaces import Mapped, MappingProblem


@dataclass(frozen=True)
class ProcrustesSettings:
    """Settings of :func:`procrustes_map`.

    Attributes:
        refinements: rounds in which mutual nearest neighbours by CSLS join the dictionary
            (Conneau et al. 2018, §2.2).
        frequent: most frequent words of each side that they come from.
    """

    refinements: int = 0
    frequent: int = 10_000


def procrustes_map(problem: MappingProblem, settings: ProcrustesSettings | None = None) -> Mapped:
    """Learn the orthogonal map that fits a dictionary best.

    Raises:
        SettingsError: if there are no pairs.
    """
    settings = settings or ProcrustesSettings()
    started = time.perf_counter()
    seed, (x, y) = problem.seed_rows("Procrustes"), (problem.x.matrix, problem.y.matrix)
    w, pairs = refined(x, y, seed, settings.refinements, settings.frequent, problem.device)
    return report_of(
        "Procrustes", problem, (w, None), pairs=len(pairs), steps=1 + settings.refinements,
        started=started, history=(),
    )  # fmt: skip
