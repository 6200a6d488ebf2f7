"""Word order: what the typology says shows in the features, as in the real table."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from xlrepro.artificial import Family, Typology, features
from xlrepro.artificial.features import TYPES
from xlrepro.data import loading
from xlrepro.data.readers import word_order_features
from xlrepro.data.readers.word_order_features import mean_absolute_difference
from xlrepro.data.sentences import Sentence

# Field of a typology -> a type that it alone decides.
DECIDED = {
    "subject": "NOUN/VERB/nsubj",
    "subject_pronoun": "PRON/VERB/nsubj",
    "object": "NOUN/VERB/obj",
    "oblique": "NOUN/VERB/obl",
    "adverb": "ADV/VERB/advmod",
    "degree": "ADV/ADV/advmod",
    "adjective": "ADJ/NOUN/amod",
    "possessive": "PRON/NOUN/nmod",
    "adposition": "ADP/NOUN/case",
    "relative": "VERB/NOUN/acl",
    "numeral": "NUM/NOUN/nummod",
    "determiner": "DET/NOUN/det",
    "auxiliary": "AUX/VERB/aux",
    "copula": "AUX/ADJ/cop",
    "adverbial_clause": "VERB/VERB/advcl",
    "complement": "VERB/VERB/ccomp",
    "infinitive": "VERB/VERB/xcomp",
    "subordinator": "SCONJ/VERB/mark",
    "coordinator": "CCONJ/VERB/cc",
}


def share(kind: str, values: np.ndarray) -> float:
    return float(values[TYPES.index(tuple(kind.split("/")))])


def test_hand_worked_sentence():
    sentence = Sentence(
        tokens=("the", "old", "dog", "sees", "her", "."),
        upos=("DET", "ADJ", "NOUN", "VERB", "PRON", "PUNCT"),
        heads=(3, 3, 4, 0, 4, 4),
        deprels=("det", "amod", "nsubj", "root", "obj", "punct"),
    )
    values = features([sentence])
    expected = {
        "DET/NOUN/det": 1.0,
        "ADJ/NOUN/amod": 1.0,
        "NOUN/VERB/nsubj": 1.0,
        "VERB/ROOT/root": 0.0,
        "PRON/VERB/obj": 0.0,
        "PUNCT/VERB/punct": 0.0,
    }
    for kind, value in zip(TYPES, values):
        assert value == expected.get("/".join(kind), 0.5)


def test_subtypes_count_as_their_relation():
    sentence = Sentence(("a", "b"), ("NOUN", "VERB"), (2, 0), ("nsubj:pass", "root"))
    assert share("NOUN/VERB/nsubj", features([sentence])) == 1.0


def test_sentences_without_trees_are_refused():
    with pytest.raises(ValueError, match="heads and relations"):
        features([Sentence(("a",), ("NOUN",))])


@pytest.mark.parametrize("field", DECIDED)
def test_each_share_of_the_typology_shows_in_its_feature(field):
    for wanted in (0.0, 0.5, 1.0):
        settings = {field: wanted, "relative_pronoun": False}
        if field == "possessive":  # "the book about him" is of the same type
            settings["genitive"] = wanted
        family = Family(0, [Typology("xx", **settings)])
        measured = share(DECIDED[field], features(family.corpus("xx", 1200)))
        assert measured == pytest.approx(wanted, abs=0.15 if wanted == 0.5 else 0.0)


def test_verb_second_depends_on_the_clause():
    family = Family(0, [Typology("xx", verb_second=True, tense=True, perfect=0.0)])
    for sentence in family.corpus("xx", 400, kind="statements"):
        for position, (head, relation) in enumerate(zip(sentence.heads, sentence.deprels), start=1):
            if relation == "obj" and sentence.upos[head - 1] == "VERB":
                clause = sentence.deprels[head - 1]
                auxiliary = any(
                    h == head and r == "aux" for h, r in zip(sentence.heads, sentence.deprels)
                )
                if clause in ("root", "conj"):
                    assert (position < head) == auxiliary
                elif clause in ("ccomp", "advcl", "acl"):
                    assert position < head


@pytest.mark.parametrize(
    ("code", "order"), [("en", "SVO"), ("ja", "SOV"), ("hi", "SOV"), ("ar", "VSO"), ("de", "V2")]
)
def test_presets_have_the_basic_order_of_the_language_they_imitate(code, order):
    assert Family(0).typology(code).basic_order == order


def test_scrambling_moves_words():
    family = Family(0, [Typology("a"), Typology("b", scrambling=1.0)])
    still, moved = (features(family.corpus(code, 500)) for code in "ab")
    assert share("DET/NOUN/det", still) == 1.0
    assert 0.5 < share("DET/NOUN/det", moved) < 0.99


@pytest.mark.mirror
def test_types_give_the_published_english_features_exactly():
    published = word_order_features.table()["en"]
    measured = features(loading.load("ud-r2.2", "en/train"))
    np.testing.assert_allclose(measured, published, atol=1e-12)


@pytest.mark.mirror
def test_artificial_distances_to_english_follow_the_real_ones():
    table = word_order_features.table()
    family = Family(0)
    english = features(family.corpus("en", 1000))
    codes = [code for code in table if code != "en"]
    real = [mean_absolute_difference(table["en"], table[code]) for code in codes]
    artificial = [
        mean_absolute_difference(english, features(family.corpus(code, 500))) for code in codes
    ]
    assert spearmanr(real, artificial).statistic > 0.75
