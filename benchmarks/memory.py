"""Memory of what `paper` reads in bulk, on made-up text: bytes a word, and of the whole.

    python -m benchmarks.memory [--words 3_000_000]

Each part runs in a process of its own, on the code that trials run; models are stood in for by
random states of their true sizes. What is measured is the highest anonymous memory (a page of a
mapped file can be dropped at any time) above that of the process with its packages loaded, by a
thread that looks every 5 ms. The figures of before are those of the audit of 2026-11-25, measured
on such a machine too; the last column is an extrapolation.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

TYPES = 400_000  # distinct words of a long text
SENTENCE = 22  # words
LAYERS, DIM = 3, 1024  # of ELMo's states at the paper's size
# Part: what it is counted by, how many the paper's size has, GB before. A million sentences have
# 22 million words; that 500,000 of them are distinct is assumed.
PARTS: dict[str, tuple[str, float, int]] = {
    "language model's text, writing": ("word", 1e9, 141),
    "language model's text, training": ("word", 1e9, 77),
    "anchors of a million sentences": ("distinct word", 5e5, 270),
    "features of MultiNLI": ("word", 12.5e6, 102),
    "RAMEN's text, a language": ("word", 1e8, 9),
}


def anonymous() -> int:
    """Return this process's memory that no file backs, bytes."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.findall(r"RssAnon:\s+(\d+)", status)[0])


@contextmanager
def peak() -> Iterator[Callable[[], int]]:
    """Look at the memory inside the block; yield what tells the highest above that of its start."""
    start, highest, over = anonymous(), [0], threading.Event()

    def look() -> None:
        while not over.wait(0.005):
            highest[0] = max(highest[0], anonymous() - start)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield lambda: max(highest[0], anonymous() - start)
    finally:
        over.set()
        thread.join()


def made_up(words: int) -> Iterator[list[str]]:
    """Yield sentences whose words are as frequent as Zipf says."""
    draw = np.random.default_rng(0)
    shares = 1 / np.arange(1, TYPES + 1)
    bounds = (shares / shares.sum()).cumsum()
    for _ in range(0, words, SENTENCE):
        yield [f"word{n}" for n in bounds.searchsorted(draw.random(SENTENCE)).tolist()]


class Model:
    """Random states in the place of a language model's."""

    def states(self, sentences: Any) -> Iterator[tuple[int, torch.Tensor]]:
        for i, sentence in enumerate(sentences):
            yield i, torch.rand(LAYERS, len(sentence), DIM)


def put(path: str, words: int) -> None:
    """Write made-up text into the folder of supplied files."""
    file = Path(os.environ["XLREPRO_SUPPLIED"]) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as stream:
        stream.writelines(" ".join(sentence) + "\n" for sentence in made_up(words))


def settings_of(row: str, words: int) -> Any:
    """Return the settings of a language model of Table 2 at `paper`, with so many words of text."""
    from xlrepro.experiments import experiment
    from xlrepro.papers.sense_alignment.settings import DisambiguationSettings

    changed = {"model.text.words": words, "model.text.english_words": words}
    trial, *_ = experiment("sense_alignment/table2").trials("paper", [row], [0], changed)
    return trial.typed(DisambiguationSettings).model


Measured = tuple[int, int]  # bytes, and what they are counted by


def text(words: int) -> Measured:
    """Write a language model's text into the cache."""
    from xlrepro.papers.sense_alignment import text

    put(f"{text.MODEL_TEXT}/en.txt", words)
    with peak() as highest:
        text.read(settings_of("wsd:SaELMo", words), ("en",))
        return highest(), words


def batches(words: int) -> Measured:
    """Cut batches from the text that `text` has written."""
    from xlrepro.papers.sense_alignment import text

    settings = settings_of("wsd:SaELMo", words)
    with peak() as highest:
        found = text.Batches(text.read(settings, ("en",)), settings)
        for step in (0, found.per_epoch() // 2, found.per_epoch()):
            found.window(step)
        return highest(), words


def anchors(words: int) -> Measured:
    """Sum up states of every word."""
    from xlrepro.papers.sense_alignment import vectors

    sentences = list(made_up(words // 10))
    with peak() as highest:
        found = vectors.anchors(Model(), sentences)  # type: ignore[arg-type]
        return highest(), len(found)


def features(words: int) -> Measured:
    """Keep the vectors of sentences, standardise them, and read all batches."""
    from xlrepro.papers.sense_alignment import training, transfer, vectors
    from xlrepro.tasks import classification

    training.load = lambda *_: Model()  # type: ignore[assignment]
    training.recipe = lambda *_: "made up"
    sentences = list(made_up(words // 10))
    with peak() as highest:
        settings = settings_of("wsd:ELMo", words)
        kept = vectors.kept(settings, ("en",), sentences, "mean", half=True)
        labels = torch.zeros(len(kept), dtype=torch.long)
        pairs = classification.Examples((kept, kept), labels, transfer.spread_of(kept))
        for start in range(0, len(kept) - 32, 32):
            classification._batch(pairs, list(range(start, start + 32)), "cpu")
        return highest(), words // 10


def ramen(words: int) -> Measured:
    """Read a language's text as words, as RAMEN does before it becomes numbers."""
    from xlrepro.papers.ramen import data, supplied

    put(supplied.text_path("fr"), words)
    data.test_sentences = lambda *_: frozenset()  # type: ignore[assignment]
    settings = SimpleNamespace(corpus="supplied", words=words, seed=0)
    with peak() as highest:
        lines = data.words(settings, "fr")  # type: ignore[arg-type]
        return highest(), sum(map(len, lines))


MEASURES = {
    "language model's text, writing": text,
    "language model's text, training": batches,
    "anchors of a million sentences": anchors,
    "features of MultiNLI": features,
    "RAMEN's text, a language": ramen,
}


def measured(part: str, words: int, folder: str) -> tuple[int, int]:
    """Return the peak of a part in a process of its own, bytes, and what it is counted by."""
    call = [sys.executable, "-m", "benchmarks.memory", f"--words={words}", f"--part={part}"]
    places = {"XLREPRO_DATA": f"{folder}/{words}", "XLREPRO_SUPPLIED": f"{folder}/{words}"}
    said = subprocess.run(call, env=os.environ | places, check=True, stdout=subprocess.PIPE).stdout
    highest, counted = json.loads(said.splitlines()[-1])
    return highest, counted


def main() -> None:
    """Measure all, or one part inside its process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--words", type=int, default=3_000_000)
    parser.add_argument("--part", choices=list(MEASURES))
    asked = parser.parse_args()
    if asked.part:
        print(json.dumps(MEASURES[asked.part](asked.words)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for part, (unit, size, before) in PARTS.items():
            (less, few), (most, many) = (
                measured(part, words, folder) for words in (asked.words // 3, asked.words)
            )
            each = (most - less) / (many - few)
            whole = (most + each * (size - many)) / 1e9
            print(
                f"{part}: {most / 1e6:,.0f} MB at {many:,} {unit}s, {each:,.1f} bytes for each "
                f"more; so {whole:,.1f} GB at {size:,.0f}, before {before} GB",
                flush=True,
            )


if __name__ == "__main__":
    main()
