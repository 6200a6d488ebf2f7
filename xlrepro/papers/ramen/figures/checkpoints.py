"""Figure 2: the score of each language at each checkpoint, a panel per task."""

from xlrepro.evidence.figures.drawing import (
    Figure,
    legend_below,
    new_panels,
    nothing_to_draw,
    styled,
)
from xlrepro.evidence.figures.panels import line_with_intervals
from xlrepro.evidence.figures.row_plot import PALETTE
from xlrepro.evidence.reproduced import ReproducedCell
from xlrepro.evidence.tables.table import number
from xlrepro.evidence.view import View

NAMES = {"0k": "start", "25k": "embeddings", "175k": "end"}
MARKERS = "osD^v*PX"


@styled
def scores_at_checkpoints(view: View) -> Figure:
    """Draw the score of each language at each checkpoint, with 95 % intervals.

    Args:
        view: reproduced cells; a column is ``task/language/updates``.
    """
    cells = view.cells
    if not cells:
        return nothing_to_draw("Scores while embeddings and then the encoder are tuned", "no run")
    tasks = list(dict.fromkeys(cell.column.split("/")[0] for cell in cells))
    drawing, (panels,) = new_panels(1, len(tasks), 3.6 * len(tasks) + 0.6, 3.6, sharey=False)
    sentences = []
    for task, axes in zip(tasks, panels, strict=True):
        task_cells = [cell for cell in cells if cell.column.startswith(f"{task}/")]
        axes.set_title(f"{task} ({view.profile})", fontsize=9)
        axes.set_xticks(range(len(NAMES)), list(NAMES.values()))
        axes.set_ylabel(f"{task_cells[0].metric} ({task_cells[0].unit})")
        lines: dict[str, dict[str, ReproducedCell]] = {}
        for cell in task_cells:
            _, language, point = cell.column.split("/")
            lines.setdefault(language, {})[point] = cell
        for index, (language, points) in enumerate(lines.items()):
            shown = [name for name in NAMES if name in points]
            line_with_intervals(
                axes,
                [list(NAMES).index(name) + 0.03 * (index - (len(lines) - 1) / 2) for name in shown],
                [points[name] for name in shown],
                color=PALETTE[index % len(PALETTE)],
                marker=MARKERS[index % len(MARKERS)],
                label=language,
            )
            ends = " to ".join(number(points[name].mean) for name in (shown[0], shown[-1]))
            sentences.append(f"{task}, {language}: {ends}")
    legend_below(drawing, panels[0], across=4)
    return Figure(
        "Lines with 95 % intervals from the start over the tuned embeddings to the end, a panel "
        f"per task. {'; '.join(sentences)}.",
        drawing,
    )
