"""Senses drawn: how many are left along the training, and what is near those of chosen words."""

from collections import Counter
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
from xlrepro.papers.sense_alignment.purity import BANDS
from xlrepro.trials.record import Record

NAMED = 2  # of the other words near a sense, so many are written out
MOST_WORDS = 4  # panels of a model
Named = tuple[str, float, float, str]  # name, x, y, colour
DRAWN = ("SaELMo", "Bi-SaELMo")  # as the paper: Figures 4 and 6, and Figures 5 and 7


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
    """Draw the senses of chosen words and what is nearest to them, a plane per model and word.

    Args:
        records: of Figures 4 to 7; of each of ``DRAWN`` the first one with neighbours is drawn.
        profile: theirs.
    """
    ordered = sorted(records, key=lambda r: r.seed)
    looked_at: dict[str, dict[str, Any]] = {}
    for name, record in product(DRAWN, ordered):
        if record.systems == (f"vectors:{name}",) and record.details.get("neighbours"):
            looked_at.setdefault(name, record.details["neighbours"])
    title = f"Sense vectors and their nearest ({profile})"
    if not looked_at:
        return nothing_to_draw(title, "no language model was looked at")
    senses_of = Counter[str]()
    for words in looked_at.values():
        senses_of.update({word: len(senses) for word, senses in words.items()})
    several = sorted(senses_of, key=lambda word: -senses_of[word])[:MOST_WORDS]
    rows, columns = len(looked_at), len(several)
    drawing, grid = new_panels(rows, columns, 2.6 * columns, 0.4 + 2.4 * rows)
    planes: dict[Any, list[Named]] = {}
    near: list[str] = []
    for row, (name, words) in zip(grid, looked_at.items(), strict=True):
        for axes, word in zip(row, several, strict=True):
            if word not in words:
                axes.set_axis_off()
                continue
            planes[axes] = _plane(axes, f"{name}\n{word}", word, words[word])
            near += _said(name, word, words[word])
    drawing.suptitle(title)
    for axes, named in planes.items():  # after all titles: they move the panels
        name_points(axes, [n[:3] for n in named], [n[3] for n in named])
    alt = "Scatter plots of sense vectors, a panel per model and word. Other words near "
    return Figure(f"{alt}{'; '.join(near)}.", drawing)


def _plane(axes: Any, title: str, word: str, senses: Sequence[dict[str, Any]]) -> list[Named]:
    """Draw a word's senses as large dots and what is near each in the same colour.

    Returns:
        What is to be written beside the points.
    """
    named: list[Named] = []
    for sense, colour in zip(senses, PALETTE, strict=False):
        near = sense["nearest"]
        axes.scatter([n[3] for n in near], [n[4] for n in near], s=8, color=colour)
        axes.scatter(*sense["place"], s=48, color=colour, marker="D")
        named += [(name, x, y, colour) for name, _, _, x, y in _others(word, sense)]
    axes.set_title(f"{title}, {len(senses)} sense{'s' * (len(senses) > 1)}")
    axes.set(xticks=[], yticks=[])
    axes.margins(0.3, 0.1)  # room for names
    return named


def _others(word: str, sense: dict[str, Any]) -> list[Any]:
    """Return the other words nearest to a sense of a word, each once, as records have them."""
    near = sense["nearest"]
    others = {n[0]: n for n in reversed(near) if n[0] != word}
    return sorted(others.values(), key=near.index)[:NAMED]


def _said(model: str, word: str, senses: Sequence[dict[str, Any]]) -> list[str]:
    """Return, per sense that is drawn, the words that are written out."""
    drawn = senses[: len(PALETTE)]
    return [
        f"{model}'s {word}, sense {sense['sense']}: {', '.join(n[0] for n in _others(word, sense))}"
        for sense in drawn
    ]
