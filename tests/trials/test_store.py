import logging
import os
import signal
import socket
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
from conftest import make_trial
from xlrepro.store import RecordStore
from xlrepro.engine import measure_trial
record = measure_trial(make_trial(settings={"filler": "x" * 100_000}), "cpu")
store = RecordStore(Path(sys.argv[1]), Path(sys.argv[2]))
store.put(record)
print("ready", flush=True)
while True:
    store.put(record)
"""


LATER = (datetime.now(UTC) + timedelta(hours=1)).isoformat(timespec="milliseconds")


def later(record: Record) -> Record:
    return record.model_copy(update={"started": LATER})


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_is_put_is_got(store, record_of):
    record = record_of(1)
    store.put(record)
    assert store.get(record) == record


def test_a_trial_that_was_not_run_has_no_record(store, trial_of):
    assert store.get(trial_of()) is None


def test_records_are_chosen_by_experiment_and_profile(store, record_of):
    for changes in ({}, {"profile": "smoke"}, {"experiment": "word_order/other"}):
        store.put(record_of(**changes))
    chosen = store.records("toy/table", "open")
    assert [(r.experiment, r.profile) for r in chosen] == [("toy/table", "open")]


def test_records_are_sorted_by_systems_and_seed(store, record_of):
    for seed, system in ((1, "word:TRS"), (2, "word:ORT"), (0, "word:TRS"), (10, "word:ORT")):
        store.put(record_of(seed, systems=(system,)))
    found = [(r.systems[0], r.seed) for r in store.records()]
    assert found == [("word:ORT", 2), ("word:ORT", 10), ("word:TRS", 0), ("word:TRS", 1)]


def test_a_kill_at_any_moment_leaves_whole_records(tmp_path):
    root = tmp_path / "records"
    for pause in (0.0, 0.003, 0.011):
        process = subprocess.Popen(
            [sys.executable, "-c", ENDLESS_PUTS, str(root), str(tmp_path / "results")],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parent,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05 + pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        files = list(root.glob("*.json"))
        assert len(files) == 1
        Record.from_json(files[0].read_text(), str(files[0]))


def test_temporary_files_of_dead_processes_are_removed(store):
    store.root.mkdir(parents=True)
    left = store.root / f".x.json~{socket.gethostname()}~{dead_pid()}~abc~.tmp"
    left.write_text("half")
    RecordStore(store.root, store.published)
    assert not left.exists()


def test_what_cannot_be_removed_or_was_named_otherwise_hinders_no_reading(store, monkeypatch):
    store.root.mkdir(parents=True)
    for pid in (dead_pid(), 10**20):
        (store.root / f".x.json~{socket.gethostname()}~{pid}~abc~.tmp").write_text("half")

    def refused(*_args, **_more):
        raise PermissionError("the folder is to be read only")

    monkeypatch.setattr(Path, "unlink", refused)
    assert RecordStore(store.root, store.published).records() == []


def test_temporary_files_of_living_processes_stay(store):
    store.root.mkdir(parents=True)
    busy = store.root / f".x.json~{socket.gethostname()}~{os.getpid()}~abc~.tmp"
    busy.write_text("half")
    RecordStore(store.root, store.published)
    assert busy.exists()


def test_a_broken_record_is_named_and_does_not_hide_the_others(store, record_of, caplog):
    good, bad = record_of(1), record_of(2)
    store.put(good)
    store.put(bad)
    store.path(bad.key).write_text(bad.to_json()[:100])
    with caplog.at_level(logging.WARNING, "xlrepro"):
        assert [r.key for r in store.records()] == [good.key]
    assert str(store.path(bad.key)) in caplog.text


def test_a_broken_record_counts_as_not_run(store, record_of):
    record = record_of()
    store.put(record)
    store.path(record.key).write_bytes(b"\xff\x00")
    assert store.get(record) is None


def test_a_record_under_another_key_is_refused(store, record_of, caplog):
    record = record_of()
    store.put(record)
    store.path(record.key).rename(store.path("0" * 64))
    assert store.records() == []
    assert "another trial" in caplog.text


def test_a_record_that_is_no_text_is_named_with_what_to_do(store, record_of, caplog):
    record = record_of()
    store.put(record)
    store.path(record.key).write_bytes(b"\xff\xfe")
    assert store.get(record) is None
    assert f"{store.path(record.key)} is not text in UTF-8: remove it" in caplog.text


def test_a_record_that_is_a_folder_is_named_with_what_to_do(store, record_of, caplog):
    record = record_of()
    store.path(record.key).mkdir(parents=True)
    assert store.get(record) is None
    assert f"{store.path(record.key)} cannot be read (Is a directory): remove it" in caplog.text


@pytest.mark.parametrize("as_folder", [False, True])
def test_a_published_file_that_cannot_be_read_hides_no_other(store, record_of, caplog, as_folder):
    store.put(record_of())
    path = store.published_path("toy/table", "open")
    path.parent.mkdir(parents=True)
    path.mkdir() if as_folder else path.write_bytes(b"\xff\xfe")
    assert [r.key for r in store.records()] == [record_of().key]
    assert f"{path} " in caplog.text
    with pytest.raises(StoreError, match="remove it"):
        store.publish()


def test_a_store_that_cannot_be_written_says_so(tmp_path, record_of):
    store = RecordStore(tmp_path / "file" / "records", tmp_path)
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match="cannot be written"):
        store.put(record_of())


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, "old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        write_atomically(path, "new")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("file", "old")]


def test_a_lock_is_held_by_one_only(store):
    held = store.lock("a")
    assert store.lock("a") is None
    held.release()
    assert store.lock("a") is not None


def test_published_records_are_sorted_lines_in_their_papers_folder(store, record_of):
    for seed in (2, 0, 1):
        store.put(record_of(seed))
    [file] = store.publish()
    assert file.path == store.published / "toy" / "table.open.jsonl"
    lines = file.path.read_text().splitlines()
    assert [Record.from_json(line, "").seed for line in lines] == [0, 1, 2]
    assert (file.added, file.replaced, file.total) == (3, 0, 3)


def test_smoke_records_are_not_published(store, record_of):
    store.put(record_of(profile="smoke"))
    assert store.publish() == []


def test_only_asked_experiments_and_keys_are_published(store, record_of):
    chosen, other = record_of(1), record_of(2)
    for record in (chosen, other, record_of(experiment="word_order/other")):
        store.put(record)
    [file] = store.publish(["toy/table"], keys={chosen.key})
    assert [r.key for r in RecordStore(store.root / "none", store.published).records()] == [
        chosen.key
    ]
    assert file.total == 1


def test_publishing_keeps_what_is_published(store, tmp_path, record_of):
    store.put(record_of(0))
    store.publish()
    other_machine = RecordStore(tmp_path / "other", store.published)
    other_machine.put(record_of(1))
    [file] = other_machine.publish()
    assert (file.added, file.total) == (1, 2)


def test_two_builds_do_not_publish_into_one_file_at_once(store, tmp_path, record_of):
    store.put(record_of(0))
    [file] = store.publish()
    other_build = RecordStore(tmp_path / "other", store.published)
    other_build.put(record_of(1))
    publishing = Thread(target=other_build.publish)
    with locked(file.path):
        publishing.start()
        publishing.join(0.3)
        assert publishing.is_alive()
    publishing.join(10)
    assert len(store.published_keys("toy/table", "open")) == 2


def test_publishing_again_changes_nothing(store, record_of):
    store.put(record_of(0))
    [first] = store.publish()
    before = (first.path.stat().st_mtime_ns, first.path.read_bytes())
    [again] = store.publish()
    assert (again.added, again.replaced) == (0, 0)
    assert (first.path.stat().st_mtime_ns, first.path.read_bytes()) == before


def test_a_newer_record_takes_the_place_of_a_published_one(store, record_of):
    record = record_of()
    store.put(record)
    store.publish()
    store.put(later(record))
    [file] = store.publish()
    assert (file.replaced, file.total) == (1, 1)
    assert Record.from_json(file.path.read_text(), "").started == later(record).started


def test_a_broken_published_file_is_not_overwritten(store, record_of):
    store.put(record_of(0))
    path = store.published_path("toy/table", "open")
    path.parent.mkdir(parents=True)
    path.write_text("{broken\n")
    with pytest.raises(StoreError, match="line 1"):
        store.publish()
    assert path.read_text() == "{broken\n"


def test_dirty_records_are_counted(store, record_of):
    git = record_of().git.model_copy(update={"dirty": True})
    store.put(record_of(0).model_copy(update={"git": git}))
    assert store.publish()[0].dirty == 1


def test_a_published_record_counts_as_run(store, tmp_path, record_of):
    record = record_of()
    store.put(record)
    store.publish()
    assert RecordStore(tmp_path / "fresh", store.published).get(record) == record


@pytest.mark.parametrize("newer_is_local", [True, False])
def test_of_two_records_of_one_trial_the_newer_counts(store, record_of, newer_is_local):
    record = record_of()
    store.put(record if newer_is_local else later(record))
    store.publish()
    store.put(later(record) if newer_is_local else record)
    assert store.get(record) == later(record)
    assert store.records() == [later(record)]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x1c"])
def test_a_name_with_a_line_separator_is_published_and_read_again(store, record_of, separator):
    store.put(record_of(settings={"name": f"a{separator}b"}))
    store.publish()
    (published,) = RecordStore(store.root.parent / "none", store.published).records()
    assert published.settings == {"name": f"a{separator}b"}
    (file,) = store.publish()
    assert (file.added, file.total) == (0, 1)


def test_half_a_character_is_refused_and_leaves_nothing(store, record_of):
    with pytest.raises(StoreError, match=r"U\+D800"):
        write_atomically(store.root / "x.json", "\ud800")
    assert not list(store.root.parent.rglob("*.tmp"))
    record = record_of(settings={"name": "a"}).model_copy(update={"settings": {"name": "\udfff"}})
    with pytest.raises(StoreError, match=r"U\+DFFF"):
        store.put(record)


def test_a_deeply_nested_record_is_named_and_hides_no_other(store, record_of, caplog):
    store.put(record_of(1))
    store.path("f" * 64).write_text("[" * 10**5)
    with caplog.at_level(logging.WARNING):
        assert [r.seed for r in store.records()] == [1]
    assert "nested too deeply" in caplog.text


def test_a_record_that_knows_its_commit_is_not_replaced_by_one_that_does_not(store, record_of):
    record = record_of()
    known = GitState(commit="a" * 40, dirty=False)
    unknown = GitState(commit=None, dirty=None, reason="dubious ownership")
    store.put(record.model_copy(update={"git": known}))
    store.publish()
    store.put(later(record).model_copy(update={"git": unknown}))
    (file,) = store.publish()
    assert (file.replaced, file.kept) == (0, 1)
    assert "a" * 40 in file.path.read_text()


def test_of_two_published_lines_of_one_trial_the_newest_counts(store, record_of):
    record = record_of()
    path = store.published_path(record.experiment, record.profile)
    path.parent.mkdir(parents=True)
    path.write_text(
        later(record).to_json() + "\n" + record.to_json() + "\n"
    )  # as a merge leaves it
    assert store.get(record) == later(record)
    assert store.records() == [later(record)]
    store.put(record_of(1))
    store.publish()
    assert len(path.read_text().splitlines()) == 2


def test_an_equal_record_replaces_nothing(store, record_of):
    store.put(record_of())
    store.publish()
    other = record_of().model_copy(update={"started": record_of().started, "device": "another"})
    store.put(other.model_copy(update={"started": store.records()[0].started}))
    assert store.publish()[0].replaced == 0


def test_temporary_files_of_a_killed_publish_are_removed(store, record_of):
    store.put(record_of())
    folder = store.published / "toy"
    folder.mkdir(parents=True)
    left = folder / f".table.open.jsonl~{socket.gethostname()}~{dead_pid()}~abc~.tmp"
    left.write_text("half")
    store.publish()
    assert not left.exists()


def test_an_older_record_replaces_nothing(store, record_of):
    store.put(later(record_of()))
    store.publish()
    store.put(record_of())
    (file,) = store.publish()
    assert (file.replaced, store.records()[0].started) == (0, LATER)


def test_a_record_of_a_later_version_takes_the_place_of_an_outdated_one(store, record_of):
    store.put(later(record_of()))
    store.publish()
    store.put(record_of(version=2))
    (file,) = store.publish()
    assert (file.replaced, file.total) == (1, 1)
    assert [r.version for r in store.records()] == [2]
    assert store.get(record_of().trial).version == 2
