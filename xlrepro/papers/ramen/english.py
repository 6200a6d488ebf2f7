"""Stage 0: an English masked language model to begin with, and its pieces."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from xlrepro.errors import SettingsError
from xlrepro.nn.bert import BertSizes, MaskedLanguageModel
from xlrepro.papers.ramen.masking import Special
from xlrepro.papers.ramen.recipes import OWN, SUPPLIED
from xlrepro.papers.ramen.settings import EnglishSettings
from xlrepro.pretraining import released
from xlrepro.pretraining.wordpiece import SPECIAL, WordPiece, learn_vocabulary


@dataclass(frozen=True)
class Pieces:
    """A language's pieces: how words are split, and which numbers are special.

    Attributes:
        numbers: a word to the numbers of its pieces, at least one.
        special: numbers of the special pieces.
        size: number of pieces.
        vocabulary: the pieces themselves, where they are learnt here.
    """

    numbers: Callable[[str], list[int]]
    special: Special
    size: int
    vocabulary: tuple[str, ...] = ()


def learnt(lines: Sequence[Sequence[str]], size: int, characters: int) -> Pieces:
    """Return WordPiece pieces learnt from a text.

    Args:
        lines: words of each.
        size: number of pieces at most, special ones included.
        characters: size of the alphabet at most.
    """
    counts = Counter(word for line in lines for word in line)
    return wordpieces(learn_vocabulary(counts, size, characters))


def wordpieces(vocabulary: Sequence[str]) -> Pieces:
    """Return the pieces of a vocabulary, special ones first."""
    split = WordPiece(vocabulary)
    special = Special(split.cls, split.sep, split.pad, split.unknown, split.mask, len(SPECIAL))
    return Pieces(split.numbers, special, len(split), tuple(vocabulary))


def pieces_of(name: str) -> Pieces:
    """Return the pieces of an English model that is released, or supplied in a folder.

    Raises:
        SettingsError: if it is unknown, or has no mask.
        DataError: if its files cannot be had.
    """
    if name.startswith(SUPPLIED):
        from xlrepro.papers.ramen import supplied

        return supplied.pieces(name.removeprefix(SUPPLIED))
    return released_pieces(released.load(name))


def released_pieces(encoder: released.ReleasedEncoder) -> Pieces:
    """Return the pieces of a released encoder that has a mask.

    Raises:
        SettingsError: if it has none.
    """
    if encoder.mask is None:
        raise SettingsError(f"{encoder.name} has no mask piece: take another English model")
    numbers = (encoder.begin, encoder.end, encoder.pad, encoder.unknown, encoder.mask)
    special = Special(*numbers, max(numbers) + 1)
    return Pieces(encoder.tokenizer.numbers, special, encoder.network.sizes.vocabulary)


def model(settings: EnglishSettings, pieces: Pieces | None) -> MaskedLanguageModel:
    """Return the English model before stage 0; its head is new.

    Args:
        settings: which model.
        pieces: of an own model.

    Raises:
        SettingsError: for an unknown model.
        DataError: if its files cannot be had.
    """
    if settings.model == OWN:
        assert pieces is not None
        sizes = BertSizes(
            pieces.size,
            settings.dim,
            settings.layers,
            settings.heads,
            settings.ff_dim,
            settings.positions,
            settings.dropout,
        )
        return MaskedLanguageModel(sizes)
    if settings.model.startswith(SUPPLIED):
        from xlrepro.papers.ramen import supplied

        return supplied.model(settings.model.removeprefix(SUPPLIED), settings.dropout)
    encoder = released.load(settings.model)
    whole = MaskedLanguageModel(encoder.network.sizes)
    whole.bert = encoder.network
    for module in whole.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = settings.dropout
    return whole
