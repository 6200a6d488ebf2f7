"""WordPiece: a vocabulary of word pieces learnt from word counts, and words as pieces.

Pieces are merged by count, most frequent pair first, with ``##`` before pieces inside a word: what
the trainer of the ``tokenizers`` package does. Own code, because that trainer returns another
vocabulary in every process, and an artefact named by its recipe must come out the same. Words are
split as in BERT (longest match first; a test compares with ``tokenizers``).
"""

import heapq
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import regex

PAD, UNKNOWN, CLS, SEP, MASK = SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
INSIDE = "##"
LONGEST_WORD = 100  # characters; a longer word is one [UNK], as in BERT

# Han characters stand alone, as in BERT; Hangul syllables are taken apart into their letters,
# because thousands of syllables would fill a small vocabulary.
_PARTS = regex.compile(r"\p{Han}|[^\p{Han}]+")
_HANGUL = regex.compile(r"\p{Hangul}+")

Pair = tuple[str, str]


def parts_of(word: str) -> list[str]:
    """Return the parts of a word that are split into pieces each for itself.

    Example:
        >>> parts_of("abc"), parts_of("中国x")
        (['abc'], ['中', '国', 'x'])
    """
    word = _HANGUL.sub(lambda hangul: unicodedata.normalize("NFD", hangul[0]), word)
    return _PARTS.findall(word)


def learn_vocabulary(counts: Mapping[str, int], size: int, characters: int) -> list[str]:
    """Learn a vocabulary.

    Args:
        counts: how often each word occurs.
        size: number of pieces, special ones included.
        characters: keep so many characters, the most frequent ones; a word with another is unknown.

    Returns:
        The pieces, special ones first; their places are their numbers. Fewer than ``size`` where
        there is nothing left to merge.
    """
    parts: Counter[str] = Counter()
    for word, count in counts.items():
        for part in parts_of(word):
            parts[part] += count
    letters: Counter[str] = Counter()
    for part, count in parts.items():
        for letter in part:
            letters[letter] += count
    kept = {
        c for c, _ in sorted(letters.items(), key=lambda item: (-item[1], item[0]))[:characters]
    }
    words = sorted((w, c) for w, c in parts.items() if kept.issuperset(w) and len(w) < LONGEST_WORD)
    split = [[w[0], *(INSIDE + letter for letter in w[1:])] for w, _ in words]
    alphabet = {piece for pieces in split for piece in pieces}
    vocabulary = [*SPECIAL, *sorted(alphabet)][:size]
    merges = _Merges(split, [count for _, count in words])
    known = set(vocabulary)
    while len(vocabulary) < size:
        piece = merges.merge_best()
        if piece is None:
            break
        if piece not in known:
            known.add(piece)
            vocabulary.append(piece)
    return vocabulary


class _Merges:
    """Words as pieces, and the counts of neighbouring pieces, kept up to date.

    Args:
        words: pieces of each word; changed in place.
        counts: how often each word occurs.
    """

    def __init__(self, words: list[list[str]], counts: Sequence[int]) -> None:
        self._words, self._counts = words, counts
        self._pairs: Counter[Pair] = Counter()
        self._where: defaultdict[Pair, set[int]] = defaultdict(set)
        for i, pieces in enumerate(words):
            for pair in pairwise(pieces):
                self._pairs[pair] += counts[i]
                self._where[pair].add(i)
        self._heap = [(-count, pair) for pair, count in self._pairs.items()]
        heapq.heapify(self._heap)

    def merge_best(self) -> str | None:
        """Merge the most frequent pair everywhere; ties go to the first in the alphabet.

        Returns:
            The new piece; None where no word has two pieces left.
        """
        while self._heap:
            count, pair = heapq.heappop(self._heap)
            if self._pairs.get(pair) == -count and count < 0:
                break
        else:
            return None
        piece = pair[0] + pair[1].removeprefix(INSIDE)
        changed: Counter[Pair] = Counter()
        for i in self._where.pop(pair):
            self._rewrite(i, pair, piece, changed)
        for other, change in changed.items():
            if change:
                self._pairs[other] += change
                heapq.heappush(self._heap, (-self._pairs[other], other))
        del self._pairs[pair]
        return piece

    def _rewrite(self, i: int, pair: Pair, piece: str, changed: Counter[Pair]) -> None:
        """Merge ``pair`` in word ``i`` and note how the counts of pairs change."""
        old, new = self._words[i], []
        for other in pairwise(old):
            changed[other] -= self._counts[i]
        at = 0
        while at < len(old):
            if tuple(old[at : at + 2]) == pair:
                new.append(piece)
                at += 2
            else:
                new.append(old[at])
                at += 1
        for other in pairwise(new):
            changed[other] += self._counts[i]
            self._where[other].add(i)
        self._words[i] = new


class WordPiece:
    """Splits words into the numbers of their pieces.

    Args:
        vocabulary: pieces, special ones first.

    Example:
        >>> pieces = WordPiece([*SPECIAL, "ab", "##c"])
        >>> pieces.numbers("abc"), pieces.numbers("x")
        ([5, 6], [1])
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = list(vocabulary)
        self._number = {piece: i for i, piece in enumerate(self.vocabulary)}
        self.pad, self.unknown, self.cls, self.sep, self.mask = (
            self._number[name] for name in SPECIAL
        )
        self._seen: dict[str, list[int]] = {}

    def __len__(self) -> int:
        """Return the size of the vocabulary."""
        return len(self.vocabulary)

    def numbers(self, word: str) -> list[int]:
        """Return the numbers of a word's pieces, at least one."""
        pieces = self._seen.get(word)
        if pieces is None:
            pieces = [n for part in parts_of(word) for n in self._part(part)] or [self.unknown]
            self._seen[word] = pieces
        return pieces

    def of_words(self, words: Iterable[str]) -> list[list[int]]:
        """Return the numbers of the pieces of each word."""
        return [self.numbers(word) for word in words]

    def _part(self, part: str) -> list[int]:
        """Take the longest known piece from the left until nothing is left."""
        if len(part) > LONGEST_WORD:
            return [self.unknown]
        pieces, start = [], 0
        while start < len(part):
            for end in range(len(part), start, -1):
                piece = (INSIDE if start else "") + part[start:end]
                if piece in self._number:
                    pieces.append(self._number[piece])
                    start = end
                    break
            else:
                return [self.unknown]
        return pieces
