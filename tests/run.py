"""The README's test command, ``make test``: unit tests, golden numbers, notebooks (nbval).

A step that fails does not hide the others: all run, and the exit status is 1 if any failed. What
passed is not run again until a file, a package or a setting changes; ``--always`` runs it anyway.
"""

import argparse
import hashlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PASSED = Path(os.environ.get("XLREPRO_BUILD", ROOT / "build")) / "tests-passed"


def steps(jobs: int) -> dict[str, tuple[str, ...]]:
    """Return the three steps: their names, and what follows the interpreter."""
    # What a test that hangs ends with is shown; a worker in place of its own would break loadfile.
    spread = (f"-n{jobs}", "--dist=loadfile", "--no-loadscope-reorder", "--max-worker-restart=0")
    plain = ("-p", "no:nbval")  # which loads for seconds, in each process
    keep = ("-p", "tests.executed_notebooks")  # for the book
    nbval = (*keep, "--nbval-lax", "--nbval-current-env", "notebooks")
    return {
        "unit tests": ("-m", "pytest", *plain, *spread),
        "golden numbers": ("-m", "xlrepro", "golden"),
        "notebooks": ("-m", "pytest", *nbval, *spread),
    }


def circumstances(root: Path) -> Iterator[str]:
    """Yield all that decides whether tests pass: files, interpreter, packages, settings."""
    command = ["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in sorted({*listed.split("\0")} - {""}):
        path = root / name
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "gone"
        yield f"{name} {content}"
    yield f"{sys.executable} {platform.python_version()} {platform.platform()}"
    yield from sorted(f"{package.name}=={package.version}" for package in metadata.distributions())
    yield from sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("XLREPRO_"))


def state(root: Path) -> str:
    """Return the SHA-256 of `circumstances`."""
    return hashlib.sha256("\n".join(circumstances(root)).encode()).hexdigest()


def main(arguments: list[str]) -> int:
    """Run the steps; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", "-j", type=int, default=min(os.cpu_count() or 1, 4))
    parser.add_argument("--always", action="store_true")
    asked = parser.parse_args(arguments)
    key = state(ROOT)
    if not asked.always and PASSED.is_file() and PASSED.read_bytes() == key.encode():
        print("all tests passed, and nothing has changed since")
        return 0
    PASSED.unlink(missing_ok=True)
    results = []
    for name, command in steps(asked.jobs).items():
        print(f"== {name}: python {' '.join(command)}", flush=True)
        # One thread per process: the processes already share the cores, and sums keep their order.
        environment = {"OMP_NUM_THREADS": "1", **os.environ}
        began = time.monotonic()
        done = subprocess.run([sys.executable, *command], cwd=ROOT, env=environment)
        results.append((name, done.returncode == 0, time.monotonic() - began))
    for name, passed, seconds in results:
        print(f"{'passed' if passed else 'FAILED'}  {name}  ({seconds:.0f} s)")
    if not all(passed for _, passed, _ in results):
        return 1
    PASSED.parent.mkdir(parents=True, exist_ok=True)
    PASSED.write_text(key, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
