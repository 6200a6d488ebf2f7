"""BLEU and TER by sacrebleu, with signatures, and the bootstrap that compares two systems."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sacrebleu.metrics import BLEU, TER

from xlrepro.papers.routing_nmt.text import detokenised

Sentences = Sequence[Sequence[str]]
BOOTSTRAP_SAMPLES = 1000
PERPLEXITY_SIGNATURE = "ppl|per:target piece and end|v:1"  # what it is per; a piece is a subword
AS_WRITTEN = "|against:lines as written"  # ends the signature of detokenised BLEU


class Scores(NamedTuple):
    """Scores of one system on one test set.

    Attributes:
        bleu: of the tokens as they are, as ``multi-bleu.perl`` computes it, but smoothed where no
            n-gram of a size matches (`bleu_of`); percent.
        bleu_detokenised: of readable lines against the references as written, both tokenised
            by sacrebleu's ``13a``; percent.
        ter: of the tokens as they are; percent.
        signatures: metric name to sacrebleu's signature.
        statistics: BLEU's counts of each sentence, ``(sentences, 10)``: hypothesis and reference
            length, matches of 1- to 4-grams, and their totals. Numbers only.
    """

    bleu: float
    bleu_detokenised: float
    ter: float
    signatures: dict[str, str]
    statistics: np.ndarray


def scored(hypotheses: Sentences, references: Sentences, lines: Sequence[str]) -> Scores:
    """Score translations, each against one reference.

    Args:
        hypotheses: tokens of translations.
        references: tokens of references.
        lines: the references as they are written.
    """
    words, gold = ([" ".join(each) for each in side] for side in (hypotheses, references))
    written = [detokenised(list(each)) for each in hypotheses]
    metrics: dict[str, tuple[Any, list[str], list[str]]] = {
        "BLEU": (BLEU(tokenize="none", force=True), words, gold),
        "BLEU detokenised": (BLEU(tokenize="13a"), written, list(lines)),
        "TER": (TER(case_sensitive=True), words, gold),
    }
    values = {name: metric.corpus_score(a, [b]).score for name, (metric, a, b) in metrics.items()}
    signatures = {name: str(metric.get_signature()) for name, (metric, *_) in metrics.items()}
    signatures["BLEU detokenised"] += AS_WRITTEN
    by_sentence = BLEU(tokenize="none", force=True, effective_order=True)
    counts = [by_sentence.sentence_score(a, [b]) for a, b in zip(words, gold, strict=True)]
    statistics = np.array([[c.sys_len, c.ref_len, *c.counts, *c.totals] for c in counts])
    return Scores(values["BLEU"], values["BLEU detokenised"], values["TER"], signatures, statistics)


def bleu_of(statistics: np.ndarray) -> float:
    """Return corpus BLEU, percent, of counts as `Scores` has them, summed over sentences.

    Smoothed where no n-gram of a size matches, as that of corpora is.
    """
    length, reference, *counts = statistics.tolist()
    matches, totals = counts[:4], counts[4:]
    return float(BLEU.compute_bleu(matches, totals, length, reference, "exp").score)


def paired_bootstrap(
    first: np.ndarray, second: np.ndarray, samples: int = BOOTSTRAP_SAMPLES
) -> tuple[float, float, float]:
    """Compare two systems on resampled test sets (Koehn 2004).

    Args:
        first: counts of each sentence, as `Scores` has them.
        second: of the other system on the same sentences.
        samples: number of resampled test sets.

    Returns:
        Lower and upper end of the 95 % interval of BLEU(first) - BLEU(second), and the share of
        test sets on which the first is better.
    """
    draw = np.random.default_rng(12345)
    rows = draw.integers(0, len(first), (samples, len(first)))
    times = np.stack([np.bincount(row, minlength=len(first)) for row in rows])
    both = zip(times @ first, times @ second, strict=True)
    gains = np.array([bleu_of(a) - bleu_of(b) for a, b in both])
    low, high = np.percentile(gains, [2.5, 97.5])
    return float(low), float(high), float((gains > 0).mean())
