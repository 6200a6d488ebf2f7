"""States of words where they occur: the mean over lines of open text, kept on the disk.

Lines are read in a random order. Of a word form the first occurrences count, in lines that are read
whole; a line all of whose words have been read often enough is left out.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from xlrepro.artefacts import built
from xlrepro.pretraining.frozen_states import padded
from xlrepro.pretraining.released import ReleasedEncoder

LONGEST = 128  # pieces of a line; what is further right is not read
BATCH_PIECES = 4096  # padded pieces of a batch
BUFFERED = 1024  # lines that are sorted by length

Line = Callable[[], list[str]]


@dataclass(frozen=True)
class Occurrences:
    """Word forms that occur in a text, and the mean state of each over its occurrences.

    Attributes:
        rows: word form, as it is written, to its row.
        lower: the same in lower case, over all ways of writing it, to its row.
        means: ``(rows, dim)``
    """

    rows: Mapping[str, int]
    lower: Mapping[str, int]
    means: np.ndarray

    def row(self, word: str) -> int | None:
        """Return the row of a word: as it is written, else in lower case; None if it has none."""
        found = self.rows.get(word)
        return self.lower.get(word.lower()) if found is None else found


def occurrences(
    encoder: ReleasedEncoder,
    layer: int,
    language: str,
    lines: Callable[[], Iterator[Line]],
    words: int,
    most: int,
    recipe: Mapping[str, Any],
) -> Occurrences:
    """Return the mean states of the words of a text, from the cache where they are there.

    Args:
        encoder: whose states.
        layer: which of its layers.
        language: of the text.
        lines: begins the text; each line is a call that returns its words.
        words: that are read, those of lines left out not counted.
        most: occurrences of a word form, after which it is no reason to read a line.
        recipe: what decides all of these.
    """
    write = partial(_write, encoder, layer, lines, words, most)
    folder = built("occurrences", language, dict(recipe), write)
    forms = json.loads((folder / "forms.txt").read_text("utf-8"))
    means = np.load(folder / "means.npy", mmap_mode="r")
    rows = {form: row for row, form in enumerate(forms["written"])}
    lower = {form: len(rows) + row for row, form in enumerate(forms["lower"])}
    return Occurrences(rows, lower, means)


def _write(
    encoder: ReleasedEncoder,
    layer: int,
    lines: Callable[[], Iterator[Line]],
    words: int,
    most: int,
    folder: Path,
) -> None:
    rows: dict[str, int] = {}
    sums: list[np.ndarray] = []  # the state of each form, summed over its occurrences; and how many
    counts: list[int] = []
    for line, states in _states(encoder, layer, _chosen(lines(), words, most)):
        for word, state in zip(line, states, strict=False):
            row = rows.setdefault(word, len(sums))
            if row == len(sums):
                sums.append(np.zeros(encoder.dim))
                counts.append(0)
            sums[row] += state
            counts[row] += 1
    lower: dict[str, list[int]] = {}
    for word, row in rows.items():
        lower.setdefault(word.lower(), []).append(row)
    total, count = np.array(sums), np.array(counts, dtype=float)[:, None]
    means = [
        total / count,
        *(total[i].sum(0, keepdims=True) / count[i].sum() for i in lower.values()),
    ]
    np.save(folder / "means.npy", np.concatenate(means).astype(np.float16))
    forms = {"written": list(rows), "lower": list(lower)}
    (folder / "forms.txt").write_text(json.dumps(forms, ensure_ascii=False), "utf-8")


def _chosen(lines: Iterator[Line], words: int, most: int) -> Iterator[list[str]]:
    """Yield the lines that are read."""
    seen: Counter[str] = Counter()
    for read in lines:
        line = read()
        if all(seen[word] >= most for word in line):
            continue
        yield line
        seen.update(line)
        if seen.total() >= words:
            return


@torch.inference_mode()
def _states(
    encoder: ReleasedEncoder, layer: int, lines: Iterator[list[str]]
) -> Iterator[tuple[list[str], list[np.ndarray]]]:
    """Yield each line with the states of its words, as many as fit."""
    network = encoder.network.eval()
    for part in _parts(encoder, lines):
        ids, mask = padded([pieces for _, pieces, _ in part])
        states = network.hidden_states(ids, mask, layer)[layer].numpy()
        for i, (line, _, reads) in enumerate(part):
            yield line, [states[i, read].mean(0) for read in reads]


Pieces = tuple[list[str], list[int], list[slice]]  # a line, its pieces, and where each word's stand


def _parts(encoder: ReleasedEncoder, lines: Iterator[list[str]]) -> Iterator[list[Pieces]]:
    """Yield lines in batches of like lengths."""
    waiting: list[Pieces] = []
    for line in lines:
        waiting.append((line, *_pieces(encoder, line)))
        if len(waiting) == BUFFERED:
            yield from _batches(waiting)
            waiting = []
    yield from _batches(waiting)


def _batches(waiting: list[Pieces]) -> Iterator[list[Pieces]]:
    waiting = sorted(waiting, key=lambda each: -len(each[1]))
    while waiting:
        count = max(1, BATCH_PIECES // len(waiting[0][1]))
        yield waiting[:count]
        waiting = waiting[count:]


def _pieces(encoder: ReleasedEncoder, line: list[str]) -> tuple[list[int], list[slice]]:
    room = min(LONGEST, encoder.limit) - 1
    pieces, reads = [encoder.begin], []
    for word in line:
        numbers = encoder.tokenizer.numbers(word)
        if len(pieces) + len(numbers) > room:
            break
        first = encoder.tokenizer.first(numbers)
        reads.append(slice(len(pieces) + first, len(pieces) + len(numbers)))
        pieces += numbers
    return [*pieces, encoder.end], reads
