"""How well open vectors cover and align languages: the means over languages."""

import math
from statistics import fmean

from xlrepro.evidence.figures.plots import looks_of, short_names
from xlrepro.evidence.figures.row_plot import Mark, Row, RowPlot
from xlrepro.evidence.tables.table import number
from xlrepro.evidence.view import View


def over_languages(view: View) -> RowPlot:
    """Draw each measure's mean over languages, a mark per set of vectors.

    Args:
        view: reproduced cells, percent; a column is ``"language/measure"``. A measure counts the
            languages for which all sets that have it were measured.
    """
    title = f"Means over languages ({view.profile})"
    by_measure: dict[str, dict[str, dict[str, float]]] = {}
    for cell in view.cells:
        language, _, measure = cell.column.partition("/")
        by_measure.setdefault(measure, {}).setdefault(cell.system, {})[language] = cell.mean
    look_of, names = looks_of(view.experiment, view.systems), short_names(view.systems)
    rows, said = [], []
    for measure, by_system in by_measure.items():
        shared = set.intersection(*(set(of) for of in by_system.values()))
        means = {s: fmean(of[lang] for lang in shared) for s, of in by_system.items() if shared}
        marks = tuple(Mark(mean, math.nan, math.nan, look_of[s]) for s, mean in means.items())
        rows.append(Row(f"{measure} ({len(shared)})", marks))
        said += [f"{measure}, {names[s]}: {number(mean, 1)}" for s, mean in means.items()]
    return RowPlot(
        title, f"Dot plot, in brackets the number of languages. {'; '.join(said) or 'Not run'}.",
        "percent", tuple(rows), tuple((names[s], look_of[s]) for s in view.systems),
        bounds=(0.0, 100.0),
    )  # fmt: skip
