"""Pages about all papers: at a glance, claims, experiments, deviations, errata, downloads, data."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd
from markupsafe import Markup

from xlrepro.data.registry import list_datasets
from xlrepro.evidence import claims
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.compare import ABOVE, BELOW, WITHIN
from xlrepro.evidence.deviations import load_deviations, load_errata
from xlrepro.evidence.gathered import load_evidence
from xlrepro.evidence.provenance import total_cost, trainings_sentence
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.text import number
from xlrepro.pages import findings, tables
from xlrepro.pages.plots import colours_of, lines
from xlrepro.pages.tables import Cell, Table, framed, markup, titled
from xlrepro.paths import data_dir, project_root
from xlrepro.trials import PUBLISHED

RECORDS = {"key", "experiment", "profile", "seed", "systems", "settings", "started", "wall_seconds",
           "training_tokens", "device", "cells"}  # fmt: skip


def table(caption: str, rows: Iterable[Sequence[Any]], *columns: str) -> Markup:
    """Return a table that sorts and filters; cells are text, numbers or `Cell`."""
    return Table(caption, framed(rows, *columns))._repr_html_()


# -- At a glance -----------------------------------------------------------------------------


def glance() -> Markup:
    """Return five papers at a glance: claim, effect reported and ours, verdict, what it needs."""
    rows = []
    for key, paper in load_catalog().papers.items():
        head = findings.read(key)[0]
        rows.append({"key": key, "paper": paper, "head": head, **findings.compared(key, head.main)})
    return markup("glance", rows, findings.AXIS)


def answer() -> str:
    """Return the answer to the book's title, in a few sentences with true counts, as Markdown."""
    evidence, papers = load_evidence(), load_catalog().papers
    main = [findings.compared(paper, findings.read(paper)[0].main)["verdict"] for paper in papers]
    found = Counter(verdict.status if verdict else claims.NOT_RUN for verdict in main)
    counts = sum((Counter(evidence.tally(paper)) for paper in papers), Counter[str]())
    judged = [[evidence.verdicts(p)[c.id]["open"] for c in evidence.claims(p) if c.counted]
              for p in papers]  # fmt: skip
    signs = sum(v.status == claims.REPLICATES and v.form != "" for of in judged for v in of if v)
    kept = sum(map(claims.kept_at_five_percent, judged))
    decided = counts[claims.REPLICATES] + counts[claims.CONTRADICTS]
    cells, all_runs = numbers(), [r for r in evidence.records if r.profile in PUBLISHED]
    return (
        "On open data, of the five main comparisons, each the core of a paper's claim, "
        f"{'none replicates: ' * (not found[claims.REPLICATES])}{claims.counted(found)}. "
        f"Of the {counts.total()} checkable sentences of the papers, {claims.counted(counts)}. Of "
        f"those that replicate, {signs} do so in sign only, because other data cannot test a size. "
        f"Corrected within each paper (false discovery rate 5 %), {kept} of the {decided} that "
        "replicate or are contradicted stay significant. "
        f"Of {cells['reported']:,} reported numbers, {cells['run']:,} stand beside one of ours, "
        f"nearly all on proxies. {cells['scores'] or 'None'} of our scores of trained systems "
        "rests on all of a paper's own data and vectors, so the reported values are neither "
        "confirmed nor refuted. Cost in all: "
        f"{total_cost(all_runs).brief('{:,}'.format)}."
    )


def numbers() -> dict[str, int]:
    """Return how many reported numbers there are, and were run; and how many of these are scores of
    systems trained on a paper's own data, word vectors and encoders.
    """
    catalog, cells = load_catalog(), load_evidence().cells
    both = cells[cells["reported"].notna() & cells["reproduced"].notna()].copy()
    both["system"] = [catalog.experiment(key).reference(system)
                      for key, system in zip(both["experiment"], both["system"])]  # fmt: skip
    place = ["experiment", "system", "column"]
    own = both[both["verdict"].isin((WITHIN, ABOVE, BELOW))]
    reported = {(k, c.system, c.column) for k in catalog.experiments
                for c in load_reported().cells(k) if c.value is not None}  # fmt: skip
    exact = own["experiment"].map(lambda key: catalog.experiment(key).deterministic).astype(bool)
    shown = {"run": both, "scores": own[~exact]}
    counts = {name: len(frame.drop_duplicates(place)) for name, frame in shown.items()}
    return {"reported": len(reported), **counts}


def in_short() -> str:
    """Return what was found out: the first item of every findings page, by paper."""
    papers = load_catalog().papers
    return "\n".join(f"- **{{doc}}`{paper.menu} <{key}/findings>`**: {findings.in_short(key)[0]}"
                     for key, paper in papers.items())  # fmt: skip


# -- Claims and experiments --------------------------------------------------------------------


def _verdict(paper: str, verdict: claims.ClaimVerdict | None) -> Cell:
    if verdict is None:
        return Cell("–")
    status, form = verdict.status, ", sign only" if verdict.form and verdict.p else ""
    said = verdict.note.removeprefix(f"{status}: ").split("; ")
    if status != claims.NOT_RUN:
        first = said[:1] * (status in (claims.NOT_TESTABLE, claims.INCONCLUSIVE))
        said = [*first, *(part for part in said[len(first) :] if part.startswith("on proxies"))]
    why = titled("; ".join(said), paper)
    return Cell(f"{claims.SIGNS.get(status, '')} {status}{form}".strip(), why, kind=status)


def all_claims() -> Markup:
    """Return the papers' sentences with their verdicts on the reported numbers and at open."""
    evidence, rows = load_evidence(), []
    for key, paper in load_catalog().papers.items():
        for claim in (c for c in evidence.claims(key) if c.counted):
            verdicts = [evidence.verdicts(key)[claim.id].get(on) for on in ("open", "reported")]
            place = Cell(claim.id, paper.menu, href=f"{key}/claims.html#{claim.id}")
            rows.append((place, claim.text, *(_verdict(key, each) for each in verdicts)))
    return table("The papers' sentences and their verdicts.", rows, "id", "sentence",
                 "at open", "on the reported numbers")  # fmt: skip


def claims_summary(paper: str) -> Markup:
    """Return how many of a paper's own sentences have each verdict, by what they are judged on."""
    evidence = load_evidence()
    verdicts, own = evidence.verdicts(paper), [c.id for c in evidence.claims(paper) if c.counted]
    tallies = ((on, evidence.tally(paper, on)) for on in next(iter(verdicts.values())))
    counts = {on: of for on, of in tallies if {s for s in of if of[s]} - {claims.NOT_RUN}}
    shown = [s for s in claims.STATUSES if any(each[s] for each in counts.values())]
    judged = [verdicts[claim]["open"] for claim in own]
    tested = [v for v in judged if v is not None and v.p]
    kept = claims.kept_at_five_percent(judged)
    caption = (
        f"The paper's {len(own)} sentences, by verdict. At open {len(tested)} were tested"
        + f"; {kept} of these stay{'s' * (kept == 1)} significant in one direction at a false "
        "discovery rate of 5 % (Benjamini–Hochberg)" * bool(tested) + "."
    )  # fmt: skip
    # Additional rows that nobody ran for a claim say nothing of it
    rows = [[s, *("–" if s == claims.NOT_RUN and ", " in on else counts[on][s] for on in counts)]
            for s in shown]  # fmt: skip
    return table(caption, rows, "verdict, judged on", *(titled(on, paper) for on in counts))


def experiments() -> Markup:
    """Return every experiment: how its cells compare, and what it cost."""
    evidence, rows = load_evidence(), []
    for key, entry in load_catalog().experiments.items():
        records, cells = evidence.of(key), evidence.frame(key, "open")
        counts = cells["verdict"].value_counts(sort=False).items() if records else ()
        cost = total_cost(records)
        reported = sum(cell.value is not None for cell in load_reported().cells(key))
        rows.append((
            Cell(key, entry.title, href="" if entry.shown_on else f"{key}.html"),
            reported, ", ".join(f"{n} {verdict}" for verdict, n in counts),
            Cell(cost.brief(), ", ".join(cost.devices), sort=cost.wall_seconds),
        ))  # fmt: skip
    caption = "Every experiment: reported numbers, how cells at open compare, and what it cost. "
    published = [r for r in evidence.records if r.profile in PUBLISHED]
    caption += f"In all: {total_cost(published).brief()}; a trial that several share counts once."
    return table(caption, rows, "experiment", "reported numbers", "our cells at open", "cost")


def comparison(key: str, columns: str = "") -> Markup:
    """Return the cells at open of an experiment without a page, and their records.

    Args:
        key: the experiment.
        columns: what the names of the columns contain.
    """
    frame, records = load_evidence().frame(key, "open"), load_evidence().of(key, ["open"])
    found = frame[frame["column"].str.contains(columns)]
    behind = tables.provenance_table(records).frame[["systems", "seeds", "records"]]
    shown = (*tables.comparison_tables(found), Table("The records behind them.", behind))
    return Markup("\n\n").join(Markup(each._repr_html_()) for each in shown)


def curves(
    key: str, path: str, panels: Mapping[str, str], systems: Mapping[str, str], **axes: Any
) -> Markup:
    """Return how the trainings behind cells at open went: a panel per column, a line per seed.

    Args:
        key: the experiment.
        path: dotted, of the curve in a record's details: a value per epoch, or pairs of step and
            value; ``*`` is the column.
        panels: title -> column.
        systems: row -> what to call it.
        axes: ``title``, ``xlabel`` and ``ylabel``.
    """
    evidence, rows, shown = load_evidence(), [], {}
    records = {r.key: r for r in evidence.of(key, ["open"])}
    for (title, column), (system, name) in product(panels.items(), systems.items()):
        cell = evidence.numbers.get(key, "open", system, column)
        for record in [records[k] for k in cell.keys] if cell else ():
            details = pd.json_normalize(record.details).iloc[0]
            points = details[path.replace("*", column)]
            pairs = [p if isinstance(p, list) else (i, p) for i, p in enumerate(points, 1)]
            rows += [(title, name, record.seed, *pair, math.nan, math.nan) for pair in pairs]
            shown[record.key] = record
    frame = framed(rows, "panel", "series", "seed", "x", "value", "low", "high")
    known = dict(zip(systems.values(), colours_of(key, list(systems)).values(), strict=True))
    figure = Markup(lines(frame, known=known, **axes)._repr_html_())
    ended = trainings_sentence(list(shown.values()))
    return figure + markup("paragraphs", [ended]) if ended else figure


# -- Deviations, errata, benchmarks, data ------------------------------------------------------


def deviations() -> str:
    """Return all deviations by paper, each section with a heading, as Markdown."""
    evidence, parts, touched = load_evidence(), [], defaultdict(list)
    for paper in load_catalog().papers:
        for claim in evidence.claims(paper):
            for deviation in evidence.touching(claim):
                touched[deviation.id].append(claim)
    for paper, entry in load_catalog().papers.items():
        own = [d for d in load_deviations() if d.experiments[0].startswith(f"{paper}/")]
        parts.append(f"## {entry.menu}\n\n{markup('deviations', own, '', touched)}")
    return "\n\n".join(parts)


def errata() -> Markup:
    """Return the errata of the papers, and stricter readings of ours that do not hold."""
    rows = []
    for e in sorted(load_errata(), key=lambda e: e.kind == "reading"):
        kind = "reading of ours" if e.kind == "reading" else e.kind
        link = f"{e.paper}/claims.html#{e.claim}" if e.claim else ""
        paper = load_catalog().paper(e.paper).short
        rows.append((e.id, paper, kind, e.where, e.what, Cell(e.claim or "", href=link)))
    return table("Errata.", rows, "id", "paper", "kind", "where", "what", "claim")


def benchmarks() -> Markup:
    """Return a table of all benchmarks."""
    rows, machines = [], set()
    for path in sorted((data_dir() / "results" / "benchmarks").glob("*.json")):
        groups = json.loads(path.read_text(encoding="utf-8"))["groups"]
        for name, group in groups.items():
            machines.add(f"{path.stem}: {group['machine']} ({group['cores']} cores)")
            rows += [
                (Cell(r["benchmark"], f"{name}, {path.stem}"), Cell(r["case"], r["peer"] or ""),
                 r["threads"], _quantity(r["value"], r["unit"]),
                 _quantity(r["peer_value"], r["unit"]), r["ratio"], r["repetitions"])
                for r in group["results"]
            ]  # fmt: skip
    caption = f"Medians; a ratio above 1: ours is faster. {'; '.join(sorted(machines))}."
    names = ("benchmark", "case and peer", "threads", "ours", "peer's", "ratio", "runs")
    return table(caption, rows, *names)


def _quantity(value: float | None, unit: str) -> Cell:
    shown = "" if value is None else f"{number(value, 2 if value >= 0.1 else 4)} {unit}"
    return Cell(shown, sort=value)


def registry() -> Markup:
    """Return the overview of all registered data sets."""
    rows = [
        (Cell(d.name, d.title), d.licence, "yes" if d.redistributable else "no", len(d.languages),
         len(d.files), d.bytes / 1e6) for d in list_datasets()
    ]  # fmt: skip
    return table("Registered data sets; sizes are of the unpacked content.", rows, "data set",
                 "licence", "may be passed on", "languages", "files", "MB")  # fmt: skip


def registry_details() -> Markup:
    """Return each data set, folded: home, citation, what differs."""
    return markup("datasets", list_datasets())


def changelog() -> str:
    """Return CHANGELOG.md without its own title."""
    return (project_root() / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n")[2].strip()


# -- Downloads ---------------------------------------------------------------------------------


def download_files() -> dict[str, str]:
    """Return the tidy files: all cells, all claims, all records; ``book/downloads.md`` says what
    their columns are.
    """
    evidence = load_evidence()
    judged = [
        {**claim.model_dump(exclude={"names"}), "judged_on": label, "verdict": v.status,
         "share": v.share, "n": v.n, "power": v.power, "note": v.note}
        for paper in load_catalog().papers for claim in evidence.claims(paper)
        for label, v in evidence.verdicts(paper)[claim.id].items() if v is not None
    ]  # fmt: skip
    records = [
        {k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in
         r.model_dump(mode="json", include=RECORDS).items()} | {"commit": r.git.commit}
        for r in evidence.records if r.profile in PUBLISHED
    ]  # fmt: skip
    cells = evidence.cells.assign(keys=evidence.cells["keys"].map(" ".join))
    frames = {"cells": cells, "claims": pd.DataFrame(judged), "records": pd.DataFrame(records)}
    return {f"{n}.csv": f.to_csv(index=False, lineterminator="\n") for n, f in frames.items()}
