"""Downloads: what is fetched is right and whole, or it is not there and one line says why."""

import contextlib
import errno
import hashlib
import http.server
import lzma
import os
import subprocess
import sys
import threading
import time

import pytest

from xlrepro.data import download, registry
from xlrepro.data.download import RemoteFile, fetch_file
from xlrepro.errors import DataError

CONTENT = b"# sent_id = invented-1\n1\tMoles\tmole\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
PATH = "toy/a.conllu.xz"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)


def upstream(toy, url):
    """A file that only an upstream URL has."""
    return RemoteFile(
        label="toy a",
        path=PATH,
        url=url,
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        bytes=len(CONTENT),
        target=toy.cache / "corpora" / "toy" / "a.conllu",
    )


def assert_one_line(error, *parts):
    text = str(error.value)
    assert "\n" not in text
    for part in parts:
        assert part in text


@pytest.mark.parametrize("packed", [True, False])
def test_mirror_copy_is_unpacked_into_the_cache(toy, packed):
    toy.register("a", CONTENT)
    toy.put(PATH if packed else PATH.removesuffix(".xz"), CONTENT, packed)
    path = registry.fetch("toy", "a", progress=False)
    assert path.read_bytes() == CONTENT
    assert path.is_relative_to(toy.cache)


@pytest.mark.parametrize("packed", [True, False])
def test_mirror_may_be_a_url(toy, serve, monkeypatch, packed):
    toy.register("a", CONTENT, path="toy/with space@r1.conllu.xz")
    name = "toy/with space@r1.conllu" + (".xz" if packed else "")
    toy.put(name, CONTENT, packed)
    monkeypatch.setenv("XLREPRO_MIRROR", serve(toy.mirror) + "/")
    assert registry.fetch("toy", "a", progress=False).read_bytes() == CONTENT


def test_relative_mirror_is_found_from_the_project_too(toy, monkeypatch, tmp_path):
    toy.register("a", CONTENT)
    toy.put(PATH, CONTENT)
    elsewhere = tmp_path / "notebooks" / "deep"
    elsewhere.mkdir(parents=True)
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("XLREPRO_MIRROR", "../mirror")
    assert registry.fetch("toy", "a", progress=False).read_bytes() == CONTENT


def test_upstream_is_asked_when_the_mirror_has_no_such_file(toy, serve):
    toy.put("up/a.conllu", CONTENT, packed=False)
    url = serve(toy.mirror / "up") + "/a.conllu"
    assert fetch_file(upstream(toy, url), progress=False).read_bytes() == CONTENT


def test_verified_file_is_not_hashed_again(toy, monkeypatch):
    toy.register("a", CONTENT)
    toy.put(PATH, CONTENT)
    registry.fetch("toy", "a", progress=False)

    def fail(*args):
        raise AssertionError("hashed again")

    monkeypatch.setattr("hashlib.file_digest", fail)
    registry.fetch("toy", "a", progress=False)


def test_cached_file_that_changed_is_fetched_again(toy):
    toy.register("a", CONTENT)
    toy.put(PATH, CONTENT)
    path = registry.fetch("toy", "a", progress=False)
    path.write_bytes(CONTENT + b"tampered")
    assert registry.fetch("toy", "a", progress=False).read_bytes() == CONTENT


def test_wrong_checksum_leaves_nothing(toy):
    toy.register("a", CONTENT)
    toy.put(PATH, CONTENT.replace(b"Moles", b"Voles"))
    with pytest.raises(DataError) as error:
        registry.fetch("toy", "a", progress=False)
    assert_one_line(error, "toy a", "SHA-256", "XLREPRO_MIRROR")
    assert toy.cached_files() == []


def test_archive_that_unpacks_to_more_than_stated_is_not_unpacked_further(toy, monkeypatch):
    toy.register("a", CONTENT)
    toy.put(PATH, bytes(20 << 20))
    read = []
    original = lzma.LZMAFile.read
    monkeypatch.setattr(
        lzma.LZMAFile, "read", lambda *args: read.append(original(*args)) or read[-1]
    )
    with pytest.raises(DataError) as error:
        registry.fetch("toy", "a", progress=False)
    assert_one_line(error, "toy a", f"larger than the {len(CONTENT)} bytes", "XLREPRO_MIRROR")
    assert sum(map(len, read)) <= 1 << 20
    assert toy.cached_files() == []


class Endless(http.server.BaseHTTPRequestHandler):
    """Sends 256 MB, unless the other side has had enough."""

    sent = 0

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(256):
                self.wfile.write(bytes(1 << 20))
                Endless.sent += 1

    def log_message(self, *args):
        pass


def test_a_download_of_more_than_stated_is_broken_off(toy, serve):
    with pytest.raises(DataError) as error:
        fetch_file(upstream(toy, serve(handler=Endless) + "/a.conllu"), progress=False)
    assert_one_line(error, "larger than")
    assert Endless.sent < 64
    assert toy.cached_files() == []


class Confused(http.server.BaseHTTPRequestHandler):
    """Answers with a length that is no number, or with a redirect to what is no address."""

    def do_GET(self):
        redirects = self.path.startswith("/redirect")
        self.send_response(302 if redirects else 200)
        if redirects:
            self.send_header("Location", "http://[")
        self.send_header("Content-Length", "0" if redirects else "abc")
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.mark.parametrize("path", ["/redirect", "/length"])
@pytest.mark.parametrize("progress", [True, False])
def test_a_server_that_answers_nonsense_is_one_line(toy, serve, path, progress):
    with pytest.raises(DataError) as error:
        fetch_file(upstream(toy, serve(handler=Confused) + path), progress=progress)
    assert_one_line(error, "toy a", "could not be downloaded", "XLREPRO_MIRROR")
    assert toy.cached_files() == []


def test_truncated_xz_leaves_nothing(toy):
    toy.register("a", CONTENT)
    source = toy.put(PATH, CONTENT)
    source.write_bytes(source.read_bytes()[:-20])
    with pytest.raises(DataError) as error:
        registry.fetch("toy", "a", progress=False)
    assert_one_line(error, str(source), "truncated")
    assert toy.cached_files() == []


def test_missing_mirror_folder_is_named(toy, monkeypatch):
    toy.register("a", CONTENT)
    monkeypatch.setenv("XLREPRO_MIRROR", "/no/such/mirror")
    with pytest.raises(DataError) as error:
        registry.fetch("toy", "a", progress=False)
    assert_one_line(error, "/no/such/mirror", "does not exist", "XLREPRO_MIRROR")


@pytest.mark.parametrize("mirror", [None, "empty"])
def test_file_without_any_source_says_where_it_was_expected(toy, monkeypatch, mirror):
    toy.register("a", CONTENT)
    if mirror is None:
        monkeypatch.delenv("XLREPRO_MIRROR")
    with pytest.raises(DataError) as error:
        registry.fetch("toy", "a", progress=False)
    assert_one_line(error, PATH, "set XLREPRO_MIRROR")
    assert toy.cached_files() == []


def test_no_network_is_one_line(toy):
    # Port 9 of this machine: nobody listens there.
    with pytest.raises(DataError) as error:
        fetch_file(upstream(toy, "http://127.0.0.1:9/a.conllu"), progress=False)
    assert_one_line(error, "http://127.0.0.1:9", "check the network")
    assert toy.cached_files() == []


def test_file_gone_upstream_is_one_line(toy, serve):
    with pytest.raises(DataError) as error:
        fetch_file(upstream(toy, serve(toy.mirror) + "/a.conllu"), progress=False)
    assert_one_line(error, "no longer", "XLREPRO_MIRROR")
    assert toy.cached_files() == []


def answers(*replies):
    """Return a request handler that gives these (status, promised length, body) in turn."""
    log = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, length, body = replies[min(len(log), len(replies) - 1)]
            log.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    return Handler, log


def test_download_is_tried_again_after_a_failure(toy, serve):
    handler, log = answers((503, 0, b""), (200, len(CONTENT), CONTENT))
    url = serve(handler=handler) + "/a.conllu"
    assert fetch_file(upstream(toy, url), progress=False).read_bytes() == CONTENT
    assert len(log) == 2


def test_download_that_breaks_off_leaves_nothing(toy, serve):
    handler, log = answers((200, len(CONTENT), CONTENT[:-9]))
    with pytest.raises(DataError) as error:
        fetch_file(upstream(toy, serve(handler=handler) + "/a.conllu"), progress=False)
    assert_one_line(error, "toy a")
    assert len(log) == 3
    assert toy.cached_files() == []


def test_wrong_bytes_from_upstream_leave_nothing(toy, serve):
    handler, _ = answers((200, 5, b"<html"))
    with pytest.raises(DataError) as error:
        fetch_file(upstream(toy, serve(handler=handler) + "/a.conllu"), progress=False)
    assert_one_line(error, "SHA-256")
    assert toy.cached_files() == []


def test_full_disk_leaves_nothing(toy, monkeypatch):
    toy.register("a", CONTENT)
    toy.put(PATH, CONTENT)

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(download.os, "fsync", full)
    with pytest.raises(DataError) as error:
        registry.fetch("toy", "a", progress=False)
    assert_one_line(error, "no space is left", "XLREPRO_DATA")
    assert toy.cached_files() == []


def test_unusable_cache_is_one_line(toy, monkeypatch, tmp_path):
    toy.register("a", CONTENT)
    toy.put(PATH, CONTENT)
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    monkeypatch.setenv("XLREPRO_DATA", str(in_the_way))
    with pytest.raises(DataError) as error:
        registry.fetch("toy", "a", progress=False)
    assert_one_line(error, str(in_the_way), "XLREPRO_DATA")


def test_interrupt_leaves_nothing(toy, monkeypatch):
    toy.register("a", CONTENT)
    toy.put(PATH, CONTENT)

    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(download.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        registry.fetch("toy", "a", progress=False)
    assert toy.cached_files() == []


def test_remains_of_a_killed_process_are_removed(toy):
    toy.register("a", CONTENT)
    toy.put(PATH, CONTENT)
    remains = toy.cache / "corpora" / "toy" / ".a.conllu.part-killed" / "unpacked"
    remains.parent.mkdir(parents=True)
    remains.write_bytes(CONTENT[:30])
    registry.fetch("toy", "a", progress=False)
    assert toy.cached_files() == ["a.conllu"]


def test_processes_fetching_at_once_all_get_the_whole_file(toy):
    content = CONTENT * 20_000
    toy.register("a", content)
    toy.put(PATH, b"", packed=False).write_bytes(lzma.compress(content, preset=0))
    program = (
        "import hashlib; from xlrepro.data.registry import fetch;"
        "print(hashlib.sha256(fetch('toy', 'a', False).read_bytes()).hexdigest())"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    found = {process.communicate(timeout=60)[0].strip() for process in running}
    assert found == {hashlib.sha256(content).hexdigest()}
    assert toy.cached_files() == ["a.conllu"]


class Slow(http.server.BaseHTTPRequestHandler):
    """Sends a little now and then, for ever."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(1000):
                self.wfile.write(bytes(1024))
                self.wfile.flush()
                threading.Event().wait(0.05)

    def log_message(self, *args):
        pass


def test_a_download_that_never_ends_is_given_up(toy, serve, monkeypatch):
    monkeypatch.setattr(download, "MOST_SECONDS", 0.3)
    started = time.monotonic()
    with pytest.raises(DataError) as error:
        fetch_file(upstream(toy, serve(handler=Slow) + "/a.conllu"), progress=False)
    assert_one_line(error, "slower than", "XLREPRO_MIRROR")
    assert time.monotonic() - started < 5
    assert toy.cached_files() == []
