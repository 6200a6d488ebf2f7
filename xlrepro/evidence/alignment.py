"""Figures and the statement of ``word_order/alignment_quality``: gains against alignment.

Columns are ``task/level/language``; the system ``measured:P@1`` has each level's dictionary
induction in the column of the scores that it belongs to, ``measured:distance`` the word-order
distance of the artificial languages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from xlrepro.evidence.compare import paired_differences
from xlrepro.evidence.figures import PALETTE, Figure, new_panels, nothing_to_draw, styled
from xlrepro.evidence.html_table import number
from xlrepro.evidence.reproduced import ReproducedNumbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TASKS = ("POS", "SF")
UNITS = {"POS": "accuracy", "SF": "slot F1"}
INDUCTION, DISTANCE = "measured:P@1", "measured:distance"
FIRST, SECOND = "ORT", "TRS"
MAPPED = "mapped"


@dataclass(frozen=True)
class Gain:
    """ORT − TRS at one place, paired by seed.

    Attributes:
        level: of alignment.
        p_at_1: dictionary induction there, percent.
        mean: of the differences, points.
        low: lower end of its 95 % interval; NaN for one seed.
        high: upper end, likewise.
        sign: ``"+"`` or ``"-"`` where the interval leaves out 0, else ``"0"``.
    """

    level: str
    p_at_1: float
    mean: float
    low: float
    high: float
    sign: str


def gains(
    numbers: ReproducedNumbers,
    experiment: str,
    profile: str,
    task: str,
    block: str = "word",
    language: str = "avg",
) -> list[Gain]:
    """Return ORT − TRS per level, best alignment first; [] where one of them was not run."""
    columns = _columns(numbers, experiment, profile, (f"{block}:{FIRST}", f"{block}:{SECOND}"),
                       task, language)  # fmt: skip
    if not columns:
        return []
    pairs = paired_differences(
        experiment, profile, f"{block}:{FIRST}", f"{block}:{SECOND}", columns, numbers=numbers
    )
    found = [
        Gain(
            str(row["column"]).split("/")[1],
            _value(numbers, experiment, profile, INDUCTION, str(row["column"])),
            float(row["mean"]),
            float(row["low"]),
            float(row["high"]),
            str(row["sign"]),
        )
        for _, row in pairs.iterrows()
    ]
    return sorted(found, key=lambda gain: -gain.p_at_1)


def _columns(
    numbers: ReproducedNumbers,
    experiment: str,
    profile: str,
    systems: Sequence[str],
    task: str,
    language: str,
) -> list[str]:
    """Return the ``task/level/language`` columns that all systems and the induction have."""
    cells = numbers.cells(experiment, profile)
    filled = [{c.column for c in cells if c.system == s} for s in (*systems, INDUCTION)]
    shared = set.intersection(*filled)
    return [
        column
        for column in dict.fromkeys(c.column for c in cells if c.column in shared)
        if column.split("/")[0] == task and column.split("/")[2:] == [language]
    ]


def _value(
    numbers: ReproducedNumbers, experiment: str, profile: str, system: str, column: str
) -> float:
    cell = numbers.get(experiment, profile, system, column)
    return cell.mean if cell else float("nan")


@styled
def scores_against_p_at_1(numbers: ReproducedNumbers, experiment: str, profile: str) -> Figure:
    """Draw each encoder's mean target score against dictionary-induction P@1, task by task.

    Lines join the dictionary vectors with more and more noise; mapped vectors are hollow.
    """
    title = "Score against alignment"
    axes, drawing = _panels()
    sentences = []
    for task, axis in zip(TASKS, axes, strict=True):
        systems = [s for s in numbers.systems(experiment, profile) if s.startswith("word:")]
        for i, system in enumerate(systems):
            columns = _columns(numbers, experiment, profile, (system,), task, "avg")
            _score_series(axis, numbers, experiment, profile, system, columns, i)
            for end, pick in (("best", max), ("worst", min)):
                if columns:
                    column = pick(
                        columns,
                        key=lambda c: _value(numbers, experiment, profile, INDUCTION, c),
                    )
                    score = number(_value(numbers, experiment, profile, system, column), 1)
                    sentences.append(f"{task}, {system}, {end} alignment: {score}")
        axis.set(title=f"{task} ({profile})", ylabel=f"{UNITS[task]}, mean of targets")
    if not sentences:
        return nothing_to_draw(title, "no encoder and no P@1 was run")
    axes[0].legend(frameon=False, fontsize=8)
    return Figure(f"{title}, two panels. {'; '.join(sentences)}.", drawing)


def _score_series(
    axis: "Axes",
    numbers: ReproducedNumbers,
    experiment: str,
    profile: str,
    system: str,
    columns: Sequence[str],
    place: int,
) -> None:
    """Draw one encoder; mapped vectors, worse in another way than by noise, stand apart."""
    ranked = sorted(columns, key=lambda c: _value(numbers, experiment, profile, INDUCTION, c))
    mapped = [c for c in ranked if c.split("/")[1] == MAPPED]
    for shown, line in (([c for c in ranked if c not in mapped], "-"), (mapped, "none")):
        cells = [cell for c in shown if (cell := numbers.get(experiment, profile, system, c))]
        axis.errorbar(
            [_value(numbers, experiment, profile, INDUCTION, c) for c in shown],
            [c.mean for c in cells],
            [(c.interval.high - c.interval.low) / 2 if c.interval else 0.0 for c in cells],
            linestyle=line,
            marker="osD^"[place % 4],
            markerfacecolor=PALETTE[place] if line == "-" else "white",
            markersize=4,
            linewidth=1,
            elinewidth=0.8,
            color=PALETTE[place],
            label=system.split(":", 1)[1] if line == "-" else None,
        )


def _panels() -> tuple[Any, Any]:
    """Return two axes side by side over P@1, and their drawing."""
    drawing, (axes,) = new_panels(1, 2, 8.4, 3.6)
    for axis in axes:
        axis.set_xlabel("dictionary induction, P@1 (%)")
    return axes, drawing


@styled
def gain_against_p_at_1(numbers: ReproducedNumbers, experiment: str, profile: str) -> Figure:
    """Draw ORT − TRS, paired by seed, against P@1; bars are 95 % intervals."""
    title = f"{FIRST} − {SECOND} against alignment"
    axes, drawing = _panels()
    sentences = []
    for task, axis in zip(TASKS, axes, strict=True):
        found = gains(numbers, experiment, profile, task)
        spread = [[g.mean - g.low for g in found], [g.high - g.mean for g in found]]
        x, y = [g.p_at_1 for g in found], [g.mean for g in found]
        axis.errorbar(x, y, np.nan_to_num(np.array(spread)), fmt="o", color=PALETTE[0], lw=1)
        for gain in found:
            axis.annotate(
                gain.level,
                (gain.p_at_1, gain.mean),
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=6,
            )
        axis.axhline(0, color="#777777", linewidth=0.8)
        axis.set(title=f"{task} ({profile})", ylabel="points")
        sentences += [
            f"{task}, P@1 {number(g.p_at_1, 1)}: {number(g.mean, 2, True)}" for g in found
        ]
    if not sentences:
        return nothing_to_draw(title, f"{FIRST}, {SECOND} and P@1 were not all run")
    return Figure(f"{title}, two panels with 95 % intervals. {'; '.join(sentences)}.", drawing)


@styled
def gain_by_alignment_and_distance(
    numbers: ReproducedNumbers, experiment: str, profile: str
) -> Figure:
    """Draw ORT − TRS on the artificial languages: alignment (rows) × order distance (columns).

    A cell with a frame has a 95 % interval, paired by seed, that leaves out 0.
    """
    title = f"{FIRST} − {SECOND} by alignment and order distance, artificial languages"
    far = {
        c.column.split("/")[1]: c.mean
        for c in numbers.cells(experiment, profile)
        if c.system == DISTANCE
    }
    grids = {
        task: [gains(numbers, experiment, profile, task, "artificial", code) for code in far]
        for task in TASKS
    }
    if not far or not all(column for grid in grids.values() for column in grid):
        return nothing_to_draw(title, "the artificial languages were not all run")
    widest = max(abs(g.mean) for grid in grids.values() for column in grid for g in column) or 1.0
    drawing, (axes,) = new_panels(1, 2, 9, 3.6)
    sentences = []
    for (task, grid), axis in zip(grids.items(), axes, strict=True):
        _heat_map(axis, grid, list(far.values()), widest)
        axis.set(title=f"{task} ({profile})", ylabel="dictionary induction, P@1 (%)")
        flat = [g for column in grid for g in column]
        best = max(flat, key=lambda g: g.mean)
        sentences.append(
            f"{task}: from {number(min(g.mean for g in flat), 1, True)} to "
            f"{number(best.mean, 1, True)}, the highest at P@1 {number(best.p_at_1, 0)}"
        )
    return Figure(f"Heat maps. {title}, in points. {'; '.join(sentences)}.", drawing)


def _heat_map(
    axis: "Axes", grid: Sequence[Sequence[Gain]], far: Sequence[float], widest: float
) -> None:
    """Draw one grid: a column per distance, a row per level, best alignment on top."""
    from matplotlib.patches import Rectangle
    from seaborn import diverging_palette

    values = np.array([[g.mean for g in column] for column in grid]).T
    colours = diverging_palette(240, 30, s=90, l=55, as_cmap=True)
    axis.imshow(values, cmap=colours, vmin=-widest, vmax=widest, aspect="auto")
    for x, column in enumerate(grid):
        for y, gain in enumerate(column):
            axis.text(x, y, number(gain.mean, 1, True), ha="center", va="center", fontsize=7)
            if gain.sign != "0":
                axis.add_patch(
                    Rectangle((x - 0.48, y - 0.48), 0.96, 0.96, fill=False, lw=1.2, ec="black")
                )
    levels = [float(np.mean([column[y].p_at_1 for column in grid])) for y in range(len(grid[0]))]
    axis.set_xticks(range(len(far)), [number(d, 2) for d in far])
    axis.set_yticks(range(len(levels)), [number(p, 0) for p in levels])
    axis.set_xlabel("word-order distance to English")


@dataclass(frozen=True)
class Statement:
    """Sentences computed from records; as text a line without their numbers."""

    title: str
    sentences: tuple[str, ...]

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)

    def __repr__(self) -> str:
        """Return the title and the number of sentences."""
        return f"{self.title}: {len(self.sentences)} sentences computed from records"


def where_ort_is_ahead(numbers: ReproducedNumbers, experiment: str, profile: str) -> Statement:
    """Say at which levels the 95 % interval of ORT − TRS leaves out zero, and where it begins."""
    sentences = []
    for task in TASKS:
        found = gains(numbers, experiment, profile, task)
        sentences.append(_sentence(f"{task} ({profile})", found))
    for task in TASKS:
        codes = [
            c.column.split("/")[1]
            for c in numbers.cells(experiment, profile)
            if c.system == DISTANCE
        ]
        places = [
            g
            for code in codes
            for g in gains(numbers, experiment, profile, task, "artificial", code)
        ]
        if places:
            sentences.append(_counted(f"{task}, artificial languages ({profile})", places))
    return Statement(f"Where {FIRST} is ahead of {SECOND}", tuple(sentences))


def _counted(where: str, places: Sequence[Gain]) -> str:
    if any(np.isnan(g.low) for g in places):
        return f"{where}: one seed, so {FIRST} − {SECOND} has no interval anywhere."
    ahead, behind = (sum(g.sign == s for g in places) for s in "+-")
    return (
        f"{where}: of {len(places)} pairs of alignment and distance, the interval is above zero in "
        f"{ahead} and below zero in {behind}; by chance about {number(0.025 * len(places), 1)} "
        "each are expected."
    )


def _sentence(where: str, found: Sequence[Gain]) -> str:
    if not found:
        return f"{where}: {FIRST}, {SECOND} and P@1 were not all run."
    if any(np.isnan(g.low) for g in found):
        return f"{where}: one seed, so {FIRST} − {SECOND} has no interval at any level."
    ahead = [g for g in found if g.sign == "+"]
    behind = [g for g in found if g.sign == "-"]
    parts = [
        f"{where}: at {_places(ahead)} the 95 % interval of {FIRST} − {SECOND} lies above zero",
        f"at {_places(behind)} below zero",
    ]
    begins = _beginning(found)
    last = (
        f"an advantage of {FIRST} begins at P@1 {number(begins.p_at_1, 1)} ({begins.level}) and "
        "holds at every worse alignment"
        if begins
        else f"there is no alignment from which on {FIRST} is ahead at every worse one"
    )
    return f"{'; '.join(parts)}; {last}. {len(found)} levels were compared."


def _places(found: Sequence[Gain]) -> str:
    if not found:
        return "no level"
    return ", ".join(f"P@1 {number(g.p_at_1, 1)} ({g.level})" for g in found)


def _beginning(found: Sequence[Gain]) -> Gain | None:
    """Return the best-aligned level from which on every level has its interval above zero."""
    begins = None
    for gain in sorted(found, key=lambda g: g.p_at_1):
        if gain.sign != "+":
            break
        begins = gain
    return begins
