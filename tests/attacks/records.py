"""Records, YAML, tables and checkpoints, and what reads each: `test_values.py` damages them."""

import io
from collections.abc import Callable
from pathlib import Path

import torch

from tests.test_experiments import YAML
from tests.toy_trials import other_papers
from xlrepro import cli, experiments
from xlrepro.evidence.catalog import load_catalog, read_catalog
from xlrepro.evidence.claims import read_claims
from xlrepro.evidence.deviations import Erratum, read_deviations
from xlrepro.evidence.golden import read_golden
from xlrepro.evidence.reported import read_reported
from xlrepro.paths import data_dir, project_root
from xlrepro.store import RecordStore
from xlrepro.training.loop import Checkpoints
from xlrepro.trials import Record
from xlrepro.values import read_model

KEY, PROFILE = "word_order/distances", "open"


def trials_of(path: Path) -> None:
    """Read a paper's YAML and make all trials of it."""
    paper = path.parent.parent / "attacked" / "word_order" / "experiments.yaml"
    paper.parent.mkdir(parents=True, exist_ok=True)
    paper.write_bytes(path.read_bytes())
    with other_papers("PAPERS", paper.parent.parent), other_papers("ORDER", ("word_order",)):
        for each in experiments.all_experiments().values():
            for profile in each.profiles:
                each.all_trials(profile, [0])
                each.announced(profile)


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
