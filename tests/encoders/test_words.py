"""Word vectors from an encoder: checked on a small one of random weights."""

import numpy as np
import pytest
import torch

from tests.encoders import quantised_files
from tests.vectors.open.invented_files import invent
from xlrepro.encoders import pretrained, words
from xlrepro.encoders.pretrained import Encoder, QuantisedFile, write_quantised
from xlrepro.vectors.open import sources

FREQUENT = {"en": ["un", "do", "undo"], "zh": ["我", "们", "我们"]}
TEXT = [["do", "un", "do"], ["Do", "undo"]]  # English; in the Chinese one no frequent word occurs


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    texts = {sources.frequency_path(code): "\n".join(each) for code, each in FREQUENT.items()}
    texts[sources.registered_paths("mono-text/en/")[0]] = "\n".join(map(" ".join, TEXT))
    invent(texts, tmp_path, monkeypatch)
    folder = tmp_path / "small"
    folder.mkdir()
    write_quantised(QuantisedFile(quantised_files.write(tmp_path / "small.bin")), folder)
    model = pretrained.quiet_transformers().AutoModel.from_pretrained(folder).eval()
    return words.WordStates(Encoder("small", model, pretrained.subwords_of(folder)))


def by_hand(vectors, *line):
    """The mean state of each word's subwords but a bare marker, from one pass for one line."""
    encoder = vectors._encoder
    numbers = [encoder.subwords.numbers(word) for word in line]
    with torch.no_grad():
        ids = torch.tensor([[0, *(number for word in numbers for number in word), 2]])
        states = list(encoder(ids)[0, 1:-1].numpy())
    means = []
    for word in numbers:
        own = [states.pop(0) for _ in word]
        spelt = [encoder.subwords.engine.id_to_token(number) for number in word]
        means.append(np.mean([s for s, p in zip(own, spelt, strict=True) if p != "▁"], 0))
    return means


def in_text(vectors):
    """What each English word should have; one in capitals that do not occur: from all of it."""
    do, un, again = by_hand(vectors, *TEXT[0])
    capital, undo = by_hand(vectors, *TEXT[1])
    anyhow = (do + again + capital) / 3
    return {"un": un, "do": (do + again) / 2, "undo": undo, "Do": capital, "DO": anyhow}


def test_a_vector_is_the_centred_mean_over_its_occurrences(vectors, monkeypatch):
    monkeypatch.setattr(vectors, "_says_something", lambda word: True)  # it knows no capitals
    states = in_text(vectors)
    frequent = [states[word] for word in FREQUENT["en"]]
    mean, spread = np.mean(frequent, 0), np.std(frequent, 0)
    asked = ["undo", "do", "Do", "DO", "un"]
    found, kinds = vectors.lookup("en", asked)
    expected = [(states[w] - mean) / spread for w in asked]
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.1)  # kept as halves
    assert kinds.tolist() == [1] * 5


def test_a_word_that_does_not_occur_stands_alone_and_is_centred_on_words_that_do(vectors):
    spread = np.std([in_text(vectors)[word] for word in FREQUENT["en"]], 0)
    for code, word in (("zh", "我们"), ("zh", "undo"), ("en", "doun")):
        apart = np.mean([by_hand(vectors, each)[0] for each in FREQUENT[code]], 0)
        found, kinds = vectors.lookup(code, [word])
        expected = (by_hand(vectors, word)[0] - apart) / spread
        np.testing.assert_allclose(found[0], expected, rtol=0.02, atol=0.1)
        assert kinds.tolist() == [1]


def test_a_line_of_words_read_often_enough_is_left_out():
    text = [["a", "b"], ["a"], ["b", "a"], ["a", "c"], ["d"], ["e"]]
    assert list(words.chosen(iter(text), words=7, most=2)) == text[:4]
    found = list(words.chosen(iter(text), words=99, most=1))
    assert found == [["a", "b"], ["a", "c"], ["d"], ["e"]]


def test_the_vocabulary_is_centred_and_unknown_signs_have_the_zero_vector(vectors):
    assert list(vectors.words("zh")) == FREQUENT["zh"]
    np.testing.assert_allclose(vectors.matrix("zh").mean(0), 0, atol=1e-3)
    found, kinds = vectors.lookup("en", ["☃", "undo"])
    assert kinds.tolist() == [0, 1]
    assert not found[0].any()
    assert found[1].any()
