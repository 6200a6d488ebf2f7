"""Golden files: what is written, what counts as a difference, what may be accepted."""

import json

import pytest

from xlrepro.errors import DataError
from xlrepro.evidence import golden
from xlrepro.evidence.golden import (
    FEWEST_SENTENCES,
    check,
    fresh_numbers,
    golden_path,
    off_cpu,
    update,
)

VERSIONS, RAISED = {"word_order/pos": 1}, {"word_order/pos": 2}
KEY = "word_order/table2"
FEW = {"test_sentences": FEWEST_SENTENCES - 1}


@pytest.fixture(autouse=True)
def _folder(monkeypatch, tmp_path):
    monkeypatch.setattr(golden, "project_root", lambda: tmp_path)


def numbers_of(record, values, **more):
    return fresh_numbers([record(values=values, **more)])


def columns_of():
    cells = json.loads(golden_path(KEY).read_text())["cells"]
    return {column for system in cells.values() for column in system}


def test_what_was_just_written_holds_and_is_the_same_when_written_again(record):
    now = numbers_of(record, {"en": 90.0, "de": 50.0})
    update(KEY, now, VERSIONS)
    before = golden_path(KEY).read_bytes()
    assert check(KEY, now, VERSIONS) == []
    update(KEY, now, VERSIONS)
    assert golden_path(KEY).read_bytes() == before


def kind_of(difference):
    return {difference.now: "missing", difference.golden: "new"}.get(None, "moved")


@pytest.mark.parametrize(
    ("values", "more", "kinds"),
    [
        ({"de": 50.0000009}, {}, []),
        ({"de": 50.000002}, {}, [("moved", "de", 0)]),
        ({}, {}, [("missing", "de", 0), ("new", "en", 0)]),
        ({"de": 50.0, "fr": 90.0}, {}, [("new", "fr", 0)]),
        ({"de": 50.0}, {"seed": 1}, [("missing", "de", 0), ("new", "de", 1)]),
        ({"de": 50.0}, {"versions": {}}, [("missing", "de", 0)]),  # of other code
    ],
)
def test_a_number_that_moved_is_missing_or_is_new_is_a_difference(record, values, more, kinds):
    update(KEY, numbers_of(record, {"de": 50.0}), VERSIONS)
    now = numbers_of(record, values or {"en": 90.0}, **more)
    found = check(KEY, now, VERSIONS)
    assert [(kind_of(d), *d.place[2:]) for d in found] == kinds


@pytest.mark.parametrize(
    ("values", "settings", "kept"),
    [
        ({"de": 50.0, "POS/avg": 60.0, "avg/NOUN": 70.0}, FEW, {"POS/avg", "avg/NOUN"}),
        ({"de": 50.0, "avg": 60.0}, {"test_sentences": FEWEST_SENTENCES}, {"de", "avg"}),
        ({"1.0e-03": 50.0}, FEW, {"1.0e-03"}),  # there is no average
    ],
)
def test_beside_an_average_cells_of_few_sentences_are_not_compared(record, values, settings, kept):
    update(KEY, numbers_of(record, values, settings=settings), VERSIONS)
    assert columns_of() == kept


def test_numbers_of_a_gpu_are_no_golden_numbers(record):
    here, other = record(seed=0, values={"de": 1.0}), record(seed=1, values={"de": 9.0})
    on_gpu = other.model_copy(update={"peak_gpu_memory_bytes": 2**20})
    assert off_cpu([on_gpu, here, None]) == {on_gpu.key}
    assert fresh_numbers([here, on_gpu]) == {("word:ORT", "de", 0): 1.0}


def test_nothing_fresh_cannot_become_golden():
    with pytest.raises(DataError, match="has no smoke record of today's code"):
        update(KEY, {}, VERSIONS)


def test_a_number_that_moved_while_its_version_did_not_is_not_accepted(record):
    update(KEY, numbers_of(record, {"de": 50.0}), VERSIONS)
    now = numbers_of(record, {"de": 60.0})
    (found,) = check(KEY, now, VERSIONS)
    assert "(version of word_order/pos is still the same)" in str(found)
    with pytest.raises(DataError, match="raise the version of the task"):
        update(KEY, now, VERSIONS)
    assert check(KEY, numbers_of(record, {"de": 50.0}), VERSIONS) == []
    (moved,) = update(KEY, now, VERSIONS, smoke_alone=True)  # other artificial data, say
    assert str(moved).startswith("word_order/table2 word:ORT / de, seed 0: golden 50, now 60")
    assert update(KEY, numbers_of(record, {"de": 60.01}), RAISED | {"other": 1})  # however little
    assert update(KEY, numbers_of(record, {"de": 50.0}), RAISED | {"other": 2})  # of one task


@pytest.mark.parametrize("text", [None, "{", '{"experiment": 3}'])
def test_a_missing_or_broken_file_names_itself(record, text):
    path = golden_path(KEY)
    path.parent.mkdir(parents=True)
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError, match=r"table2\.json") as error:
        check(KEY, numbers_of(record, {"de": 50.0}), VERSIONS)
    assert ("xlrepro golden --update word_order/table2" in str(error.value)) == (text is None)
