"""One normalisation for raw text and for text that is tokenised and escaped already.

The IWSLT files are tokenised and escaped as by Moses (``&quot;``, ``don &apos;t``); the other
corpora are raw. Both go through the same steps, so that a sentence has the same tokens whichever
form it came in: unescape, NFC, plain quotation marks, then split at punctuation.
"""

import html
import re
import unicodedata

import regex

_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "´": "'",
     "–": "-", "—": "-", "…": "...", "\u00ad": None, "\u200c": None, "\ufeff": None}
)  # fmt: skip
# Moses' own escapes besides HTML's: | [ ] are special to its phrase tables
_MOSES = {"&#124;": "|", "&#91;": "[", "&#93;": "]"}
_SPLIT = regex.compile(
    r"\p{N}+(?:[.,:]\p{N}+)*"  # 1,000.5 and 12:30 stay whole
    r"|[\p{L}\p{M}\p{N}]+(?:-[\p{L}\p{M}\p{N}]+)*"  # data-driven stays whole
    r"|\.{2,}|-{2,}"
    r"|\S"
)
_NO_SPACE_BEFORE = frozenset(".,;:!?)]}%،؛؟") | {"..", "..."}
_NO_SPACE_AFTER = frozenset("([{")


def tokens(text: str) -> list[str]:
    """Return the tokens of a sentence, raw or tokenised and escaped.

    An apostrophe between letters, or before them in tokenised text, goes with what follows it, as
    in Moses' English: ``don 't``.

    Example:
        >>> tokens('He said: “I don’t.”') == tokens("He said : &quot; I don &apos;t . &quot;")
        True
        >>> tokens("don't")
        ['don', "'t"]
    """
    for escaped, plain in _MOSES.items():
        text = text.replace(escaped, plain)
    text = unicodedata.normalize("NFC", html.unescape(html.unescape(text))).translate(_QUOTES)
    # an elided word's apostrophe: don't, don 't and (subtitles) don ' t are the same two tokens
    text = regex.sub(r"(?<=\p{L})\s?'\s?(?=(?:s|t|m|d|re|ve|ll)\b)", " \ue000", text)
    text = regex.sub(r"(?<=\p{L})\s?'(?=\p{L})", " \ue000", text)
    words: list[str] = []
    for word in text.split():
        elided = word.startswith("\ue000")
        pieces = _SPLIT.findall(word.replace("\ue000", "'"))
        if elided and len(pieces) > 1:
            pieces[:2] = ["'" + pieces[1]]
        words += pieces
    return words


def detokenised(words: list[str]) -> str:
    r"""Return tokens as a readable line: no blank before a stop, quotation marks close in turn.

    Example:
        >>> detokenised(tokens('He said: "I don’t."'))
        'He said: "I don\\'t."'
    """
    line, glued, quoted = "", True, False
    for word in words:
        closes = word == '"' and quoted
        joined = glued or word in _NO_SPACE_BEFORE or closes or bool(re.match(r"'\w", word))
        line += word if joined else f" {word}"
        if word == '"':
            quoted = not quoted
        glued = word in _NO_SPACE_AFTER or (word == '"' and quoted)
    return line
