"""Many processes at once on one build and one clone: work is shared, nothing is lost or done twice.

``python -m tests.attacks.batches [--count N]`` starts N runs of the toy paper at once, then N
publications, then N batches of one notebook at smoke. Exits 1 where one of them fails, a trial
started twice, a record or a published line is missing, or a temporary file is left. Not in CI.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.attacks.kills import start
from xlrepro.store import RecordStore

SEEDS = 12
NOTEBOOK = "word_order/distances"


def main() -> int:
    """Attack; return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=4)
    count = parser.parse_args().count
    failed: list[str] = []

    def wait(processes: list[subprocess.Popen[str]]) -> None:
        for process in processes:
            output, errors = process.communicate(timeout=1800)
            if process.returncode or "Traceback" in errors:
                failed.append(f"status {process.returncode}: {output}{errors}")

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "data" / "reported").mkdir(parents=True)
        store = RecordStore(home / "build" / "records", home / "data" / "results")
        run = ["run", "toy/table", "--profile=open", "--systems=ORT", f"--seeds=0-{SEEDS - 1}"]
        run += ["--jobs=1", f"--set=ran={home / 'ran'}"]
        wait([start(home, *run) for _ in range(count)])
        starts = Counter(line.split()[0] for line in (home / "ran").read_text().splitlines())
        if set(starts.values()) != {1} or len(starts) != SEEDS or len(store.records()) != SEEDS:
            failed.append(f"runs: starts {dict(starts)}, {len(store.records())} records")
        for path in store.root.glob("*.json"):
            path.unlink()
        wait([start(home, *run[:-1])])
        wait([start(home, "publish", "toy/table") for _ in range(count)])
        (file,) = store.published.rglob("*.jsonl")
        if len(file.read_text().splitlines()) != SEEDS or [*store.published.rglob("*.tmp")]:
            failed.append(f"publish: {[*store.published.rglob('*')]}")
        build = {"XLREPRO_BUILD": str(home / "notebooks")}
        command = [sys.executable, "-m", "xlrepro", "batch", NOTEBOOK, "--jobs", "1"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        wait([subprocess.Popen(command, env=os.environ | build, **pipes) for _ in range(count)])
    print(f"{count} at once: {len(failed)} failures", *failed, sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
