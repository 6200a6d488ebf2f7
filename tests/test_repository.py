"""What git tracks: small, free of corpora and of traces of the machine that made it."""

import hashlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 1_000_000  # bytes
LARGER_ON_PURPOSE: dict[str, str] = {  # path: why
    "notebooks/word_order/figure1.ipynb": "1,090 cells, each with its style",
    "notebooks/word_order/table2.ipynb": "612 cells, each with its style",
    "data/results/word_order/table2.open.jsonl": "records of 31 languages on four kinds of vectors",
    "data/results/word_order/table1.open.jsonl": "entities and slots, with grids of rates",
    "data/results/word_order/figure2.open.jsonl": "160 trials, and the files that each reads",
    "data/results/routing_nmt/table1.open.jsonl": "counts of each test sentence, for the bootstrap",
    "data/results/ramen/table1.open.jsonl": "which of 5,010 items were right, of each language",
    "data/results/ramen/table2.open.jsonl": "which words were right, by LAS and by UAS",
    "data/results/sense_alignment/table3.open.jsonl": "a hundred heads, and their models' curves",
    "data/results/sense_alignment/table5.open.jsonl": "likewise, of all pairs of inference",
    "data/results/ramen/table3.open.jsonl": "a hundred trials, and the files and models they read",
}

CORPUS_SUFFIXES = {".conllu", ".vec", ".xz", ".bz2", ".gz", ".zip", ".7z", ".parquet"}
CORPUS_SUFFIXES |= {".npy", ".pt"}

# Written in pieces, so that this file does not hold what it looks for.
HOSTS = ("pypi org", "files pythonhosted org", "deb debian org", "registry npmjs org")
PACKAGE_HOSTS = [host.replace(" ", ".") for host in HOSTS]
MACHINE_PATHS = re.compile(r"/wor" + r"k/\w|/roo" + r"t/[\w.]|/op" + r"t/wheels")


@cache
def tracked() -> list[Path]:
    """Return every file that git tracks and that is there."""
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    paths = [ROOT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.is_file()]


@cache
def texts() -> dict[str, str]:
    """Return the text of every tracked file that is text, by its path below the root."""
    found = {}
    for path in tracked():
        raw = path.read_bytes()
        if b"\0" not in raw:
            found[str(path.relative_to(ROOT))] = raw.decode("utf-8")
    return found


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in texts().items()
        if pattern.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_large_file():
    sizes = {str(p.relative_to(ROOT)): p.stat().st_size for p in tracked()}
    large = [n for n, size in sizes.items() if size > LARGEST and n not in LARGER_ON_PURPOSE]
    assert large == []


def test_no_machine_path_and_no_package_host():
    assert lines_with(MACHINE_PATHS) == []
    assert lines_with(re.compile("|".join(map(re.escape, PACKAGE_HOSTS)))) == []


def test_no_file_of_a_kind_that_holds_corpora_or_vectors():
    assert [str(p.relative_to(ROOT)) for p in tracked() if p.suffix in CORPUS_SUFFIXES] == []


def test_no_file_has_the_checksum_of_a_corpus_file():
    registry = "\n".join(path.read_text() for path in (ROOT / "data/registry").glob("*.yaml"))
    corpora = set(re.findall(r"\b[0-9a-f]{64}\b", registry))
    assert corpora, "data/registry names no checksum: this test compares with them"
    ours = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in tracked()}
    assert [str(ours[h]) for h in corpora & ours.keys()] == []


def test_no_unfinished_business():
    marks = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b|raise NotImplemented" + r"Error")
    assert [line for line in lines_with(marks) if line.split(":")[0].endswith(".py")] == []


def test_make_help_names_every_target_of_the_readme():
    shown = subprocess.run(
        ["make", "help", f"PYTHON={sys.executable}"], cwd=ROOT, capture_output=True, text=True
    )
    targets = set(re.findall(r"^make (\w+)", shown.stdout, re.MULTILINE))
    readme = set(re.findall(r"`?make (\w+)`?", (ROOT / "README.md").read_text()))
    assert readme, "the README names no make target"
    assert readme <= targets
