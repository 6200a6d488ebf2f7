"""Classifiers of texts and of pairs, on features."""

import numpy as np
import pytest
import torch

from xlrepro.tasks import classification
from xlrepro.tasks.classification import Examples
from xlrepro.training.settings import HeadSettings

SETTINGS = HeadSettings(hidden_dim=8, dropout=0.0, learning_rate=0.02, epochs=12)


def texts(count, seed):
    """Vectors whose class is the sign of their first entry."""
    random = np.random.default_rng(seed)
    x = torch.from_numpy(random.normal(size=(count, 4)))
    return Examples((list(x),), (x[:, 0] > 0).long())


def pairs(count, seed):
    """Pairs of sequences of a repeated sign; their class is whether both have the same one."""
    random = np.random.default_rng(seed)
    signs = random.choice([-1.0, 1.0], (count, 2))
    parts = tuple(
        [
            torch.from_numpy(sign + 0.1 * random.normal(size=(random.integers(1, 5), 3)))
            for sign in column
        ]
        for column in signs.T
    )
    return Examples(parts, torch.from_numpy(signs[:, 0] == signs[:, 1]).long())


@pytest.mark.parametrize("make", [texts, pairs])
def test_what_can_be_learnt_is_learnt_and_the_same_seed_learns_the_same(make):
    sets = make(200, 0), make(60, 1)
    model, fit = classification.train(*sets, 2, SETTINGS, seed=0)
    new = make(100, 2)
    right = torch.tensor(classification.predicted(model, new)) == new.labels
    assert float(right.double().mean()) > 0.9
    assert fit.dev_scores[fit.best_epoch] == max(fit.dev_scores)
    again, other = classification.train(*sets, 2, SETTINGS, seed=0)
    assert other.losses == fit.losses
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters()))


def test_the_seed_decides_initial_weights_and_the_order_of_the_batches(monkeypatch):
    monkeypatch.setattr(classification, "fit", lambda learner, *of: [*learner.batches(0)])
    (model, order), (another, other) = (
        classification.train(texts(100, 0), texts(9, 1), 2, SETTINGS, seed=seed) for seed in (1, 2)
    )
    assert order != other
    assert not all(map(torch.equal, model.parameters(), another.parameters()))


def test_features_are_standardised_by_their_spread():
    given = texts(3, 0)
    some = Examples(given.parts, given.labels, (torch.tensor(1.0), torch.tensor(2.0)))
    (x,) = classification._batch(some, [2, 0], "cpu").parts
    torch.testing.assert_close(x, (torch.stack(given.parts[0])[[2, 0]] - 1) / 2)


def test_padding_does_not_change_a_prediction():
    model, _ = classification.train(pairs(40, 0), pairs(10, 1), 2, SETTINGS, seed=0)
    many = pairs(30, 3)
    scores = []
    for rows in ([4], list(range(30))):
        batch = classification._batch(many, rows, "cpu")
        scores.append(model(batch.parts, batch.masks)[rows.index(4)].detach())
    torch.testing.assert_close(*scores, rtol=0, atol=1e-12)


def test_a_pair_is_combined_as_in_the_baseline():
    """Oracle: the equation, with the encoder's own states."""
    torch.manual_seed(0)
    model = classification.PairClassifier(3, 2, 8, 0.0).double().eval()
    one, other = (x[0] for x in pairs(1, 5).parts)

    def mean(x):
        mask = torch.ones(1, len(x), dtype=torch.bool)
        return model.encoder(x[None], mask)[0].mean(0)

    p, h = mean(one), mean(other)
    expected = model.head([torch.cat((p, h, p - h, p * h))[None]])
    masks = [torch.ones(1, len(x), dtype=torch.bool) for x in (one, other)]
    found = model([one[None], other[None]], masks)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
