"""Text of the corpora: one normalisation, overlap of training and test, subwords.

The IWSLT files are tokenised and escaped as by Moses (``&quot;``, ``don &apos;t``); the other
corpora are raw. Both go through the same steps, so that a sentence has the same tokens whichever
form it came in: unescape, NFC, plain quotation marks, then split at punctuation.
"""

import html
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

import regex

Pair = tuple[tuple[str, ...], tuple[str, ...]]  # tokens of source and target
SUFFIX = "</w>"  # the last subword of a word ends with it
UNKNOWN = "<unk>"

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
# an elided word's apostrophe: don't, don 't and (subtitles) don ' t are the same two tokens
_ELIDED = regex.compile(r"(?<=\p{L})\s?'(?:\s?(?=(?:s|t|m|d|re|ve|ll)\b)|(?=\p{L}))")
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
    text = _ELIDED.sub(" \ue000", text)
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
        'He said: "I don\'t."'
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


def plain(words: Sequence[str]) -> str:
    """Return letters and figures alone, lower case: other stops do not make another sentence."""
    return " ".join(word.lower() for word in words if any(map(str.isalnum, word)))


class Subwords:
    """Byte-pair encoding (Sennrich et al. 2016) learned on tokenised sentences.

    Args:
        sentences: tokens of each sentence.
        operations: number of merges that are learned.

    Example:
        >>> subwords = Subwords([["low", "lower", "low"]], 3)
        >>> subwords.joined(subwords.split(["lower", "low"]))
        ['lower', 'low']
    """

    def __init__(self, sentences: Iterable[Sequence[str]], operations: int) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers

        counts = Counter(word for sentence in sentences for word in sentence)
        letters = {letter for word in counts for letter in word}
        finals = {word[-1] for word in counts}
        self._bpe = Tokenizer(
            models.BPE(unk_token=UNKNOWN, end_of_word_suffix=SUFFIX, fuse_unk=True)
        )
        self._bpe.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        trainer = trainers.BpeTrainer(
            # the special one, all letters, all letters that end a word, one per merge
            vocab_size=1 + len(letters) + len(finals) + operations,
            special_tokens=[UNKNOWN],
            end_of_word_suffix=SUFFIX,
            show_progress=False,
        )
        # each word as often as it occurred, in an order of its own: merges break ties by it
        ordered = (word for word in sorted(counts) for _ in range(counts[word]))
        self._bpe.train_from_iterator(ordered, trainer)

    def split(self, words: Sequence[str]) -> list[str]:
        """Return the subwords of a tokenised sentence; letters never seen become ``<unk>``."""
        return self._bpe.encode(list(words), is_pretokenized=True).tokens

    def joined(self, pieces: Sequence[str]) -> list[str]:
        """Return the words that subwords make up; a last word without its end is closed."""
        words, word = [], ""
        for piece in pieces:
            word += piece.removesuffix(SUFFIX)
            if piece.endswith(SUFFIX) or piece == UNKNOWN:
                words.append(word)
                word = ""
        return [*words, word] if word else words

    @property
    def vocabulary(self) -> list[str]:
        """All subwords, sorted."""
        return sorted(self._bpe.get_vocab())
