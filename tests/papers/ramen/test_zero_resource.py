"""Nothing labelled of a target, and nothing of a test set, is in any text that is trained on.

What is forbidden is read here from the files as they are registered, by other code than that which
leaves it out, and counted in the whole text of `open`.
"""

import re
from functools import cache

import pytest

from xlrepro.data import registry
from xlrepro.data.loading import load, load_rows
from xlrepro.evidence.deviations import load_deviations
from xlrepro.papers.ramen import experiments, recipes
from xlrepro.papers.ramen.data import texts
from xlrepro.papers.ramen.rows import PARALLEL
from xlrepro.pretraining.text import plain_word
from xlrepro.vectors.normalise import simplified
from xlrepro.vectors.open.tokenise import tokenise

pytestmark = pytest.mark.mirror
# Chinese is segmented, which takes a minute for all of it: a tenth of its text is looked at.
# Pairs before those of a test set are left out, as deviation R04 tells them.
WORDS = {"zh": 30_000}
LANGUAGES = ("fr", "ru", "ar", "hi", "vi", "zh")
RAW_PAIRS = {"fr": 12_100, "ru": 12_100, "ar": 12_100, "zh": 12_100, "hi": 7_100, "vi": 2_500}


def settings_of(language):
    changes = {"words": WORDS[language]} if language in WORDS else {}
    settings = experiments.evaluation_settings("open", "XNLI", PARALLEL, [language], changes)
    return recipes.adaptation_of(settings, language)


def bare(text, language):
    """Letters and digits alone, in small letters, in the one spelling that models read.

    Treebanks and text may differ in it: traditional or simplified characters, composed letters.
    """
    return re.sub(r"[\W_]+", "", plain_word(text, language).lower())


@cache
def forbidden(language):
    """Premises and hypotheses of XNLI, and sentences of the treebanks' test and dev sets."""
    sentences = {
        bare(text, language)
        for part in ("dev", "test")
        if f"{language}/{part}" in registry.dataset("xnli").files
        for row in load_rows("xnli", f"{language}/{part}", progress=False)
        for text in row[:2]
    }
    for name, file in registry.dataset("ud-r2.2").files.items():
        if file.language == language and not name.endswith("train"):
            read = load("ud-r2.2", name, progress=False)
            sentences |= {bare("".join(sentence.tokens), language) for sentence in read}
    return sentences - {""}


def count(lines, language):
    sentences = forbidden(language)
    assert len(sentences) > 5000  # XNLI's test set alone has as many
    return sum(bare("".join(line), language) in sentences for line in lines)


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_no_sentence_of_a_test_set_is_in_a_languages_text(language):
    settings = settings_of("fr" if language == "en" else language)
    lines = texts.words(settings, language)
    assert sum(map(len, lines)) >= WORDS.get(language, 300_000)
    assert count(lines, language) == 0
    assert texts.leaks(settings, language) == 0


@pytest.mark.parametrize("language", list(RAW_PAIRS))
def test_no_sentence_of_a_test_set_is_in_parallel_text_and_pairs_are_as_many_as_told(language):
    settings = settings_of(language)
    pairs = texts.pairs(settings)
    assert count([foreign for _, foreign in pairs], language) == 0
    assert count([english for english, _ in pairs], "en") == 0
    assert 0.98 * RAW_PAIRS[language] < len(pairs) <= RAW_PAIRS[language]
    assert not any("xnli" in path for path in texts.recipe(settings))


def test_a_test_sentence_in_other_characters_would_be_counted():
    written = "".join(load("ud-r2.2", "zh/test", progress=False)[0].tokens)
    simple = simplified(written, "zh")
    assert simple != written
    assert count([[written], [simple]], "zh") == 2


def test_a_test_sentence_is_left_out_in_the_characters_that_text_is_read_in():
    written = "".join(load("ud-r2.2", "zh/test", progress=False)[0].tokens)
    read = tokenise(written, "zh")
    assert "".join(read) != written
    assert texts.fold(read) in texts.test_sentences("zh", "open")


def test_pairs_are_told_as_many_as_they_are_counted_here():
    (told,) = (d.here for d in load_deviations("ramen/table1") if d.id == "R04")
    assert all(f"{number:,}" in told for number in RAW_PAIRS.values())


def test_a_line_of_a_test_set_would_be_counted(monkeypatch):
    settings = settings_of("hi")
    premise = load_rows("xnli", "hi/test", progress=False)[0][0]
    leaked = [*texts.words(settings, "hi")[:3], premise.split()]
    assert count(leaked, "hi") == 1
    monkeypatch.setattr(texts, "words", lambda *_: leaked)
    assert texts.leaks(settings, "hi") == 1
