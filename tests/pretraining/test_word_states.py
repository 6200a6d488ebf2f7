"""Word vectors from a released encoder: checked on a tiny one of random weights."""

import numpy as np
import pytest
import torch

from tests.pretraining import quantised_files
from xlrepro.pretraining import released, word_states
from xlrepro.pretraining.pieces import unigram
from xlrepro.pretraining.quantised import QuantisedFile
from xlrepro.tasks.source import Source

FREQUENT = {"en": ["un", "do", "undo"], "zh": ["我", "们", "我们"]}


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr(word_states, "frequent_words", FREQUENT.__getitem__)
    file = QuantisedFile(quantised_files.write(tmp_path / "small.bin"))
    network = released.quantised_network(file)
    tokenizer = unigram(file.pieces, 3, file.normaliser)
    encoder = released.ReleasedEncoder("tiny", network, tokenizer, 0, 2, 1, 3, 12)
    return word_states.WordStates(encoder, "tiny", 1)


def by_hand(vectors, word):
    """The mean state of a word's pieces but a bare marker, from one pass for one word."""
    encoder = vectors._encoder
    numbers = encoder.tokenizer.numbers(word)
    ids = torch.tensor([[0, *numbers, 2]])
    with torch.no_grad():
        states = encoder.network.hidden_states(ids, layers=1)[-1][0, 1:-1].numpy()
    pieces = [encoder.tokenizer.piece(number) for number in numbers]
    return states[[piece != "▁" for piece in pieces]].mean(0)


def test_a_vector_is_the_centred_mean_of_its_pieces(vectors):
    means = {code: np.mean([by_hand(vectors, w) for w in FREQUENT[code]], 0) for code in FREQUENT}
    spread = np.std([by_hand(vectors, w) for w in FREQUENT["en"]], 0)
    found, kinds = vectors.lookup("zh", ["我们", "undo", "我们"])
    expected = [(by_hand(vectors, w) - means["zh"]) / spread for w in ("我们", "undo", "我们")]
    np.testing.assert_allclose(found, expected, rtol=0.01, atol=0.05)  # kept as halves
    assert kinds.tolist() == [1, 1, 1]


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
