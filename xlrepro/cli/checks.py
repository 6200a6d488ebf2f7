"""``xlrepro test``: the README's test command, three steps with one summary.

The steps are the unit tests, the comparison of smoke numbers with the golden ones, and the
notebooks run cell by cell (nbval). A step that fails does not hide the others: all three run, and
the exit status is 1 if any failed.
"""

import hashlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from xlrepro.errors import SettingsError
from xlrepro.paths import build_dir, project_root


def steps(jobs: int) -> dict[str, tuple[str, ...]]:
    """Return the three steps: their names, and what follows the interpreter.

    ``jobs`` processes share the unit tests and the notebooks.
    """
    spread = ("-n", str(jobs), "--dist", "loadfile")
    nbval = ("--nbval-lax", "--nbval-current-env", "notebooks")
    return {
        "unit tests": ("-m", "pytest", *spread),
        "golden numbers": ("-m", "xlrepro", "golden"),
        "notebooks": ("-m", "pytest", *nbval, *spread),
    }


def _tracked_files(root: Path) -> list[Path]:
    """Return every file git tracks or would track, sorted; an error outside a clone."""
    from xlrepro.machine import git

    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed is None:
        raise SettingsError(
            f"--if-changed asks git what changed, and {root} is no git clone: leave the option out"
        )
    return sorted(root / name for name in set(listed.split("\0")) if name)


def _circumstances() -> Iterator[str]:
    """Yield what besides the files decides whether tests pass: interpreter, packages, settings."""
    yield f"{sys.executable} {platform.python_version()} {platform.platform()}"
    yield from sorted(f"{package.name}=={package.version}" for package in metadata.distributions())
    yield from sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("XLREPRO_"))


def state_key(root: Path) -> str:
    """Return the SHA-256 of everything a test run depends on: files, interpreter, packages."""
    digest = hashlib.sha256()
    for path in _tracked_files(root):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b"gone")
    for line in _circumstances():
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()


def _run(name: str, arguments: tuple[str, ...], root: Path) -> tuple[bool, float]:
    """Run one step, its output passing straight through; return (passed, wall seconds)."""
    typer.echo(f"== {name}: python {' '.join(arguments)}")
    # One thread per process: the processes already share the cores, and sums keep their order.
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    began = time.monotonic()
    done = subprocess.run([sys.executable, *arguments], cwd=root, env=environment)
    return done.returncode == 0, time.monotonic() - began


def _passed(file: Path, key: str) -> str:
    """Return when the tests passed in this very state; empty where the file does not say so.

    A process that is killed may leave the file empty, or half.
    """
    try:
        digest, _, when = file.read_text(encoding="utf-8", errors="replace").partition(" ")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise SettingsError(f"{file} cannot be read ({error.strerror}): remove it") from None
    return when.strip() if digest == key else ""


def run_tests(
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, help="Processes that share the tests.")
    ] = min(os.cpu_count() or 1, 4),
    if_changed: Annotated[
        bool,
        typer.Option("--if-changed", help="Do nothing when these very files passed here before."),
    ] = False,
) -> None:
    """Run the tests: unit tests, golden numbers, notebooks."""
    root = project_root()
    passed_file = build_dir() / "tests-passed"
    key = state_key(root) if if_changed else ""
    when = _passed(passed_file, key) if if_changed else ""
    if when:
        typer.echo(
            f"all tests passed {when} and nothing changed since; xlrepro test runs them again"
        )
        return
    try:
        passed_file.unlink(missing_ok=True)
        if if_changed:  # it will be written when all has passed, minutes from now
            passed_file.parent.mkdir(parents=True, exist_ok=True)
            passed_file.touch()
    except OSError as error:
        raise SettingsError(
            f"{passed_file} cannot be written ({error.strerror}): set XLREPRO_BUILD to a folder "
            "you can write in"
        ) from None
    results = [(name, *_run(name, arguments, root)) for name, arguments in steps(jobs).items()]
    for name, passed, seconds in results:
        typer.echo(f"{'passed' if passed else 'FAILED'}  {name}  ({seconds:.0f} s)")
    if not all(passed for _, passed, _ in results):
        raise typer.Exit(1)
    if if_changed:
        from xlrepro.store import write_atomically

        write_atomically(passed_file, f"{key} {time.strftime('%Y-%m-%d %H:%M')}\n")
