"""Run one notebook in this process: ``python -m xlrepro.book.notebooks.execute REQUEST``, in JSON.

A process of its own, so that a notebook that dies takes nothing else with it. The output appears
at its place only when the whole notebook has run: papermill writes to a file beside it, which is
renamed at the end.
"""

import json
import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

# Cell metadata that differs from run to run and says nothing about the result.
VOLATILE = ("papermill", "execution")
# Seconds a kernel may take to answer: more than papermill's own 60, as the machine may be busy.
START_TIMEOUT = 300


def execute(
    source: Path, target: Path, parameters: dict[str, Any], cwd: Path, sockets: str
) -> None:
    """Run ``source`` with ``parameters`` in ``cwd`` and put the executed notebook at ``target``.

    A run that fails leaves ``target`` as it was and the half-run notebook at
    ``<target>.failed.ipynb``.

    Args:
        source: the notebook as committed.
        target: where the executed one goes.
        parameters: values for its ``parameters`` cell.
        cwd: the folder that it runs in.
        sockets: a folder with a short path, for the files that the kernel listens on. Not on
            ports: one is chosen before the kernel takes it, and a kernel that starts at the same
            moment may have it by then.

    Raises:
        Exception: what papermill raises where a cell fails or the kernel dies.
    """
    import nbformat
    import papermill
    from traitlets.config import Config

    partial = target.with_name(f".{target.stem}.{os.getpid()}.partial.ipynb")
    failed = failed_path(target)
    try:
        papermill.execute_notebook(
            str(source),
            str(partial),
            parameters=parameters,
            cwd=str(cwd),
            kernel_name="python3",
            progress_bar=False,
            log_output=False,
            start_timeout=START_TIMEOUT,
            config=Config(KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"}),
        )
        notebook = nbformat.read(partial, as_version=4)
        strip_volatile(notebook)
        nbformat.write(notebook, partial)
        failed.unlink(missing_ok=True)
        os.replace(partial, target)
    except Exception:
        if partial.is_file():
            os.replace(partial, failed)
        raise
    finally:
        partial.unlink(missing_ok=True)


def failed_path(target: Path) -> Path:
    """Return where the half-run notebook of a failed run is kept."""
    return target.with_name(f"{target.stem}.failed.ipynb")


def remove_orphans(target: Path) -> None:
    """Remove what runs of ``target`` that were killed have left half-written beside it."""
    for path in target.parent.glob(f".{target.stem}.*.partial.ipynb"):
        pid = path.name.split(".")[-3]
        if not (pid.isdigit() and psutil.pid_exists(int(pid))):
            path.unlink(missing_ok=True)


def strip_volatile(notebook: Any) -> None:
    """Remove timings and paths of this run from a notebook, in place."""
    for key in VOLATILE:
        notebook.metadata.pop(key, None)
    for cell in notebook.cells:
        for key in VOLATILE:
            cell.metadata.pop(key, None)


def _end_with_parent(parent: int, sockets: str) -> None:
    """End this process when the batch that started it has died, even by ``kill -9``."""
    while os.getppid() == parent:
        time.sleep(1.0)
    shutil.rmtree(sockets, ignore_errors=True)
    os._exit(1)


def main() -> int:
    """Read the request named on the command line and run it."""
    request = json.loads(sys.argv[1])
    source, target, cwd = (Path(request[name]) for name in ("source", "target", "cwd"))
    # The system's own folder for such files: the path of a socket may have a hundred characters.
    with tempfile.TemporaryDirectory(prefix="xlrepro-", ignore_cleanup_errors=True) as sockets:
        # The parent names itself: asked here, getppid() may already name its successor.
        parent = (request["parent"], sockets)
        threading.Thread(target=_end_with_parent, args=parent, daemon=True).start()
        try:
            execute(source, target, request["parameters"], cwd, sockets)
        except Exception as error:
            # The last line of the log is what the summary shows.
            sys.stderr.write(f"\n{type(error).__name__}: {str(error).strip()}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
