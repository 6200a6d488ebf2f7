"""Scorers, each with a signature that names all that decides its number.

Signatures follow sacrebleu: fields joined by ``|``, ``f1|scorer:seqeval|mode:conlleval|…``. A
scorer that lacks its input raises; it never returns 0.
"""

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from xlrepro.errors import DataError

Tags = Sequence[Sequence[str]]


def accuracy(gold: Sequence[str | int], predicted: Sequence[str | int]) -> float:
    """Return the percentage of tokens whose tag is right.

    Args:
        gold: the tag, or its number, of each token of the whole test set.
        predicted: tags of the same tokens.

    Raises:
        DataError: where nothing is given, the two differ in length, or they hold sentences and
            not tokens.

    Example:
        >>> accuracy(["NOUN", "VERB", "DET", "NOUN"], ["NOUN", "VERB", "DET", "VERB"])
        75.0
    """
    if len(gold) != len(predicted):
        raise DataError(f"{len(gold)} gold tokens against {len(predicted)} predicted ones")
    if not len(gold):
        raise DataError("there are no tokens to score: the test set is empty")
    if not all(isinstance(tag, str | int | np.integer) for tag in (gold[0], predicted[0])):
        raise DataError("accuracy takes one tag per token: flatten the sentences first")
    right = sum(true == guessed for true, guessed in zip(gold, predicted))
    return 100.0 * right / len(gold)


def accuracy_signature(level: str = "token") -> str:
    """Return the signature of `accuracy`, of tokens or of what else is labelled."""
    return f"acc|level:{level}|v:1"


def span_f1(gold: Tags, predicted: Tags) -> float:
    """Return the micro-averaged F1 of labelled spans, in percent.

    A predicted span counts where a gold span has the same tokens and label. Tags are read as the
    CoNLL-2000 script reads them: an I- that continues nothing begins a span.

    Args:
        gold: BIO tags of each sentence; together they hold at least one span.
        predicted: BIO tags of the same sentences.

    Raises:
        DataError: where nothing is given, the two do not have the same tokens, a tag is not BIO,
            or the gold tags hold no span (F1 would mean nothing).

    Example:
        >>> span_f1([["B-a", "I-a", "O"]], [["I-a", "I-a", "O"]])
        100.0
    """
    from seqeval.metrics import f1_score

    _check_pairs(gold, predicted)
    _check_bio(gold, predicted)
    if all(tag == "O" for tags in gold for tag in tags):
        raise DataError("the gold tags hold no span: F1 means nothing there")
    true, guessed = [list(tags) for tags in gold], [list(tags) for tags in predicted]
    return 100.0 * float(f1_score(true, guessed, zero_division=0))


def span_f1_signature() -> str:
    """Return the signature of `span_f1`.

    Example:
        >>> span_f1_signature().rpartition("|")[0]
        'f1|scorer:seqeval|mode:conlleval|scheme:bio'
    """
    return f"f1|scorer:seqeval|mode:conlleval|scheme:bio|v:{version('seqeval')}"


def _check_pairs(gold: Tags, predicted: Tags) -> None:
    if len(gold) != len(predicted):
        raise DataError(f"{len(gold)} gold sentences against {len(predicted)} predicted ones")
    for number, (true, guessed) in enumerate(zip(gold, predicted), start=1):
        if len(true) != len(guessed):
            raise DataError(f"sentence {number}: {len(true)} gold tags against {len(guessed)}")
    if not any(map(len, gold)):
        raise DataError("there are no tokens to score: the test set is empty")


def _check_bio(*layers: Tags) -> None:
    seen = {tag for layer in layers for tags in layer for tag in tags}
    for tag in sorted(seen):
        if tag != "O" and not (tag[:2] in ("B-", "I-") and len(tag) > 2):
            raise DataError(f"{tag!r} is no BIO tag: expected O, B-label or I-label")
