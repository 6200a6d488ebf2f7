"""Runs and publications ended by signals at random moments, then repeated: nothing is lost.

``python -m tests.attacks.kills [--count N] [--seed S]`` starts a run of the toy paper N times,
sends SIGINT, SIGTERM or SIGKILL to it (or to its process group) after a random while, and at the
end runs it undisturbed; every second time a publication is killed. Exits 1 where a record is broken
or lost, a number is not what an undisturbed run gives, a traceback was printed, a process is left,
or an exit status is none of 0, 130 and 143, but where the signal came before Python had started.
Not in CI.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.toy_trials import living_in_group, make_true_record
from xlrepro.store import RecordStore

SEEDS = 12
RUN = ("run", "toy/table", "--profile=open", "--systems=ORT", f"--seeds=0-{SEEDS - 1}", "--jobs=2")
PUBLISH = ("publish", "toy/table")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


def start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the command line on the toy paper in a process group of its own."""
    places = {"XLREPRO_HOME": str(home), "XLREPRO_BUILD": str(home / "build")}
    return subprocess.Popen(
        [sys.executable, "-m", "toy", *arguments],
        env=os.environ | places,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def disturbed(
    home: Path, chance: random.Random, counts: Counter[str], longest: float, *arguments: str
) -> None:
    """Start a command, end it after a while, and count how it went."""
    process, number = start(home, *arguments), chance.choice(SIGNALS)
    try:
        process.wait(chance.uniform(0.0, longest))
    except subprocess.TimeoutExpired:
        counts["hit"] += 1
        send = os.killpg if chance.random() < 0.5 else os.kill
        send(process.pid, number)
    _, errors = process.communicate(timeout=300)
    counts[f"{arguments[0]}: status {process.returncode}"] += 1
    early = process.returncode < 0 or "init_import_site" in errors
    counts["before Python had started, or SIGKILL"] += early
    if not early and (process.returncode not in (0, 130, 143) or "Traceback" in errors):
        counts["FAILED: exit status, or a traceback"] += 1
        print(errors, file=sys.stderr)
    for _ in range(600):
        if not living_in_group(process.pid):
            return
        time.sleep(0.1)
    counts["FAILED: a process is left"] += 1


def main() -> int:
    """Attack; return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance, counts = random.Random(asked.seed), Counter[str]()
    expected = {seed: make_true_record(seed).cells for seed in range(SEEDS)}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "data" / "reported").mkdir(parents=True)
        store = RecordStore(home / "build" / "records", home / "data" / "results")
        known: set[str] = set()
        seconds: dict[tuple[str, ...], float] = {}
        for command in (RUN, PUBLISH):  # how long they take undisturbed, on this machine now
            began = time.monotonic()
            start(home, *command).communicate()
            seconds[command] = time.monotonic() - began
        for n in range(asked.count):
            command = PUBLISH if n % 2 else RUN
            disturbed(home, chance, counts, seconds[command], *command)
            found = {record.key for record in store.records()}
            counts["FAILED: lost"] += len(known - found)
            known = found
            if len(found) == SEEDS:  # all done: begin again, what is published stays
                for path in store.root.glob("*.json"):
                    path.unlink()
                for path in store.published.rglob("*.jsonl"):
                    path.unlink()
                known = set()
        for command in (RUN, PUBLISH):
            last = start(home, *command)
            _, errors = last.communicate(timeout=600)
            counts[f"FAILED: {errors}"] += last.returncode != 0
        (file,) = store.published.rglob("*.jsonl")
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        counts["FAILED: missing"] += SEEDS - len(lines)
        for record in store.records():
            counts["FAILED: wrong numbers"] += record.cells != expected[record.seed]
        counts["FAILED: rest"] += len([*store.published.rglob("*.tmp")])
    for what, count in sorted(counts.items()):
        if count or not what.startswith("FAILED"):
            print(f"{count:5}  {what}")
    return int(any(count for what, count in counts.items() if what.startswith("FAILED")))


if __name__ == "__main__":
    sys.exit(main())
