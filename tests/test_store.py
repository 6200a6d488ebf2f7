"""Records on disk: whole whatever happens, the newest counts, published ones never know less."""

import logging
import os
import resource
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest

from xlrepro.errors import StoreError
from xlrepro.store import RecordStore, locked, write_atomically
from xlrepro.trials import GitState, Record

ENDLESS_PUTS = """
import sys
from pathlib import Path
from tests.toy_trials import make_true_record
from xlrepro.store import RecordStore
record = make_true_record(settings={"filler": "x" * 100_000})
store = RecordStore(Path(sys.argv[1]), Path(sys.argv[2]))
store.put(record)
print("ready", flush=True)
while True:
    store.put(record)
"""
LATER = (datetime.now(UTC) + timedelta(hours=1)).isoformat(timespec="milliseconds")


def later(record: Record) -> Record:
    return record.model_copy(update={"started": LATER})


def publish(store: RecordStore, **how: bool):
    """Publish the toy's open records, all that there are."""
    return store.publish("toy/table", "open", store.records("toy/table", "open"), **how)


@pytest.fixture
def path(store):
    path = store.published / "toy" / "table.open.jsonl"
    path.parent.mkdir(parents=True)
    return path


def test_records_are_chosen_by_experiment_and_profile(store, record_of):
    for changes in ({}, {"profile": "smoke"}, {"experiment": "word_order/other"}):
        store.put(record_of(**changes))
    chosen = store.records("toy/table", "open")
    assert [(r.experiment, r.profile) for r in chosen] == [("toy/table", "open")]


def test_records_are_read_again_when_one_comes_is_made_anew_or_goes(store, record_of):
    first, second = record_of(1), record_of(2)
    for put, expected in ((first, [first]), (second, [first, second])):
        store.put(put)
        assert store.records("toy/table", "open") == expected
    store.put(later(first))
    assert store.records("toy/table", "open") == [later(first), second]
    store.path(second.key).unlink()
    assert store.records() == [later(first)]


def test_a_kill_at_any_moment_leaves_whole_records(tmp_path):
    root = tmp_path / "records"
    for pause in (0.0, 0.003, 0.011):
        process = subprocess.Popen(
            [sys.executable, "-c", ENDLESS_PUTS, str(root), str(tmp_path / "results")],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parent.parent,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05 + pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        (file,) = root.glob("*.json")
        Record.from_json(file.read_text(), str(file))


DAMAGES = {
    "is not a whole record": lambda file: file.write_text(file.read_text()[:100]),
    "cannot be read (no text in UTF-8): remove it": lambda file: file.write_bytes(b"\xff\xfe"),
    "cannot be read (Is a directory): remove it": lambda file: (file.unlink(), file.mkdir()),
    "recursion limit": lambda file: file.write_text("[" * 10**5),
}


@pytest.mark.parametrize("said", DAMAGES)
def test_a_broken_record_counts_as_not_run_and_hides_no_other(store, record_of, caplog, said):
    good, bad = record_of(1), record_of(2)
    store.put(good)
    store.put(bad)
    DAMAGES[said](store.path(bad.key))
    with caplog.at_level(logging.WARNING, "xlrepro"):
        assert [r.key for r in store.records()] == [good.key]
    assert store.get(bad.trial) is None
    assert str(store.root) in caplog.text
    assert said in caplog.text


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"{broken\n"])
def test_a_broken_published_file_hides_no_other_and_stays(store, record_of, caplog, path, content):
    store.put(record_of())
    path.mkdir() if content is None else path.write_bytes(content)
    assert [r.key for r in store.records()] == [record_of().key]
    assert str(path) in caplog.text
    with pytest.raises(StoreError, match="remove it"):
        publish(store)
    assert content is None or path.read_bytes() == content


def test_a_full_disk_is_refused_before_anything_trains(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # as a disk with so many bytes
    try:
        with pytest.raises(StoreError, match=r"File too large.*set XLREPRO_BUILD"):
            RecordStore(tmp_path / "records", tmp_path).check_writable()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    RecordStore(tmp_path / "records", tmp_path).check_writable()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, "old")
    with pytest.raises(StoreError, match="surrogates"):
        write_atomically(path, "\ud800")  # half a character

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        write_atomically(path, "new")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("file", "old")]


# ---- publishing


def test_published_records_are_sorted_and_count_as_run_elsewhere(store, record_of, tmp_path, path):
    for seed in (2, 0, 1):
        store.put(record_of(seed))
    file = publish(store)
    lines = path.read_text().splitlines()
    assert [Record.from_json(line, "").seed for line in lines] == [0, 1, 2]
    assert (file["added"], file["replaced"], file["total"]) == (3, 0, 3)
    assert RecordStore(tmp_path / "fresh", store.published).get(record_of(2).trial) is not None


def test_publishing_keeps_what_is_published_but_for_what_is_withdrawn(store, tmp_path, record_of):
    store.put(record_of(0))
    publish(store)
    other_machine = RecordStore(tmp_path / "other", store.published)
    file = other_machine.publish("toy/table", "open", [record_of(1)])
    assert (file["added"], file["withdrawn"], file["total"]) == (1, 0, 2)
    file = other_machine.publish("toy/table", "open", [record_of(1)], withdraw=True)
    assert (file["added"], file["withdrawn"], file["total"]) == (0, 1, 1)


def test_two_builds_do_not_publish_into_one_file_at_once(store, tmp_path, record_of, path):
    store.put(record_of(0))
    publish(store)
    other_build = RecordStore(tmp_path / "other", store.published)
    other_build.put(record_of(1))
    publishing = Thread(target=publish, args=[other_build])
    with locked(path):
        publishing.start()
        publishing.join(0.3)
        assert publishing.is_alive()
    publishing.join(10)
    assert len(path.read_text().splitlines()) == 2


def test_an_equal_record_replaces_nothing_and_dirty_ones_are_counted(store, record_of, path):
    git = record_of().git.model_copy(update={"dirty": True})
    record = record_of().model_copy(update={"git": git})
    store.put(record)
    first = publish(store)
    before = path.stat().st_mtime_ns
    assert (publish(store)["added"], first["dirty"], path.stat().st_mtime_ns) == (0, 1, before)
    other = record.model_copy(update={"device": "another"})
    assert store.publish("toy/table", "open", [other])["replaced"] == 0


@pytest.mark.parametrize("newer_is_local", [True, False])
def test_of_two_records_of_one_trial_the_newer_counts(store, record_of, path, newer_is_local):
    record = record_of()
    store.put(record if newer_is_local else later(record))
    publish(store)
    store.put(later(record) if newer_is_local else record)
    assert store.get(record.trial) == later(record)
    assert store.records() == [later(record)]
    file = publish(store)
    assert file["replaced"] == newer_is_local
    assert store.publish("toy/table", "open", [record])["replaced"] == 0  # of a slower process
    assert Record.from_json(path.read_text(), "") == later(record)


@pytest.mark.parametrize("separator", ["\u2028", "\x1c"])
def test_a_name_with_a_line_separator_is_published_and_read_again(store, record_of, separator):
    store.put(record_of(settings={"name": f"a{separator}b"}))
    publish(store)
    (published,) = RecordStore(store.root.parent / "none", store.published).records()
    assert published.settings == {"name": f"a{separator}b"}
    assert (publish(store)["added"], publish(store)["total"]) == (0, 1)


def test_a_record_that_knows_its_commit_is_not_replaced_by_one_without(store, record_of, path):
    record = record_of()
    known = GitState(commit="a" * 40, dirty=False)
    unknown = GitState(commit=None, dirty=None, reason="dubious ownership")
    store.put(record.model_copy(update={"git": known}))
    publish(store)
    store.put(later(record).model_copy(update={"git": unknown}))
    file = publish(store)
    assert (file["replaced"], file["kept"]) == (0, 1)
    assert "a" * 40 in path.read_text()


def test_of_two_published_lines_of_one_trial_the_newest_counts(store, record_of, path):
    record = record_of()
    path.write_text(f"{later(record).to_json()}\n{record.to_json()}\n")  # as a merge leaves it
    assert store.get(record.trial) == later(record)
    assert store.records() == [later(record)]
    store.put(record_of(1))
    publish(store)
    assert len(path.read_text().splitlines()) == 2


def test_temporary_files_of_a_killed_publish_are_removed(store, record_of, path):
    store.put(record_of())
    left = path.with_name(f".{path.name}.1.tmp")
    left.write_text("half")
    publish(store)
    assert not left.exists()


def test_a_record_of_a_later_version_takes_the_place_of_an_outdated_one(store, record_of):
    store.put(later(record_of()))
    publish(store)
    store.put(record_of(version=2))
    file = publish(store)
    assert (file["replaced"], file["total"]) == (1, 1)
    assert [r.version for r in store.records()] == [2]
    assert store.get(record_of().trial).version == 2
