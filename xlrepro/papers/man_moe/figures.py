"""What only the MAN-MoE paper's pages show: gates, and the sizes of corpora."""

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import View
from xlrepro.pages.plots import Figure, heat
from xlrepro.pages.tables import Cell, Table, framed

COUNT = "count"  # the unit of the size of a corpus


def gate_weights(view: View) -> Figure:
    """Draw the average weight of each source's expert, less an equal share, a row per target.

    A gate that cannot tell languages apart gives each expert its share: 0.

    Args:
        view: reproduced cells, fractions; a column is ``"target/source"``.
    """
    import pandas as pd

    weights: dict[str, dict[str, float]] = {}
    entry = load_catalog().experiment(view.experiment)
    for system in view.systems:
        for cell in view.of(system):
            target, source = map(entry.column_name, cell.column.split("/"))
            row = f"{entry.row_name(system)}, {target}"
            weights.setdefault(row, {})[source] = cell.mean
    above = {row: {s: w - 1 / len(of) for s, w in of.items()} for row, of in weights.items()}
    table = pd.DataFrame.from_dict(above, orient="index")
    title = f"Mean gate weight of each source's expert above chance ({view.profile}){view.proxies}"
    return heat(table, title, unit="weight − 1/sources", decimals=3)


def corpus_sizes(view: View) -> Table:
    """Return the sizes that the paper prints of its corpus, and ours below them.

    Args:
        view: reproduced cells; those that count are shown: a system is a language, a column
            ``domain/split``.
    """
    sizes: dict[tuple[str, str, str], dict[str, Cell]] = {}
    called = load_catalog().experiment(view.experiment).column_name
    for printed in load_reported().cells(view.experiment, context=True):
        domain, kind = (*printed.column.split("/"), "")[:2]
        if printed.unit == COUNT:
            entry = Cell(printed.printed, sort=printed.value, title=printed.source)
            sizes.setdefault(("the paper", called(printed.name), domain), {})[kind] = entry
    for cell in view.cells:
        if cell.unit == COUNT:
            domain, kind = cell.column.split("/")
            whose = (f"here ({view.profile})", called(cell.system.partition(":")[2]), domain)
            sizes.setdefault(whose, {})[kind] = Cell(f"{cell.mean:.0f}", sort=cell.mean)
    kinds = list(dict.fromkeys(kind for of in sizes.values() for kind in of))
    rows = [[*of, *(counts.get(kind, "–") for kind in kinds)] for of, counts in sizes.items()]
    caption = f"Sizes of the corpora, the paper's and ours ({view.profile})."
    return Table(caption, framed(rows, "corpus", "language", "domain", *kinds))


# Headings -> paths in the details of a record, for `page.details`.
GATE_ACCURACY = {"accuracy of the gate": "experiments.*.gate_accuracy.*"}
GATE_CAPTION = (
    "How often the gate's largest weight is that of a token's own language: percent of the tokens "
    "of the sources' dev texts, by target and source; chance is one in as many as there are sources"
)
REDIRECTS = {
    "F1 without redirects": "experiments.*.without_left_out.score",
    "left out": "experiments.*.without_left_out.sentences",
}
# Task as printed -> experiment and system; printed setting -> ours, for `page.reported_settings`.
TASKS = {
    "Slot Filling": ("man_moe/table2", "without:MAN-MoE"),
    "CoNLL NER": ("man_moe/table4", "without:MAN-MOE+CharCNN"),
    "Amazon": ("man_moe/table5", "without:MAN-MoE"),
}
SETTINGS = {"lambda_1": "lambda1", "lambda_2": "lambda2", "k": "discriminator_steps"}
