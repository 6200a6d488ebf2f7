"""A deviation of a model is one of its variants too; what SA38 says follows from the benchmark."""

import json

import pytest

from xlrepro.evidence.deviations import load_deviations
from xlrepro.experiments import experiment, own_records
from xlrepro.papers.sense_alignment.experiments import EXPERIMENTS, PAPER
from xlrepro.papers.sense_alignment.settings import presets
from xlrepro.papers.sense_alignment.systems import (
    AFTERWARDS,
    ORTHOGONAL,
    VARIANTS,
    language_model,
)
from xlrepro.paths import data_dir, project_root


def variants(key):
    """Return (row, the row that it is a variant of) of an experiment."""
    names = [system.identifier for system in experiment(key).systems]
    pairs = [(n, n.removesuffix(v)) for n in names for v in (*VARIANTS, AFTERWARDS, ORTHOGONAL)]
    return [(row, model) for row, model in pairs if row != model and model in names]


@pytest.mark.parametrize("key", [e.key for e in EXPERIMENTS])
def test_what_touches_a_models_row_touches_its_variants(key):
    missed = {
        (deviation.id, row)
        for row, model in variants(key)
        for deviation in load_deviations(key)
        for column in experiment(key).columns
        if deviation.touches(key, model, column) and not deviation.touches(key, row, column)
    }
    assert variants(key)
    assert missed == set()


def test_as_many_language_models_stand_behind_a_row_as_is_said():
    """SA37 and the README: three of each kind in Table 2; seeds of Table 3 are those of heads."""
    (said,) = (d.here for d in load_deviations(f"{PAPER}/table2") if d.id == "SA37")
    assert said.startswith("Table 2 has three language models of each kind;")
    assert "three models of each kind" in (project_root() / "README.md").read_text("utf-8")

    def models(table):
        found = {}
        for record in own_records(f"{PAPER}/{table}", "open"):
            for log in (record.details.get(name) for name in ("language_model", "source model")):
                if log:
                    cell = record.systems[0], record.cells[0].column
                    found.setdefault(cell, set()).add(str(log["loss_curve"]))
        return {len(curves) for curves in found.values()}

    assert models("table2") == {3}
    assert models("table3") == {1}


def test_equal_time_follows_from_the_published_benchmark():
    """SA38 gives the cost of a step; the preset has the steps that it leaves."""
    path = data_dir() / "results" / "benchmarks" / "cpu.json"
    (said,) = (d.here for d in load_deviations(f"{PAPER}/table2") if d.id == "SA38")
    steps = language_model("open", "ELMo").training.steps
    costs = {
        r["benchmark"].rpartition(" ")[2]: r["value"] / r["peer_value"]
        for r in json.loads(path.read_text("utf-8"))["groups"]["sense-alignment"]["results"]
        if r["threads"] == 1 and r["case"].startswith("10,000 words")
    }
    for name, fewer in presets("tables")["open"]["table2"]["equal_time"].items():
        assert fewer == pytest.approx(steps / costs[name], abs=5)
        assert f"{costs[name]:.2f}" in said
