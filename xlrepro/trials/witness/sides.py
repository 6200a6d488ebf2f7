"""Runs trials in a tree of sources: today's, or that of a commit in a git worktree of its own."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.paths import cache_dir
from xlrepro.trials.cluster import WORKER_ENVIRONMENT
from xlrepro.trials.sources import OWN
from xlrepro.trials.trial import Trial
from xlrepro.trials.witness import driver

GIT_SECONDS = 120


def today() -> Path:
    """Return the tree of today's sources."""
    return Path(OWN[0])


def has_commit(repository: Path, commit: str) -> bool:
    """Tell whether a commit is in the repository; a shallow clone lacks most."""
    return _git(repository, "cat-file", "-e", f"{commit}^{{commit}}") is not None


@contextmanager
def tree_of(repository: Path, commit: str) -> Iterator[Path]:
    """Check a commit out beside the repository's own files, and remove it afterwards.

    Raises:
        SettingsError: if git cannot do that.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"witness-{commit[:8]}-"))
    tree = folder / "tree"
    try:
        if _git(repository, "worktree", "add", "--detach", str(tree), commit) is None:
            raise SettingsError(f"git cannot check out commit {commit[:8]} into {tree}")
        yield tree
    finally:
        _git(repository, "worktree", "remove", "--force", str(tree))
        shutil.rmtree(folder, ignore_errors=True)
        _git(repository, "worktree", "prune")


def run(tree: Path, trials: Sequence[Trial], device: str) -> list[dict[str, Any]]:
    """Run trials with the sources of a tree, in a process of their own, one after the other.

    Returns:
        Per trial ``cells``, ``details`` and ``modules``, or ``error``, a line.
    """
    with tempfile.TemporaryDirectory(prefix="witness-") as folder:
        request, answer = Path(folder, "request.json"), Path(folder, "answer.jsonl")
        asked = {"device": device, "trials": [_fields(trial) for trial in trials]}
        request.write_text(json.dumps(asked), "utf-8")
        command = [sys.executable, "-P", str(driver.__file__), str(request), str(answer)]
        environment = _environment(tree, Path(folder, "build"), device)
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, check=False
        )
        lines = answer.read_text("utf-8").split("\n")[:-1] if answer.exists() else []
    told = [json.loads(line) for line in lines]
    if len(told) < len(trials):
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        error = {"error": f"its process ended with status {done.returncode}: {last}"}
        told += [error] * (len(trials) - len(told))
    return told


def _fields(trial: Trial) -> dict[str, Any]:
    return {
        "experiment": trial.experiment,
        "systems": trial.systems,
        "columns": trial.columns,
        "profile": trial.profile,
        "seed": trial.seed,
        "settings": trial.settings,
        "data": dict(trial.data),
        "task": trial.task,
    }


def _environment(tree: Path, build: Path, device: str) -> dict[str, str]:
    """Return this process's environment with the tree's sources and data, and the same caches."""
    kept = {name: value for name, value in os.environ.items() if name != "XLREPRO_HOME"}
    places = [str(tree), *kept.get("PYTHONPATH", "").split(os.pathsep)]
    if not (tree / "xlrepro").is_dir():  # another package's tree: it runs with this xlrepro
        places.append(OWN[0])
    own = [place for place in places if place and (place == str(tree) or not _is_ours(place, tree))]
    hidden = {"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}
    return {
        **kept,
        **WORKER_ENVIRONMENT,
        **hidden,
        "PYTHONPATH": os.pathsep.join(own),
        "XLREPRO_BUILD": str(build),
        "XLREPRO_DATA": str(cache_dir()),
    }


def _is_ours(place: str, tree: Path) -> bool:
    """Tell whether a folder of the path would bring today's xlrepro beside the tree's."""
    return (tree / "xlrepro").is_dir() and Path(place, "xlrepro").is_dir()


def _git(repository: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(repository), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def head(repository: Path) -> str | None:
    """Return the commit that is checked out; ``None`` outside git."""
    told = _git(repository, "rev-parse", "HEAD")
    return told.strip() if told else None
