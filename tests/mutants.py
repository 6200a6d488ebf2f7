"""Do the tests notice? Each mutant changes one line of the library, and a test must fail.

``python tests/mutants.py [WORD …]`` tries the mutants of ``mutants.yaml``, or those whose file or
reason has one of the words, each in a copy of the library; it takes some minutes and is no part of
the suite. ``--check`` says only whether each entry's text still stands once in its file, in a
second. Exit status 1: one survived, or a line has changed and the entry must follow.
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
    only_check = "--check" in words
    words = [word for word in words if word != "--check"]
    chosen = [e for e in entries if not words or any(w in e["file"] + e["why"] for w in words)]
    if only_check:
        stale = [e for e in chosen if not _applies(e, ROOT)]
        print(f"{len(chosen) - len(stale)} of {len(chosen)} mutants apply")
        return int(bool(stale))
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


def _applies(entry: dict[str, str], root: Path) -> bool:
    """Tell whether what an entry changes stands once in its file, and its tests are there."""
    path = root / entry["file"]
    count = path.read_text("utf-8").count(entry["old"]) if path.is_file() else 0
    gone = [test for test in entry["test"].split() if not (root / test.partition("::")[0]).exists()]
    if count != 1 or gone:
        print(f"CHANGED  {entry['file']}: {entry['old']!r} stands there {count} times {gone or ''}")
    return count == 1 and not gone


def _killed(entry: dict[str, str], copy: Path) -> bool:
    if not _applies(entry, copy):
        return False
    path, started = copy / entry["file"], time.perf_counter()
    source = path.read_text("utf-8")
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
