"""What only the word-order paper's pages show."""

import math
from collections.abc import Sequence
from statistics import fmean

import pandas as pd

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.conditions import commonest
from xlrepro.evidence.predicates import spearman
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import View, gather
from xlrepro.evidence.text import minus, number
from xlrepro.pages.plots import Figure, forest_plot, lines
from xlrepro.pages.tables import Cell, Table, framed, short_names
from xlrepro.papers.word_order.settings import SOURCE
from xlrepro.store import RecordStore
from xlrepro.trials import Record

DISTANCES = "word_order/table2"  # whose head prints the distance of each language to English


def majority_baseline(records: Sequence[Record], profile: str) -> Table:
    """Set each tagger beside naming a language's commonest tag throughout; means over targets.

    Args:
        records: with ``details["by_tag"]``: language -> tag -> [right, all].
        profile: theirs.
    """
    rows, systems = [], dict.fromkeys(system for record in records for system in record.systems)
    for system, called in short_names(systems, DISTANCES).items():
        own = [r.details for r in records if system in r.systems]
        counts = {code: tags for code, tags in own[0]["by_tag"].items() if code != SOURCE}
        common = {code: commonest(tags) for code, tags in counts.items()}
        scores = {
            code: fmean(
                100 * sum(right for right, _ in of["by_tag"][code].values())
                / sum(n for _, n in of["by_tag"][code].values())
                for of in own
            )
            for code in counts
        }  # fmt: skip
        below = sum(scores[code] < common[code] for code in counts)
        means = [fmean(each.values()) for each in (scores, common)]
        rows.append([called, len(counts), *(Cell(number(m), sort=m) for m in means), below])
    names = ("system", "languages", "tagger", "majority baseline", "languages below it")
    caption = f"Each tagger beside the majority baseline ({profile}): means over target languages."
    return Table(caption, framed(rows, *names), f"{profile}: {len(rows)} systems")


def differences_by_rate(view: View) -> Figure | None:
    """Draw ORT minus TRS in slots at each learning rate that both have; the tuned one is 0.002."""
    rows = [(f"rates:ORT, {rate}", f"rates:TRS, {rate}") for rate in ("0.001", "0.004")]
    pairs = [rows[0], ("word:ORT", "word:TRS"), rows[1]]
    gaps = [(*pair, gap) for pair in pairs if (gap := view.difference(*pair, "SF/avg"))]
    return forest_plot(gaps) if gaps else None


def gains_by_tag(view: View) -> Figure:
    """Draw the gains over TRS of the two classes compared, by word-order distance to English.

    Args:
        view: reproduced cells; columns are ``language/TAG``.
    """
    far, rows, names = _distances(), [], short_names(view.systems, view.experiment)
    for system in view.systems:
        base = f"{system.partition(':')[0]}:TRS"
        for column in view.columns:
            code, _, tag = column.partition("/")
            gap = view.difference(system, base, column) if system != base else None
            if gap is None or code not in far or tag not in ("NOUN", "VERB"):
                continue  # the tables have the other classes, and intervals
            panel = minus(names[system], names[base])
            rows.append((panel, tag, far[code], gap.mean, math.nan, math.nan, system, column))
    frame = framed(rows, "panel", "series", "x", "value", "low", "high", "system", "column")
    frame = frame.groupby("panel", sort=False).filter(lambda of: of["x"].nunique() > 1)
    entry = load_catalog().experiment(view.experiment)
    title = f"Gain over TRS on nouns and verbs ({view.profile})"
    title += entry.proxies(view.profile, frame["system"], frame["column"])
    xlabel = "word-order distance to English, as reported"
    return lines(frame, title, xlabel=xlabel, ylabel="points", joined=False)


def _distances() -> dict[str, float]:
    """Return the distance of each target language to English, as the paper reports it."""
    entry = load_catalog().experiment(DISTANCES)
    left_out = {*entry.source_columns, *entry.average_columns}
    cells = load_reported().cells(DISTANCES, context=True)
    return {c.column: c.value for c in cells if c.value is not None and c.column not in left_out}


def gain_against_distance(frame: pd.DataFrame) -> Figure:
    """Draw the gain of ORT over TRS against the word-order distance, a point a language.

    The reported one stands beside it, at reported distances; ours is at those that we computed, as
    the claim on it has it. The series' names give Spearman's correlation.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
    """
    printed, rows = _distances(), []
    records = RecordStore().records("word_order/distances", str(frame["profile"].iloc[0]))
    computed = {cell.column: cell.mean for cell in gather(records) if cell.column in printed}
    for what, far in (("reported", printed), ("reproduced", printed | computed)):
        part = frame[(frame["block"] == "word") & frame["column"].isin(far)]
        table = part.pivot(index="column", columns="name", values=what)[["ORT", "TRS"]].dropna()
        gain = (table["ORT"] - table["TRS"]).astype(float)
        places = [far[c] for c in gain.index]
        rho = spearman(places, gain.tolist())[0] if len(gain) > 1 else math.nan
        series = f"{what}: ρ = {number(rho)}, {len(gain)} languages"
        rows += [("", series, round(far[c], 3), v, math.nan, math.nan, c * (what == "reproduced"))
                 for c, v in gain.items()]  # fmt: skip
    tidy = framed(rows, "panel", "series", "x", "value", "low", "high", "name")
    return lines(tidy, "Gain of ORT over TRS", joined=False, ylabel="gain (points)",
                 xlabel="word-order distance to English")  # fmt: skip
