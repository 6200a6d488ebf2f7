"""Words and text as numbers of pieces, as a released encoder has it, by ``tokenizers``."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MARKER = "▁"  # stands for the space before a word
_SPACES = re.compile(" {2,}")


class EngineTokenizer:
    """Splits words and running text into the numbers of their pieces.

    Args:
        engine: of the ``tokenizers`` package; adds no special pieces.
        unknown: number of the unknown piece.
        normaliser: code point to what stands for it, applied to composed (NFC) text before the
            engine; runs of spaces become one.

    Example:
        >>> pieces = unigram([("<unk>", 0.0), ("▁", -2.0), ("▁a", -1.0), ("b", -1.0)], 0, {})
        >>> pieces.numbers("ab"), pieces.first(pieces.numbers("b"))
        ([2, 3], 1)
    """

    def __init__(
        self, engine: "Tokenizer", unknown: int, normaliser: Mapping[int, str] | None = None
    ) -> None:
        self._engine = engine
        self._unknown = unknown
        self._normaliser = dict(normaliser or {})
        self._marker = engine.token_to_id(MARKER)
        self._seen: dict[str, list[int]] = {}

    def __len__(self) -> int:
        """Return the number of pieces."""
        return int(self._engine.get_vocab_size())

    def number(self, piece: str) -> int | None:
        """Return the number of a piece; None if there is none."""
        number: int | None = self._engine.token_to_id(piece)
        return number

    def known_number(self, piece: str) -> int:
        """Return the number of a piece that must be there.

        Raises:
            KeyError: if it is not.
        """
        number = self.number(piece)
        if number is None:
            raise KeyError(piece)
        return number

    def piece(self, number: int) -> str:
        """Return a piece by its number."""
        return str(self._engine.id_to_token(number))

    def numbers(self, word: str) -> list[int]:
        """Return the numbers of a word's pieces, at least one."""
        pieces = self._seen.get(word)
        if pieces is None:
            pieces = self._seen[word] = self.of_text(word) or [self._unknown]
        return pieces

    def of_words(self, words: Iterable[str]) -> list[list[int]]:
        """Return the numbers of the pieces of each word."""
        return [self.numbers(word) for word in words]

    def of_text(self, text: str) -> list[int]:
        """Return the numbers of the pieces of running text; none for an empty one."""
        if self._normaliser:
            text = unicodedata.normalize("NFC", text).translate(self._normaliser)
            text = _SPACES.sub(" ", text)
        ids: list[int] = self._engine.encode(text, add_special_tokens=False).ids
        return ids

    def first(self, numbers: Sequence[int]) -> int:
        """Return the place of the piece that a word is read from: the first but a bare marker.

        A word of a language that writes no spaces often begins with a marker that stands alone and
        says nothing of the word.
        """
        for place, number in enumerate(numbers):
            if number != self._marker:
                return place
        return 0


def unigram(
    pieces: Sequence[tuple[str, float]], unknown: int, normaliser: Mapping[int, str]
) -> EngineTokenizer:
    """Return a tokenizer that takes the most probable pieces (Kudo 2018).

    Args:
        pieces: (piece, log probability), in the order of their numbers.
        unknown: number of the unknown piece.
        normaliser: code point to what stands for it.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers  # only here: settings need no engine

    engine = Tokenizer(models.Unigram(list(pieces), unknown))
    engine.pre_tokenizer = pre_tokenizers.Metaspace(replacement=MARKER, prepend_scheme="always")
    return EngineTokenizer(engine, unknown, normaliser)


def wordpiece(description: Mapping[str, Any]) -> EngineTokenizer:
    """Return the tokenizer that a ``tokenizer.json`` describes, without padding and cutting."""
    from tokenizers import Tokenizer

    plain = {**description, "padding": None, "truncation": None, "post_processor": None}
    engine = Tokenizer.from_str(json.dumps(plain))
    vocabulary: dict[str, int] = plain["model"]["vocab"]
    return EngineTokenizer(engine, vocabulary[plain["model"]["unk_token"]])
