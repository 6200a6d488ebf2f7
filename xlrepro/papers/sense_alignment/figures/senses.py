"""Senses drawn: how many are left along the training, and what is near those of chosen words."""

from collections.abc import Sequence
from itertools import product
from statistics import fmean
from typing import Any

from xlrepro.evidence.figures.drawing import (
    Figure,
    legend_below,
    name_points,
    new_panels,
    nothing_to_draw,
    styled,
)
from xlrepro.evidence.figures.row_plot import PALETTE
from xlrepro.evidence.tables.table import number
from xlrepro.papers.sense_alignment.growth import BANDS
from xlrepro.trials.record import Record

NAMED = 2  # of what is near a sense, so many are written out
MOST_WORDS = 4  # panels


@styled
def alive_along_the_training(records: Sequence[Record], profile: str) -> Figure:
    """Draw how many senses a word has after each step: a panel per model, the mean of its seeds.

    Models stand beside each other, their variants below them.

    Args:
        records: of Tables 6 to 8; those with ``details["alive"]`` are drawn.
        profile: theirs.
    """
    title = f"Senses alive per word ({profile})"
    curves: dict[str, list[Any]] = {}
    for record in records:
        if record.details.get("alive"):
            name = record.systems[0].partition(":")[2]
            curves.setdefault(name, []).append(record.details["alive"])
    if not curves:
        return nothing_to_draw(title, "no language model with several senses was run")
    models, variants = (sorted({name.partition(" (")[part] for name in curves}) for part in (0, 2))
    rows, columns = len(variants), len(models)
    size = (2.6 * columns, 0.6 + 2.2 * rows)
    drawing, grid = new_panels(rows, columns, *size, sharey=True)
    sentences = []
    for (row, variant), (column, model) in product(enumerate(variants), enumerate(models)):
        axes, name = grid[row][column], f"{model} ({variant}" if variant else model
        if name not in curves:
            axes.set_axis_off()
            continue
        runs = curves[name]
        steps = [row[0] for row in runs[0]]
        ends = []
        for band, colour, place in zip(BANDS, PALETTE, range(1, 4)):
            means = [fmean(run[i][place] for run in runs) for i in range(len(steps))]
            axes.plot(steps, means, color=colour, label=band)
            ends.append(f"{number(means[-1], 2)} of {band}")
        axes.set_title(name)
        sentences.append(f"{name} ends with {', '.join(ends)}")
        if row == rows - 1:
            axes.set_xlabel("steps")
        if not column:
            axes.set_ylabel("senses per word")
    drawing.suptitle(title)
    drawn = [axes for axes in drawing.axes if axes.lines]
    for axes in drawn:  # after all: a limit that is set ends the fitting to what is drawn
        axes.set_ylim(bottom=0)
    legend_below(drawing, drawn[0], across=len(BANDS))
    return Figure(f"Line chart of the senses alive per word. {'; '.join(sentences)}.", drawing)


@styled
def near_the_senses(records: Sequence[Record], profile: str) -> Figure:
    """Draw the senses of chosen words and what is nearest to them, a plane per word.

    Args:
        records: of Figures 4 to 7; the first one of SaELMo with neighbours is drawn.
        profile: theirs.
    """
    title = f"Sense vectors of SaELMo and their nearest ({profile})"
    ordered = sorted(records, key=lambda r: r.seed)
    drawn = next((r for r in ordered if r.systems == ("vectors:SaELMo",)), None)
    words = drawn.details.get("neighbours", {}) if drawn else {}
    if not words:
        return nothing_to_draw(title, "no language model was looked at")
    several = sorted(words, key=lambda word: -len(words[word]))[:MOST_WORDS]
    drawing, grid = new_panels(1, len(several), 2.6 * len(several), 2.8)
    for axes, word in zip(grid[0], several, strict=True):
        _plane(axes, word, words[word])
    drawing.suptitle(title)
    nearest = "; ".join(
        f"{word}, sense {sense['sense']}: {', '.join(near[0] for near in sense['nearest'][:NAMED])}"
        for word in several
        for sense in words[word]
    )
    return Figure(
        f"Scatter plots of sense vectors, a panel per word. Nearest to {nearest}.", drawing
    )


def _plane(axes: Any, word: str, senses: Sequence[dict[str, Any]]) -> None:
    """Draw a word's senses as large dots and what is near each in the same colour."""
    names, colours = [], []
    for sense, colour in zip(senses, PALETTE, strict=False):
        near = sense["nearest"]
        axes.scatter([n[3] for n in near], [n[4] for n in near], s=8, color=colour)
        axes.scatter(*sense["place"], s=48, color=colour, marker="D")
        names += [(name, x, y) for name, _, _, x, y in near[:NAMED]]
        colours += [colour] * len(near[:NAMED])
    axes.set(title=f"{word}, {len(senses)} senses" if len(senses) > 1 else f"{word}, 1 sense")
    axes.set_xticks([])
    axes.set_yticks([])
    name_points(axes, names, colours)
