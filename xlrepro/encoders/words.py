"""Word vectors of a hundred languages from a released encoder: ``encoder``, the third open set.

The vector of a word is the mean state of its subwords at a middle layer: over the word's
occurrences in open text, or, where it has none, of the word standing alone between begin and end;
every word has one. The mean over a language's frequent words is subtracted, in each of the two ways
by itself, so that no vector says which language it is of. No word list aligned the languages: the
encoder did.

Open text is that of the open word vectors: test sets of the experiments are not in it. English has
the plain tokens of its training treebank too.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path

import numpy as np

from xlrepro.artefacts import built
from xlrepro.encoders import E5, identity, pretrained
from xlrepro.precision import working_dtype
from xlrepro.vectors.normalise import normalise, simplified
from xlrepro.vectors.open import sources
from xlrepro.vectors.open.lexicon import frequent_words
from xlrepro.vectors.open.tokenise import tokenise
from xlrepro.vectors.tables import EXACT, UNKNOWN, WordVectors

ENCODER = "encoder"  # the vectors' name
LAYER = 5  # that of word_order's M-BERT rows, chosen on English dev
VERSION = 2  # raised when the code changes the vectors
CENTRED_ON = 2000  # the most frequent words of a language, whose mean is subtracted
VOCABULARY = 20_000  # words that a translation is sought among
MOST_OCCURRENCES = 20  # of a word form, after which a line is read for its other words alone
LONGEST = 128  # subwords of a line; what is further right is not read
BUFFERED = 1024  # lines that are sorted by length


# ---- open text


def plain_word(word: str, language: str) -> str:
    """Return a word as text has it: normalised, case kept, Chinese simplified.

    Example:
        >>> plain_word("Été", "fr")
        'Été'
    """
    return "".join(simplified(normalise(word, language), language).split())


def plain_words(text: str, language: str) -> list[str]:
    """Return the words of running text, each as :func:`plain_word` has it."""
    words = (plain_word(word, language) for word in tokenise(text, language))
    return [word for word in words if word]


def files_of(language: str) -> list[sources.TextFile]:
    """Return the registered files of a language's open text."""
    if language in sources.open_settings()["languages"]:
        return sources.text_files(language)
    return [sources.TextFile(path) for path in sources.registered_paths(f"mono-text/{language}/")]


def open_lines(language: str, seed: int) -> Iterator[list[str]]:
    """Yield the lines of a language's open text as words, in random order, no line twice."""
    lines = sources.shuffled_lines(files_of(language), f"pretraining {seed} {language}")
    return (plain_words(line, language) for line in lines)


# ---- states of words where they occur


def words_read(language: str) -> int:
    """Return how many words of a language's open text are read."""
    return 400_000 if language == sources.SOURCE else 100_000


def recipe(language: str) -> dict[str, object]:
    """Return what decides the states of a language's words where they occur."""
    text = [[file.path, sources.registered_hash(file.path)] for file in files_of(language)]
    read = {"text": text, "words": words_read(language), "most": MOST_OCCURRENCES}
    return {"version": VERSION, "weights": identity(E5), "layer": LAYER, **read}


class WordStates(WordVectors):
    """Vectors of words, computed when they are first asked for and kept on the disk.

    Standardised, so that each dimension has variance 1 over the frequent English words.

    Args:
        encoder: whose states, of its last layer.
    """

    def __init__(self, encoder: pretrained.Encoder) -> None:
        super().__init__()
        self._encoder = encoder
        self.source, self.dim = sources.SOURCE, encoder.dim
        self._text: dict[str, tuple[dict[str, int], dict[str, int], np.ndarray]] = {}
        self._means: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def words(self, language: str) -> Sequence[str]:
        """Return a language's frequent words, most frequent first."""
        sources.language_sources(language)
        return frequent_words(language)[:VOCABULARY]

    def matrix(self, language: str) -> np.ndarray:
        """Return their vectors before scaling, ``(words, dim)``."""
        return self._centred(language, self.words(language))

    def find(self, language: str, words: Sequence[str]) -> list[tuple[np.ndarray, int]]:
        """Return each word's vector and 1; zeros and 0 where the encoder knows none of its signs.

        Raises:
            SettingsError: for a language without a list of frequent words.
        """
        sources.language_sources(language)
        if not words:
            return []
        self._centres(self.source)
        scaled = self._centred(language, words) / self._spread
        kinds = [EXACT if self._says_something(word) else UNKNOWN for word in words]
        return [(vector * (kind == EXACT), kind) for vector, kind in zip(scaled, kinds)]

    def _says_something(self, word: str) -> bool:
        subwords = self._encoder.subwords
        numbers = subwords.numbers(word)
        return numbers[subwords.first(numbers)] != subwords.special.unknown

    def _centred(self, language: str, words: Sequence[str]) -> np.ndarray:
        """Return the state of each word less the mean of its kind, ``(words, dim)``."""
        states, occurs = self._states(language, words)
        apart, among = self._centres(language)
        # shape: (words, dim)
        return states - np.where(occurs[:, None], among, apart)

    def _centres(self, language: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean state of frequent words alone, and of those that occur where they do."""
        if language not in self._means:
            words = frequent_words(language)[:CENTRED_ON]
            states, occurs = self._states(language, words)
            apart = self._alone(words).mean(0)
            among = states[occurs].mean(0) if occurs.any() else apart
            self._means[language] = apart, among
            if language == self.source:
                self._spread = self._centred(language, words).std(0)
        # shape: (dim,) each
        return self._means[language]

    def _states(self, language: str, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the state of each word ``(words, dim)``, and which occur in text ``(words,)``."""
        written, lower, means = self._occurrences(language)
        plain = [plain_word(word, language) for word in words]
        rows = [written.get(word, lower.get(word.lower())) for word in plain]
        occurs = np.array([row is not None for row in rows], dtype=bool)
        states = np.empty((len(words), self.dim), dtype=working_dtype())
        if occurs.any():
            states[occurs] = means[[row for row in rows if row is not None]]
        alone = [word for word, row in zip(words, rows, strict=True) if row is None]
        if alone:
            states[~occurs] = self._alone(alone)
        return states, occurs

    def _alone(self, words: Sequence[str]) -> np.ndarray:
        """Return the mean state of the subwords of each word standing alone, ``(words, dim)``."""
        ids, reads = zip(*(self._encoder.text([word]) for word in words), strict=True)
        return np.asarray(self._encoder.kept_states(ids, reads, mean=True), dtype=working_dtype())

    def _occurrences(self, language: str) -> tuple[dict[str, int], dict[str, int], np.ndarray]:
        """Return the row of each word form as it is written, and in lower case over all ways of
        writing it, and the mean state of each row, ``(rows, dim)``.
        """
        if language not in self._text:
            write = partial(self._write, language)
            folder = built("occurrences", language, recipe(language), write)
            forms = json.loads((folder / "forms.txt").read_text("utf-8"))
            rows = {form: row for row, form in enumerate(forms["written"])}
            lower = {form: len(rows) + row for row, form in enumerate(forms["lower"])}
            means = np.load(folder / "means.npy", mmap_mode="r")
            self._text[language] = rows, lower, means
        return self._text[language]

    def _write(self, language: str, folder: Path) -> None:
        rows: dict[str, int] = {}
        sums: list[np.ndarray] = []  # the state of each form, summed over its occurrences
        counts: list[int] = []
        for line, states in self._read(chosen(open_lines(language, 0), words_read(language))):
            for word, state in zip(line, states, strict=False):
                row = rows.setdefault(word, len(sums))
                if row == len(sums):
                    sums.append(np.zeros(self.dim))
                    counts.append(0)
                sums[row] += state
                counts[row] += 1
        lower: dict[str, list[int]] = {}
        for word, row in rows.items():
            lower.setdefault(word.lower(), []).append(row)
        total, count = np.array(sums), np.array(counts, dtype=float)[:, None]
        of_lower = [total[i].sum(0, keepdims=True) / count[i].sum() for i in lower.values()]
        means = np.concatenate([total / count, *of_lower]).astype(np.float16)
        np.save(folder / "means.npy", means)
        forms = {"written": list(rows), "lower": list(lower)}
        (folder / "forms.txt").write_text(json.dumps(forms, ensure_ascii=False), "utf-8")

    def _read(self, lines: Iterator[list[str]]) -> Iterator[tuple[list[str], list[np.ndarray]]]:
        """Yield each line with the states of its words, as many as fit; lines of like lengths are
        read together.
        """
        while waiting := list(islice(lines, BUFFERED)):
            ids, reads = zip(*map(self._framed, waiting))
            for i, states in self._encoder.states(ids):
                yield waiting[i], [states[read].mean(0) for read in reads[i]]

    def _framed(self, line: list[str]) -> tuple[list[int], list[range]]:
        """Return a line's subwords, as many whole words as fit, and the places of each word's."""
        room = min(LONGEST, self._encoder.limit) - 1
        ids, spans = self._encoder.spans(line)
        fitting = [span for span in spans if span.stop <= room]
        end = fitting[-1].stop if fitting else 1
        return [*ids[:end], self._encoder.subwords.special.end], fitting


def chosen(
    lines: Iterator[list[str]], words: int, most: int = MOST_OCCURRENCES
) -> Iterator[list[str]]:
    """Yield the lines that are read: those with a word that has not been read often enough.

    Args:
        lines: in the order of reading.
        words: that are read at least, if there are so many.
        most: occurrences of a word form, after which it is no reason to read a line.
    """
    seen: Counter[str] = Counter()
    for line in lines:
        if all(seen[word] >= most for word in line):
            continue
        yield line
        seen.update(line)
        if seen.total() >= words:
            return


@cache
def load() -> WordStates:
    """Return the vectors (cached in the process); the encoder is fetched if need be.

    Raises:
        DataError: if its files cannot be had.

    Example:
        >>> vectors, kinds = load().lookup("de", ["Hund", "Hündchen"])  # doctest: +SKIP
        >>> vectors.shape, kinds.tolist()  # doctest: +SKIP
        ((2, 384), [1, 1])
    """
    return WordStates(pretrained.load(f"{E5}@{LAYER}"))
