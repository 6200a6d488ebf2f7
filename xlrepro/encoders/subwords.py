"""Words as numbers of subwords, by ``tokenizers``: a published model's, or learnt from a text."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

MARKER = "▁"  # stands for the space before a word
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # of a vocabulary that is learnt here


class Special(NamedTuple):
    """Numbers of the special subwords; all ordinary ones are ``first_ordinary`` or more."""

    begin: int
    end: int
    pad: int
    unknown: int
    mask: int
    first_ordinary: int

    @classmethod
    def of(cls, begin: int, end: int, pad: int, unknown: int, mask: int) -> "Special":
        """Return them; RoBERTa's mask is the last row of its table, BERT's stands beside the rest.

        Example:
            >>> Special.of(101, 102, 0, 100, 103).first_ordinary
            104
            >>> Special.of(0, 2, 1, 3, 50264).first_ordinary
            4
        """
        last = max(begin, end, pad, unknown)
        return cls(begin, end, pad, unknown, mask, max(last, mask if mask == last + 1 else 0) + 1)


class Subwords:
    """How a language's words are split.

    Args:
        engine: of the ``tokenizers`` package.
        special: numbers of the special subwords.
        before: put before a word, where the subwords spell the space (RoBERTa).
    """

    def __init__(self, engine: Tokenizer, special: Special, before: str = "") -> None:
        engine.no_padding()
        engine.no_truncation()
        self.engine, self.special = engine, special
        self._before = before
        self._marker = engine.token_to_id(MARKER)
        self._seen: dict[str, list[int]] = {}

    def __len__(self) -> int:
        """Return the number of subwords."""
        return int(self.engine.get_vocab_size())

    def numbers(self, word: str) -> list[int]:
        """Return the numbers of a word's subwords, at least one."""
        found = self._seen.get(word)
        if found is None:
            ids = self.engine.encode(self._before + word, add_special_tokens=False).ids
            found = self._seen[word] = ids or [self.special.unknown]
        return found

    def first(self, numbers: Sequence[int]) -> int:
        """Return the place of the subword that a word is read from: the first but a bare marker.

        A word of a language that writes no spaces often begins with a marker that stands alone and
        says nothing of the word.
        """
        places = (place for place, number in enumerate(numbers) if number != self._marker)
        return next(places, 0)


def learnt(lines: Iterable[Sequence[str]], size: int, characters: int) -> Subwords:
    """Return subwords learnt by byte-pair encoding (Sennrich et al. 2016).

    The trainer for WordPiece of the same package gives another vocabulary in every process; this
    one, without a prefix for subwords inside a word, gives the same.

    Args:
        lines: words of each; read twice.
        size: number of subwords at most, special ones included.
        characters: size of the alphabet at most: the most frequent. Words with others are unknown.
    """
    counts = Counter(c for line in lines for word in line for c in word)
    by_count = sorted(counts, key=lambda c: (-counts[c], c))
    alphabet = frozenset(by_count[:characters])
    engine = Tokenizer(models.BPE(unk_token=SPECIAL[1], fuse_unk=True))
    engine.pre_tokenizer = pre_tokenizers.Metaspace(replacement=MARKER, prepend_scheme="always")
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=list(SPECIAL), show_progress=False, min_frequency=2
    )
    kept = (" ".join(word for word in line if alphabet.issuperset(word)) for line in lines)
    engine.train_from_iterator(kept, trainer)
    return Subwords(engine, Special.of(2, 3, 0, 1, 4))


def read(path: Path) -> Subwords:
    """Return subwords that :func:`learnt` gave and that lie in a file."""
    return Subwords(Tokenizer.from_file(str(path)), Special.of(2, 3, 0, 1, 4))
