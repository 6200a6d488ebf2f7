"""Texts that take a side, as the open and the artificial corpora have them.

A corpus has texts of three kinds: for, against and neutral. Only the first two have a class, so
only they are labelled texts. Text without labels is all of them: what is neutral, only a label
says, and a zero-resource run may not look at the target's.
"""

import zlib
from functools import lru_cache

from xlrepro.artificial import family_of, sentence_of, sentiment
from xlrepro.data import loading
from xlrepro.errors import DataError
from xlrepro.papers.man_moe.texts.examples import FAMILY_SEED, POLARITY, Example
from xlrepro.vectors.open.tokenise import tokenise

NEUTRAL = ""  # no class
UMSAB_CLASSES = {"0": POLARITY[0], "1": NEUTRAL, "2": POLARITY[1]}
DRAWN = 4  # artificial statements drawn per one that is wanted: most take no side


def labelled(
    corpus: str, language: str, domain: str | None, split: str, limit: int | None
) -> list[Example]:
    """Return the texts of a split that take a side, at most ``limit``.

    Args:
        corpus: ``"artificial"`` or a registered corpus with UMSAB's classes.
        language: its code.
        domain: of an artificial corpus: each is another draw.
        split: ``"train"``, ``"dev"`` or ``"test"``.
        limit: of texts; ``None`` is all, which an artificial corpus does not have.

    Raises:
        DataError: if a file is missing or malformed.
    """
    examples = _all(corpus, language, domain, split, limit)
    return [example for example in examples if example.gold != (NEUTRAL,)][:limit]


def text(
    corpus: str, language: str, domain: str | None, split: str, limit: int | None
) -> list[tuple[str, ...]]:
    """Return the words of a split, neutral texts too; arguments and errors as :func:`labelled`."""
    return [example.tokens for example in _all(corpus, language, domain, split, limit)][:limit]


@lru_cache(maxsize=64)
def _all(
    corpus: str, language: str, domain: str | None, split: str, limit: int | None
) -> list[Example]:
    if corpus == "artificial":
        return _artificial(language, domain or "", split, DRAWN * (limit or 0))
    rows = loading.load_rows(corpus, f"{language}/{split}")
    if unknown := {label for label, _ in rows} - set(UMSAB_CLASSES):
        raise DataError(f"{corpus} {language}/{split} has classes that are none: {sorted(unknown)}")
    texts = [(UMSAB_CLASSES[label], tuple(tokenise(line, language))) for label, line in rows]
    return [Example(tokens, (side,)) for side, tokens in texts if tokens]


def _artificial(language: str, domain: str, split: str, n: int) -> list[Example]:
    seed = zlib.crc32(f"{language} {domain}".encode())
    drawn = family_of(FAMILY_SEED).realisations(language, n, split, seed, "statements")
    return [Example(sentence_of(r).tokens, (_side(sentiment(r.meaning)),)) for r in drawn]


def _side(value: float) -> str:
    return POLARITY[value > 0] if value else NEUTRAL
