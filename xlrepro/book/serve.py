"""The rendered book at a local address, rendered again when something it is made from changes."""

import functools
import http.server
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.paths import project_root

WATCHED = ("book", "data", "notebooks", "xlrepro")
ADDRESS = "127.0.0.1"  # nobody else's browser reaches it
EVERY_SECONDS = 1.0


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files that the browser does not keep, and says nothing of requests."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        return


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[str]:
    """Serve ``folder`` on this machine alone, and give its address.

    Args:
        folder: with the page ``index.html``.
        port: 0: any that is free.

    Raises:
        SettingsError: if the port is taken.
    """
    handler = functools.partial(_Handler, directory=str(folder))
    try:
        server = http.server.ThreadingHTTPServer((ADDRESS, port), handler)
    except (OSError, OverflowError) as error:
        raise SettingsError(f"port {port} cannot be used ({error}): name another, --port") from None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{ADDRESS}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def snapshot(folders: Iterable[Path]) -> dict[Path, int]:
    """Return every file below ``folders`` and when it was changed, in nanoseconds."""
    found: dict[Path, int] = {}
    for folder in folders:
        for path in folder.rglob("*"):
            if "__pycache__" in path.parts or ".ipynb_checkpoints" in path.parts:
                continue
            try:
                found[path] = path.stat().st_mtime_ns
            except OSError:
                continue  # removed meanwhile
    return {path: when for path, when in found.items() if path.is_file()}


def rebuild_on_change(
    rebuild: Callable[[], None],
    report: Callable[[str], None],
    stop: threading.Event,
    folders: Iterable[Path] | None = None,
    every: float = EVERY_SECONDS,
) -> None:
    """Call ``rebuild`` whenever a file has changed, until ``stop`` is set.

    Args:
        rebuild: makes the book again; what changes meanwhile makes it once more.
        report: called with a line that names the first file that changed.
        stop: ends it.
        folders: to look at; those that the book is made from if not told.
        every: seconds between two looks.
    """
    watched = list(folders or (project_root() / name for name in WATCHED))
    before = snapshot(watched)
    while not stop.wait(every):
        now = snapshot(watched)
        changed = sorted(path for path, _ in now.items() ^ before.items())
        if changed:
            before = now
            report(f"changed: {changed[0].name}")
            rebuild()
