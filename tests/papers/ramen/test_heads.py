"""Relations as the parsing head learns and scores them."""

import numpy as np
import pytest

from xlrepro.data.sentences import Sentence
from xlrepro.papers.ramen.heads import ParsingHead
from xlrepro.papers.ramen.reading import States
from xlrepro.papers.ramen.settings import HeadSettings

SENTENCE = Sentence(
    tokens=("she", "was", "seen"), heads=(3, 3, 0), deprels=("nsubj:pass", "aux:pass", "root")
)


@pytest.mark.parametrize(
    ("subtypes", "relations"),
    [(False, ["aux", "nsubj", "root"]), (True, ["aux:pass", "nsubj:pass", "root"])],
)
def test_relations_lose_their_subtypes_unless_the_setting_keeps_them(subtypes, relations):
    settings = HeadSettings(
        hidden=4, relation_hidden=4, learning_rate=0.01, epochs=1, patience=1, subtypes=subtypes
    )
    states = States(np.random.default_rng(0).normal(size=(3, 6)), np.array([0, 3]))
    head = ParsingHead(states, [SENTENCE], settings, "double", 0, "cpu")
    assert head.relations == relations
    assert sorted(head.names(SENTENCE)) == relations
