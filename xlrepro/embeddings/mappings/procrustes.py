"""Orthogonal Procrustes in the common call shape of the mapping methods."""

import time
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import normalize

from xlrepro.embeddings.mappings.collapse import Pairs, report_of
from xlrepro.embeddings.mappings.csls import translate
from xlrepro.embeddings.mappings.seeded import procrustes
from xlrepro.embeddings.mappings.spaces import Mapped, Space, seed_rows


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


def procrustes_map(
    x: Space,
    y: Space,
    *,
    pairs: Pairs | None = None,
    settings: ProcrustesSettings | None = None,
    seed: int = 0,
    device: str = "cpu",
    check: Pairs | None = None,
) -> Mapped:
    """Learn the orthogonal map that fits a dictionary best.

    Args:
        x: the space that is mapped.
        y: the space that it is mapped into.
        pairs: (row of x, row of y).
        settings: see :class:`ProcrustesSettings`.
        seed: changes nothing; it is there for the common call shape.
        device: ``"cpu"`` or ``"cuda"``, where neighbours are looked for.
        check: (row of x, row of y), a dictionary that only the report looks at.

    Raises:
        SettingsError: if there are no pairs.
    """
    chosen = settings or ProcrustesSettings()
    started = time.perf_counter()
    rows = seed_rows(pairs, "Procrustes")
    a, b = (torch.from_numpy(np.array(s.matrix[: chosen.frequent])).to(device) for s in (x, y))
    used = rows
    w = procrustes(x.matrix[rows[:, 0]], y.matrix[rows[:, 1]])
    for _ in range(chosen.refinements):
        turned = normalize(a @ torch.from_numpy(w).to(device), dim=1)
        used = np.concatenate([rows, translate(turned, b).mutual().cpu().numpy()])
        w = procrustes(x.matrix[used[:, 0]], y.matrix[used[:, 1]])
    return report_of(
        "Procrustes", x, y, (w, None), pairs=len(used), steps=1 + chosen.refinements,
        started=started, history=(), device=device, check=check,
    )  # fmt: skip
