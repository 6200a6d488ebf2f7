"""The text of a language model: words as numbers, which words translate which, and batches.

A corpus of a billion words does not fit into memory as Python's objects: it lies in the cache as
32-bit numbers and is read through a memory map, and what a step reads follows from the seed and the
step's number alone.
"""

import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from xlrepro import artefacts, artificial
from xlrepro.artificial import Family, lists
from xlrepro.data import loading, registry, supplied
from xlrepro.data.readers.text_files import numbered_lines
from xlrepro.errors import DataError
from xlrepro.papers.sense_alignment.settings import (
    MODEL_TEXT,
    SOURCE,
    LanguageModelSettings,
    TextSettings,
)
from xlrepro.training.batches import rows_of_step
from xlrepro.training.masking import mask_pieces
from xlrepro.vectors.normalise import word_form
from xlrepro.vectors.open.sources import registered_hash, shuffled_lines, text_files
from xlrepro.vectors.open.tokenise import words_of

FAMILY_SEED = 0
BEGIN, END, UNKNOWN, MASK = SPECIAL = ("<S>", "</S>", "<UNK>", "<MASK>")
FIRST, LAST, UNKNOWN_ID = map(SPECIAL.index, (BEGIN, END, UNKNOWN))
FEWEST_WORDS = 3  # shorter lines are headings and list marks
VERSION = 2  # raised when the code changes what is in the cache


@lru_cache(maxsize=4)
def family(pairs: int) -> Family:
    """Return the artificial languages; in English, so many pairs of concepts share a word."""
    return Family(FAMILY_SEED, pairs=pairs)


# -- sentences of a language


def sentences(language: str, settings: TextSettings, alone: bool) -> Iterator[list[str]]:
    """Yield a language's sentences, the held-out ones first, as words in stored form.

    Args:
        language: its code.
        settings: of the text.
        alone: whether the model reads this language only.

    Raises:
        DataError: if a file is missing.
    """
    limit = word_limit(language, settings, alone)
    read = {"artificial": _artificial, "lists": _lists, "open": _open, "supplied": _supplied}
    for sentence in read[settings.source](language, settings, limit):
        if len(sentence) >= FEWEST_WORDS:
            yield sentence


def training_sentences(
    language: str, settings: TextSettings, alone: bool, count: int
) -> list[list[str]]:
    """Return the first sentences that a language model learns from, at most ``count``."""
    learnt_from = islice(sentences(language, settings, alone), settings.held_out, None)
    return list(islice(_within(learnt_from, word_limit(language, settings, alone)), count))


def _within(stream: Iterator[list[str]], limit: int) -> Iterator[list[str]]:
    """Yield sentences until they have so many words."""
    words = 0
    for sentence in stream:
        yield sentence
        words += len(sentence)
        if words >= limit:
            return


def word_limit(language: str, settings: TextSettings, alone: bool) -> int:
    """Return how many running words of a language a model reads at most."""
    if alone and language == SOURCE and settings.english_words:
        return settings.english_words
    return settings.words


def _artificial(language: str, settings: TextSettings, limit: int) -> Iterator[list[str]]:
    for made in family(settings.ambiguous).stream(language, f"text {language}"):
        yield list(made.forms)


def _lists(language: str, settings: TextSettings, limit: int) -> Iterator[list[str]]:
    """Yield lists of nouns of one kind each, enough of them."""
    count = limit // FEWEST_WORDS + settings.held_out
    for made in lists(family(settings.ambiguous), language, count):
        yield list(made.forms)


def _open(language: str, settings: TextSettings, limit: int) -> Iterator[list[str]]:
    """Yield all lines of the open text in random order; a repeated line counts once."""
    for line in shuffled_lines(text_files(language), f"language model 0 {language}"):
        yield [word for word in words_of(line, language) if word.strip()]


def _supplied(language: str, settings: TextSettings, limit: int) -> Iterator[list[str]]:
    for _, line in numbered_lines(_supplied_file(language)):
        yield [word_form(word, language) for word in line.split()]


def _supplied_file(language: str) -> Path:
    return supplied.opened(f"{MODEL_TEXT}/{language}.txt")


# -- text as numbers


@dataclass
class Corpus:
    """Text as numbers.

    Attributes:
        words: all distinct words: special ones, then by falling frequency. The first ``known`` are
            the vocabulary that is predicted; the others are predicted as ``<UNK>``.
        known: V.
        tokens: running words of all sentences, one language after the other. ``(tokens,)`` int32
        starts: where each sentence begins, and their end. ``(sentences + 1,)``
        held_out: per language the sentences kept for the perplexity.
        translations: per word of the vocabulary the words that translate it, -1 padded, or None.
            ``(V, T)``
    """

    words: list[str]
    known: int
    tokens: np.ndarray
    starts: np.ndarray
    held_out: dict[str, list[list[int]]]
    translations: Tensor | None = None

    @classmethod
    def of(cls, words: list[str], known: int, sentences: Sequence[Any], **more: Any) -> "Corpus":
        """Make a corpus of sentences, each a list of numbers."""
        starts = np.cumsum([0, *map(len, sentences)])
        return cls(words, known, np.concatenate(sentences), starts, **({"held_out": {}} | more))


def read(settings: LanguageModelSettings, languages: tuple[str, ...]) -> Corpus:
    """Return the text that a language model learns from, memory-mapped from the cache.

    Raises:
        DataError: if a file is missing, or a language has no text.
    """
    inputs = {"version": VERSION, **recipe(settings, languages)}
    write = partial(_write, settings, languages)
    folder = artefacts.built("language-model-text", "-".join(languages), inputs, write)
    said = json.loads((folder / "words.json").read_text("utf-8"))
    held_out, words = said["held_out"], said["words"][: said["known"]]
    each = settings.text.held_out  # sentences of each language
    return Corpus(
        said["words"],
        said["known"],
        np.load(folder / "tokens.npy", mmap_mode="r"),
        np.load(folder / "starts.npy", mmap_mode="r"),
        {code: held_out[i * each :][:each] for i, code in enumerate(languages)},
        translations(settings, languages, words) if settings.dictionary else None,
    )


def _write(settings: LanguageModelSettings, languages: tuple[str, ...], folder: Path) -> None:
    """Write a corpus: words get numbers as they are met, and those by frequency at the end."""
    asked, alone = settings.text, len(languages) == 1
    number: dict[str, int] = {}
    tokens, ends, kept = array("i"), [0], list[list[str]]()
    counts: list[np.ndarray] = []  # of each language, by the words' first numbers
    for code in languages:
        begun, stream = len(tokens), sentences(code, asked, alone)
        kept += islice(stream, asked.held_out)
        for sentence in _within(stream, word_limit(code, asked, alone)):
            tokens.extend(number.setdefault(word, len(number)) for word in sentence)
            ends.append(len(tokens))
        if len(tokens) == begun:
            raise DataError(f"there is no {asked.source} text of {code} to learn from")
        counts.append(np.bincount(np.frombuffer(tokens, np.int32)[begun:], minlength=len(number)))
    words, known, renumbered = _by_frequency(list(number), counts, asked.vocabulary)
    np.save(folder / "tokens.npy", renumbered[np.frombuffer(tokens, np.int32)])
    np.save(folder / "starts.npy", np.array(ends))
    held_out = [
        [int(renumbered[number[w]]) if w in number else UNKNOWN_ID for w in s] for s in kept
    ]
    said = {"words": words, "known": known, "held_out": held_out}
    (folder / "words.json").write_text(json.dumps(said), "utf-8")


def _by_frequency(
    met: list[str], counts: list[np.ndarray], vocabulary: int
) -> tuple[list[str], int, np.ndarray]:
    """Return all words in their order, V, and the new number of each word as it was met."""
    total = np.zeros(len(met), dtype=np.int64)
    kept: set[int] = set()
    for own in counts:
        total[: len(own)] += own
        ranked = sorted(np.flatnonzero(own).tolist(), key=lambda i: (-own[i], met[i]))
        kept |= set(ranked[:vocabulary])
    order = sorted(range(len(met)), key=lambda i: (i not in kept, -total[i], met[i]))
    renumbered = np.empty(len(met), dtype=np.int32)
    renumbered[order] = np.arange(len(met)) + len(SPECIAL)
    return [*SPECIAL, *(met[i] for i in order)], len(SPECIAL) + len(kept), renumbered


def recipe(settings: LanguageModelSettings, languages: tuple[str, ...]) -> dict[str, Any]:
    """Return what decides text and dictionary; reads no data of the registry."""
    text = settings.text
    inputs: dict[str, Any] = {"settings": text.model_dump(mode="json"), "languages": languages}
    if text.made_up:
        return {**inputs, "family": FAMILY_SEED, "artificial": artificial.VERSION}
    for code in languages:
        if text.source == "open":
            inputs[code] = [[f.path, registered_hash(f.path)] for f in text_files(code)]
        else:
            inputs[code] = artefacts.file_hash(_supplied_file(code))
    if settings.dictionary:
        inputs["dictionary"] = registry.content_hash("muse-full", "-".join(languages))
    return inputs


# -- the seed dictionary


def seed_dictionary(settings: TextSettings, other: str) -> list[tuple[str, str]]:
    """Return the seed dictionary, English word first, in its order, without repetitions."""
    if settings.made_up:
        entries = family(settings.ambiguous).dictionary(SOURCE, other)
    else:
        rows = loading.load_rows("muse-full", f"{SOURCE}-{other}")
        entries = [(word_form(a, SOURCE), word_form(b, other)) for a, b in rows]
    return list(dict.fromkeys(entries))


def translations(
    settings: LanguageModelSettings, languages: tuple[str, ...], words: list[str]
) -> Tensor:
    """Return per word the words of the vocabulary that translate it, in either direction.

    A word is no translation of itself: names that both languages share are one word already.

    Returns:
        ``(V, T)``, -1 padded.
    """
    number = {word: i for i, word in enumerate(words)}
    translated: list[dict[int, None]] = [{} for _ in words]
    for first, second in seed_dictionary(settings.text, languages[1]):
        if first in number and second in number and first != second:
            a, b = number[first], number[second]
            translated[a][b] = None
            translated[b][a] = None
    rows = [torch.tensor(list(row), dtype=torch.long) for row in (*translated, [0])]
    table = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)
    return table[:-1]  # the last row was there for an empty dictionary's sake


# -- batches


class Batches:
    """Cuts a corpus into the batches of a biLM or of a BERT.

    An epoch has every sentence once, in random order, between ``<S>`` and ``</S>``; of two
    languages both as one text (the code draws the language of each next sentence by a coin). It is
    never laid out: a place of it is looked up where a step needs it.

    Args:
        corpus: the text.
        settings: of the language model.
    """

    def __init__(self, corpus: Corpus, settings: LanguageModelSettings) -> None:
        self.corpus, self.settings = corpus, settings
        self.lengths = np.diff(corpus.starts) + 2
        self.total = int(self.lengths.sum())
        self._order = lru_cache(maxsize=1)(self._ordered)
        network, streams = settings.network, settings.training.streams
        if self.total < (least := network.positions if network.family == "bert" else streams):
            raise DataError(
                f"the text has {self.total} words, a batch needs {least}: raise text.words, or "
                "supply more text"
            )

    def _ordered(self, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sentences of an epoch by their numbers, and where each of them ends in it."""
        order = np.random.default_rng([self.settings.seed, 0, epoch]).permutation(len(self.lengths))
        return order, self.lengths[order].cumsum()

    def at(self, epoch: int, places: np.ndarray) -> np.ndarray:
        """Return the words at places of an epoch's running text: as it is read, and mirrored.

        Sentences stand in the same order in both; each is mirrored for itself, so that the second
        begins every sentence with ``</S>``.

        Args:
            epoch: its number.
            places: any shape; behind the end the text begins again.

        Returns:
            ``(2, *shape)``
        """
        order, ends = self._order(epoch)
        places = places % self.total
        rank = ends.searchsorted(places, side="right")
        row = order[rank]
        length = self.lengths[row]
        # Place in the sentence, its ends included; forward and mirrored.
        ahead = places - (ends[rank] - length)
        both = np.stack((ahead, length - 1 - ahead))
        inside = (both - 1).clip(0, length - 3) + self.corpus.starts[row]
        words = self.corpus.tokens[inside].astype(np.int64)
        return np.where(both == 0, FIRST, np.where(both == length - 1, LAST, words))

    def per_epoch(self) -> int:
        """Return the steps of an epoch of a biLM."""
        training = self.settings.training
        return max(1, (self.total // training.streams - 1) // training.unroll)

    def window(self, step: int) -> Tensor:
        """Return the window of a biLM's step, ``(2, streams, unroll + 1)``."""
        training = self.settings.training
        epoch, place = divmod(step, self.per_epoch())
        length = self.total // training.streams
        # shape: (streams, 1) and (unroll + 1,)
        streams = np.arange(training.streams)[:, None] * length
        inside = place * training.unroll + np.arange(training.unroll + 1)
        return torch.from_numpy(self.at(epoch, streams + inside))

    def masked(self, step: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return the batch of a BERT's step: what it sees, where words are hidden, and which.

        Returns:
            ``(sequences, length)``, ``(sequences, length)`` bool, ``(hidden words,)``
        """
        streams, seed = self.settings.training.streams, self.settings.seed
        network, known = self.settings.network, self.corpus.known
        assert network.family == "bert"
        rows = self.total // network.positions
        epoch = step // max(1, rows // streams)
        chosen = rows_of_step(step, rows, streams, (seed, 3))
        # shape: (sequences, positions)
        places = chosen[:, None] * network.positions + np.arange(network.positions)
        ids = self.at(epoch, places)[0]
        ids[ids >= known] = UNKNOWN_ID
        # Drawn anew each time; the authors' data hold each sentence five times, masked beforehand.
        draw = np.random.default_rng([seed, 1, step, 0])
        arrays = mask_pieces(ids, len(SPECIAL), SPECIAL.index(MASK), known, draw)
        seen, hidden, gold = map(torch.from_numpy, arrays)
        return seen, hidden, gold


def as_read(tokens: Sequence[str], language: str) -> list[str]:
    """Return words in the form of the text that language models read: lower case, digits as 0."""
    return [word_form(token, language) or token for token in tokens]
