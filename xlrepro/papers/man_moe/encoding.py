"""From texts of several languages to one padded batch over one table of words.

A step's languages go through the model together, so they share a table: a row per (language,
word), and beside it the word's characters, a row per spelling.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from xlrepro.nn.recurrent import Packing
from xlrepro.papers.man_moe.settings import TransferSettings
from xlrepro.precision import working_dtype
from xlrepro.vectors.encoding import padded
from xlrepro.vectors.tables import UNKNOWN, WordVectors

Word = tuple[str, str]  # language, word


@dataclass(frozen=True)
class WordTable:
    """Everything known of some words. Row 0 of each table is padding.

    Attributes:
        rows: (language, word) to row.
        vectors: ``(rows, dim)``.
        spellings: which row of ``characters`` spells a word. ``(rows,)``
        characters: character ids, 0 behind a word's end. ``(spellings, width)``
    """

    rows: Mapping[Word, int]
    vectors: Tensor
    spellings: Tensor
    characters: Tensor

    def to(self, device: str) -> "WordTable":
        """Return the table with its tensors on ``device``."""
        tensors = (t.to(device) for t in (self.vectors, self.spellings, self.characters))
        return WordTable(self.rows, *tensors)


@dataclass(frozen=True)
class TextBatch:
    """Padded texts of one or several languages.

    Attributes:
        rows: rows of the word table, 0 where padded. ``(batch, length)``
        mask: True at tokens. ``(batch, length)``
        languages: number of each text's language. ``(batch,)``
        gold: label numbers, one after the other: of each token, or of each text; empty for text
            without labels. ``(tokens,)`` or ``(batch,)``
    """

    rows: Tensor
    mask: Tensor
    languages: Tensor
    gold: Tensor

    @cached_property
    def packing(self) -> Packing:
        """Return where the tokens of each text stand once padding is left out."""
        return Packing(self.mask.sum(1))

    @cached_property
    def flat(self) -> Tensor:
        """Return the rows of the tokens alone, text after text, ``(tokens,)``."""
        return self.rows[self.mask]

    def to(self, device: str) -> "TextBatch":
        """Return the batch on ``device``; what would be waited for there is computed here."""
        tensors = (t.to(device) for t in (self.rows, self.mask, self.languages, self.gold))
        moved = TextBatch(*tensors)
        vars(moved).update(packing=self.packing.to(device), flat=self.flat.to(device))
        return moved


@dataclass(frozen=True)
class EncodedTexts:
    """Texts of one language as rows of a word table.

    Attributes:
        language: number of the language; sources come first.
        rows: per text. each ``(length,)``
        gold: label numbers per text, or ``None``. each ``(length,)`` or ``(1,)``
    """

    language: int
    rows: list[Tensor]
    gold: list[Tensor] | None = None


class CharacterIds:
    """Numbers of the characters of some words; all other characters share the last number."""

    def __init__(self, words: Iterable[str]) -> None:
        known = sorted({character for word in words for character in word})
        self._ids = {character: number for number, character in enumerate(known, start=1)}

    def __len__(self) -> int:
        """Return the number of ids, the one of unknown characters included."""
        return len(self._ids) + 1

    def spell(self, word: str) -> list[int]:
        """Return the ids of a word's characters."""
        return [self._ids.get(character, len(self)) for character in word]


def word_table(
    words: Iterable[Word],
    vectors: WordVectors,
    characters: CharacterIds,
    target: str,
    settings: TransferSettings,
) -> WordTable:
    """Look up each distinct word once, and spell each distinct spelling once.

    Where the target is German, all spellings of a run lose their case (the code); one reading of
    the text is that German words alone do.
    """
    rows: dict[Word, int] = {}
    for word in words:
        rows.setdefault(word, len(rows) + 1)
    # shape: (words + 1, dim)
    table = torch.zeros(len(rows) + 1, vectors.dim)
    for language in {code for code, _ in rows}:
        words_of = [word for code, word in rows if code == language]
        # shape: (words of the language, dim) and (words of the language,)
        looked_up, kinds = vectors.lookup(language, words_of)
        matrix = np.array(looked_up, dtype=working_dtype())
        for i in np.flatnonzero(kinds == UNKNOWN):
            matrix[i] = _random_vector(language, words_of[i], vectors.dim, settings.word_vectors)
        table[[rows[language, word] for word in words_of]] = torch.from_numpy(matrix)
    numbers: dict[str, int] = {}
    spellings = [0]
    for _, form in rows:
        spelling = form.lower() if target == "de" else form
        spellings.append(numbers.setdefault(spelling, len(numbers) + 1))
    ids = [torch.tensor([0]), *(torch.tensor(characters.spell(word)) for word in numbers)]
    # shape: (spellings + 1, characters of the longest)
    padded = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True)
    return WordTable(rows, table, torch.tensor(spellings), padded)


def _random_vector(language: str, word: str, dim: int, word_vectors: str) -> np.ndarray:
    """Return a random vector ``(dim,)``, always the same for a word.

    Standard normal, the scale of standardised vectors; beside raw ones of length 1, as in the
    authors' code, which knows lower-case forms alone.
    """
    raw = word_vectors == "raw"
    form = word.strip().lower() if raw else word
    vector = np.random.default_rng(list(f"{language} {form}".encode())).standard_normal(dim)
    return vector / np.linalg.norm(vector) if raw else vector


def encode(
    language: str, number: int, texts: Sequence[Sequence[str]], table: WordTable
) -> EncodedTexts:
    """Return texts as rows of ``table``, without labels."""
    # shape of each: (length,)
    rows = [torch.tensor([table.rows[language, w] for w in tokens]) for tokens in texts]
    return EncodedTexts(number, rows)


def with_labels(
    texts: EncodedTexts, gold: Sequence[Sequence[str]], names: Sequence[str]
) -> EncodedTexts:
    """Return the texts with their labels as numbers."""
    numbers = {name: number for number, name in enumerate(names)}
    return replace(texts, gold=[torch.tensor([numbers[n] for n in tags]) for tags in gold])


def collate(chosen: Sequence[tuple[EncodedTexts, Sequence[int]]]) -> TextBatch:
    """Pad the chosen texts of several languages to the longest of all."""
    rows = [texts.rows[i] for texts, indices in chosen for i in indices]
    languages = torch.tensor([texts.language for texts, indices in chosen for _ in indices])
    gold = [texts.gold[i] for texts, indices in chosen if texts.gold is not None for i in indices]
    # shape: (tokens,) or (batch,)
    labels = torch.cat(gold) if gold else torch.empty(0, dtype=torch.long)
    return TextBatch(*padded(rows), languages, labels)
