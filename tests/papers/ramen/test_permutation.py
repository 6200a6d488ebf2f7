"""English under a permutation of its pieces: the strongest test of the whole line.

A language whose pieces are English's under other numbers, aligned one to one without noise, must
give back English's scores exactly before any update: through alignment, initialisation (Eq. 1 and
2), the bilingual model, frozen states, the parser and the classifier.
"""

import numpy as np
import pytest
import torch

from xlrepro.nn.bert import BertSizes, MaskedLanguageModel
from xlrepro.papers.ramen.data import labelled
from xlrepro.papers.ramen.encoders.pieces import Special, learnt
from xlrepro.papers.ramen.heads import InferenceHead, PairStates, ParsingHead, fit
from xlrepro.papers.ramen.model import BilingualModel
from xlrepro.papers.ramen.reading import Reader
from xlrepro.papers.ramen.settings import HeadSettings
from xlrepro.papers.ramen.stages import alignment, initialisation

HEAD = HeadSettings(
    hidden=8, relation_hidden=8, learning_rate=0.02, epochs=2, patience=2, batch_size=8
)
OTHER = "xx"


@pytest.fixture(scope="module")
def pieces():
    lines = [s.tokens for s in labelled.trees("artificial", "en", "train", 60)]
    return learnt(lines, 300, 200)


@pytest.fixture(scope="module")
def order(pieces):
    """English number to number in the other language; special pieces move too."""
    return np.random.default_rng(0).permutation(pieces.size)


@pytest.fixture(scope="module")
def english(pieces):
    torch.manual_seed(0)
    model = MaskedLanguageModel(BertSizes(pieces.size, 16, 2, 2, 32, 96, dropout=0.0))
    torch.nn.init.normal_(model.bias)
    torch.nn.init.normal_(model.bert.pieces.weight)
    return BilingualModel(model.double().eval())


def with_other(english, weights):
    side = english.side("en")
    begin = initialisation.start(
        weights,
        side.pieces.weight.detach().numpy(),
        side.bias.detach().numpy(),
        "code",
        np.random.default_rng(0),
    )
    assert begin.estimated.all()
    english.add(OTHER, torch.from_numpy(begin.embeddings), torch.from_numpy(begin.bias))
    return english.eval()


@pytest.fixture
def permuted(english, pieces, order):
    pairs = [([n], [int(order[n])]) for n in range(pieces.size)] * 2
    counts = alignment.link_counts(pairs, pieces.size, pieces.size)
    special = {int(order[n]): n for n in pieces.special[:5]}
    weights = initialisation.with_special(initialisation.parallel_weights(counts), special)
    return with_other(english, weights)


def reader_on(model, pieces, order):
    plain = pieces.special
    moved = Special(*(int(order[n]) for n in plain[:5]), 0)

    def numbers(language):
        if language == "en":
            return pieces.numbers
        return lambda word: [int(order[n]) for n in pieces.numbers(word)]

    return Reader(
        identity=lambda language: "permutation",
        network=model.in_language,
        numbers=numbers,
        begin=lambda language: (plain if language == "en" else moved).begin,
        end=lambda language: (plain if language == "en" else moved).end,
        first=lambda found: 0,
    )


@pytest.fixture
def reader(permuted, pieces, order, tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    return reader_on(permuted, pieces, order)


def test_scores_of_hidden_pieces_are_english_ones_under_the_permutation(permuted, order):
    ids = torch.randint(5, len(order), (4, 20))
    hidden = torch.rand(4, 20) < 0.3
    with torch.inference_mode():
        own = permuted("en", ids, hidden)
        other = permuted(OTHER, torch.from_numpy(order)[ids], hidden)
    assert torch.equal(other[:, torch.from_numpy(order)], own)


def test_a_parser_scores_exactly_as_on_english(reader):
    train = labelled.trees("artificial", "en", "train", 24)
    test = labelled.trees("artificial", "en", "test", 12)
    states = {
        (language, name): reader.words(language, [s.tokens for s in found], None)
        for language in ("en", OTHER)
        for name, found in (("train", train), ("test", test))
    }
    assert np.array_equal(states["en", "test"].rows, states[OTHER, "test"].rows)
    head = ParsingHead(states["en", "train"], train, HEAD, "double", 0, "cpu")
    dev = lambda: head.score(states["en", "train"], train).las  # noqa: E731
    fit(head.parser, len(train), head.loss, dev, HEAD, 0, lambda done, text: None)
    assert head.score(states[OTHER, "test"], test) == head.score(states["en", "test"], test)


def test_a_classifier_scores_exactly_as_on_english(reader):
    pairs = labelled.inference("artificial", "en", "train", 40)

    def states(language):
        premises = reader.texts(language, [p.premise for p in pairs], None)
        hypotheses = reader.texts(language, [p.hypothesis for p in pairs], None)
        return PairStates(premises, hypotheses, [p.label for p in pairs])

    own, other = states("en"), states(OTHER)
    assert np.array_equal(own.premises, other.premises)
    head = InferenceHead(own, HEAD, "double", 0, "cpu")
    fit(head.classifier, 40, head.loss, lambda: head.score(own), HEAD, 0, lambda done, text: None)
    assert head.score(other) == head.score(own)


@pytest.fixture
def of_vectors(pieces, order):
    """Eq. 3 on the same vectors under both numbers: sparsemax of cosines is not one-hot."""
    vectors = np.random.default_rng(1).normal(size=(pieces.size, 50))
    foreign = np.empty_like(vectors)
    foreign[order] = vectors
    return initialisation.mono_weights(foreign, vectors)


def test_with_vectors_the_points_that_a_parser_loses_are_told(
    english, of_vectors, pieces, order, tmp_path, monkeypatch, record_property
):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    reader = reader_on(with_other(english, of_vectors), pieces, order)
    trees = labelled.trees("artificial", "en", "train", 24)
    own, other = (
        reader.words(language, [s.tokens for s in trees], None) for language in ("en", OTHER)
    )
    head = ParsingHead(own, trees, HEAD, "double", 0, "cpu")
    longer = HEAD.model_copy(update={"epochs": 25, "patience": 25})
    las = lambda: head.score(own, trees).las  # noqa: E731
    fit(head.parser, len(trees), head.loss, las, longer, 0, lambda done, text: None)
    lost = las() - head.score(other, trees).las
    record_property("LAS lost with vectors instead of noise-free alignment", round(lost, 2))
    assert 0 < lost < las() / 2


def test_with_vectors_the_largest_weight_is_the_right_piece_and_states_stay_near(
    english, of_vectors, order, record_property
):
    weights = of_vectors
    np.testing.assert_array_equal(
        np.asarray(weights.argmax(axis=1)).ravel()[order], np.arange(len(order))
    )
    model = with_other(english, weights)
    ids = torch.randint(5, len(order), (20, 20))
    with torch.inference_mode():
        own = model.in_language("en")(ids)
        other = model.in_language(OTHER)(torch.from_numpy(order)[ids])
    near = torch.nn.functional.cosine_similarity(own, other, dim=-1).mean()
    record_property("mean cosine of states, vectors instead of alignment", float(near))
    assert near > 0.9
