import json

import pytest

from xlrepro.errors import DataError, StoreError
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


def numbers_of(record, values, stale=False, **more):
    return fresh_numbers([record(values=values, **more)], stale=lambda r: stale)


def test_what_was_just_written_holds(record, tmp_path):
    now = numbers_of(record, {"en": 90.0, "de": 50.0})
    update(KEY, now, VERSIONS, tmp_path)
    assert check(KEY, now, VERSIONS, tmp_path) == []


@pytest.mark.parametrize(("value", "kinds"), [(50.0000009, []), (50.000002, ["moved"])])
def test_a_number_may_not_move(record, tmp_path, value, kinds):
    update(KEY, numbers_of(record, {"de": 50.0}), VERSIONS, tmp_path)
    found = check(KEY, numbers_of(record, {"de": value}), VERSIONS, tmp_path)
    assert [d.kind for d in found] == kinds


FEW = {"test_sentences": FEWEST_SENTENCES - 1}


def test_beside_an_average_cells_of_few_sentences_are_not_compared(record, tmp_path):
    values = {"de": 50.0, "POS/avg": 60.0, "avg/NOUN": 70.0}
    update(KEY, numbers_of(record, values, settings=FEW), VERSIONS, tmp_path)
    golden = json.loads(golden_path(KEY, tmp_path).read_text())
    assert set(golden["cells"]["word:ORT"]) == {"POS/avg", "avg/NOUN"}


@pytest.mark.parametrize(
    "settings",
    [{"test_sentences": FEWEST_SENTENCES}, {"training": {"test_sentences": 300}}, {"dim": 8}],
)
def test_cells_of_enough_sentences_are_compared(record, tmp_path, settings):
    update(
        KEY, numbers_of(record, {"de": 50.0, "avg": 60.0}, settings=settings), VERSIONS, tmp_path
    )
    golden = json.loads(golden_path(KEY, tmp_path).read_text())
    assert set(golden["cells"]["word:ORT"]) == {"de", "avg"}


def test_where_there_is_no_average_all_cells_are_compared(record, tmp_path):
    update(KEY, numbers_of(record, {"1.0e-03": 50.0}, settings=FEW), VERSIONS, tmp_path)
    assert "1.0e-03" in golden_path(KEY, tmp_path).read_text()


def test_times_are_in_no_golden_file(record, tmp_path):
    now = fresh_numbers(
        [
            record(values={"de": 50.0}),
            record("word:TRS", {"de": 1.5}, metric="seconds"),
        ],
        stale=lambda r: False,
    )
    update(KEY, now, VERSIONS, tmp_path)
    assert "TRS" not in golden_path(KEY, tmp_path).read_text()
    assert check(KEY, now, VERSIONS, tmp_path) == []


def test_numbers_of_a_gpu_are_no_golden_numbers(record, tmp_path):
    update(KEY, numbers_of(record, {"de": 50.0}), VERSIONS, tmp_path)
    on_gpu = record(values={"de": 50.0}).model_copy(update={"peak_gpu_memory_bytes": 2**20})
    found = check(KEY, fresh_numbers([on_gpu], stale=lambda r: False), VERSIONS, tmp_path)
    assert [d.kind for d in found] == ["missing"]
    assert off_cpu([on_gpu, record("word:TRS"), None]) == {on_gpu.key}


def test_an_update_that_fails_leaves_the_old_file(record, tmp_path, monkeypatch):
    update(KEY, numbers_of(record, {"de": 50.0}), VERSIONS, tmp_path)
    before = golden_path(KEY, tmp_path).read_text()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreError, match="cannot be written"):
        update(KEY, numbers_of(record, {"de": 60.0}), RAISED, tmp_path)
    assert golden_path(KEY, tmp_path).read_text() == before


def test_a_number_nobody_ran_is_missing(record, tmp_path):
    update(KEY, numbers_of(record, {"de": 50.0, "en": 90.0}), VERSIONS, tmp_path)
    (found,) = check(KEY, numbers_of(record, {"en": 90.0}), VERSIONS, tmp_path)
    assert (found.kind, found.column, found.now) == ("missing", "de", None)


def test_a_number_that_is_not_in_the_file_is_new(record, tmp_path):
    update(KEY, numbers_of(record, {"en": 90.0}), VERSIONS, tmp_path)
    (found,) = check(KEY, numbers_of(record, {"en": 90.0, "de": 50.0}), VERSIONS, tmp_path)
    assert (found.kind, found.column, found.golden) == ("new", "de", None)


def test_each_seed_is_compared(record, tmp_path):
    update(KEY, numbers_of(record, {"de": 50.0}, seed=0), VERSIONS, tmp_path)
    found = check(KEY, numbers_of(record, {"de": 50.0}, seed=1), VERSIONS, tmp_path)
    assert sorted((d.kind, d.seed) for d in found) == [("missing", 0), ("new", 1)]


def test_stale_records_are_never_used(record, tmp_path):
    update(KEY, numbers_of(record, {"de": 50.0}), VERSIONS, tmp_path)
    found = check(KEY, numbers_of(record, {"de": 50.0}, stale=True), VERSIONS, tmp_path)
    assert [d.kind for d in found] == ["missing"]


def test_nothing_fresh_cannot_become_golden(record, tmp_path):
    with pytest.raises(DataError, match="has no smoke record of today's code"):
        update(KEY, numbers_of(record, {"de": 50.0}, stale=True), VERSIONS, tmp_path)


def test_only_the_records_asked_for_count(record):
    wanted, other = record(seed=0, values={"de": 1.0}), record(seed=1, values={"de": 9.0})
    (cell,) = fresh_numbers([wanted, other], keys={wanted.key}, stale=lambda r: False)
    assert cell.values == (1.0,)


def test_other_profiles_are_no_golden_numbers(record):
    assert list(numbers_of(record, {"de": 50.0}, profile="open")) == []


def test_an_update_returns_everything_that_moved_however_little(record, tmp_path):
    update(KEY, numbers_of(record, {"de": 50.0, "en": 90.0}), VERSIONS, tmp_path)
    moved = update(KEY, numbers_of(record, {"de": 50.01, "en": 90.0}), RAISED, tmp_path)
    assert [(d.column, d.golden, d.now) for d in moved] == [("de", 50.0, 50.01)]


def test_a_number_that_moved_while_its_version_did_not_is_not_accepted(record, tmp_path):
    update(KEY, numbers_of(record, {"de": 50.0}), VERSIONS, tmp_path)
    now = numbers_of(record, {"de": 60.0})
    (found,) = check(KEY, now, VERSIONS, tmp_path)
    assert "(version of word_order/pos is still the same)" in str(found)
    with pytest.raises(DataError, match="raise the version of the task"):
        update(KEY, now, VERSIONS, tmp_path)
    assert check(KEY, numbers_of(record, {"de": 50.0}), VERSIONS, tmp_path) == []
    update(KEY, now, VERSIONS, tmp_path, smoke_alone=True)  # other artificial data, say
    assert check(KEY, now, VERSIONS, tmp_path) == []


def test_the_file_is_the_same_for_the_same_numbers(record, tmp_path):
    now = numbers_of(record, {"en": 90.0, "de": 50.0})
    update(KEY, now, VERSIONS, tmp_path)
    before = golden_path(KEY, tmp_path).read_bytes()
    update(KEY, now, VERSIONS, tmp_path)
    assert golden_path(KEY, tmp_path).read_bytes() == before


def test_a_missing_file_says_how_to_make_it(record, tmp_path):
    with pytest.raises(DataError, match="xlrepro golden --update word_order/table2"):
        check(KEY, numbers_of(record, {"de": 50.0}), VERSIONS, tmp_path)


@pytest.mark.parametrize("text", ["{", "{}", '{"experiment": 3}'])
def test_a_broken_file_names_itself(record, tmp_path, text):
    path = golden_path(KEY, tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(DataError, match=r"table2\.json"):
        check(KEY, numbers_of(record, {"de": 50.0}), VERSIONS, tmp_path)


def test_a_difference_is_one_line(record, tmp_path):
    update(KEY, numbers_of(record, {"de": 50.0}), VERSIONS, tmp_path)
    (found,) = check(KEY, numbers_of(record, {"de": 60.0}), RAISED, tmp_path)
    assert str(found) == ("word_order/table2 word:ORT / de, seed 0: golden 50, now 60")
