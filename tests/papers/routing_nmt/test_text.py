"""Normalisation, subwords, overlap, and scores."""

import random

import numpy as np
import pytest
import sacrebleu

from xlrepro.papers.routing_nmt.corpora import splits_of, without_overlap
from xlrepro.papers.routing_nmt.scores import AS_WRITTEN, bleu_of, paired_bootstrap, scored
from xlrepro.papers.routing_nmt.text import detokenised, tokens

# raw text, and the same as Moses tokenises and escapes it
RAW_AND_ESCAPED = [
    ("He said: “I don't.”", "He said : &quot; I don &apos;t . &quot;"),
    ("My life’s work (1,000.5 kg) & more", "My life &apos;s work ( 1,000.5 kg ) &amp; more"),
    ("Chính là tôi – ở đây…", "Chính là tôi - ở đây ..."),
    ("a [sic] four-year-old?", "a &#91; sic &#93; four-year-old ?"),
    ("We're at 12:30, they've gone.", "We &apos;re at 12:30 , they &apos;ve gone ."),
    ("a|b", "a &#124; b"),
    ("é", "e\u0301"),
]


@pytest.mark.parametrize(("raw", "escaped"), RAW_AND_ESCAPED)
def test_text_has_the_same_tokens_whichever_form_it_comes_in(raw, escaped):
    found = tokens(raw)
    assert tokens(escaped) == tokens(" ".join(found)) == tokens(detokenised(found)) == found


def test_pairs_that_share_a_side_with_held_out_ones_are_left_out_and_counted():
    held_out = [(("A", "b", "."), ("x",))]
    train = [
        (("a", "b"), ("other",)),  # the source, but for case and stops
        (("new",), ("x", "!")),  # the target
        (("new",), ("y",)),
        (("new",), ("y",)),
        (("x",), ("a", "b")),  # sides exchanged: another language's text
    ]
    drawn = {"train": train, "dev": [], "test": held_out}
    found = without_overlap(drawn)
    assert found.train == [train[2], train[4]]
    assert found.counts == {"found": 5, "overlapping": 2, "repeated": 1}
    assert without_overlap(drawn, targets=False).counts["overlapping"] == 1


HELD_OUT = [("One .", "Ein &quot; Tag &quot; ."), (" ", "Leer."), ("Two .", "Zwei „Tage“.")]


@pytest.mark.parametrize(
    ("escaped", "lines"),
    [(False, [HELD_OUT[0][1], HELD_OUT[2][1]]), (True, ['Ein "Tag".', 'Zwei "Tage".'])],
)
def test_references_as_written_stay_beside_their_tokens(escaped, lines):
    raw = {"train": [("two", "zwei"), ("six", "sechs")], "dev": HELD_OUT, "test": HELD_OUT[2:]}
    splits = splits_of(raw, escaped)
    assert [target for _, target in splits.dev] == [tuple(tokens(line)) for line in lines]
    assert splits.lines == {"dev": lines, "test": lines[1:]}
    left_out = {"empty train": 0, "empty dev": 1, "empty test": 0}
    assert splits.counts == {"found": 2, "overlapping": 1, "repeated": 0} | left_out


def sentences(seed, number=40):
    draw = random.Random(seed)
    return [[draw.choice("abcdefg") for _ in range(draw.randint(4, 9))] for _ in range(number)]


def lines_of(gold):
    return [" ".join(words) for words in gold]


@pytest.mark.parametrize("kept", [1, 2, 3, 9])  # long n-grams never match, or some do
def test_bleu_of_summed_counts_is_sacrebleus(kept):
    gold = sentences(4, 6)
    guess = [[*s[:kept], *"zzzz"] for s in gold]
    scores = scored(guess, gold, lines_of(gold))
    oracle = sacrebleu.corpus_bleu(lines_of(guess), [lines_of(gold)], tokenize="none", force=True)
    assert bleu_of(scores.statistics.sum(0)) == pytest.approx(oracle.score)
    assert scores.bleu == pytest.approx(oracle.score)
    assert scored([["a"]], [["A"]], ["A"]).ter == 100
    assert "tok:none" in scores.signatures["BLEU"]
    assert "tok:13a" in scores.signatures["BLEU detokenised"]


def test_detokenised_bleu_is_that_of_readable_lines_against_references_as_written():
    written = ["Er sagte: „Ich gehe, jetzt.“", "Ein Mann (alt) sitzt auf der Bank."]
    gold = [tokens(line) for line in written]
    scores = scored(gold, gold, written)
    plain = [line.translate(str.maketrans("„“", '""')) for line in written]
    oracle = sacrebleu.corpus_bleu(plain, [written])
    assert scores.bleu == pytest.approx(100)
    assert scores.bleu_detokenised == pytest.approx(oracle.score)
    assert scores.bleu_detokenised < 99
    assert scores.signatures["BLEU detokenised"].endswith(AS_WRITTEN)


def test_the_bootstrap_tells_a_better_system_from_an_equal_one(monkeypatch):
    gold = sentences(3, 80)
    worse = [[*s[:-2], "z", "z"] for s in gold]
    better, bad = (scored(s, gold, lines_of(gold)).statistics for s in (gold, worse))
    low, high, share = paired_bootstrap(better, bad, samples=200)
    assert 0 < low < high
    assert share == 1.0
    assert paired_bootstrap(bad, bad, samples=50) == (0.0, 0.0, 0.0)
    monkeypatch.setattr("xlrepro.papers.routing_nmt.scores.bleu_of", lambda counts: counts[0])
    rows = np.random.default_rng(12345).integers(0, 80, (200, 80))
    interval = np.percentile(better[rows, 0].sum(1), [2.5, 97.5])
    assert paired_bootstrap(better, 0 * better, samples=200)[:2] == pytest.approx(interval)
