"""What is read off a meaning, and glosses."""

import itertools

import pytest

from xlrepro.artificial import Family
from xlrepro.artificial.gloss import gloss, gloss_examples
from xlrepro.artificial.meaning import Clause, Meaning, Modifier, NounPhrase
from xlrepro.artificial.ontology import load_ontology, seeded
from xlrepro.artificial.semantics import contradicted, graph, sentiment, weakened

ONTOLOGY = load_ontology()


def phrase(label: str, determiner: str = "the", **changes) -> NounPhrase:
    concept = ONTOLOGY[f"{label}.nouns"]
    return NounPhrase(concept, determiner=ONTOLOGY[f"{determiner}.determiners"], **changes)


def sees(**changes) -> Meaning:
    return Meaning(Clause(ONTOLOGY["see.verbs"], phrase("dog"), phrase("cat"), **changes))


def test_sentiment_adds_up_and_negation_turns_it_round():
    good, bad = ONTOLOGY["good.adjectives"], ONTOLOGY["bad.adjectives"]
    song = phrase("song")
    assert sentiment(Meaning(Clause(Modifier(good), song))) == 1
    assert sentiment(Meaning(Clause(Modifier(bad), song))) == -1
    assert sentiment(Meaning(Clause(Modifier(good), song, negated=True))) == -1
    assert sentiment(sees()) == 0


def test_antonyms_have_opposite_polarity():
    for concept in ONTOLOGY.concepts.values():
        if concept.antonym:
            other = ONTOLOGY[concept.antonym]
            assert other.antonym == concept.key
            assert other.polarity == -concept.polarity


def test_graph_of_a_hand_made_meaning():
    assert graph(sees(negated=True)) == [
        ("x0", "instance", "see.verbs"),
        ("x0", "tense", "present"),
        ("x0", "polarity", "-"),
        ("x1", "instance", "dog.nouns"),
        ("x1", "determiner", "the.determiners"),
        ("x0", "subject", "x1"),
        ("x2", "instance", "cat.nouns"),
        ("x2", "determiner", "the.determiners"),
        ("x0", "object", "x2"),
    ]


def test_graphs_are_connected():
    for meaning in itertools.islice(Family(0).meanings(), 300):
        triples = graph(meaning)
        nodes = {source for source, role, _ in triples if role == "instance"}
        linked = {target for _, _, target in triples} | {
            source for source, role, target in triples if target in nodes
        }
        assert nodes - linked <= {"x0"}


def test_weaker_statements_say_less():
    """Of its concepts, all were there before, or stand above one that was."""
    rng = seeded(0)
    made = 0
    for meaning in itertools.islice(Family(0).meanings(kind="statements"), 500):
        weaker = weakened(meaning, ONTOLOGY, rng)
        if weaker is None:
            continue
        made += 1
        before = {t for _, r, t in graph(meaning) if r == "instance"}
        above = {ONTOLOGY[key].hypernym for key in before if key in ONTOLOGY.concepts}
        after = {t for _, r, t in graph(weaker) if r == "instance"}
        assert after <= before | above
        assert weaker != meaning
    assert made > 100


def test_contradictions_negate_plain_definite_statements_only():
    assert contradicted(sees()) == sees(negated=True)
    assert contradicted(sees(negated=True)) is None
    assert contradicted(sees(modal=ONTOLOGY["may.auxiliaries"])) is None
    vague = Meaning(Clause(ONTOLOGY["see.verbs"], phrase("dog", "some"), phrase("cat")))
    assert contradicted(vague) is None


@pytest.mark.parametrize("code", ["en", "de", "fi", "ja"])
def test_glosses_name_concepts_and_marks(code):
    family = Family(0)
    language = family.language(code)
    for said in family.realisations(code, 100):
        for word, text in zip(said.words, gloss(language, said)):
            if word.upos in ("NOUN", "VERB"):
                label = ONTOLOGY[word.sense].label
                stem = language.lexicon.stems[word.sense]
                assert text.startswith(label)
                assert (text == label) == (word.form == stem)


def test_gloss_examples_give_each_meaning_in_each_language():
    examples = gloss_examples(("en", "de", "ja", "ar"), seed=0, n=3)
    assert len(examples) == 3
    for example in examples:
        assert [s.code for s in example.sentences] == ["en", "de", "ja", "ar"]
        assert example.translation[0].isupper()
        for sentence in example.sentences:
            assert len(sentence.tokens) == len(sentence.glosses) == len(sentence.upos)
