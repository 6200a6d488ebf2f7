"""Word vectors from a released encoder: checked on a tiny one of random weights."""

from functools import partial

import numpy as np
import pytest
import torch

from tests.pretraining import quantised_files
from xlrepro.data import registry
from xlrepro.data.readers.conllu import read_conllu
from xlrepro.pretraining import released, word_states
from xlrepro.pretraining.occurrences import _chosen
from xlrepro.pretraining.pieces import unigram
from xlrepro.pretraining.quantised import QuantisedFile
from xlrepro.pretraining.text import open_lines
from xlrepro.tasks.source import Source

FREQUENT = {"en": ["un", "do", "undo"], "zh": ["我", "们", "我们"]}
TEXT = {"en": [["do", "un", "do"], ["Do", "undo"]], "zh": []}


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr(word_states, "frequent_words", FREQUENT.__getitem__)
    monkeypatch.setattr(word_states, "open_lines", lines_of)
    monkeypatch.setattr(word_states, "word_states_recipe", lambda code: {"text": TEXT[code]})
    file = QuantisedFile(quantised_files.write(tmp_path / "small.bin"))
    network = released.quantised_network(file)
    tokenizer = unigram(file.pieces, 3, file.normaliser)
    encoder = released.ReleasedEncoder("tiny", network, tokenizer, 0, 2, 1, 3, 12)
    return word_states.WordStates(encoder, "tiny", 1)


def lines_of(language, seed):
    return (partial(list, line) for line in TEXT[language])


def by_hand(vectors, *line):
    """The mean state of each word's pieces but a bare marker, from one pass for one line."""
    encoder = vectors._encoder
    numbers = [encoder.tokenizer.numbers(word) for word in line]
    ids = torch.tensor([[0, *(number for word in numbers for number in word), 2]])
    with torch.no_grad():
        states = list(encoder.network.hidden_states(ids, layers=1)[-1][0, 1:-1].numpy())
    means = []
    for word in numbers:
        own = [states.pop(0) for _ in word]
        pieces = [encoder.tokenizer.piece(number) for number in word]
        means.append(np.mean([s for s, p in zip(own, pieces, strict=True) if p != "▁"], 0))
    return means


def in_text(vectors):
    """What each English word should have; a word in capitals that do not occur: from all of it."""
    do, un, again = by_hand(vectors, *TEXT["en"][0])
    capital, undo = by_hand(vectors, *TEXT["en"][1])
    anyhow = (do + again + capital) / 3
    return {"un": un, "do": (do + again) / 2, "undo": undo, "Do": capital, "DO": anyhow}


def test_a_vector_is_the_centred_mean_over_its_occurrences(vectors, monkeypatch):
    monkeypatch.setattr(vectors, "_says_something", lambda word: True)  # it knows no capitals
    states = in_text(vectors)
    mean = np.mean([states[word] for word in FREQUENT["en"]], 0)
    spread = np.std([states[word] for word in FREQUENT["en"]], 0)
    found, kinds = vectors.lookup("en", ["undo", "do", "Do", "DO", "un"])
    expected = [(states[w] - mean) / spread for w in ("undo", "do", "Do", "DO", "un")]
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.1)  # kept as halves
    assert kinds.tolist() == [1] * 5


def test_a_word_that_does_not_occur_stands_alone_and_is_centred_on_words_that_do(vectors):
    states = in_text(vectors)
    spread = np.std([states[word] for word in FREQUENT["en"]], 0)
    for code, word in (("zh", "我们"), ("zh", "undo"), ("en", "doun")):
        apart = np.mean([by_hand(vectors, each)[0] for each in FREQUENT[code]], 0)
        found, kinds = vectors.lookup(code, [word])
        expected = (by_hand(vectors, word)[0] - apart) / spread
        np.testing.assert_allclose(found[0], expected, rtol=0.02, atol=0.1)
        assert kinds.tolist() == [1]


def test_a_line_of_words_read_often_enough_is_left_out():
    text = [["a", "b"], ["a"], ["b", "a"], ["a", "c"], ["d"], ["e"]]
    lines = list(_chosen(iter(partial(list, line) for line in text), words=7, most=2))
    assert lines == [["a", "b"], ["a"], ["b", "a"], ["a", "c"]]
    lines = list(_chosen(iter(partial(list, line) for line in text), words=99, most=1))
    assert lines == [["a", "b"], ["a", "c"], ["d"], ["e"]]


def test_the_vocabulary_is_centred(vectors):
    assert list(vectors.words("zh")) == FREQUENT["zh"]
    assert vectors.matrix("zh").shape == (3, vectors.dim)
    np.testing.assert_allclose(vectors.matrix("zh").mean(0), 0, atol=1e-3)


def test_a_word_of_unknown_signs_has_the_zero_vector(vectors):
    found, kinds = vectors.lookup("en", ["☃", "undo"])
    assert kinds.tolist() == [0, 1]
    assert not found[0].any()
    assert found[1].any()


def test_a_source_names_them_by_their_recipe():
    source = Source("ud-r2.2", "POS", ("en", "de"), "encoder")
    other = Source("ud-r2.2", "POS", ("en", "de"), "dictionary")
    (key,) = set(source.hashes([("en", "dev")])) - set(other.hashes([("en", "dev")]))
    assert key == "vectors/encoder"


def letters(words):
    """A sentence without case, spaces and punctuation."""
    return "".join(sign for word in words for sign in word.lower() if sign.isalnum())


@pytest.mark.mirror
@pytest.mark.parametrize("language", ["ar", "hi"])
def test_no_sentence_that_tags_are_tested_on_is_a_line_of_the_text(language):
    lines = {letters(read()) for read in open_lines(language, 0)}
    tested = read_conllu(registry.fetch("ud-r2.2", f"{language}/test", progress=False))
    sentences = {letters(sentence.tokens) for sentence in tested}
    assert len(sentences) > 900
    assert not sentences & lines
