"""A toy project, mirror and cache: a registry of invented files in a temporary folder."""

import functools
import hashlib
import http.server
import lzma
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from xlrepro.errors import DataError


@dataclass
class Toy:
    """A project with one data set, ``toy``, whose files lie in a mirror folder."""

    home: Path
    mirror: Path
    cache: Path
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    def register(
        self,
        file_id: str,
        content: bytes,
        path: str = "toy/a.conllu.xz",
        counts: dict[str, int] | None = None,
        reader: dict[str, Any] | None = None,
    ) -> None:
        """State in the registry what ``file_id`` is to contain; put nothing into the mirror."""
        sha256 = hashlib.sha256(content).hexdigest()
        entry = {"path": path, "sha256": sha256, "bytes": len(content), "counts": counts or {}}
        self.files[file_id] = entry
        entry = dict.fromkeys(("title", "home", "licence", "citation"), "invented")
        entry |= {"name": "toy", "redistributable": True, "languages": ["en"]}
        entry |= {"reader": reader or {"format": "conllu"}, "files": self.files}
        registry = self.home / "data" / "registry" / "toy.yaml"
        registry.write_text(yaml.safe_dump(entry), encoding="utf-8")

    def put(self, path: str, content: bytes, packed: bool = True) -> Path:
        """Put a file into the mirror, packed with xz or as it is."""
        target = self.mirror / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(lzma.compress(content) if packed else content)
        return target

    def supply(self, content: bytes, path: str = "toy/a.conllu.xz", **stated: Any) -> Path:
        """Register a file, ``a``, and put it into the mirror."""
        self.register("a", content, path, **stated)
        return self.put(path, content)

    def cached_files(self) -> list[str]:
        """Return the names of all files below the cache's corpora, hidden ones too."""
        return sorted(p.name for p in (self.cache / "corpora").rglob("*") if p.is_file())


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    """A toy project, named to the library by its environment variables."""
    made = Toy(tmp_path / "home", tmp_path / "mirror", tmp_path / "cache")
    (made.home / "data" / "reported").mkdir(parents=True)
    (made.home / "data" / "registry").mkdir()
    made.mirror.mkdir()
    monkeypatch.setenv("XLREPRO_HOME", str(made.home))
    monkeypatch.setenv("XLREPRO_DATA", str(made.cache))
    monkeypatch.setenv("XLREPRO_MIRROR", str(made.mirror))
    return made


@pytest.fixture
def refused(toy):
    """Return a function that asserts that a call leaves nothing and says why in one line."""

    def check(call, *parts):
        with pytest.raises(DataError) as error:
            call()
        text = str(error.value)
        assert "\n" not in text
        assert [part for part in parts if part not in text] == []
        assert toy.cached_files() == []

    return check


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file of a text."""

    def write_file(text, encoding="utf-8"):
        path = tmp_path / "a.tsv"
        path.write_bytes(text.encode(encoding))
        return path

    return write_file


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Return a function that serves a folder, or answers by a handler, and returns its URL."""
    servers = []

    def start(folder: Path | None = None, handler: Any = None) -> str:
        chosen = handler or functools.partial(QuietHandler, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), chosen)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
