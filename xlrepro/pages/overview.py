"""Pages about all papers: at a glance, claims, experiments, deviations, errata, downloads, data."""

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from xlrepro.data.registry import list_datasets
from xlrepro.errors import DataError
from xlrepro.evidence.claims import REPORTED, SIGNS, STATUSES, Claim, ClaimVerdict, touching
from xlrepro.evidence.compare import WITHIN, verdict_counts
from xlrepro.evidence.deviations import WEIGHTS, Deviation, load_deviations, load_errata
from xlrepro.evidence.provenance import total_cost
from xlrepro.evidence.text import enumerated, number
from xlrepro.pages import findings
from xlrepro.pages.gathered import load_evidence
from xlrepro.paths import data_dir, project_root
from xlrepro.trials import PROFILES, PUBLISHED

TEMPLATES = Path(__file__).parent / "templates"
AXIS = (-16.0, 16.0)  # points; what lies outside is drawn at its end
BECAUSE = {
    "same": "the 95 % CI includes 0",
    "higher": "the 95 % CI lies above 0",
    "lower": "the 95 % CI lies below 0",
    "missing": "not run",
}
SHOWN_DEVIATIONS = 2  # of a claim; the rest folds
BENCHMARKS = {
    "crf": "Linear-chain CRF", "encoders": "Encoders", "data": "Data loading",
    "zero-shot": "Zero-shot evaluation", "man-moe": "MAN-MoE", "ramen": "RAMEN",
    "routing-nmt": "Routed units", "sense-alignment": "Sense-aware language models",
    "commands": "Everyday commands",
}  # fmt: skip
DICTIONARY = {
    "cells": (
        "One row per reproduced or reported cell, at profiles open and paper.",
        {"experiment": "paper/table", "profile": "open or paper", "system": "block:row",
         "column": "language, task or score", "metric": "", "unit": "of all numbers in the row",
         "reported": "the paper's number", "reproduced": "mean over seeds", "low, high":
         "95 % t interval of the mean over seeds", "n": "seeds", "verdict":
         "of the reported number against the interval", "note": "", "keys": "of the records"},
    ),
    "claims": (
        "One row per claim and set of numbers that it was judged on.",
        {"paper": "", "id": "", "kind": "text: the authors' sentence; else a reading of ours",
         "variant_of": "the sentence that it is a reading of", "text": "", "section": "",
         "predicate": "over cells", "judged_on": "reported, open, or open with a block of ours",
         "verdict": "", "share": "of draws of the means in which it is true", "n": "seeds",
         "note": ""},
    ),
    "records": (
        "One row per finished trial at profiles open and paper.",
        {"key": "SHA-256 of the trial", "experiment": "", "profile": "", "seed": "",
         "systems": "", "settings": "JSON; what is not there is the default", "started": "UTC",
         "wall_seconds": "", "training_tokens": "", "device": "", "commit": "of the code",
         "cells": "JSON: system, column, metric, unit, value"},
    ),
}  # fmt: skip


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(macro: str, /, **values: Any) -> Markup:
    """Return a macro of ``templates/book.html`` as HTML that Markdown takes as one block."""
    module: Any = _templates().get_template("book.html").module
    return Markup(re.sub(r"\n\s*\n+", "\n", str(getattr(module, macro)(**values)).strip()))


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], numeric: Sequence[str] = ()
) -> Markup:
    """Return a table that sorts and filters.

    Args:
        caption: one sentence.
        head: names of the columns.
        rows: cells: text, a number (sorts by it), or a mapping with ``text`` and any of ``detail``,
            ``href``, ``sort``.
        numeric: columns set flush right.
    """
    body = [[cell if isinstance(cell, Mapping) else _cell(cell) for cell in row] for row in rows]
    return rendered("table", caption=caption, head=head, rows=body, numeric=numeric)


def _cell(value: Any) -> dict[str, Any]:
    if isinstance(value, int | float):
        return {"text": f"{value:,}" if isinstance(value, int) else number(value), "sort": value}
    return {"text": value or ""}


# -- At a glance -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A line of a forest plot: texts, and places on the axis in percent of its width."""

    says: str
    href: str
    reported: str
    ours: str
    verdict: str
    sign: str
    reason: str
    place_reported: float | None
    place: float | None
    low: float | None
    high: float | None


def _place(value: float) -> float | None:
    if math.isnan(value):
        return None
    low, high = AXIS
    return round(100 * (min(max(value, low), high) - low) / (high - low), 2)


def _line(paper: str, each: findings.Compared, top: bool = False) -> Line:
    """Return a comparison as a line; ``top``: of the first screen, in the top folder."""
    page = findings.Findings(paper)
    gap = page.gap(*each.compare, at=each.profile)
    ends = sorted((gap.low * each.scale, gap.high * each.scale))
    verdict = page.verdict(each.claim, each.profile) if each.claim else None
    folder = f"{paper}/" * top
    because = BECAUSE[gap.direction]
    text = str(gap).replace(gap.unit, each.unit, 1) if gap.unit else str(gap)
    return Line(
        each.says,
        f"{folder}claims.html#{each.claim}" if each.claim else f"{folder}{each.compare[0]}.html",
        gap.printed,
        text if gap.n else "not run",
        verdict.status if verdict else "",
        SIGNS.get(verdict.status, "") if verdict else "",
        because,
        _place(gap.reported * each.scale),
        _place(gap.mean * each.scale),
        _place(ends[0]),
        _place(ends[1]),
    )


def forest(paper: str) -> list[Line]:
    """Return the lines of the forest plot of a paper's findings page."""
    head = findings.read(paper)[0]
    return [_line(paper, each) for each in [head.main, *head.forest]]


def glance() -> Markup:
    """Return five papers at a glance: claim, effect reported and ours, verdict, what it needs."""
    evidence, rows = load_evidence(), []
    for key, paper in evidence.catalog.papers.items():
        head = findings.read(key)[0]
        line = _line(key, head.main, top=True)
        verdict = findings.Findings(key).verdict(head.main.claim)
        first = (verdict.note if verdict else "").split("; ")[0]
        rows.append({"key": key, "paper": paper, "head": head, "line": line, "note": first})
    return rendered("glance", rows=rows)


def answer() -> str:
    """Return the answer to the book's title, in two sentences with true counts, as Markdown."""
    evidence = load_evidence()
    counts = {status: sum(evidence.tally(p, "open")[status] for p in evidence.claims)
              for status in STATUSES}  # fmt: skip
    total = sum(evidence.tally(p, "open")["all"] for p in evidence.claims)
    said = enumerated([f"{s} {counts[s]}" for s in STATUSES if counts[s]])
    cells = numbers()
    return (
        f"Of the {total} checkable sentences of five papers, judged on open data: {said}. Of "
        f"{cells['reported']:,} reported numbers, {cells['run']:,} have a reproduced counterpart; "
        f"on the papers' own data {cells['within']} of {cells['own']} agree within the interval."
    )


@cache
def numbers() -> dict[str, int]:
    """Return how many reported numbers there are, were run, are on the paper's data, and agree."""
    evidence, run, own, within = load_evidence(), set(), set(), set()
    cells = {(k, c.system, c.column) for k in evidence.catalog.experiments
             for c in evidence.reported.cells(k) if c.value is not None}  # fmt: skip
    for key in evidence.catalog.experiments:
        entry = evidence.catalog.experiment(key)
        for profile in PUBLISHED:
            frame = evidence.frame(key, profile)
            both = frame[frame["reported"].notna() & frame["reproduced"].notna()]
            for system, column, verdict in zip(both["system"], both["column"], both["verdict"]):
                cell = (key, entry.reference(system), column)
                run.add(cell)
                if verdict in (WITHIN, "above", "below"):
                    own.add(cell)
                if verdict == WITHIN:
                    within.add(cell)
    return {"reported": len(cells), "run": len(run), "own": len(own), "within": len(within)}


def in_short() -> str:
    """Return what was found out: the first lines of every findings page, by paper."""
    papers = load_evidence().catalog.papers
    return "\n".join(
        f"- **{{doc}}`{paper.menu} <{key}/findings>`**: {item}"
        for key, paper in papers.items()
        for item in findings.in_short(key)
    )


# -- Claims and experiments --------------------------------------------------------------------


def _shown(verdict: ClaimVerdict | None) -> dict[str, Any]:
    status = verdict.status if verdict else ""
    said = verdict.told if verdict else ""
    return {"status": status, "sign": SIGNS.get(status, ""), "verdict": verdict, "told": said}


def mosaic() -> Markup:
    """Return a square per claim and set of numbers, by paper."""
    evidence, rows = load_evidence(), []
    for key, paper in evidence.catalog.papers.items():
        labels = [REPORTED.label, *evidence.profiles(key)]
        verdicts = evidence.verdicts(key)
        claims = [{"claim": c, "shown": {n: _shown(verdicts[c.id].get(n)) for n in labels}}
                  for c in evidence.claims[key]]  # fmt: skip
        rows.append(
            {"key": key, "paper": paper, "claims": claims, "tally": evidence.tally(key, "open")}
        )
    return rendered("mosaic", rows=rows, statuses={s: SIGNS.get(s, "") for s in STATUSES})


def _touched(claim: Claim, paper: str) -> list[Deviation]:
    evidence = load_evidence()
    return touching(claim, evidence.judge, evidence.profiles(paper), load_deviations())


def claims(paper: str) -> Markup:
    """Return the claims of a paper: the authors' sentences, our readings folded below each."""
    evidence = load_evidence()
    verdicts = evidence.verdicts(paper)

    def item(claim: Claim) -> dict[str, Any]:
        judged = {label: _shown(v) for label, v in verdicts[claim.id].items() if v is not None}
        touched = _touched(claim, paper)
        return {"claim": claim, "judged": judged, "two": touched[:SHOWN_DEVIATIONS],
                "rest": touched[SHOWN_DEVIATIONS:], "variants": []}  # fmt: skip

    items = {claim.id: item(claim) for claim in evidence.claims[paper]}
    for each in items.values():
        parent = items.get(each["claim"].variant_of or "")
        if parent is not None:
            parent["variants"].append(each)
    top = [each for each in items.values() if (each["claim"].variant_of or "") not in items]
    return rendered("claims", items=top)


def claims_summary(paper: str) -> Markup:
    """Return how many of a paper's own sentences have each verdict, by what they are judged on."""
    evidence = load_evidence()
    counts = {c.label: evidence.tally(paper, c.label) for c in evidence.conditions(paper)}
    shown = [s for s in STATUSES if any(each[s] for each in counts.values())]
    rows = [[label, *(each[s] for s in shown)] for label, each in counts.items()]
    return table("The paper's own sentences, by verdict.", ["judged on", *shown], rows, shown)


def experiments() -> Markup:
    """Return every experiment: how its cells compare, and what it cost."""
    evidence, rows = load_evidence(), []
    for key, entry in evidence.catalog.experiments.items():
        records = [r for r in evidence.records if r.experiment == key and r.profile in PUBLISHED]
        counts = verdict_counts(evidence.frame(key, "open")["verdict"]) if records else {}
        cost = total_cost(records)
        page = (project_root() / "notebooks" / f"{key}.ipynb").is_file()
        rows.append([
            {"text": key, "detail": entry.title, "href": f"{key}.html" if page else ""},
            len(evidence.reported.cells(key)),
            ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n),
            {"text": cost.brief() if records else "–", "sort": cost.wall_seconds,
             "detail": ", ".join(cost.devices)},
        ])  # fmt: skip
    caption = "Every experiment: reported numbers, how cells at open compare, and what it cost."
    head = ["experiment", "reported", "cells at open", "cost"]
    return table(caption, head, rows, ["reported", "cost"])


# -- Deviations, errata, benchmarks, data ------------------------------------------------------


def deviations() -> str:
    """Return all deviations by paper, each section with a heading, as Markdown."""
    evidence, parts = load_evidence(), []
    claims_of: dict[str, list[tuple[str, str]]] = {}
    for paper, known in evidence.claims.items():
        for claim in known:
            for d in _touched(claim, paper):
                claims_of.setdefault(d.id, []).append((paper, claim.id))
    for paper, entry in evidence.catalog.papers.items():
        own = [d for d in load_deviations() if d.experiments[0].startswith(f"{paper}/")]
        own.sort(key=lambda d: WEIGHTS.index(d.weight))
        items = [{"d": d, "profiles": ", ".join(p for p in PROFILES if p in d.profiles),
                  "claims": claims_of.get(d.id, [])} for d in own]  # fmt: skip
        parts.append(f"## {entry.menu}\n\n{rendered('deviations', items=items, major=WEIGHTS[0])}")
    return "\n\n".join(parts)


def errata() -> str:
    """Return the errata of the papers, and apart from them our stricter readings, as Markdown."""
    catalog, parts = load_evidence().catalog, []
    for readings, title in (
        (False, "Errata"),
        (True, "Stricter readings of ours that do not hold"),
    ):
        rows = [
            [e.id, catalog.paper(e.paper).short, e.where, e.what,
             {"text": e.claim or "", "href": f"{e.paper}/claims.html#{e.claim}" if e.claim else ""}]
            for e in load_errata() if (e.kind == "reading") == readings
        ]  # fmt: skip
        caption = f"{title}: {len(rows)}."
        listed = table(caption, ["id", "paper", "where", "what", "claim"], rows)
        parts.append(f"## {title}\n\n{listed}")
    return "\n\n".join(parts)


def benchmarks() -> str:
    """Return a section per device and group of benchmarks, as Markdown.

    Raises:
        DataError: if a file is not what the harness writes.
    """
    files = sorted((data_dir() / "results" / "benchmarks").glob("*.json"))
    parts = (
        []
        if any(p.stem == "cuda" for p in files)
        else ["No number on this page was measured on a GPU."]
    )
    for path in files:
        try:
            for name, group in json.loads(path.read_text(encoding="utf-8"))["groups"].items():
                parts.append(_benchmark_group(name, group, path.stem))
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError(f"{path} is not a benchmark file ({error!r}): measure again with "
                            "`python -m benchmarks.run`") from error  # fmt: skip
    return "\n\n".join(parts)


def _benchmark_group(name: str, group: Mapping[str, Any], device: str) -> str:
    title = f"{BENCHMARKS.get(name, name)}, {'GPU' if device == 'cuda' else device.upper()}"
    versions = ", ".join(f"{package} {v}" for package, v in sorted(group["versions"].items()))
    head = ["benchmark", "case", "peer", "threads", "ours", "peer's", "ratio", "tokens/s", "runs"]
    rows = [
        [r["benchmark"], r["case"], r["peer"] or "", r["threads"], _quantity(r["value"], r["unit"]),
         _quantity(r["peer_value"], r["unit"]), r["ratio"],
         round(r["tokens_per_second"] or 0) or "", r["repetitions"]] for r in group["results"]
    ]  # fmt: skip
    caption = f"{title}: medians; a ratio above 1 means that ours is faster."
    machine = f"{group['machine']} ({group['cores']} cores). Versions: {versions}."
    shown = table(caption, head, rows, head[3:])
    return f"## {title}\n\nMeasured {group['measured']} on {machine}\n\n{shown}"


def _quantity(value: float | None, unit: str) -> dict[str, Any]:
    if value is None:
        return {"text": ""}
    return {"text": f"{number(value, 2 if value >= 0.1 else 4)} {unit}", "sort": value}


def registry() -> Markup:
    """Return the overview of all registered data sets."""
    rows = [
        [{"text": d.name, "detail": d.title}, d.licence, "yes" if d.redistributable else "no",
         len(d.languages), len(d.files), round(d.bytes / 1e6, 1)] for d in list_datasets()
    ]  # fmt: skip
    head = ["data set", "licence", "may be passed on", "languages", "files", "MB"]
    return table("Registered data sets; sizes are of the unpacked content.", head, rows, head[3:])


def registry_details() -> Markup:
    """Return each data set, folded: home, citation, files with counts, what differs."""
    return rendered("datasets", datasets=list_datasets())


# -- Downloads ---------------------------------------------------------------------------------


def downloads() -> Markup:
    """Return the list of files to download, with their data dictionary."""
    return rendered("downloads", files=DICTIONARY)


def download_files() -> dict[str, str]:
    """Return the tidy files: all cells, all claims, all records."""
    evidence = load_evidence()
    wanted = [c for n in DICTIONARY["cells"][1] for c in n.split(", ")]
    cells: list[dict[str, Any]] = []
    for key in evidence.catalog.experiments:
        for profile in PUBLISHED:
            if profile == "open" or any(r.profile == profile for r in evidence.records):
                cells += evidence.frame(key, profile).to_dict("records")
    judged = [
        {**asdict_of(claim), "judged_on": label, "verdict": v.status, "share": v.share, "n": v.n,
         "note": v.note}
        for paper, known in evidence.claims.items()
        for claim in known
        for label, v in evidence.verdicts(paper)[claim.id].items() if v is not None
    ]  # fmt: skip
    records = [
        {**{n: getattr(r, n, "") for n in DICTIONARY["records"][1]}, "key": r.key,
         "systems": " ".join(r.systems), "settings": json.dumps(r.settings),
         "commit": str(getattr(r, "commit", "")),
         "cells": json.dumps([asdict(c) for c in r.cells])}
        for r in evidence.records if r.profile in PUBLISHED
    ]  # fmt: skip
    return {
        "cells.csv": _csv(wanted, cells),
        "claims.csv": _csv([*DICTIONARY["claims"][1]], judged),
        "records.csv": _csv([*DICTIONARY["records"][1]], records),
    }


def asdict_of(claim: Claim) -> dict[str, Any]:
    """Return the fields of a claim that its row has."""
    return claim.model_dump(include={"paper", "id", "kind", "variant_of", "text", "section",
                                     "predicate"})  # fmt: skip


def _csv(head: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, head, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        tidy = {k: " ".join(map(str, v)) if isinstance(v, tuple) else v for k, v in row.items()}
        writer.writerow(
            {k: "" if isinstance(v, float) and math.isnan(v) else v for k, v in tidy.items()}
        )
    return text.getvalue()
