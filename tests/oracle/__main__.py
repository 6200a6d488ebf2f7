"""Hold the records of commit 7f094e65 against today's rows: ``python -m tests.oracle [PAPER …]``.

Every record of then is asked for by a row of today with the same settings, and has the same cells
or was run again for another version of its task; or its paper's ``migrate`` names the reason why it
is withdrawn.
"""

import gzip
import importlib
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

from xlrepro.errors import XlreproError
from xlrepro.experiments import all_experiments, task
from xlrepro.store import RecordStore
from xlrepro.trials import Trial
from xlrepro.values import validated

HERE = Path(__file__).parent
ITEM = 0.03  # of 5,010 test pairs one, by another processor's rounding


def old_records(paper: str) -> list[dict]:
    """Return the paper's records of then: trial with all settings, and cells."""
    with gzip.open(HERE / "records.jsonl.gz", "rt", encoding="utf-8") as stream:
        records = [json.loads(line) for line in stream]
    return [record for record in records if record["experiment"].startswith(f"{paper}/")]


def today(record: dict) -> Trial:
    """Return the trial that a migrated record is of; ``version``: of the task then, if another."""
    kind = task(record["task"]).model
    typed = validated(record["settings"], record["task"], kind)
    fields = ("experiment", "systems", "columns", "profile", "seed", "task")
    settings = typed.model_dump(mode="json", exclude_defaults=True)
    named = {name: record[name] for name in fields}
    named |= {"systems": tuple(named["systems"]), "columns": tuple(named["columns"])}
    version = record.get("version", task(record["task"]).version)
    return Trial.create(**named, settings=settings, version=version)


def compare(paper: str) -> tuple[Counter, Counter, list[str]]:
    """Return what is found, by its cells, counted reasons of withdrawal, and what is lost."""
    migrate = importlib.import_module(f"tests.oracle.{paper}").migrate
    found, withdrawn, lost = Counter(), Counter(), []
    published = {record.trial.place: record for record in RecordStore().records()}
    asked: dict[tuple, set[Trial]] = {}
    for record in old_records(paper):
        moved = migrate(json.loads(json.dumps(record)))
        if isinstance(moved, str):
            withdrawn[f"{record['experiment']}: {moved}"] += 1
            continue
        try:
            trial = today(moved)
        except XlreproError as error:
            lost.append(f"{record['experiment']} {record['systems']}: {error}")
            continue
        where = (trial.profile, trial.seed)
        if where not in asked:  # by whichever experiment: a table may ask for another's trials
            asked[where] = {
                replace(row, version=0)
                for each in all_experiments().values()
                if trial.profile in each.profiles
                for row in each.all_trials(trial.profile, [trial.seed])
            }
        now = published.get(trial.place)
        if replace(trial, version=0) not in asked[where]:
            lost.append(_difference(trial))
        elif now and all(
            abs(cell.value - value) <= ITEM
            for cell, (_, _, value) in zip(now.cells, record["cells"], strict=True)
        ):
            found["the same cells"] += 1
        elif now is None or now.version == 1:
            lost.append(f"{trial.label}: no record, or other cells by the same version of its task")
        else:
            found["cells of another version"] += 1
    return found, withdrawn, lost


def _difference(trial: Trial) -> str:
    """Say what is nearest to a trial that no row asks for."""
    rows = all_experiments()[trial.experiment].all_trials(trial.profile, [trial.seed])
    near = [r for r in rows if set(r.systems) & set(trial.systems)]
    near = [r for r in near if r.columns == trial.columns] or near
    if not near:
        return f"{trial.label} {trial.columns[:3]}: no row fills it"
    (best, *_) = sorted(near, key=lambda r: len(_moved(r, trial)))
    return f"{trial.label} {trial.columns[:3]}: {'; '.join(_moved(best, trial))}"


def _moved(row: Trial, record: Trial) -> list[str]:
    ours, theirs = _flat(row.settings), _flat(record.settings)
    said = [
        f"{name}: row {ours.get(name, '(default)')!r}, record {theirs.get(name, '(default)')!r}"
        for name in sorted({*ours, *theirs})
        if ours.get(name, ...) != theirs.get(name, ...)
    ]
    for name in ("systems", "columns", "task"):
        if getattr(row, name) != getattr(record, name):
            said.append(f"{name}: row {getattr(row, name)}, record {getattr(record, name)}")
    return said


def _flat(settings: dict, prefix: str = "") -> dict:
    flat = {}
    for name, value in settings.items():
        if isinstance(value, dict) and value:
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def main(papers: list[str]) -> int:
    """Print what is found, withdrawn and lost; return the exit status."""
    status = 0
    for paper in papers:
        found, withdrawn, lost = compare(paper)
        counts = ", ".join(f"{count} with {what}" for what, count in found.items())
        print(f"{paper}: {counts}, {sum(withdrawn.values())} withdrawn, {len(lost)} lost")
        for reason, count in sorted(withdrawn.items()):
            print(f"  withdrawn {count}: {reason}")
        for line, count in Counter(lost).most_common(25):
            print(f"  LOST {count}: {line}")
        status |= bool(lost)
    return status


if __name__ == "__main__":
    known = [p.stem for p in HERE.glob("*.py") if not p.stem.startswith("_")]
    sys.exit(main(sys.argv[1:] or sorted(known)))
