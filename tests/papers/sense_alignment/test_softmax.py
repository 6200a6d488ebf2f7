"""The loss over senses, against explicit loops."""

import math

import pytest
import torch

from xlrepro.papers.sense_alignment.language_model.senses import SenseOutput
from xlrepro.papers.sense_alignment.language_model.settings import SenseSettings, SoftmaxSettings
from xlrepro.papers.sense_alignment.language_model.softmax import Gold, Sampler, columns

WORDS, SLOTS, DIM = 6, 3, 4


def layer(kind="full", **softmax):
    torch.manual_seed(0)
    settings = SenseSettings(
        senses=SLOTS,
        warmup="copied",
        warmup_steps=0,
        projection_dim=2,
        queue=10,
        softmax=SoftmaxSettings(kind=kind, **softmax),
        pruning={"rule": "none"},
    )
    made = SenseOutput(WORDS, DIM, settings).double().eval()
    made.vectors.values.copy_(torch.randn(WORDS * SLOTS, DIM))
    made.on[2, 1] = made.on[4, 0] = False
    made.refresh()
    return made


def batch(tokens=7):
    torch.manual_seed(1)
    states, own = torch.randn(2, tokens, DIM, dtype=torch.double)
    words = torch.randint(WORDS, (tokens,))
    translations = torch.tensor([[-1, -1], [3, 5], [2, -1], [4, 2], [-1, -1], [0, 1], [5, -1]])
    return states, own, words, translations[:tokens]


def loop_loss(made, states, own, words, translations):
    """Eq. 3 to 7 as they are written, one token, word and sense at a time."""
    vectors = made.vectors.values.view(WORDS, SLOTS, DIM)
    centres, matrix = made.centres.centres(), made.projection.matrix

    def cosine(word, sense, state):
        one, other = centres[word, sense] @ matrix, state @ matrix
        return float(one @ other / one.norm() / other.norm())

    losses = []
    for k, word in enumerate(words.tolist()):

        def minus_log(i, s, k=k):
            total = sum(
                math.exp(float(states[k] @ vectors[j, t]))
                for j in range(WORDS)
                for t in range(SLOTS)
                if made.on[j, t]
            )
            return math.log(total) - float(states[k] @ vectors[i, s])

        def best(candidates, k=k):
            there = [(i, s) for i in candidates for s in range(SLOTS) if made.on[i, s]]
            return max(there, key=lambda pair: cosine(*pair, own[k]))

        sense = minus_log(*best([word]))
        others = [t for t in translations[k].tolist() if t >= 0]
        losses.append((sense + minus_log(*best(others))) / 2 if others else sense)
    return sum(losses) / len(losses)


def test_the_full_softmax_is_the_explicit_sum():
    made, given = layer(), batch()
    states, own, words, translations = given
    found = made.loss(states, own, words, [0], translations=translations)
    assert found.item() == pytest.approx(loop_loss(made, *given), abs=1e-12)


@pytest.mark.parametrize("kind", ["full", "sampled"])
def test_with_one_sense_words_and_their_first_translation_are_predicted(kind):
    settings = SenseSettings(senses=1, softmax=SoftmaxSettings(kind=kind, negatives=99))
    made = SenseOutput(WORDS, DIM, settings).double().eval()
    made.vectors.values.normal_(generator=torch.Generator().manual_seed(0))
    states, own, words, translations = batch()
    chances = (states @ made.vectors.values.T).log_softmax(-1)
    explicit = []
    for chance, word, first in zip(chances, words, translations[:, 0], strict=True):
        asked = [word] if first < 0 else [word, first]
        explicit.append(-sum(float(chance[w]) for w in asked) / len(asked))
    found = made.loss(states, own, words, [0], translations=translations)
    assert float(found) == pytest.approx(sum(explicit) / len(explicit), abs=1e-12)


@pytest.mark.parametrize("own_senses", ["sum", "dropped"])
@pytest.mark.parametrize("all_translations", [True, False])
def test_a_sample_of_everything_gives_the_full_softmax(own_senses, all_translations):
    made = layer("sampled", negatives=99, own_senses=own_senses, all_translations=all_translations)
    states, own, words, translations = batch()
    found = made.loss(states, own, words, [0], translations=translations)
    assert float(found) == pytest.approx(loop_loss(made, *batch()), abs=1e-12)


def test_sampled_and_full_gradients_of_sense_vectors_agree_where_all_is_sampled():
    gradients = []
    for kind in ("full", "sampled"):
        made = layer(kind, negatives=99)
        states, own, words, translations = batch()
        made.loss(states, own, words, [0], translations=translations).backward()
        whole = torch.zeros(WORDS * SLOTS, DIM, dtype=torch.double)
        rows = made.sampler().rows
        whole[rows] = made.vectors.gradient
        gradients.append(whole)
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-14)


def test_a_sense_stands_in_a_sum_once():
    gold = Gold(torch.tensor([3, 4]), torch.tensor([3, 5]), torch.tensor([[3, 7], [5, 4]]))
    assert columns(gold).tolist() == [[3, -1, -1, 7], [4, 5, -1, -1]]


@pytest.mark.parametrize("sampler", ["uniform", "log-uniform"])
def test_no_negative_is_switched_off(sampler):
    enabled = torch.rand(40, 3, generator=torch.Generator().manual_seed(0)) < 0.5
    enabled[:, 0] = True
    drawn, _ = Sampler(enabled, SoftmaxSettings(negatives=50, sampler=sampler)).draw([1])
    assert bool(enabled.flatten()[drawn].all())
    if sampler == "uniform":
        assert len(drawn.unique()) == 50


@pytest.mark.parametrize("sampler", ["uniform", "log-uniform"])
def test_a_corrected_sample_estimates_the_full_sum(sampler):
    enabled = torch.ones(50, 2, dtype=torch.bool)
    weights = torch.rand(100, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    settings = SoftmaxSettings(negatives=20, sampler=sampler, corrected=True)
    made, sums = Sampler(enabled, settings), []
    for draw in range(800):
        numbers, correction = made.draw([draw])
        sums.append(float((weights[numbers] * torch.exp(-correction)).sum()))
    assert sum(sums) / len(sums) == pytest.approx(float(weights.sum()), rel=0.03)


@pytest.mark.parametrize("sampler", ["uniform", "log-uniform"])
def test_the_corrected_loss_has_the_full_sum_below_it_on_average(sampler):
    """One token: e to the loss is the sum over the likelihood of its sense."""
    sampled = layer("sampled", negatives=4, sampler=sampler, corrected=True)
    states, own, words, _ = batch(1)
    full = float(layer().loss(states, own, words, [0]).detach().exp())
    losses = [sampled.loss(states, own, words, [draw]).detach() for draw in range(1500)]
    assert float(torch.stack(losses).exp().mean()) == pytest.approx(full, rel=0.05)
