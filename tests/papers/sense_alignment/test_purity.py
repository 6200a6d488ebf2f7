"""How many senses are alive and in use, and how pure they are."""

from types import SimpleNamespace

import pytest
import torch

from tests.papers.sense_alignment.small_models import model_of
from xlrepro.papers.sense_alignment import purity, text, training
from xlrepro.papers.sense_alignment.network import BiLM
from xlrepro.trials import TrialContext


def test_purity_of_a_hand_made_example():
    uses = {"bank": [(0, "a"), (0, "b"), (1, "b"), (1, "b")], "may": [(0, "c"), (1, "d")]}
    found = purity.purities(uses)
    assert found["purity"] == pytest.approx(100 * (1 + 2 + 1 + 1) / 6)
    assert found["majority sense"] == pytest.approx(100 * (3 + 1) / 6)
    assert found["purity of senses dealt out"] <= 100


def test_a_seed_of_tables_2_and_6_to_8_and_of_the_figures_is_the_language_models(monkeypatch):
    monkeypatch.setattr(training, "load", lambda settings, *_: settings.seed)
    chosen = model_of("table2 wsd:ELMo")
    assert training.of_trial(chosen, SimpleNamespace(seed=5), TrialContext()) == 5


def test_a_berts_senses_are_chosen_where_the_word_itself_is_hidden():
    model = training.load(model_of("table2 wsd:SaBERT-Tiny"), ("en",))
    before, word, behind, *others = model.vocabulary[4:9]

    def states(places, *words):
        ((_, found),) = purity.choosing_states(model, [words], [places])
        return found[0]

    hidden = states([1], before, word, behind)
    assert torch.equal(hidden, states([1], before, others[0], behind))
    assert not torch.equal(hidden, states([1], others[0], word, behind))
    first = states([0], before, word, behind), states([0], before, others[0], behind)
    assert not torch.equal(*first)
    several = states([2, 1], before, word, behind)
    torch.testing.assert_close(several[1], hidden[0], rtol=0, atol=1e-13)


def test_a_bilms_senses_are_chosen_by_each_directions_own_half_of_the_top_states():
    model = training.load(model_of("table2 wsd:SaELMo"), ("en",))
    sentences = [["a", "b"], [], ["c", "a", "b"]]
    whole = dict(model.states(sentences[:1] + sentences[2:]))
    found = dict(purity.choosing_states(model, sentences, [[1], [], [0, 2]]))
    assert sorted(found) == [0, 2]
    for number, k, places in ((0, 0, [1]), (2, 1, [0, 2])):
        for half, states in zip(whole[k][-1].chunk(2, -1), found[number], strict=True):
            torch.testing.assert_close(states, half[places], rtol=0, atol=1e-13)


@pytest.mark.parametrize(("times", "share"), [(purity.FEWEST_USES, 70.0), (9, 62.5)])
def test_uses_are_counted_per_word_and_direction(monkeypatch, times, share):
    """The state is the sense: of "a" 3 of 4 choose the top one forward, 2 of 4 backward; "b" is
    used a quarter as often, and counts in one case alone.
    """
    sentences = [["a", "b", "?"], ["a"], ["a", "a"]] * times
    senses = [[[0, 0], [0, 0], [5, 5]], [[0, 1]], [[0, 0], [1, 1]]] * times  # both directions'
    part = SimpleNamespace(choose=lambda words, top: top[:, 0])
    model = SimpleNamespace(
        numbers={"a": 0, "b": 1},
        parts=[part, part],
        languages=("en",),
        settings=SimpleNamespace(joint=False, text=None),
        encoder=BiLM.__new__(BiLM),
        states=lambda asked: ((k, torch.tensor([senses[k]])) for k in range(len(asked))),
    )
    monkeypatch.setattr(text, "training_sentences", lambda *_: sentences)
    assert purity.top_share(model) == pytest.approx(share)


def test_the_share_of_own_senses_is_of_those_that_a_word_has_left():
    """Of word 0 the two senses lie together, of word 1 apart; word 2 has one sense left."""
    angles = torch.tensor([[0.0, 0.1], [1.0, 3.0], [1.05, 9.0]], dtype=torch.double)
    part = SimpleNamespace(
        vectors=SimpleNamespace(values=torch.stack((angles.cos(), angles.sin()), -1).flatten(0, 1)),
        on=torch.tensor([[True, True], [True, True], [True, False]]),
    )
    model = SimpleNamespace(vocabulary=["near", "apart", "one"], parts=[part])
    owns = {w: [s["own"] for s in purity.neighbours(model, w, 1)] for w in model.vocabulary}
    assert owns == {"near": [1.0, 1.0], "apart": [0.0, 0.0], "one": [None]}
    assert purity.neighbours(model, "unheard", 1) == []
