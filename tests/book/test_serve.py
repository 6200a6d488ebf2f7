"""The book at a local address."""

import os
import threading
import urllib.error
import urllib.request

import pytest

from xlrepro.book.serve import EVENTS, Made, rebuild_on_change, served, snapshot
from xlrepro.cli import book as command
from xlrepro.errors import SettingsError


def test_a_folder_is_served_on_this_machine_alone_and_nothing_is_kept(tmp_path):
    (tmp_path / "index.html").write_text("the book", encoding="utf-8")
    with served(tmp_path) as address:
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{address}/index.html") as answer:
            told = answer.read().decode(), answer.headers["Cache-Control"]
    assert told == ("the book", "no-store")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address)


def test_an_open_page_is_told_when_the_book_has_been_made_again(tmp_path):
    (tmp_path / "index.html").write_text("the book", encoding="utf-8")
    made = Made()
    with served(tmp_path, made=made) as address:
        with urllib.request.urlopen(f"{address}/") as page:
            assert (
                f'EventSource("{EVENTS}").onmessage = () => location.reload()'
                in page.read().decode()
            )
        with urllib.request.urlopen(f"{address}{EVENTS}", timeout=20) as events:
            assert events.headers["Content-Type"] == "text/event-stream"
            assert [events.readline(), events.readline()] == [b": listening\n", b"\n"]
            made.tell()
            assert events.readline() == b"data: made\n"


def test_a_port_that_is_taken_is_one_line(tmp_path):
    with served(tmp_path) as address:
        port = int(address.rpartition(":")[2])
        with pytest.raises(SettingsError, match=r"cannot be used .*--port"), served(tmp_path, port):
            pass


def test_a_port_that_is_none_is_one_sentence(tmp_path):
    with pytest.raises(SettingsError, match=r"used \([^.]*\): name"), served(tmp_path, 99999):
        pass


class Looks(threading.Event):
    """Something happens after the first look; five more looks end it."""

    def __init__(self, happens):
        super().__init__()
        self.happens, self.looks = happens, 0

    def wait(self, timeout=None):
        self.looks += 1
        if self.looks == 1:
            self.happens()
        return self.looks > 6


@pytest.mark.parametrize("change", ["written", "added", "removed"])
def test_the_book_is_made_again_once_when_a_file_changes(tmp_path, change):
    page, lines, made = tmp_path / "page.md", [], []
    page.write_text("one", encoding="utf-8")

    def alter():
        if change == "removed":
            page.unlink()
        else:
            new = page if change == "written" else tmp_path / "new.md"
            new.write_text("2", encoding="utf-8")
            os.utime(new, (1, 1))  # file systems tell times by milliseconds only

    rebuild_on_change(lambda: made.append(1), lines.append, Looks(alter), [tmp_path])
    assert (made, lines) == ([1], [f"changed: {'new.md' if change == 'added' else 'page.md'}"])


def test_what_python_keeps_beside_its_sources_is_no_change(tmp_path):
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("", encoding="utf-8")
    assert snapshot([tmp_path]) == {}


def test_open_shows_the_page_in_a_browser(monkeypatch, tmp_path, capsys):
    page, opened = tmp_path / "index.html", []
    monkeypatch.setattr(command, "_made", lambda *_: (page, {}))
    monkeypatch.setattr(command.webbrowser, "open", opened.append)
    command.book(show=True)
    assert (opened, capsys.readouterr().out) == ([page.as_uri()], f"{page}\n")


def test_serve_makes_the_book_again_with_the_same_options(monkeypatch, tmp_path, capsys):
    ran, told = [], []
    monkeypatch.setattr("xlrepro.book.serve.Made.tell", lambda _: told.append(1))
    monkeypatch.setattr(command, "_made", lambda *_: (tmp_path / "index.html", {}))
    monkeypatch.setattr(command.subprocess, "run", lambda command, check: ran.append(command[1:]))
    monkeypatch.setattr(
        "xlrepro.book.serve.rebuild_on_change", lambda rebuild, report, stop: rebuild()
    )
    command.book(profile="open", jobs=3, serve=True)
    assert ran == [["-m", "xlrepro", "book", "--profile", "open", "--jobs", "3"]]
    assert len(told) == 1
    assert capsys.readouterr().out.startswith("http://127.0.0.1:")
