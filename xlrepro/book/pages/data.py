"""The page on data: the registry as tables."""

from xlrepro.data.registry import Dataset, list_datasets
from xlrepro.evidence.tables.table import Entry, Table, headings

MEGABYTE = 1_000_000


def registry_table() -> str:
    """Return the overview of all registered data sets as HTML."""
    rows = [_row(dataset) for dataset in list_datasets()]
    names = ("data set", "what it is", "licence", "may be passed on", "languages", "files", "MB")
    caption = "Registered data sets; sizes are those of the unpacked content."
    return Table(caption, headings(*names, numeric=("languages", "files", "MB")), tuple(rows)).html


def _row(dataset: Dataset) -> tuple[Entry, ...]:
    size = dataset.bytes / MEGABYTE
    return (
        Entry(dataset.name, code=True),
        Entry(dataset.title),
        Entry(dataset.licence),
        Entry("yes" if dataset.redistributable else "no"),
        Entry(str(len(dataset.languages)), sort=len(dataset.languages)),
        Entry(str(len(dataset.files)), sort=len(dataset.files)),
        Entry(f"{size:.1f}", sort=size),
    )


def registry_details() -> str:
    """Return one section per data set: home, citation, counts, deviations."""
    return "\n\n".join(_section(dataset) for dataset in list_datasets())


def _section(dataset: Dataset) -> str:
    lines = [
        f"### {dataset.title}",
        "",
        f"`{dataset.name}` · home: {dataset.home}",
        "",
        f"Cite: {' '.join(dataset.citation.split())}",
    ]
    if dataset.deviations:
        lines += ["", "What differs from the papers' data or from the official release:", ""]
        lines += [f"- {' '.join(text.split())}" for text in dataset.deviations]
    return "\n".join([*lines, "", _files_table(dataset).html])


def _files_table(dataset: Dataset) -> Table:
    units = list(dict.fromkeys(unit for f in dataset.files.values() for unit in f.counts))
    rows = []
    for name, file in dataset.files.items():
        counts = [_count(file.counts.get(unit)) for unit in units]
        checksum = Entry(f"{file.sha256[:12]}…", title=file.sha256, code=True)
        rows.append((Entry(name, code=True), *counts, _count(file.bytes), checksum))
    caption = f"Files of {dataset.name}; counts are checked when a file is read."
    head = headings("file", *units, "bytes", "SHA-256 of the content", numeric=(*units, "bytes"))
    return Table(caption, head, tuple(rows))


def _count(value: int | None) -> Entry:
    return Entry("–") if value is None else Entry(f"{value:,}", sort=value)
