"""How much data there is: the counts that a paper prints of its corpus, and ours below them."""

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.tables.table import Entry, Table, listing
from xlrepro.evidence.view import View

COUNT = "count"  # the unit of such cells
Row = tuple[str, str, str]  # whose corpus, language, domain


def sizes_table(view: View) -> Table:
    """Render the printed counts and ours: a row per language and domain, a column per split.

    Args:
        view: reproduced cells; those with the unit ``count`` are shown. A system is a language
            (``corpus:th``), a column ``domain/split`` or ``domain/slot types``.
    """
    rows: dict[Row, dict[str, Entry]] = {}
    for cell in load_reported().cells(view.experiment, context=True):
        if cell.unit == COUNT:
            domain, kind = cell.column.split("/")[:2]  # a split, or what has no split
            entry = Entry(cell.printed, sort=cell.value, title=cell.source)
            rows.setdefault(("paper", cell.name, domain), {})[kind] = entry
    for counted in view.cells:
        if counted.unit == COUNT:
            domain, kind = counted.column.split("/")
            whose = (f"here ({view.profile})", counted.system.partition(":")[2], domain)
            rows.setdefault(whose, {})[kind] = Entry(f"{counted.mean:.0f}", sort=counted.mean)
    kinds = list(dict.fromkeys(kind for counts in rows.values() for kind in counts))
    body = [(*row, *(counts.get(kind, "–") for kind in kinds)) for row, counts in rows.items()]
    stand_in = load_catalog().experiment(view.experiment).stand_ins.get(view.profile)
    caption = "Sizes of the corpora: the paper's as printed, ours as they are"
    caption += f"{f' ({stand_in.data})' if stand_in else ''}; a trial may read less of them."
    summary = f"{view.experiment}, {view.profile}: sizes of {len(body)} corpora"
    return listing(caption, ("corpus", "language", "domain"), kinds, body, summary)
