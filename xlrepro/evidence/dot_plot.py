"""Reported beside reproduced in one column: a row per system, ours with its interval."""

from typing import TYPE_CHECKING

import numpy as np

from xlrepro.evidence.figures import PALETTE, Figure, new_drawing, nothing_to_draw, styled, title_of
from xlrepro.evidence.html_table import number

if TYPE_CHECKING:
    import pandas as pd


@styled
def reported_beside_reproduced(frame: "pd.DataFrame", column: str) -> Figure:
    """Draw the systems' scores in one column: the paper's hollow, ours filled with 95 % intervals.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
        column: of the cells, such as ``"avg"``.
    """
    shown = frame[(frame["column"] == column)]
    shown = shown[shown["reported"].notna() | shown["reproduced"].notna()]
    if shown["reproduced"].notna().sum() == 0:
        return nothing_to_draw(f"Reported beside reproduced: {column}", "nothing was run")
    shown = shown.iloc[::-1]  # the first row of the table on top
    drawing, axes = new_drawing(6.6, 1.1 + 0.28 * len(shown))
    rows = np.arange(len(shown))
    spread = np.vstack([shown["reproduced"] - shown["low"], shown["high"] - shown["reproduced"]])
    axes.errorbar(
        shown["reproduced"], rows, xerr=np.nan_to_num(spread), fmt="o", color=PALETTE[0], ms=5,
        lw=1.2, capsize=2, label="reproduced, 95 % interval",
    )  # fmt: skip
    axes.scatter(
        shown["reported"], rows, s=34, facecolors="none", edgecolors=PALETTE[1], marker="D",
        label="the paper",
    )  # fmt: skip
    axes.set_yticks(rows, list(shown["system"]))
    axes.set(title=f"{title_of(frame)}: {column}", xlabel=str(shown["unit"].iloc[0]))
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return Figure(f"Dot plot of {column}. {'; '.join(_said(shown.iloc[::-1]))}.", drawing)


def _said(shown: "pd.DataFrame") -> list[str]:
    """Return a part of a sentence per system: both numbers, as far as they are there."""
    said = []
    for row in shown.to_dict("records"):
        parts = [number(row["reproduced"])] if row["n"] else ["not run"]
        parts += [f"the paper {row['printed']}"] if row["printed"] else []
        said.append(f"{row['system']}: {', '.join(parts)}")
    return said
