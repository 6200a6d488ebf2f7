"""Text normalisation shared by everything that reads or looks up words.

Both sides of every look-up go through :func:`normalise`; a word that is not found as it stands is
tried in the forms of :func:`variants`, from the most to the least faithful.
"""

import unicodedata
from functools import lru_cache
from typing import Any

import regex

from xlrepro.errors import SettingsError

# Typographic variants of one mark. NFKC already folds full-width forms (U+FF0C becomes a comma).
_MARKS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bc\u05f3", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u05f4\u300c\u300d\u300e\u300f\u300a\u300b", '"')
    | dict.fromkeys("\u3002\u0964\u06d4", ".")
    | dict.fromkeys("\u3001\u060c", ",")
    | {"\u061b": ";", "\u061f": "?"}
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u00ad")  # dropped
)
_ROMANIAN = str.maketrans({"ş": "ș", "ţ": "ț", "Ş": "Ș", "Ţ": "Ț"})
_HEBREW_POINTS = regex.compile(r"[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]")
_ARABIC_POINTS = regex.compile(r"[\u0640\u064b-\u0652\u0670]")
_ARABIC_ALEF = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي"})
_MARK = regex.compile(r"\p{Mn}")
# Letters of close languages that stand for one another: Nordic vowels, Cyrillic and Polish letters.
_TWINS = str.maketrans(
    {"æ": "a", "ø": "o", "ł": "l", "đ": "d", "і": "и", "ї": "и", "ы": "и", "є": "е", "э": "е"}
    | {"ґ": "г", "ъ": "", "ь": "", "'": "", "ß": "ss", "ى": "ي"}
)
_DIGIT = regex.compile(r"\p{Nd}")


def normalise(text: str, language: str = "") -> str:
    """Return ``text`` in NFKC with one form per quotation mark, dash and full stop.

    Language-specific: Romanian cedillas become commas below; Hebrew points and Arabic vowel
    marks, which running text leaves out, are dropped. Case is kept.

    Example:
        >>> normalise("l’été", "fr")
        "l'été"
    """
    text = unicodedata.normalize("NFKC", text.translate(_MARKS)).translate(_MARKS)
    if language == "ro":
        return text.translate(_ROMANIAN)
    if language == "he":
        return _HEBREW_POINTS.sub("", text)
    if language in ("ar", "fa"):
        return _ARABIC_POINTS.sub("", text)
    return text


def lower(text: str) -> str:
    """Return ``text`` in lower case."""
    # "İ".lower() leaves a combining dot: compose again.
    return unicodedata.normalize("NFC", text.lower())


def fold(word: str) -> str:
    """Return ``word`` without diacritics, letters of close alphabets made one.

    Example:
        >>> fold("áno"), fold("søker")
        ('ano', 'soker')
    """
    bare = _MARK.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare.translate(_TWINS))


def digit_shape(word: str) -> str:
    """Return ``word`` with every decimal digit of any script as ``0``.

    Example:
        >>> digit_shape("1995")
        '0000'
    """
    return _DIGIT.sub("0", word)


@lru_cache(maxsize=200_000)
def word_form(word: str, language: str = "") -> str:
    """Return the form in which the open vectors store a word: normalised, lower case, digits as 0.

    Chinese is stored simplified.
    """
    return digit_shape(lower(simplified(normalise(word, language), language)))


@lru_cache(maxsize=1)
def _opencc() -> Any:
    """Return the traditional-to-simplified converter."""
    try:
        from opencc import OpenCC
    except ImportError:
        raise SettingsError("Chinese needs OpenCC: pip install 'xlrepro[segmentation]'") from None
    return OpenCC("t2s")


def simplified(text: str, language: str = "zh") -> str:
    """Return Chinese text in simplified characters, other languages unchanged.

    Raises:
        SettingsError: where OpenCC is not installed.

    Example:
        >>> simplified("abc", "en")
        'abc'
    """
    if language != "zh" or text.isascii():
        return text
    return str(_opencc().convert(text))


def variants(word: str, language: str = "") -> list[str]:
    """Return the forms under which to look ``word`` up, most faithful first, without repeats.

    The word in NFC; normalised; lower case; then the conventions of the treebanks: Chinese
    simplified, Hebrew without the underscores of ``_של_``, elided and enclitic words without
    their apostrophe or hyphen (``l'``, ``-il``), Russian ``ё`` as ``е``, German ``ß`` as ``ss``,
    Arabic with one form of alef; and digits as 0.

    Example:
        >>> variants("_של_", "he")
        ['_של_', 'של']
    """
    plain = normalise(word, language)
    if plain in ("``", "''"):
        plain = '"'
    forms = [unicodedata.normalize("NFC", word), plain, lower(plain)]
    last = "".join(forms[-1].split())
    forms.append(last)
    if language == "zh":
        forms.append(simplified(last))
    if len(last) > 1 and last.strip("_'-"):
        # Elided articles and enclitic pronouns, too: l', -il, 'ls.
        forms += [last.strip("_"), last.strip("_'-")]
    if language == "ru":
        forms.append(forms[-1].replace("ё", "е"))
    if language == "de":
        forms.append(forms[-1].replace("ß", "ss"))
    if language in ("ar", "fa"):
        forms.append(forms[-1].translate(_ARABIC_ALEF))
    forms += [digit_shape(last), digit_shape(forms[-1])]
    return list(dict.fromkeys(forms))
