"""The rendered book at a local address, rendered again when something it is made from changes."""

import functools
import http.server
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.paths import project_root

WATCHED = ("book", "data", "notebooks", "xlrepro")
ADDRESS = "127.0.0.1"  # nobody else's browser reaches it
EVERY_SECONDS = 1.0
EVENTS = "/.made"
STILL_THERE_SECONDS = 10.0  # between two looks whether somebody still listens
LISTEN = (
    f'<script>new EventSource("{EVENTS}").onmessage = () => location.reload()</script>'.encode()
)


class Made:
    """Tells those who look at the book that it has been made again."""

    def __init__(self) -> None:
        self.count = 0
        self._changed = threading.Condition()

    def tell(self) -> None:
        """Say that the book has been made again."""
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def wait(self, seen: int, seconds: float) -> int:
        """Return the count as soon as it is not ``seen``, after ``seconds`` at the latest."""
        with self._changed:
            self._changed.wait_for(lambda: self.count != seen, seconds)
            return self.count


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files that the browser does not keep, and says nothing of requests.

    With ``made``, pages listen to it and load themselves again.
    """

    def __init__(self, *args: Any, made: Made | None = None, **options: Any) -> None:
        self.made = made
        super().__init__(*args, **options)

    def do_GET(self) -> None:
        page = Path(self.translate_path(self.path))
        page = page / "index.html" if page.is_dir() else page
        if self.made and self.path == EVENTS:
            self._events(self.made)
        elif self.made and page.suffix == ".html" and page.is_file():
            self._send("text/html; charset=utf-8", page.read_bytes() + LISTEN)
        else:
            super().do_GET()

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def _events(self, made: Made) -> None:
        """Send a line each time that the book has been made, until the page is closed."""
        seen = made.count
        with suppress(OSError):  # it was closed
            self._send("text/event-stream", b": listening\n\n")
            while True:
                now = made.wait(seen, STILL_THERE_SECONDS)
                self.wfile.write(b"data: made\n\n" if now != seen else b": still there\n\n")
                self.wfile.flush()
                seen = now

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        return


@contextmanager
def served(folder: Path, port: int = 0, made: Made | None = None) -> Iterator[str]:
    """Serve ``folder`` on this machine alone, and give its address.

    Args:
        folder: with the page ``index.html``.
        port: 0: any that is free.
        made: told each time that the book has been made again: open pages then load it.

    Raises:
        SettingsError: if the port is taken.
    """
    handler = functools.partial(_Handler, directory=str(folder), made=made)
    try:
        server = http.server.ThreadingHTTPServer((ADDRESS, port), handler)
    except (OSError, OverflowError) as error:
        why = str(error).rstrip(".")
        raise SettingsError(f"port {port} cannot be used ({why}): name another, --port") from None
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
    changed: dict[Path, int] = {}
    for folder in folders:
        for path in folder.rglob("*"):
            if "__pycache__" in path.parts or ".ipynb_checkpoints" in path.parts:
                continue
            try:
                changed[path] = path.stat().st_mtime_ns
            except OSError:
                continue  # removed meanwhile
    return {path: when for path, when in changed.items() if path.is_file()}


def rebuild_on_change(
    rebuild: Callable[[], None],
    report: Callable[[str], None],
    stop: threading.Event,
    folders: Iterable[Path] | None = None,
) -> None:
    """Call ``rebuild`` whenever a file has changed, until ``stop`` is set.

    Args:
        rebuild: makes the book again; what changes meanwhile makes it once more.
        report: called with a line that names the first file that changed.
        stop: ends it.
        folders: to look at; those that the book is made from if not told.
    """
    watched = list(folders or (project_root() / name for name in WATCHED))
    before = snapshot(watched)
    while not stop.wait(EVERY_SECONDS):
        now = snapshot(watched)
        changed = sorted(path for path, _ in now.items() ^ before.items())
        if changed:
            before = now
            report(f"changed: {changed[0].name}")
            rebuild()
