"""Do the tests notice? Each mutant changes one line of the library, and a test must fail.

``python tests/mutants.py [WORD …]`` tries the mutants of ``mutants.yaml``, or those whose file or
reason has one of the words, each in a copy of the library; it takes some minutes and is no part of
the suite. Exit status 1: one survived, or a line has changed and the entry must follow.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("xlrepro", "tests")  # all else is linked


def main(words: list[str]) -> int:
    """Try the mutants and print a line for each."""
    entries = yaml.safe_load((ROOT / "tests" / "mutants.yaml").read_text("utf-8"))
    chosen = [e for e in entries if not words or any(w in e["file"] + e["why"] for w in words)]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = _copy(Path(folder))
        failed = [e for e in chosen if not _killed(e, copy)]
    print(f"{len(chosen) - len(failed)} of {len(chosen)} mutants killed")
    return int(bool(failed))


def _copy(folder: Path) -> Path:
    for path in ROOT.iterdir():
        if path.name in COPIED:
            shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif path.name not in (".git", "build"):
            (folder / path.name).symlink_to(path)
    return folder


def _killed(entry: dict[str, str], copy: Path) -> bool:
    path, started = copy / entry["file"], time.perf_counter()
    source = path.read_text("utf-8")
    if (count := source.count(entry["old"])) != 1:
        print(f"CHANGED  {entry['file']}: {entry['old']!r} stands there {count} times")
        return False
    path.write_text(source.replace(entry["old"], entry["new"]), "utf-8")
    try:
        status = _tests(entry["test"], copy)
    finally:
        path.write_text(source, "utf-8")
    verdict = "killed" if status == 1 else "SURVIVED" if status == 0 else f"STATUS {status}"
    print(
        f"{verdict:8} {time.perf_counter() - started:4.0f} s  {entry['file']}: {entry['why']}",
        flush=True,
    )
    return status == 1


def _tests(test: str, copy: Path) -> int:
    """Return pytest's exit status: 1 where a test failed, 0 where none did, else an error."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *test.split()]
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
