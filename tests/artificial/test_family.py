"""Languages of one family say the same meanings with their own words, the same ones every time."""

import json
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from xlrepro.artificial import LANGUAGES, Family, Typology, parameters
from xlrepro.artificial.ontology import load_ontology
from xlrepro.errors import SettingsError

TABLE2 = (
    "en no sv fr pt da es it hr ca pl uk sl nl bg ru de he cs ro sk id lv fi et zh ar la ko hi ja"
)
# First and last character of the block that a script's letters lie in.
BLOCKS = {
    "en": "az",
    "ru": "Ѐӿ",
    "he": "֐׿",
    "ar": "؀ۿ",
    "hi": "ऀॿ",
    "th": "฀๿",
    "ko": "가힣",
    "ja": "ぁゟ",
    "zh": "一鿿",
}
PRINT_CORPUS = """
import json
from xlrepro.artificial import Family
family = Family(3)
print(json.dumps([
    [s.tokens for s in family.corpus("de", 40)],
    [s.heads for s in family.corpus("la", 40)],
    family.text("ko", 20),
    family.dictionary("en", "fr")[:300],
]))
"""


@pytest.fixture(scope="module")
def family() -> Family:
    return Family(0)


def test_every_language_of_the_paper_and_thai_has_a_namesake():
    assert sorted(LANGUAGES) == sorted([*TABLE2.split(), "th"])


def test_same_corpus_in_another_process_with_another_hash_seed():
    outputs = []
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", PRINT_CORPUS],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(json.loads(done.stdout))
    assert outputs[0] == outputs[1]


def test_order_of_calls_changes_nothing():
    first, second = Family(0), Family(0)
    first.corpus("ja", 5)
    first.dictionary("fr", "sv")
    assert first.corpus("de", 20) == second.corpus("de", 20)


@pytest.mark.parametrize("code", ["en", "la"])
def test_shorter_corpus_is_the_beginning_of_a_longer_one(family, code):
    assert family.corpus(code, 30) == family.corpus(code, 90)[:30]


def test_seeds_and_splits_differ(family):
    words = family.corpus("en", 50)
    other_seed = family.corpus("en", 50, seed=1)
    other_split = family.corpus("en", 50, split="test")
    other_family = Family(1).corpus("en", 50)
    texts = [{s.tokens for s in c} for c in (words, other_seed, other_split, other_family)]
    for i, text in enumerate(texts):
        for other in texts[i + 1 :]:
            assert len(text & other) < 10


@pytest.mark.parametrize("code", ["de", "ja", "ar", "fi", "th"])
def test_parallel_sentences_share_their_meaning(family, code):
    """Content words of both sides stand for the same concepts, pronouns that may drop aside."""
    content = ("NOUN", "VERB", "ADJ", "PROPN", "NUM", "CCONJ", "INTJ")
    for source, target in zip(family.realisations("en", 200), family.realisations(code, 200)):
        senses = [
            Counter(w.sense for w in said.words if w.upos in content) for said in (source, target)
        ]
        assert senses[0] == senses[1]


def test_parallel_text_pairs_sentences_of_both_languages(family):
    pairs = family.parallel("en", "hi", 50)
    assert [a for a, _ in pairs] == family.corpus("en", 50, split="parallel")
    for english, hindi in pairs:
        assert english.intent == hindi.intent
        for label in ("B-PER", "B-LOC", "B-ORG"):
            assert english.entities.count(label) == hindi.entities.count(label)
        assert Counter(s for s in english.slots if s[0] == "B") == Counter(
            s for s in hindi.slots if s[0] == "B"
        )


@pytest.mark.parametrize("code", ["de", "fi", "ja", "zh"])
def test_dictionary_holds_every_translation_that_sentences_use(family, code):
    """For each pair of parallel words with one sense, some form pair of that sense is listed."""
    pairs = set(family.dictionary("en", code))
    listed = {left for left, _ in pairs}
    forms = {right for _, right in pairs}
    for said, there in zip(family.realisations("en", 300), family.realisations(code, 300)):
        target_forms: dict[str, set[str]] = {}
        for word in there.words:
            target_forms.setdefault(word.sense or "", set()).add(word.form)
        for word in said.words:
            if word.sense is None or word.sense == "number":
                continue
            assert word.form in listed
            used = target_forms.get(word.sense, set())
            assert used <= forms
            if word.upos in ("CCONJ", "INTJ", "PART") and used:
                assert any((word.form, form) in pairs for form in used)


def test_dictionary_pairs_share_a_concept(family):
    english, french = family.language("en").morphology, family.language("fr").morphology
    by_english: dict[str, set[str]] = {}
    by_french: dict[str, set[str]] = {}
    for concept in load_ontology().concepts.values():
        for form in english.paradigm(concept):
            by_english.setdefault(form, set()).add(concept.key)
        for form in french.paradigm(concept):
            by_french.setdefault(form, set()).add(concept.key)
    for left, right in family.dictionary("en", "fr"):
        assert by_english[left] & by_french[right]


def test_a_word_with_two_senses_splits_in_another_language(family):
    english, german = family.language("en").lexicon, family.language("de").lexicon
    there = [
        (one, two) for two, one in english.shared.items() if german.stems[one] != german.stems[two]
    ]
    back = [
        (one, two) for two, one in german.shared.items() if english.stems[one] != english.stems[two]
    ]
    assert len(there) > 20
    assert len(back) > 20
    pairs = set(family.dictionary("en", "de"))
    one, two = there[0]
    for key in (one, two):
        assert (english.stems[key], german.stems[key]) in pairs


def test_only_intended_words_are_ambiguous(family):
    """Stems are alike for the listed pairs and for no others."""
    lexicon = family.language("ja").lexicon
    by_stem: dict[str, set[str]] = {}
    for key, stem in lexicon.stems.items():
        by_stem.setdefault(stem, set()).add(key)
    alike = {frozenset(keys) for keys in by_stem.values() if len(keys) > 1}
    assert alike == {frozenset(pair) for pair in lexicon.shared.items()}


def test_word_frequencies_follow_zipf(family):
    """Log frequency falls with log rank along a line of slope about -1."""
    counts = Counter(token for tokens in family.text("en", 4000) for token in tokens)
    frequencies = np.array(sorted(counts.values(), reverse=True)[:500], dtype=float)
    ranks = np.arange(1, len(frequencies) + 1)
    slope, _ = np.polyfit(np.log(ranks), np.log(frequencies), 1)
    fit = np.corrcoef(np.log(ranks), np.log(frequencies))[0, 1]
    assert -1.3 < slope < -0.7
    assert fit < -0.97


@pytest.mark.parametrize("code", BLOCKS)
def test_words_are_written_in_their_script(family, code):
    first, last = BLOCKS[code]
    for sentence in family.corpus(code, 50):
        for token, upos in zip(sentence.tokens, sentence.upos):
            if upos != "PUNCT" and not token.isdigit():
                assert all(first <= letter <= last for letter in token), token


def test_closer_languages_have_more_cognates(family):
    stems = {code: family.language(code).lexicon.stems for code in ("en", "nl", "fr", "hr", "fi")}
    alike = [
        sum(
            stems[code][key] == stem
            for key, stem in stems["en"].items()
            if not key.endswith(".names")
        )
        for code in ("nl", "fr", "hr", "fi")
    ]
    assert alike == sorted(alike, reverse=True)
    assert alike[0] > 2 * alike[-1]


def test_text_of_two_languages_is_not_parallel(family):
    lengths = [[len(tokens) for tokens in family.text(code, 60)] for code in ("en", "id")]
    assert lengths[0] != lengths[1]
    commas = [[("," in tokens) for tokens in family.text(code, 200)] for code in ("en", "sv")]
    agreement = np.mean(np.array(commas[0]) == np.array(commas[1]))
    assert agreement < 0.95


def test_own_typology_makes_a_language():
    family = Family(0, [Typology("xx", script="greek", object=1.0, adposition=0.0)])
    assert family.typology("xx").basic_order == "SOV"
    sentence = family.corpus("xx", 1)[0]
    assert all("Ͱ" <= letter <= "Ͽ" for letter in sentence.tokens[0])


def test_unknown_code_names_the_known_ones():
    with pytest.raises(SettingsError, match=r"no artificial language 'eo': choose from en no sv"):
        Family(0).corpus("eo", 1)
    with pytest.raises(SettingsError):
        parameters("eo")


def test_impossible_settings_are_refused(family):
    with pytest.raises(SettingsError, match=r"object is 1\.5"):
        Typology("xx", object=1.5)
    with pytest.raises(SettingsError, match="articles is 'some'"):
        Typology("xx", articles="some")
    with pytest.raises(SettingsError, match="kind of meanings is 'poems'"):
        family.corpus("en", 1, kind="poems")
    with pytest.raises(SettingsError, match="domain 'games'"):
        family.corpus("en", 1, kind="requests", domain="games")
