import json
import math

import numpy as np
import pytest

from tests.made_up_records import finished
from xlrepro.errors import StoreError
from xlrepro.trials import Cell, Record, TrialResult


def changed(text, **changes):
    """Return a record's JSON with changed fields."""
    return json.dumps({**json.loads(text), **changes})


def finish(trial, **result):
    cells = result.pop("cells", [Cell("word:ORT", "en", 91.5, "accuracy")])
    return finished(trial, TrialResult(cells=cells, **result))


def test_a_record_comes_back_from_its_json_and_gives_back_its_trial(record_of, trial_of):
    record = record_of(3)
    assert Record.from_json(record.to_json(), "here") == record
    assert record.trial == trial_of(3)


def test_a_changed_seed_no_longer_fits_the_key(record_of):
    text = changed(record_of(3).to_json(), seed=4)
    with pytest.raises(StoreError, match="its key does not belong"):
        Record.from_json(text, "build/records/x.json")


def test_tokens_per_second_are_tokens_over_training_seconds(trial_of):
    record = finish(trial_of(), training_tokens=5000, training_seconds=4.0)
    assert record.training_tokens_per_second == 1250.0
    assert finish(trial_of()).training_tokens_per_second is None


def test_numpy_values_become_plain_ones(trial_of):
    cell = Cell("word:ORT", "en", np.float32(0.5), "accuracy")
    record = finish(trial_of(), cells=[cell], details={"curve": np.array([1.5, 2.5])})
    assert (type(record.cells[0].value), record.details) == (float, {"curve": [1.5, 2.5]})


def test_details_hold_no_long_text(trial_of):
    with pytest.raises(StoreError, match="numbers and names only"):
        finish(trial_of(), details={"samples": ["word " * 100]})


def test_every_field_of_a_trial_changes_its_key(trial_of):
    others = {"experiment": "word_order/other", "systems": ("word:TRS",), "columns": ("en",)}
    others |= {"profile": "paper", "seed": 1, "settings": {"epochs": 2}}
    others |= {"version": 2, "task": "toy/other"}
    keys = {trial_of().key} | {trial_of(**{name: value}).key for name, value in others.items()}
    assert len(keys) == 9


def test_in_how_many_parts_a_step_is_computed_makes_no_other_trial(trial_of, store):
    one, three = (trial_of(settings={"stage": {"updates": 9, "accumulation": n}}) for n in (1, 3))
    record = finish(three)
    store.put(record)
    assert store.get(one) == record
    assert record.settings == three.settings


def test_items_are_kept_as_bits_and_of_a_large_set_the_size_alone(trial_of):
    right = [True, False, True, True, False, False, False, False, True]
    record = finish(trial_of(), items={"en": right, "de": [True] * 10_001}, stopped=True)
    read = Record.from_json(record.to_json(), "x.json")
    assert read.items["en"].unpacked().tolist() == right
    assert (read.items["de"].size, read.items["de"].unpacked()) == (10_001, None)
    assert read.stopped is True


CELL = {"system": "word:ORT", "column": "en", "value": 1.0, "metric": "accuracy", "unit": "percent"}


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("cells", [], "fills no cell"),
        ("cells", [CELL, CELL], "filled twice"),
        ("cells", [{**CELL, "column": "fr"}], "not one of the trial's own"),
        ("cells", [{**CELL, "value": math.nan}], "not a number"),
        ("cells", [{**CELL, "value": 100.1, "metric": "slot F1"}], "not from 0 to 100 percent"),
        ("cells", [{**CELL, "value": -0.1}], "not from 0 to 100 percent"),
        ("git", {"commit": "HEAD", "dirty": False}, "git.commit"),
        ("wall_seconds", -1.0, "wall_seconds"),
        ("threads", 0, "threads"),
        ("items", {"fr": {"size": 1, "right": "gA=="}}, "not one of its columns"),
        ("items", {"en": {"size": 9, "right": "gA=="}}, "not the bits of 9 items"),
        ("started", "2999-01-01T00:00:00+00:00", "in the future"),
        ("started", "2026-01-01T00:00:00", "not in UTC"),
        ("started", "yesterday", "Invalid isoformat"),
        ("artefacts", {"../../victim": "x"}, "artefacts"),
        ("experiment", "../victim", "experiment"),
        ("profile", "large", "profile"),
        ("data", {"sick/train": "not a hash"}, "data"),
        ("schema", 1, "schema"),
    ],
)
def test_reading_refuses_what_writing_refuses(record_of, field, value, said):
    with pytest.raises(StoreError, match=said):
        Record.from_json(changed(record_of().to_json(), **{field: value}), "x.json")
