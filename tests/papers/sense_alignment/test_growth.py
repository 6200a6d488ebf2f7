"""How many of a word's uses choose its top sense."""

from types import SimpleNamespace

import pytest
import torch

from xlrepro.papers.sense_alignment import growth, purity
from xlrepro.papers.sense_alignment.pretraining import text


@pytest.mark.parametrize(("fewest", "share"), [(1, 70.0), (2, 62.5)])
def test_uses_are_counted_per_word_and_direction(monkeypatch, fewest, share):
    """The state is the sense: of "a" 3 of 4 choose the top one forward, 2 of 4 backward; "b" is
    used once.
    """
    sentences = [["a", "b", "?"], ["a"], ["a", "a"]]
    forward, backward = iter([0, 0, 0, 0, 1]), iter([0, 0, 1, 0, 1])
    states = [
        torch.tensor([[next(forward), next(backward)] for word in sentence if word != "?"])
        for sentence in sentences
    ]
    part = SimpleNamespace(choose=lambda words, top: top[:, 0])
    model = SimpleNamespace(
        vocabulary=["a", "b"],
        parts=[part, part],
        settings=SimpleNamespace(languages=["en"], text=None),
    )
    monkeypatch.setattr(growth, "FEWEST_USES", fewest)
    monkeypatch.setattr(text, "split", lambda *_: (sentences, []))
    monkeypatch.setattr(
        purity, "choosing_states", lambda *_: [lambda places, s=s: s[places] for s in states]
    )
    assert growth.top_share(model) == pytest.approx(share)
