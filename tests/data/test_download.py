"""Downloads: what is fetched is right and whole, or it is not there and one line says why."""

import errno
import hashlib
import lzma
import os
import subprocess
import sys

import pytest

from xlrepro.data import download, registry
from xlrepro.data.download import fetch_file
from xlrepro.data.registry import FileEntry

from .conftest import QuietHandler

CONTENT = b"# sent_id = invented-1\n1\tMoles\tmole\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
PATH = "toy/a.conllu.xz"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)


def from_upstream(toy, url):
    """Fetch a file that only an upstream URL has."""
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    entry = FileEntry(path=PATH, url=url, sha256=sha256, bytes=len(CONTENT))
    return fetch_file("toy a", entry, toy.cache / "corpora" / "a.conllu")


def fetch():
    return registry.fetch("toy", "a")


@pytest.mark.parametrize("packed", [True, False])
def test_mirror_copy_is_unpacked_into_the_cache(toy, packed):
    toy.register("a", CONTENT)
    toy.put(PATH if packed else PATH.removesuffix(".xz"), CONTENT, packed)
    assert fetch().read_bytes() == CONTENT
    assert fetch().is_relative_to(toy.cache)


def test_mirror_may_be_a_url(toy, serve, monkeypatch):
    toy.supply(CONTENT, "toy/with space@r1.conllu.xz")
    monkeypatch.setenv("XLREPRO_MIRROR", serve(toy.mirror) + "/")
    assert fetch().read_bytes() == CONTENT


def test_upstream_is_asked_when_the_mirror_has_no_such_file(toy, serve):
    toy.put("up/a.conllu", CONTENT, packed=False)
    assert from_upstream(toy, serve(toy.mirror / "up") + "/a.conllu").read_bytes() == CONTENT


def test_verified_file_is_not_hashed_again_but_one_that_changed_is_fetched(toy, monkeypatch):
    toy.supply(CONTENT)
    path = fetch()
    with monkeypatch.context() as patch:
        patch.setattr("hashlib.file_digest", None)
        fetch()
    path.write_bytes(CONTENT + b"tampered")
    assert fetch().read_bytes() == CONTENT


def test_a_wrong_or_truncated_copy_leaves_nothing(toy, refused):
    toy.register("a", CONTENT)
    source = toy.put(PATH, CONTENT.replace(b"Moles", b"Voles"))
    refused(fetch, "toy a", str(source), "SHA-256", "XLREPRO_MIRROR")
    toy.put(PATH, CONTENT)
    source.write_bytes(source.read_bytes()[:-20])
    refused(fetch, "toy a", str(source), "XLREPRO_MIRROR")


def test_a_file_without_any_source_says_where_it_was_expected(toy, monkeypatch, refused):
    toy.register("a", CONTENT)
    refused(fetch, PATH, "set XLREPRO_MIRROR")
    monkeypatch.setenv("XLREPRO_MIRROR", "/no/such/mirror")
    refused(fetch, "no folder /no/such/mirror", "XLREPRO_MIRROR")
    monkeypatch.delenv("XLREPRO_MIRROR")
    refused(fetch, PATH, "in no XLREPRO_MIRROR")


def answers(*replies):
    """Return a request handler that gives these (status, headers, body) in turn, and its log."""
    log = []

    class Handler(QuietHandler):
        def do_GET(self):
            status, headers, body = replies[min(len(log), len(replies) - 1)]
            log.append(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    return Handler, log


WHOLE = {"Content-Length": str(len(CONTENT))}
BAD = {
    "not there": (404, {}, b""),
    "breaks off": (200, WHOLE, CONTENT[:-9]),
    "no length": (200, {"Content-Length": "abc"}, b""),
    "no address": (302, {"Location": "http://[", "Content-Length": "0"}, b""),
}


@pytest.mark.parametrize("reply", BAD.values(), ids=BAD)
def test_a_bad_answer_leaves_nothing(toy, serve, refused, reply):
    url = serve(handler=answers(reply)[0]) + "/a.conllu"
    refused(lambda: from_upstream(toy, url), "toy a", url, "XLREPRO_MIRROR")


def test_a_download_has_an_end_in_size(toy, serve, refused):
    large = CONTENT + bytes(2**21)
    url = serve(handler=answers((200, {}, large))[0]) + "/a.conllu"
    refused(lambda: from_upstream(toy, url), url, "larger than the registry states")
    toy.register("a", CONTENT)
    toy.put(PATH, large)  # some hundred bytes that unpack to more
    refused(fetch, "larger than the registry states")


def test_no_network_is_one_line(toy, refused):
    url = "http://127.0.0.1:9/a.conllu"  # where nobody listens
    refused(lambda: from_upstream(toy, url), url, "check the network")


def test_download_is_tried_again_after_a_failure(toy, serve):
    handler, log = answers((503, {}, b""), (200, WHOLE, CONTENT))
    assert from_upstream(toy, serve(handler=handler) + "/a").read_bytes() == CONTENT
    assert len(log) == 2


def test_a_full_disk_is_one_line(toy, monkeypatch, refused):
    toy.supply(CONTENT)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(download.shutil, "copyfileobj", full)
    refused(fetch, "No space left", "XLREPRO_DATA")


def test_interrupt_leaves_nothing_and_remains_of_a_killed_process_are_removed(toy, monkeypatch):
    toy.supply(CONTENT)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(download.os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fetch()
    assert toy.cached_files() == []
    remains = toy.cache / "corpora" / "toy" / ".a.conllu.part-killed" / "unpacked"
    remains.parent.mkdir(parents=True)
    remains.write_bytes(CONTENT[:30])
    fetch()
    assert toy.cached_files() == ["a.conllu"]


def test_processes_fetching_at_once_all_get_the_whole_file(toy):
    content = CONTENT * 20_000
    toy.register("a", content)
    toy.put(PATH, b"", packed=False).write_bytes(lzma.compress(content, preset=0))
    program = (
        "import hashlib; from xlrepro.data.registry import fetch;"
        "print(hashlib.sha256(fetch('toy', 'a').read_bytes()).hexdigest())"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    found = {process.communicate(timeout=60)[0].strip() for process in running}
    assert found == {hashlib.sha256(content).hexdigest()}
    assert toy.cached_files() == ["a.conllu"]
