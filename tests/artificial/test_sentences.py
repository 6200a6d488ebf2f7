"""Every annotation of an artificial corpus follows from its meanings."""

import pytest

from xlrepro.artificial import LANGUAGES, Family, parameters
from xlrepro.data.sentences import Sentence

TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
UD_TAGS = set(TAGS.split())
RELATIONS = (
    "acl advcl advmod amod appos aux case cc ccomp conj cop det discourse flat iobj mark nmod "
    "nsubj nummod obj obl punct root xcomp"
)
UD_RELATIONS = set(RELATIONS.split())
N = 150


@pytest.fixture(scope="module")
def family() -> Family:
    return Family(0)


def ancestors(sentence: Sentence, position: int) -> list[int]:
    """Positions from a word up to the root; longer than the sentence if there is a cycle."""
    path = []
    while position and len(path) <= len(sentence):
        path.append(position)
        position = sentence.heads[position - 1]
    return path


def is_projective(sentence: Sentence) -> bool:
    """Check every word between a word and its head: all are below that head."""
    for position, head in enumerate(sentence.heads, start=1):
        for between in range(min(position, head) + 1, max(position, head)):
            if head and head not in ancestors(sentence, between):
                return False
    return True


@pytest.mark.parametrize("code", LANGUAGES)
def test_heads_form_a_tree_with_one_root(family, code):
    for sentence in family.corpus(code, N):
        assert sentence.heads.count(0) == 1
        root = sentence.heads.index(0) + 1
        for position in range(1, len(sentence) + 1):
            path = ancestors(sentence, position)
            assert len(path) <= len(sentence)
            assert path[-1] == root


@pytest.mark.parametrize("code", LANGUAGES)
def test_trees_are_projective_where_nothing_is_scrambled(family, code):
    crossing = sum(not is_projective(s) for s in family.corpus(code, N))
    share = parameters(code).scrambling
    assert crossing <= share * N + 3 * (share * N) ** 0.5


@pytest.mark.parametrize("code", LANGUAGES)
def test_only_ud_tags_and_relations_are_used(family, code):
    for sentence in family.corpus(code, N):
        assert set(sentence.upos) <= UD_TAGS
        assert set(sentence.deprels) <= UD_RELATIONS
        assert (sentence.deprels[sentence.heads.index(0)]) == "root"


def test_all_tags_but_symbols_and_rest_occur_in_english(family):
    tags = {tag for s in family.corpus("en", 1000) for tag in s.upos}
    assert tags == UD_TAGS - {"SYM", "X"}


@pytest.mark.parametrize("code", LANGUAGES)
def test_bio_tags_start_with_b(family, code):
    for sentence in family.corpus(code, N):
        for layer in (sentence.entities, sentence.slots):
            for previous, tag in zip(("O", *layer), layer):
                if tag.startswith("I-"):
                    assert previous[2:] == tag[2:]


@pytest.mark.parametrize("code", ["en", "la", "ja"])
def test_entities_are_kept_whole(family, code):
    """As many words in each entity, in the same order, as its name has in the meaning."""
    for said in family.realisations(code, 400):
        spans: list[list[str]] = []
        for word in said.words:
            if (word.entity or "").startswith("B-"):
                spans.append([word.sense])
            elif word.entity:
                spans[-1].append(word.sense)
                assert word.head.sense == spans[-1][0]
        names = sum(word.upos == "PROPN" for word in said.words)
        assert names == sum(map(len, spans))


def test_intents_and_slots_come_with_requests(family):
    requests = family.corpus("en", 300, kind="requests")
    assert len({s.intent for s in requests}) == 10
    assert {"B-datetime", "B-contact", "B-location", "B-title"} <= {
        tag for s in requests for tag in s.slots
    }
    for sentence in family.corpus("en", 300, kind="statements"):
        assert set(sentence.slots) == {"O"}
        assert sentence.intent in ("inform", "ask")


def test_requests_can_be_held_to_a_domain(family):
    intents = {s.intent for s in family.corpus("es", 100, kind="requests", domain="navigation")}
    assert intents == {"find_route", "find_place"}


def test_slots_leave_the_adposition_out(family):
    for sentence in family.corpus("en", 300, kind="requests"):
        for upos, slot in zip(sentence.upos, sentence.slots):
            assert upos != "ADP" or slot == "O" or not slot.startswith("B-")


def test_some_words_have_two_parts_of_speech(family):
    """Context must decide for a good share of the words, but not for most."""
    tags: dict[str, set[str]] = {}
    corpus = family.corpus("en", 1000)
    for sentence in corpus:
        for token, upos in zip(sentence.tokens, sentence.upos):
            tags.setdefault(token, set()).add(upos)
    tokens = [token for s in corpus for token in s.tokens]
    share = sum(len(tags[token]) > 1 for token in tokens) / len(tokens)
    assert 0.1 < share < 0.4
