"""What stands behind the rows: each adaptation, what it read and what it learnt."""

from collections.abc import Mapping, Sequence
from typing import Any

from xlrepro.evidence.tables.table import Table, listing, number
from xlrepro.trials.record import Record

# 72 sequences of 256 pieces: 25,000 updates in one language, 150,000 in two: 5.99 billion.
PAPER_PIECES = 72 * 256 * (25_000 + 2 * 150_000)
KINDS = ("random", "mono", "parallel")
COLUMNS = (
    "rows that are mixtures",
    "pieces, embeddings alone",
    "pieces, everything",
    "named at the start, %",
    "after the embeddings, %",
    "at the end, %",
    "minutes",
)


def adaptations_table(records: Sequence[Record], profile: str) -> Table:
    """Show each adaptation: how it began, pieces read, held-out pieces named, minutes.

    Args:
        records: of a page; those on a multilingual encoder have none.
        profile: of the records.
    """
    logs: dict[tuple[str, str], Mapping[str, Any]] = {}
    for record in records:
        settings = record.details["settings"].get("adaptation")
        for target, log in record.details.get("adaptation", {}).items():
            logs[target, _begins(settings["initialisation"])] = log
    rows = [_row(*key, log) for key, log in sorted(logs.items(), key=_place)]
    caption = f"Adaptations ({profile}). {_caption(list(logs.values()))}"
    summary = f"{profile}: {len(rows)} adaptations"
    return listing(caption, ("language", "begins"), COLUMNS, rows, summary)


def _begins(initialisation: Mapping[str, Any]) -> str:
    kind = str(initialisation["kind"])
    return kind if initialisation.get("random_rows", "code") == "code" else f"{kind}, text"


def _place(item: tuple[tuple[str, str], Any]) -> tuple[str, int]:
    (target, begins), _ = item
    return target, KINDS.index(begins.partition(",")[0])


def _row(target: str, begins: str, log: Mapping[str, Any]) -> tuple[str, ...]:
    seconds = log["embeddings"]["seconds"] + log["end"]["seconds"]
    named = (log.get("start"), log["embeddings"], log["end"])
    return (
        target,
        begins,
        f"{log['estimated']:,} of {log['vocabulary']:,}",
        *(f"{log[stage]['pieces']:,}" for stage in ("embeddings", "end")),
        *(_share(stage["held_out"]) if stage else "" for stage in named),
        number((log["initialisation_seconds"] + seconds) / 60, 1),
    )


def _share(held_out: Sequence[int]) -> str:
    right, hidden = held_out
    return number(100 * right / hidden, 1) if hidden else ""


def _caption(logs: Sequence[Mapping[str, Any]]) -> str:
    if not logs:
        return "No row here is adapted."
    read = {log["embeddings"]["pieces"] + log["end"]["pieces"] for log in logs}
    pieces = " to ".join(f"{n:,}" for n in sorted({min(read), max(read)}))
    english = logs[0]["english"]["all"]
    return (
        f"One adaptation stands behind each row: how much another would differ is not seen. Each "
        f"read {pieces} pieces, both languages together; the paper's read about "
        f"{PAPER_PIECES / 1e9:.1f} billion. Named are hidden pieces of held-out text; the English "
        f"model before it names {_share(english['held_out'])} % of English ones, after "
        f"{english['pieces']:,} pieces."
    )
