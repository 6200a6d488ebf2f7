"""What to do with a word that has no vector: its parts, its stem, its neighbours by spelling.

The rules were chosen by coverage and by examples on development files; test files were not looked
at.
"""

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from os.path import commonprefix

import regex

from xlrepro.vectors.normalise import fold

_JOINTS = regex.compile(r"[\s\-'_./·:@]+|\p{Nd}+")
# Letters written together with the next word: conjunctions, prepositions, article.
_PROCLITICS = {
    "ar": ("وال", "بال", "كال", "فال", "لل", "ال", "و", "ف", "ب", "ل", "ك", "س"),
    "he": ("וה", "שה", "מה", "כש", "ה", "ו", "ב", "ל", "מ", "ש", "כ"),
    "id": ("meng", "mem", "men", "peng", "pem", "pen", "ber", "ter", "per", "di", "me", "ke", "se"),
}
# Sounds that join the parts of a compound.
_LINKS = {
    "de": ("s", "es", "n", "en", "er", "e"), "nl": ("s", "en", "e"),
    "sv": ("s",), "da": ("s", "e"), "no": ("s", "e"),
}  # fmt: skip
# Korean particles, longest first.
_PARTICLES = (
    "에서는", "으로는", "에서도", "으로도", "이라고", "이라는", "에게서",
    "에서", "에게", "으로", "까지", "부터", "보다", "처럼", "에는", "에도", "이다", "이라", "라고",
    *"은는이가을를에의도로와과만나",
)  # fmt: skip
_COMPOUNDING = frozenset({"de", "nl", "sv", "da", "no", "fi", "et"})
_UNSPACED = frozenset({"zh", "ja", "th"})
_NEIGHBOURS = 5
# Words with a common prefix that are looked at; half a word has few hundred continuations.
_CANDIDATES = 400
_LAST_CHARACTER = "\U0010ffff"


class WordIndex:
    """Rows of a vocabulary by word and by prefix; no look-up walks through the vocabulary.

    Example:
        >>> index = WordIndex(["house", "houses", "boat"], "en")
        >>> index.row("boat"), index.row("ship")
        (2, None)
        >>> index.back_off(["housing"])
        [1, 0]
    """

    def __init__(self, words: Sequence[str], language: str = "") -> None:
        """Index ``words`` of ``language``, most frequent first."""
        self.language = language
        self._rows = {word: row for row, word in enumerate(words)}
        self._folded: dict[str, int] = {}
        self._sorted: list[tuple[str, int]] = []
        self._reversed: list[tuple[str, int]] = []

    def row(self, word: str) -> int | None:
        """Return the row of exactly this word."""
        return self._rows.get(word)

    def back_off(self, forms: Sequence[str]) -> list[int]:
        """Return the rows whose mean stands for an unknown word, or none.

        Tried in this order: the word without diacritics; parts joined by hyphens and the like;
        for Chinese, Japanese and Thai the longest known pieces; the word without a proclitic; for
        Korean the longest known word it begins with; words that share at least three quarters of
        its letters from the start; the parts of a compound; words that share at least half of
        them; for Korean, whose endings tell the part of speech, words of the same ending. A token
        without letters takes its first sign.

        Args:
            forms: the variants of the word, most faithful first.
        """
        for word in dict.fromkeys([*reversed(forms)]):
            if rows := self._stand_ins(word):
                return rows
        return []

    def _stand_ins(self, word: str) -> list[int]:
        if not any(letter.isalpha() for letter in word):
            return self._rows_of(word[:1])
        unspaced = self.language in _UNSPACED and not word.isascii()
        rest = self._pieces if unspaced else self._by_spelling
        return self._without_diacritics(word) or self._joined(word) or rest(word)

    def _rows_of(self, *words: str) -> list[int]:
        return [self._rows[word] for word in words if word in self._rows]

    def _without_diacritics(self, word: str) -> list[int]:
        if not self._folded:
            # Of words that fold to one, the most frequent stays.
            for known, row in self._rows.items():
                self._folded.setdefault(fold(known), row)
        found = self._folded.get(fold(word)) if len(word) > 2 else None
        return [] if found is None else [found]

    def _by_spelling(self, word: str) -> list[int]:
        korean = self.language == "ko"
        return (
            self._without_proclitic(word)
            or (self._known_beginning(word) if korean else [])
            or self._sharing_prefix(word, 3, 0.75)
            or self._compound(word)
            or self._sharing_prefix(word, 4, 0.5)
            or (self._sharing_ending(word) if korean else [])
        )

    def _joined(self, word: str) -> list[int]:
        parts = [part for part in _JOINTS.split(word) if part]
        if parts == [word]:
            return []
        rows = []
        for part in parts:
            row = self.row(part)
            if row is not None:
                rows.append(row)
            elif len(part) > 3:
                rows += self._by_spelling(part)
        return rows

    def _pieces(self, word: str) -> list[int]:
        rows, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                row = self.row(word[start:end])
                if row is not None:
                    rows.append(row)
                    break
            else:
                end = start + 1
            start = end
        # A character that is no word by itself: words that begin with it.
        return rows or self._beginning(word, 1)

    def _without_proclitic(self, word: str) -> list[int]:
        for clitic in _PROCLITICS.get(self.language, ()):
            long = word.startswith(clitic) and len(word) - len(clitic) >= 3
            if long and (rows := self._rows_of(word[len(clitic) :])):
                return rows
        return []

    def _known_beginning(self, word: str) -> list[int]:
        # A Korean token is a stem with particles or endings of up to four syllables.
        for particle in _PARTICLES:
            if word.endswith(particle) and (rows := self._rows_of(word.removesuffix(particle))):
                return rows
        for end in range(len(word) - 1, max(0, len(word) - 5), -1):
            if (rows := self._rows_of(word[:end])) and (end > 1 or len(word) == 2):
                return rows
        return []

    def _compound(self, word: str) -> list[int]:
        """The most balanced two known parts; else the longest known last part, the head."""
        if self.language not in _COMPOUNDING:
            return []
        best: tuple[int, list[int]] = (0, [])
        last: list[int] = []
        for cut in range(4, len(word) - 3):
            head = self.row(word[cut:])
            if head is None:
                continue
            if not last and len(word) - cut >= 5:
                last = [head]
            modifier = self._modifier(word[:cut])
            balance = min(cut, len(word) - cut)
            if modifier is not None and balance > best[0]:
                best = (balance, [modifier, head])
        return best[1] or last

    def _modifier(self, part: str) -> int | None:
        row = self.row(part)
        for link in _LINKS.get(self.language, ()):
            if row is None and part.endswith(link) and len(part) - len(link) >= 3:
                row = self.row(part[: -len(link)])
        return row

    def _sharing_prefix(self, word: str, least: int, share: float) -> list[int]:
        """Rows of the words with the longest common prefix, if it is ``share`` of ``word``.

        Words of up to three letters have too many neighbours.
        """
        spelt = self._spelt(word)
        return self._beginning(spelt, max(least, share * len(spelt))) if len(spelt) > 3 else []

    def _beginning(self, spelt: str, least: float) -> list[int]:
        if not self._sorted:
            self._sorted = sorted((self._spelt(known), row) for known, row in self._rows.items())
        return _nearest(self._sorted, spelt, least)

    def _sharing_ending(self, word: str) -> list[int]:
        """Rows of the words with the longest common ending, at least one syllable."""
        if not self._reversed:
            self._reversed = sorted((known[::-1], row) for known, row in self._rows.items())
        return _nearest(self._reversed, word[::-1], 1) if len(word) > 1 else []

    def _spelt(self, word: str) -> str:
        """The letters that prefixes are counted in: for Korean those that make up a syllable."""
        return unicodedata.normalize("NFD", word) if self.language == "ko" else word


def _nearest(words: list[tuple[str, int]], word: str, least: float) -> list[int]:
    """Rows of those ``words`` (sorted) with the longest common prefix, if at least ``least``.

    Only those nearest in length, give or take a letter; the most frequent of them.
    """
    position = bisect_left(words, (word, -1))
    around = words[max(position - 1, 0) : position + 1]
    shared = (len(commonprefix((word, other))) for other, _ in around)  # noqa: RUF071
    longest = max(shared, default=0)
    if longest < least:
        return []
    first = bisect_left(words, (word[:longest], -1))
    last = bisect_left(words, (word[:longest] + _LAST_CHARACTER, -1))
    sharing = words[first : min(last, first + _CANDIDATES)]
    candidates = [(abs(len(other) - len(word)), row) for other, row in sharing]
    nearest = min(distance for distance, _ in candidates)
    close = sorted((d, row) for d, row in candidates if d <= nearest + 1)
    return [row for _, row in close[:_NEIGHBOURS]]
