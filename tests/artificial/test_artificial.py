"""The artificial languages: annotation true by construction, orders as the typology says."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.artificial.processes import printed
from xlrepro.artificial import (
    LANGUAGES,
    Family,
    Meaning,
    Typology,
    contradicted,
    graph,
    lists,
    load_ontology,
    seeded,
    sentiment,
    weakened,
)
from xlrepro.artificial.meanings import Clause, Phrase
from xlrepro.data.readers import word_order_features
from xlrepro.data.readers.word_order_features import TYPES, features
from xlrepro.data.sentences import Sentence
from xlrepro.errors import SettingsError

FAMILY = Family(0)
ONTOLOGY = load_ontology()


def test_corpora_depend_on_nothing_but_their_arguments():
    code = "from xlrepro.artificial import Family; print(Family(3).corpus('ja', 20))"
    assert len(printed(code)) == 1


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_layer_is_well_formed(code):
    for s in FAMILY.corpus(code, 60):
        assert len(s.tokens) == len(s.upos) == len(s.heads) == len(s.entities) == len(s.slots)
        assert s.heads.count(0) == 1
        for word, head in enumerate(s.heads, start=1):
            assert head != word
            steps = 0
            while head:  # every word hangs below the root
                head, steps = s.heads[head - 1], steps + 1
                assert steps <= len(s.heads)
        for layer in (s.entities, s.slots):
            before = "O"
            for tag in layer:
                kind = tag[2:]
                assert not tag.startswith("I-") or before[2:] == kind
                before = tag


ROLES = [
    ("subject", "nsubj"), ("object", "obj"), ("oblique", "obl"), ("adjective", "amod"),
    ("genitive", "nmod"), ("adposition", "case"), ("determiner", "det"), ("numeral", "nummod"),
    ("auxiliary", "aux"), ("copula", "cop"), ("subordinator", "mark"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "relation"), ROLES)
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_share_decides_on_which_side_of_its_head_a_word_stands(field, relation, share):
    language = Typology("xx", **{field: share})
    found = [
        head > word
        for s in Family(0, [language]).corpus("xx", 400)
        for word, (head, name) in enumerate(zip(s.heads, s.deprels), start=1)
        if name == relation
    ]
    assert found
    assert set(found) == {bool(share)}


def test_features_by_hand():
    tree = ("NOUN", "VERB", "NOUN"), (2, 0, 2), ("nsubj", "root", "obj:x")
    found = features([Sentence(("a", "b", "c"), *tree)])
    seen = {kind: found[i] for i, kind in enumerate(TYPES) if found[i] != 0.5}
    assert seen == {
        ("NOUN", "VERB", "nsubj"): 1.0,
        ("NOUN", "VERB", "obj"): 0.0,
        ("VERB", "ROOT", "root"): 0.0,
    }
    assert len(TYPES) == len(set(TYPES)) == 52


@pytest.mark.mirror
def test_features_of_english_are_those_of_the_published_table():
    from xlrepro.data.loading import load

    published = word_order_features.table()
    np.testing.assert_allclose(features(load("ud-r2.2", "en/train")), published["en"], atol=1e-12)
    codes = [code for code in published if code != "en"]
    english = features(FAMILY.corpus("en", 1000))
    real = [np.abs(published[code] - published["en"]).mean() for code in codes]
    ours = [np.abs(features(FAMILY.corpus(code, 400)) - english).mean() for code in codes]
    assert spearmanr(real, ours).statistic > 0.7


@pytest.mark.parametrize("code", ["de", "ru", "th"])
def test_the_dictionary_knows_every_noun_of_parallel_sentences(code):
    english, other = FAMILY.language("en"), FAMILY.language(code)
    pairs = set(FAMILY.dictionary("en", code))
    for concept in ONTOLOGY.concepts.values():
        assert (english.stems[concept.key], other.stems[concept.key]) in pairs
    forms = {b for _, b in pairs}
    words = [w for r in FAMILY.realisations(code, 200) for w in r.words if w.upos == "NOUN"]
    assert all(word.form in forms for word in words)


def test_cognates_and_branches_share_words():
    def alike(a, b):
        one, two = FAMILY.language(a).stems, FAMILY.language(b).stems
        return sum(one[k] == two[k] for k in one if not k.endswith(".names")) / len(one)

    assert alike("de", "nl") > alike("de", "ko")
    names = [k for k in ONTOLOGY.concepts if k.endswith(".names")]
    german, korean = FAMILY.language("de").stems, FAMILY.language("ko").stems
    assert sum(german[k] == korean[k] for k in names) > 0.8 * len(names)


def test_words_are_ambiguous_and_their_senses_part_in_translation():
    english, german = FAMILY.language("en").stems, FAMILY.language("de").stems
    keys = Counter(english.values())
    shared = [k for k, stem in english.items() if keys[stem] > 1]
    assert len(shared) > 100
    parted = [k for k in shared if Counter(german.values())[german[k]] == 1]
    assert 0.3 < len(parted) / len(shared) < 0.9


def phrase(label, **more):
    return Phrase(ONTOLOGY[f"{label}.nouns"], **more)


def test_sentiment_is_turned_by_negation_alone():
    good = Clause(ONTOLOGY["good.adjectives"], phrase("dog"))
    assert sentiment(Meaning(good)) == 1
    assert sentiment(Meaning(replace(good, negated=True))) == -1
    assert sentiment(Meaning(replace(good, predicate=ONTOLOGY["big.adjectives"]))) == 0
    assert sentiment(Meaning(Clause(ONTOLOGY["have.verbs"], phrase("dog"), phrase("war")))) == -1


def test_a_graph_has_one_root_and_an_instance_a_node():
    for realisation in FAMILY.realisations("en", 200):
        triples = graph(realisation.meaning)
        nodes = [source for source, role, _ in triples if role == "instance"]
        assert len(nodes) == len(set(nodes))
        targets = {target for _, _, target in triples} & set(nodes)
        assert set(nodes) - targets == {"x0"}


def test_a_contradiction_denies_the_statement_itself():
    for meaning, _ in zip(FAMILY.meanings("x", kind="statements"), range(400)):
        other = contradicted(meaning)
        if other:
            assert not meaning.clause.negated
            assert other.clause == replace(meaning.clause, negated=True, link=None)
    a_dog = phrase("dog", determiner=ONTOLOGY["a.determiners"])
    for indefinite in (Phrase(ONTOLOGY["something.pronouns"]), a_dog):
        assert contradicted(Meaning(Clause(ONTOLOGY["sleep.verbs"], indefinite))) is None


def test_what_follows_from_a_statement_says_less():
    for meaning, _ in zip(FAMILY.meanings("x", kind="statements"), range(400)):
        other = weakened(meaning, ONTOLOGY, seeded(0))
        if other:
            before, after = {t[2] for t in graph(meaning)}, {t[2] for t in graph(other)}
            new = {key for key in after - before if key in ONTOLOGY.concepts}
            hypernyms = {ONTOLOGY[key].hypernym for key in before if key in ONTOLOGY.concepts}
            assert new <= hypernyms
            assert len(graph(other)) <= len(graph(meaning))


def test_nothing_follows_from_never_every_and_if():
    every = phrase("dog", determiner=ONTOLOGY["every.determiners"])
    verb, adverb = ONTOLOGY["sleep.verbs"], ONTOLOGY["quickly.manner_adverbs"]
    known = Phrase(ONTOLOGY["he.pronouns"])
    for clause in (
        Clause(verb, every, adverb=adverb),
        Clause(verb, known, adverb=ONTOLOGY["never.manner_adverbs"]),
        Clause(verb, known, link=(ONTOLOGY["if.subordinators"], Clause(verb, known))),
    ):
        assert weakened(Meaning(clause), ONTOLOGY, seeded(0)) is None


def test_pairs_share_a_word_where_they_are_ambiguous_alone():
    family = Family(0, pairs=20)
    english, german = family.language("en").stems, family.language("de").stems
    assert len(family.pairs) == 20
    assert len({key for pair in family.pairs for key in pair}) == 40
    for one, other in family.pairs:
        assert english[one] == english[other]
        assert ONTOLOGY[one].kind != ONTOLOGY[other].kind
    assert sum(german[a] == german[b] for a, b in family.pairs) <= 2


def test_lists_are_of_one_kind_and_of_paired_nouns_mostly():
    family = Family(0, pairs=30)
    paired = {key for pair in family.pairs for key in pair}
    made = lists(family, "en", 200)
    assert {len(r.words) for r in made} == {4, 5, 6, 7, 8}
    for realisation in made:
        assert len({ONTOLOGY[key].kind for key in realisation.senses}) == 1
    assert sum(key in paired for r in made for key in r.senses) > 600


def test_lists_need_pairs_of_nouns():
    with pytest.raises(SettingsError, match="more ambiguous words"):
        lists(Family(0), "en", 1)
