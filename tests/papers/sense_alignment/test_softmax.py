"""The loss over senses, against explicit loops."""

import math

import pytest
import torch
from torch import nn

from xlrepro.papers.sense_alignment.senses import SenseOutput
from xlrepro.papers.sense_alignment.settings import SenseSettings
from xlrepro.papers.sense_alignment.softmax import RowTable

WORDS, SLOTS, DIM = 6, 3, 4


def layer(negatives=None):
    torch.manual_seed(0)
    more = {"warmup": "copied", "warmup_steps": 0, "projection_dim": 2, "queue": 10}
    settings = SenseSettings(senses=SLOTS, negatives=negatives, **more)
    made = SenseOutput(WORDS, DIM, settings, "adagrad").double().eval()
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
    centres, matrix = made.centres.values, made.projection.matrix

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


@pytest.mark.parametrize("negatives", [None, 99])  # all senses, or a sample of all
def test_the_full_softmax_is_the_explicit_sum(negatives):
    made, given = layer(negatives), batch()
    states, own, words, translations = given
    found = made.loss(states, own, words, [0], translations=translations)
    assert found.item() == pytest.approx(loop_loss(made, *given), abs=1e-12)


@pytest.mark.parametrize("negatives", [None, 99])
def test_with_one_sense_words_and_their_first_translation_are_predicted(negatives):
    settings = SenseSettings(senses=1, negatives=negatives)
    made = SenseOutput(WORDS, DIM, settings, "adagrad").double().eval()
    made.vectors.values.normal_(generator=torch.Generator().manual_seed(0))
    states, own, words, translations = batch()
    chances = (states @ made.vectors.values.T).log_softmax(-1)
    explicit = []
    for chance, word, first in zip(chances, words, translations[:, 0], strict=True):
        asked = [word] if first < 0 else [word, first]
        explicit.append(-sum(float(chance[w]) for w in asked) / len(asked))
    found = made.loss(states, own, words, [0], translations=translations)
    assert float(found) == pytest.approx(sum(explicit) / len(explicit), abs=1e-12)


def test_a_sum_has_the_drawn_senses_and_those_of_the_words_own():
    """By hand, one token at a time; a negative that is the token's own counts once."""
    made = layer(negatives=4)
    states, own, words, _ = batch()
    drawn = set(made.negatives([0]).tolist())
    senses = made.choose(words, own).tolist()
    losses = []
    for k, word in enumerate(words.tolist()):
        alive = {word * SLOTS + s for s in range(SLOTS) if made.on[word, s]}
        scores = made.vectors.values[sorted(drawn | alive)] @ states[k]
        right = made.vectors.values[word * SLOTS + senses[k]] @ states[k]
        losses.append(float(scores.logsumexp(0) - right))
    assert any(n // SLOTS in words for n in drawn)
    found = made.loss(states, own, words, [0])
    assert float(found) == pytest.approx(sum(losses) / len(losses), abs=1e-12)


def test_negatives_are_distinct_and_none_is_switched_off():
    made = layer(negatives=14)
    drawn = made.negatives([1])
    assert bool(made.on.flatten()[drawn].all())
    assert len(drawn.unique()) == 14


@pytest.mark.parametrize(("kind", "used"), [("adagrad", 6), ("adamw", 6), ("adagrad", 3)])
def test_rows_are_trained_as_by_torch(kind, used):
    """By Adagrad those that are used; by AdamW where all are."""
    torch.manual_seed(0)
    values = torch.randn(6, 3, dtype=torch.double)
    table, weight = RowTable(values.clone(), kind), nn.Parameter(values.clone())
    theirs = (
        torch.optim.Adagrad([weight], lr=0.1, initial_accumulator_value=1.0)
        if kind == "adagrad"
        else torch.optim.AdamW([weight], lr=0.1, weight_decay=0.01)
    )
    for step in range(10):
        rows, target = torch.randperm(6)[:used], torch.randn(used, 3, dtype=torch.double)
        (table.take(rows) - target).pow(2).sum().backward()
        table.step(0.1)
        theirs.zero_grad()
        (weight[rows] - target).pow(2).sum().backward()
        theirs.step()
        torch.testing.assert_close(table.values, weight.data, rtol=0, atol=1e-12, msg=str(step))
