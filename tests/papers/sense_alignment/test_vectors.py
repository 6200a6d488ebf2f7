"""Contextual vectors of words, and the projection between languages."""

import numpy as np
import pytest
import torch

from tests.papers.sense_alignment.small_models import model_of
from xlrepro.errors import DataError
from xlrepro.papers.sense_alignment import text, training, vectors

ELMO = model_of("table2 wsd:ELMo")
SENTENCES = [["a", "b", "c"], ["b"], ["c", "a", "b", "a"]]


def states_of(model, sentences):
    """States of all sentences, in their order."""
    found = dict(model.states(sentences))
    return [found[i] for i in range(len(sentences))]


def test_a_sentence_has_the_same_vectors_alone_and_beside_others():
    model = training.load(ELMO, ("en",))
    together = states_of(model, SENTENCES)
    for sentence, states in zip(SENTENCES, together, strict=True):
        (alone,) = states_of(model, [sentence])
        assert states.shape == (3, len(sentence), 32)
        torch.testing.assert_close(states, alone, rtol=0, atol=1e-13)


def test_a_bert_reads_a_long_sentence_in_pieces():
    model = training.load(model_of("table2 wsd:BERT-Tiny"), ("en",))
    (states,) = states_of(model, [["a"] * 50])
    assert states.shape == (1, 50, 16)


def test_kept_vectors_are_those_computed_and_are_computed_once(monkeypatch):
    found = vectors.kept(ELMO, ("en",), SENTENCES, "mean")
    model = training.load(ELMO, ("en",))
    for kept, states in zip(found, states_of(model, SENTENCES), strict=True):
        assert torch.equal(kept, states.mean(0))
    monkeypatch.delattr(training.LanguageModel, "states")
    again = vectors.kept(ELMO, ("en",), SENTENCES, "mean")
    assert all(torch.equal(a, b) for a, b in zip(found, again))


def test_vectors_kept_in_half_precision_are_the_same_to_three_digits():
    whole, halves = (vectors.kept(ELMO, ("en",), SENTENCES, "mean", half=h) for h in (False, True))
    for one, other in zip(whole, halves, strict=True):
        assert (one.dtype, other.dtype) == (torch.double, torch.half)
        torch.testing.assert_close(other.double(), one, rtol=1e-3, atol=1e-6)


def test_w_is_applied_to_each_layer_before_the_mean():
    states = torch.randn(2, 3, 4)
    maps = torch.randn(2, 4, 4)
    found = vectors.mixed(states, "mean", maps)
    expected = (states[0] @ maps[0].T + states[1] @ maps[1].T) / 2
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("kind", ["least-squares", "orthogonal"])
def test_the_projection_finds_the_rotation_between_two_languages(kind):
    torch.manual_seed(0)
    rotation = torch.linalg.qr(torch.randn(2, 5, 5, dtype=torch.double)).Q
    source = {f"s{i}": torch.randn(2, 5, dtype=torch.double) for i in range(20)}
    target = {f"t{i}": torch.einsum("kde,kd->ke", rotation, source[f"s{i}"]) for i in range(20)}
    pairs = [(f"s{i}", f"t{i}") for i in range(20)] + [("s1", "missing")]
    found = vectors.fitted(target, source, pairs, kind)
    torch.testing.assert_close(found, rotation, rtol=0, atol=1e-10)


def test_words_of_both_languages_are_pairs_of_themselves():
    both = {w: torch.randn(1, 2, dtype=torch.double) for w in ("a", "b", "c")}
    found = vectors.fitted(both, both, [], "least-squares")
    torch.testing.assert_close(found[0], torch.eye(2, dtype=torch.double), rtol=0, atol=1e-12)
    with pytest.raises(DataError, match="no pair"):
        vectors.fitted(both, {"x": both["a"]}, [], "orthogonal")


def test_an_anchor_is_the_mean_of_a_words_vectors():
    model = training.load(ELMO, ("en",))
    states = states_of(model, SENTENCES)
    found = vectors.anchors(model, SENTENCES)
    every = [states[0][:, 0], states[2][:, 1], states[2][:, 3]]
    torch.testing.assert_close(found["a"], torch.stack(every).mean(0), rtol=0, atol=1e-13)


def test_w_is_the_least_squares_map_of_the_target_languages_anchors():
    both = model_of("table3 main:Bi-SaELMo")
    found = vectors.projection(both, "de", 40, "least-squares", "cpu")
    model = training.load(both, ("en", "de"))
    english, german = (
        vectors.anchors(model, text.training_sentences(code, both.text, False, 40))
        for code in ("en", "de")
    )
    pairs = dict.fromkeys(text.seed_dictionary(both.text, "de"))
    pairs |= dict.fromkeys((word, word) for word in english)
    known = [(a, b) for a, b in pairs if a in english and b in german]
    for layer in range(len(found)):
        wanted, given = (
            torch.stack([anchor[word][layer] for word in words]).numpy()
            for anchor, words in zip((english, german), zip(*known, strict=True), strict=True)
        )
        expected = np.linalg.lstsq(given, wanted, rcond=None)[0].T
        assert np.abs(given @ (found[layer].numpy() - expected).T).max() < 1e-8
