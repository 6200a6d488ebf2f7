"""Experiments that share trials: whose records they read, and as what."""

from types import SimpleNamespace

import pytest

from xlrepro import experiments
from xlrepro.errors import SettingsError
from xlrepro.trials.experiment import Experiment
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell


def make(key, **more):
    return Experiment(key, "", "", (), (), ("open",), lambda *_: [], **more)


def test_an_own_record_is_read_as_it_is():
    record = Record.model_construct(experiment="p/table1")
    assert make("p/table1").view(record) is record


def test_a_shared_record_is_read_in_the_cells_of_the_reader_and_keeps_its_key():
    record = Record.model_construct(experiment="p/table1", key="k", cells=(), details={"x": 1.5})
    reader = make("p/table5", cells=lambda r: [Cell("s", "c", r.details["x"], "F1")])
    seen = reader.view(record)
    assert (seen.experiment, seen.key, seen.cells) == (
        "p/table5",
        "k",
        (Cell("s", "c", 1.5, "F1"),),
    )
    assert record.experiment == "p/table1"


def test_a_foreign_record_without_a_reading_is_refused():
    with pytest.raises(SettingsError, match="does not say how to read"):
        make("p/table5").view(Record.model_construct(experiment="p/table1"))


def test_only_shared_records_that_the_reader_asks_for_count(monkeypatch):
    asked = Record.model_construct(experiment="p/table1", key="asked", seed=0)
    other = Record.model_construct(experiment="p/table1", key="other", seed=0)
    reader = make("p/table5", draws_on=("p/table1",), cells=lambda r: [Cell("s", r.key, 1.0, "F1")])
    store = SimpleNamespace(
        records=lambda name, profile: [asked, other] if name == "p/table1" else []
    )
    monkeypatch.setattr(experiments, "experiment", lambda key: reader)
    monkeypatch.setattr(experiments, "preset_keys", lambda *_: {"asked"})
    (found,) = experiments.own_records("p/table5", "open", store)
    assert found.cells[0].column == "asked"
