"""Plain text to words, in the manner of the treebanks: punctuation apart, elisions split."""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial

import regex

from xlrepro.errors import SettingsError
from xlrepro.vectors.normalise import normalise, simplified, word_form

# Python's \w splits the combining vowel signs of Hindi and Thai: letters AND marks make a word.
_LETTERS = r"[\p{L}\p{M}]+"
_NUMBER = r"\p{N}+(?:[.,:]\p{N}+)*"
_WORD = regex.compile(rf"{_LETTERS}(?:['\-]{_LETTERS})*|{_NUMBER}|\S")
# Elided words keep their apostrophe and stand alone: l' homme, dell' arte.
_ELIDING = regex.compile(
    rf"aujourd'hui|quelqu'une?|{_LETTERS}'(?={_LETTERS})|{_LETTERS}(?:-{_LETTERS})*|{_NUMBER}|\S",
    regex.IGNORECASE,
)
# French pronouns after a verb stand alone: est -il, a -t-on.
_ENCLITIC = r"-(?:t-)?(?:je|tu|ils?|elles?|on|nous|vous|ce|moi|toi|les?|la|lui|leur|y|en)\b"
_FRENCH = regex.compile(
    rf"aujourd'hui|quelqu'une?|{_LETTERS}'(?={_LETTERS})|{_LETTERS}(?={_ENCLITIC})|{_ENCLITIC}"
    rf"|{_LETTERS}(?:-{_LETTERS})*|{_NUMBER}|\S",
    regex.IGNORECASE,
)
# English clitics as in the treebanks: do n't, he 's.
_ENGLISH = regex.compile(
    rf"(?:\p{{L}}\.){{2,}}|{_LETTERS}(?=n't\b)|n't\b|'(?:s|re|ve|ll|d|m)\b|{_LETTERS}|{_NUMBER}|\.\.\.|--|\S",
    regex.IGNORECASE,
)
_ELIDING_LANGUAGES = frozenset({"it", "ca"})

SEGMENTED_LANGUAGES = frozenset({"zh", "ja", "th"})


@lru_cache
def _segmenter(language: str) -> Callable[[str], Iterable[str]]:
    """Return jieba, janome or pythainlp's dictionary engine."""
    try:
        if language == "zh":
            import jieba

            jieba.setLogLevel("WARNING")
            return partial(jieba.cut, HMM=True)
        if language == "ja":
            from janome.tokenizer import Tokenizer

            return partial(Tokenizer(wakati=True).tokenize, wakati=True)
        from pythainlp.tokenize import word_tokenize

        return partial(word_tokenize, engine="newmm", keep_whitespace=False)
    except ImportError as error:
        raise SettingsError(
            f"segmenting {language} text needs the package {(error.name or '').partition('.')[0]}, "
            "which is not installed: pip install 'xlrepro[segmentation]'"
        ) from None


def tokenise(text: str, language: str) -> list[str]:
    """Split a line of plain text into words and punctuation marks; case is kept.

    Chinese, Japanese and Thai, which write no spaces, are segmented by jieba, janome and
    pythainlp's dictionary engine; Chinese comes out simplified.

    Raises:
        SettingsError: if the segmenter of ``language`` is not installed.

    Example:
        >>> tokenise("L’homme n'est pas seul.", "fr")
        ["L'", 'homme', "n'", 'est', 'pas', 'seul', '.']
    """
    text = normalise(text, language)
    if language in SEGMENTED_LANGUAGES:
        words = map(str.strip, _segmenter(language)(simplified(text, language)))
        return [word for word in words if word]
    if language == "en":
        return _ENGLISH.findall(text)
    if language == "fr":
        return _FRENCH.findall(text)
    if language in _ELIDING_LANGUAGES:
        return _ELIDING.findall(text)
    return _WORD.findall(text)


def words_of(text: str, language: str) -> list[str]:
    """Return the words of a line in the stored form: tokenised, lower case, digits as 0."""
    return [word_form(word, language) for word in tokenise(text, language)]
