"""Delexicalisation of Liu et al. (2019): times, dates and numbers become marks.

A mark has the same vector in all languages, so what it stands for transfers whole. The rules are
those of the authors' code (Crosslingual-NLU, ``clean_text``), in its order; the first that fits
decides. A rule looks at the beginning of a token unless it ends in ``$``.
"""

import re
from collections.abc import Sequence

import numpy as np

from xlrepro.precision import working_dtype
from xlrepro.vectors.encoding import Lookup

MARKS = ("<TIME>", "<LAST>", "<DATE>", "<LOCATION>", "<NUMBER>")
VECTOR_SEED = 0
VECTOR_STD = 0.1  # of each entry of a mark's vector, the authors' code
_THAI = "[\u0e00-\u0e7f]"

Rule = tuple[re.Pattern[str], str]


def _rules(*pairs: tuple[str, str]) -> tuple[Rule, ...]:
    return tuple((re.compile(pattern), mark) for pattern, mark in pairs)


_THAI_TIMES = _rules((rf"{_THAI}+\d+|\d+\.*\d*{_THAI}+|\d+\.\d+", "<TIME>"))
_TIMES = _rules((r"\d+[ap]|\d+[;.h]\d+|[ap]\.[am]|\d{3}$", "<TIME>"))
_ENGLISH = _rules((r"\d+(min|h|sec)", "<LAST>"), (r"\d+(st|nd|rd|th)", "<DATE>"))
_CODES = _rules((r"\d{5}$", "<LOCATION>"))
_NUMBERS = _rules((r"\d+$", "<NUMBER>"))
_CLITICS = ("'s", "'ll", "'ve", "'d", "'m")


def delexicalised(tokens: Sequence[str], language: str) -> tuple[str, ...]:
    """Return the tokens with marks in place of times, durations, dates, codes and numbers.

    Args:
        tokens: words of one utterance.
        language: its code: English has rules for durations, dates and clitics besides, Thai its
            own for times.

    Example:
        >>> delexicalised(["zorp", "7pm", "3rd", "20min", "12", "zorp's"], "en")
        ('zorp', '<TIME>', '<DATE>', '<LAST>', '<NUMBER>', 'zorp')
    """
    english = language == "en"
    if language == "th":
        rules = _THAI_TIMES + _NUMBERS
    else:
        rules = _TIMES + (_ENGLISH if english else ()) + _CODES + _NUMBERS
    return tuple(_replaced(token, rules, english) for token in tokens)


def _replaced(token: str, rules: Sequence[Rule], english: bool) -> str:
    for pattern, mark in rules:
        if pattern.match(token):
            return mark
    if english and "n't" in token:
        return "not"
    if english:
        clitic = next((c for c in _CLITICS if c in token), None)
        return token.replace(clitic, "") if clitic else token
    return token


class WithMarks:
    """Word vectors, and one vector per mark for all languages; nothing is left of ``""``: zero.

    Args:
        words: vectors of all that is no mark.
    """

    def __init__(self, words: Lookup) -> None:
        self.words = words
        draw = np.random.default_rng(VECTOR_SEED)
        drawn = draw.normal(0.0, VECTOR_STD, (len(MARKS), words.dim)).astype(working_dtype())
        self.marks = dict(zip(MARKS, drawn, strict=True))

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""
        return self.words.dim

    def lookup(self, language: str, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return (matrix (n, dim), kind (n,): 0 unknown, 1 exact, 2 back-off)."""
        plain = [i for i, word in enumerate(words) if word and word not in self.marks]
        matrix = np.zeros((len(words), self.dim), dtype=working_dtype())
        kind = np.zeros(len(words), dtype=np.int8)
        if plain:
            matrix[plain], kind[plain] = self.words.lookup(language, [words[i] for i in plain])
        for i, word in enumerate(words):
            if word in self.marks:
                matrix[i], kind[i] = self.marks[word], 1
        return matrix, kind
