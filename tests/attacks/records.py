"""Records, YAML, tables and checkpoints against damage and forgery: read, or refused in one line.

``python -m tests.attacks.records [--count N] [--seed S]`` spreads N damages over all readers and
N / 20 forged records over the commands that read them, prints what came of them, and exits 1 if
anything but an `XlreproError` was raised. Not in CI; a damage is made again from its seed.
"""

import argparse
import io
import json
import logging
import random
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch

from tests.attacks.readers import damaged
from tests.test_experiments import YAML
from xlrepro import cli, experiments
from xlrepro.errors import XlreproError
from xlrepro.evidence.catalog import load_catalog, read_catalog
from xlrepro.evidence.claims import read_claims
from xlrepro.evidence.compare import compared_rows
from xlrepro.evidence.deviations import Erratum, read_deviations
from xlrepro.evidence.golden import read_golden
from xlrepro.evidence.reported import read_reported
from xlrepro.evidence.reproduced import View, gather
from xlrepro.paths import data_dir, project_root
from xlrepro.store import RecordStore
from xlrepro.training.loop import Checkpoints
from xlrepro.trials import Record, Trial
from xlrepro.values import read_model

KEY, PROFILE = "word_order/distances", "open"
VALUES: list[Any] = [
    None, True, -1, 0, 1e308, -1e308, float("nan"), float("inf"), 10**400, "", "x" * 10_000, "<b>",
    "../../victim", "\0", [], {}, [[]], [None], {"a": {}}, {"": 1}, "2999-01-01T00:00:00+00:00",
    "9" * 5000, "word:ORT",
]  # fmt: skip


def trials_of(path: Path) -> None:
    """Read a paper's YAML and make all trials of it."""
    paper = path.parent.parent / "attacked" / "word_order" / "experiments.yaml"
    paper.parent.mkdir(parents=True, exist_ok=True)
    paper.write_bytes(path.read_bytes())
    kept, experiments.PAPERS = experiments.PAPERS, paper.parent.parent
    order, experiments.ORDER = experiments.ORDER, ("word_order",)
    caches = (experiments.all_experiments, experiments._paper, experiments._made)
    try:
        for cached in caches:
            cached.cache_clear()
        for each in experiments.all_experiments().values():
            for profile in each.profiles:
                each.all_trials(profile, [0])
                each.announced(profile)
    finally:
        experiments.PAPERS, experiments.ORDER = kept, order
        for cached in caches:
            cached.cache_clear()


def errata_of(path: Path) -> None:
    """Read a file of errata."""
    read_model(path, list[Erratum])


def table_of(path: Path) -> None:
    """Read a folder of reported tables of which one is damaged."""
    folder = path.parent.parent / "reported"
    for file in (data_dir() / "reported").rglob("*.csv"):
        copy = folder / file.relative_to(data_dir() / "reported")
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.name == "table1.csv":
            copy.write_bytes(file.read_bytes())
    (folder / "word_order" / "table1.csv").write_bytes(path.read_bytes())
    read_reported(folder, load_catalog())


def store_of(path: Path) -> None:
    """Read a store whose only record and whose published file are the same damaged bytes."""
    store = RecordStore(path.parent / "records", path.parent / "results")
    for file in (store.path("0" * 64), store.published_path(KEY, PROFILE)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(path.read_bytes())
    found = store.records()
    store.publish(KEY, PROFILE, [r for r in found if (r.experiment, r.profile) == (KEY, PROFILE)])


def text_of(read: Callable[[str], object]) -> Callable[[Path], object]:
    """Return a reader of a file from one of text."""
    return lambda path: read(path.read_bytes().decode("utf-8", "surrogateescape"))


def readers() -> dict[str, tuple[Callable[[Path], object], bytes]]:
    """Return what is attacked: a reader, and an undamaged file."""
    line = (data_dir() / "results" / f"{KEY}.{PROFILE}.jsonl").read_bytes()
    saved = io.BytesIO()
    torch.save({"model": {"w": torch.zeros(3)}, "step": 1, "random": torch.get_rng_state()}, saved)
    value = b"encoder.dim=[1, {a: no, b: 1e-3}, '2', null]"
    data = data_dir()
    return {
        "record": (text_of(lambda text: Record.from_json(text, "x")), line.splitlines()[0]),
        "store": (store_of, line),
        "settings": (text_of(lambda text: cli.parse_overrides([text])), value),
        "seeds": (text_of(cli.parse_seeds), b"0,1,5-7"),
        "checkpoint": (lambda path: Checkpoints(path).load(), saved.getvalue()),
        "experiments": (trials_of, YAML.encode()),
        "golden": (read_golden, (project_root() / f"tests/golden/{KEY}.json").read_bytes()),
        "reported": (table_of, (data / "reported/word_order/table1.csv").read_bytes()),
        "catalog": (read_catalog, (data / "catalog.yaml").read_bytes()),
        "errata": (
            lambda path: read_model(path, list[Erratum]),
            (data / "errata.yaml").read_bytes(),
        ),
        "claims": (read_claims, (data / "claims/routing_nmt.yaml").read_bytes()),
        "deviations": (read_deviations, (data / "deviations/routing_nmt.yaml").read_bytes()),
    }


def forged(record: Record, chance: random.Random) -> str:
    """Return the JSON of a record with an odd value somewhere, its key as it must be."""
    content = json.loads(record.to_json())
    for _ in range(chance.randint(1, 2)):
        place, where = content, chance.choice([*content])
        while isinstance(place[where], dict | list) and place[where] and chance.random() < 0.7:
            place = place[where]
            where = chance.choice([*place] if isinstance(place, dict) else range(len(place)))
        place[where] = deepcopy(chance.choice(VALUES))
    try:
        fields = ("experiment", "systems", "columns", "profile", "seed", "settings", "task")
        fields += ("version",)
        content["key"] = Trial.create(**{name: content[name] for name in fields}).key
    except Exception:  # no trial at all: whoever reads it says so
        content["key"] = "0" * 64
    return json.dumps(content)


def use(text: str, folder: Path) -> None:
    """Do with a record what status, list, claims and publish do."""
    store = RecordStore(folder / "none", folder / "results")
    path = store.published_path(KEY, PROFILE)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", "utf-8")
    experiments.records_by_standing(PROFILE, store)
    own = experiments.own_records(KEY, PROFILE, store)
    view = View(KEY, PROFILE, gather(own))
    json.dumps(compared_rows(view, experiment=experiments.experiment(KEY)))
    for record in store.records():
        experiments.standing(record)
        store.publish(record.experiment, record.profile, [record])


@contextmanager
def counted(counts: Counter[str], name: str, seed: int) -> Iterator[None]:
    """Count how an attack ended; show what should not have been raised."""
    try:
        yield
        counts[f"{name}: read"] += 1
    except XlreproError as error:
        one = len(str(error).splitlines()) <= 1 and len(str(error)) < 2_000
        counts[f"{name}: {'refused' if one else 'REFUSED AT LENGTH'}"] += 1
    except Exception:
        counts[f"{name}: RAISED"] += 1
        print(f"--- {name}, seed {seed}\n{traceback.format_exc(limit=-4)}", file=sys.stderr)


def main() -> int:
    """Attack; return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    logging.disable()
    counts: Counter[str] = Counter()
    chosen = readers()
    slow = {"experiments": 20, "reported": 20, "catalog": 50, "claims": 10, "deviations": 10}
    weights = {name: 1 / slow.get(name, 1) for name in chosen}
    (true,) = RecordStore(Path("/nonexistent")).records(KEY, PROFILE)
    with tempfile.TemporaryDirectory() as folder:
        for name, (read, content) in chosen.items():
            for n in range(round(asked.count * weights[name] / sum(weights.values()))):
                seed = asked.seed + n
                path = Path(folder) / "damaged" / "file"
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(damaged(content, random.Random(f"{name} {seed}")))
                with counted(counts, name, seed):
                    read(path)
        for n in range(asked.count // 20):
            seed = asked.seed + n
            with counted(counts, "forged", seed):
                use(forged(true, random.Random(f"forged {seed}")), Path(folder))
    for what, count in sorted(counts.items()):
        print(f"{count:7,}  {what}")
    return int(any(": R" in what for what in counts))


if __name__ == "__main__":
    sys.exit(main())
