"""``xlrepro status``, ``claims`` and ``golden`` on a store of their own."""

import json
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner

from xlrepro.cli import build_app
from xlrepro.errors import SettingsError
from xlrepro.evidence import golden
from xlrepro.experiments import experiment, records_by_standing
from xlrepro.machine import code_version
from xlrepro.store import RecordStore
from xlrepro.trials import Record


@pytest.fixture(autouse=True)
def _own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path / "build"))


def call(*arguments):
    return CliRunner().invoke(build_app(), arguments, env={"COLUMNS": "160"})


def record_of(record, trial, value, metric, fresh=False):
    """Return a record of a trial that put ``value`` into each of its cells."""
    place = {"system": trial.systems[0], "value": value, "metric": metric}
    fields = {
        **record().model_dump(mode="json", by_alias=True),
        **trial.fields,
        "key": trial.key,
        "versions": {"xlrepro": code_version(trial.task.split("/")[0])} if fresh else {},
        "cells": [{**place, "column": column} for column in trial.columns],
    }
    return Record.model_validate(fields)


def distances_record(record, fresh=False):
    """Return a record that the preset of word_order/distances asks for."""
    (trial,) = experiment("word_order/distances").trials("smoke")
    return record_of(record, trial, 0.1, "word-order distance", fresh)


def test_status_cell_by_cell_as_json(record):
    RecordStore().put(distances_record(record))
    shown = call("status", "word_order/distances", "--profile", "smoke", "--json")
    rows = json.loads(shown.output)["word_order/distances"]
    row = next(r for r in rows if r["column"] == "da")
    assert (row["reported"], row["reproduced"], row["verdict"], row["stale"]) == (
        0.10, 0.1, "within", True,
    )  # fmt: skip
    assert next(r for r in rows if r["column"] == "ja")["verdict"] == "below"


def test_status_counts_cells_on_other_data_apart(record):
    trial = experiment("man_moe/table3").trials("smoke", ["- MAN"], [0])[0]
    RecordStore().put(record_of(record, trial, 1.0, "F1"))
    shown = call("status", "--profile", "smoke")
    assert shown.exit_code == 0, repr(shown.exception)
    lines = shown.output.splitlines()
    (line,) = [line.split() for line in lines if "man_moe/table3" in line]
    # experiment, cells, within, above, below, other data
    assert line[2:6] == ["·", "·", "·", str(len(trial.columns))]


def test_records_with_other_settings_are_named_and_do_not_count(record):
    key = "word_order/table2"
    RecordStore().put(record(experiment=key, values={"de": 50.0}))
    rows = json.loads(call("status", key, "--profile", "smoke", "--json").output)
    assert {r["verdict"] for r in rows[key]} == {"not run"}
    lines = call("status", "--profile", "smoke").output.splitlines()
    said = [line for line in lines if ":" in line]
    assert said == [f"{key}: 1 with other settings than smoke has today, not shown."]


def test_records_of_one_table_that_another_asks_for_are_not_left_out():
    asked_by_table5 = experiment("word_order/table5").trials("open")
    assert any(t.experiment == "word_order/table1" for t in asked_by_table5)
    assert records_by_standing("open", RecordStore())[1] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "word_order/table9"),
        ("status", "--profile", "huge"),
        ("claims", "a_paper"),
        ("claims", "--profile", "huge"),
        ("golden", "word_order/table9"),
        ("golden", "--smoke-alone", "--no-run"),
    ],
)
def test_unknown_names_are_user_errors(arguments):
    assert isinstance(call(*arguments).exception, SettingsError)


def test_claims_of_one_paper_for_people_and_as_json():
    shown = call("claims", "routing_nmt").output
    assert "N04s" in shown
    assert "reported: 4 consistent" in shown
    claims = json.loads(call("claims", "routing_nmt", "--json").output)
    own = [c["verdicts"]["reported"]["status"] for c in claims if c["kind"] == "text"]
    assert own.count("consistent") == 4


@pytest.fixture
def golden_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(golden, "project_root", lambda: tmp_path)
    return tmp_path / "tests" / "golden"


def test_golden_update_then_check_names_the_numbers_that_differ(record, golden_folder):
    key, store = "word_order/distances", RecordStore()
    store.put(distances_record(record, fresh=True))
    written = call("golden", "--update", "--no-run", key)
    assert (written.exit_code, written.output) == (0, "1 golden files written, 0 numbers moved\n")
    checked = call("golden", "--no-run", key)
    assert (checked.exit_code, f"hold in {key}" in checked.output) == (0, True)
    path = golden_folder / f"{key}.json"
    path.write_text(path.read_text().replace("0.1", "0.2", 1))
    shown = call("golden", "--no-run", key)
    assert (shown.exit_code, "golden 0.2, now 0.1" in shown.output) == (1, True)
    for path in store.root.glob("*.json"):
        path.unlink()
    shown = call("golden", "--no-run", key)
    assert (shown.exit_code, "but today's code has not run it" in shown.output) == (1, True)


def test_golden_numbers_are_of_the_seeds_of_a_smoke_run_alone(record, golden_folder):
    key = "man_moe/table3"
    for seed in (0, 1):
        trial = experiment(key).trials("smoke", ["- MAN"], [seed])[0]
        RecordStore().put(record_of(record, trial, 1.0, "F1", fresh=True))
    call("golden", "--update", "--no-run", key)
    text = (golden_folder / f"{key}.json").read_text()
    assert ('"0": 1.0' in text, '"1": 1.0' in text) == (True, False)


def test_golden_runs_once_more_what_a_gpu_computed(record, golden_folder, monkeypatch):
    made = distances_record(record, fresh=True)
    RecordStore().put(made.model_copy(update={"peak_gpu_memory_bytes": 2**20}))
    asked = Mock(return_value=Mock(failed=()))
    monkeypatch.setattr("xlrepro.engine.run_trials", asked)
    call("golden", made.experiment)
    assert asked.call_args.kwargs["again"] == {made.key}
