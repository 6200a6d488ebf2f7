"""Runs trials in a tree of sources: today's, or that of a commit in a git worktree of its own."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.paths import cache_dir
from xlrepro.trials.engine.cluster import WORKER_ENVIRONMENT
from xlrepro.trials.machine import git, versions
from xlrepro.trials.sources import OWN
from xlrepro.trials.store import write_atomically
from xlrepro.trials.trial import Trial
from xlrepro.trials.witness import driver

POLL_SECONDS = 0.2

Done = Callable[[Trial, dict[str, Any]], None]


@contextmanager
def tree_of(repository: Path, commit: str) -> Iterator[Path]:
    """Check a commit out beside the repository's own files, and remove it afterwards.

    Raises:
        SettingsError: if git cannot do that.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"witness-{commit[:8]}-"))
    tree = folder / "tree"
    try:
        if git(repository, "worktree", "add", "--detach", str(tree), commit) is None:
            raise SettingsError(f"git cannot check out commit {commit[:8]} into {tree}")
        yield tree
    finally:
        git(repository, "worktree", "remove", "--force", str(tree))
        shutil.rmtree(folder, ignore_errors=True)
        git(repository, "worktree", "prune")


def run(
    tree: Path,
    trials: Sequence[Trial],
    device: str,
    *,
    done: Done = lambda trial, answer: None,
) -> dict[str, dict[str, Any]]:
    """Run trials with the sources of a tree, in a process of their own, one after the other.

    Args:
        tree: a checkout.
        trials: what to run, each once.
        device: ``"cpu"`` or ``"cuda"``.
        done: gets each trial and its answer as soon as it has run.

    Returns:
        Key of a trial to ``cells``, ``details`` and ``modules``, or to ``error``, a line.
    """
    if not trials:
        return {}
    with tempfile.TemporaryDirectory(prefix="witness-") as folder:
        request, log = Path(folder, "request.json"), Path(folder, "log")
        wanted = {"device": device, "trials": [trial.fields for trial in trials]}
        request.write_text(json.dumps(wanted), "utf-8")
        command = [sys.executable, "-P", str(driver.__file__), str(request), folder]
        environment = _environment(tree, Path(folder, "build"), device)
        answers: dict[str, dict[str, Any]] = {}
        with (
            log.open("wb") as out,
            subprocess.Popen(command, cwd=tree, env=environment, stdout=out, stderr=out) as process,
        ):
            while len(answers) < len(trials):
                ended = process.poll() is not None
                trial, file = trials[len(answers)], Path(folder, f"{len(answers)}.json")
                if file.exists():
                    answers[trial.key] = json.loads(file.read_text("utf-8"))
                    done(trial, answers[trial.key])
                elif ended:
                    break
                else:
                    time.sleep(POLL_SECONDS)
        last = (log.read_text("utf-8", errors="replace").strip().splitlines() or ["no output"])[-1]
    error = {"error": f"its process ended with status {process.returncode}: {last}"}
    return {trial.key: answers.get(trial.key, error) for trial in trials}


def run_once(
    tree: Path, commit: str, trials: Sequence[Trial], device: str, *, done: Done
) -> dict[str, dict[str, Any]]:
    """Run trials with the code of a commit as `run` does, but those alone that never ran so here.

    A commit's code does not change: what it gave on this processor is kept in the cache, so that
    the next change of today's code, or an interruption, costs no second run of the old.
    """
    folder = cache_dir() / "witness" / f"{commit[:12]}-{device}-{_host()}"
    files = {trial.key: folder / f"{trial.key}.json" for trial in trials}

    def keep(trial: Trial, answer: dict[str, Any]) -> None:
        if "error" not in answer:
            write_atomically(files[trial.key], json.dumps(answer))
        done(trial, answer)

    missing = [trial for trial in trials if not files[trial.key].exists()]
    new = run(tree, missing, device, done=keep)
    return {key: new.get(key) or json.loads(file.read_text("utf-8")) for key, file in files.items()}


def _host() -> str:
    """Return a digest of what the arithmetic of this machine depends on: processor and packages."""
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text("utf-8", "replace").splitlines() if listing.is_file() else []
    facts = sorted({line for line in lines if line.startswith(("model name", "flags"))})
    return hashlib.sha256(json.dumps([facts, versions()]).encode()).hexdigest()[:12]


def _environment(tree: Path, build: Path, device: str) -> dict[str, str]:
    """Return this process's environment with the tree's sources and data, and the same caches."""
    kept = {name: value for name, value in os.environ.items() if name != "XLREPRO_HOME"}
    others = list(filter(None, kept.get("PYTHONPATH", "").split(os.pathsep)))
    if (tree / "xlrepro").is_dir():  # today's must not stand beside it
        others = [place for place in others if not Path(place, "xlrepro").is_dir()]
    else:  # another package's tree: it runs with this xlrepro
        others.append(OWN[0])
    hidden = {"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}
    return {
        **kept,
        **WORKER_ENVIRONMENT,
        **hidden,
        "PYTHONPATH": os.pathsep.join([str(tree), *others]),
        "XLREPRO_BUILD": str(build),
        "XLREPRO_DATA": str(cache_dir()),
    }
