"""Senses by the nearest centroid, the back-off, and the scorer."""

from types import SimpleNamespace

import pytest
import torch

from xlrepro.data.readers.columns import SenseSentence
from xlrepro.papers.sense_alignment import data, wsd
from xlrepro.papers.sense_alignment.settings import DisambiguationSettings
from xlrepro.papers.sense_alignment.wsd import Instances, NearestCentroid
from xlrepro.trials import TrialContext

INVENTORY = {
    "bank": ["bank%1:17:01::", "bank%1:14:00::", "bank%2:40:00::"],
    "new": ["new%5:00:00:x:00"],
    "unseen": ["unseen%2:00:00::", "unseen%1:00:00::"],
}


def words(*rows):
    """Instances of (vector, lemma, kind, senses)."""
    vectors, lemmas, kinds, senses = zip(*rows, strict=True)
    return Instances(torch.tensor(vectors), list(lemmas), list(kinds), list(senses))


TRAINING = words(
    ([1.0, 0.1], "bank", "1", ("bank%1:14:00::",)),
    ([9.0, 0.9], "bank", "1", ("bank%1:14:00::",)),
    ([0.1, 1.0], "bank", "1", ("bank%1:17:01::",)),
    ([0.0, -1.0], "bank", "2", ("bank%2:40:00::",)),
    ([1.0, 0.0], "money", "1", ("money%1:21:00::",)),
)
CLASSIFIER = NearestCentroid(TRAINING, INVENTORY)
TEST = words(
    ([5.0, 0.01], "bank", "1", ("bank%1:14:00::",)),
    ([0.2, 3.0], "bank", "1", ("bank%1:17:01::", "bank%1:14:00::")),
    ([1.0, 0.0], "unseen", "1", ("unseen%1:00:00::",)),
    ([1.0, 0.0], "nowhere", "4", ("nowhere%4:02:00::",)),
)


def test_the_nearest_of_all_senses_may_be_of_another_lemma():
    """Cosine decides, not the length of vectors; a lemma never seen has its first sense."""
    answers = CLASSIFIER.among_all(TEST)
    assert answers == ["money%1:21:00::", "bank%1:17:01::", "unseen%1:00:00::", None]


def test_the_nearest_sense_of_the_lemma_has_its_part_of_speech():
    assert CLASSIFIER.of_the_lemma(TEST)[:2] == ["bank%1:14:00::", "bank%1:17:01::"]
    (verb,) = CLASSIFIER.of_the_lemma(words(([0.0, 1.0], "bank", "2", ("bank%2:40:00::",))))
    assert verb == "bank%2:40:00::"


def test_rows_without_vectors_take_the_most_frequent_and_the_first_sense():
    assert CLASSIFIER.most_frequent(TEST)[:2] == ["bank%1:14:00::"] * 2
    assert CLASSIFIER.first_senses(TEST)[:2] == ["bank%1:17:01::"] * 2
    equal = words(*(([1.0], "bank", "1", (sense,)) for sense in INVENTORY["bank"][:2]))
    assert NearestCentroid(equal, INVENTORY).most_frequent(equal) == ["bank%1:17:01::"] * 2


def test_a_word_of_several_parts_has_the_mean_of_their_top_layer(monkeypatch):
    senses = ((), ("take_place%2",))
    lemmas, tags = ("it", "take_place"), ("PRP", "VB")
    sentence = SenseSentence(("It", "took_place"), lemmas, tags, senses)
    vectors = torch.tensor([[9.0], [2.0], [4.0]])
    layers, model = [], SimpleNamespace(settings=None, languages=("en",))
    monkeypatch.setattr(wsd.vectors, "kept", lambda *g, **_: layers.append(g[3]) or [vectors])
    found = wsd._read(model, [sentence], TrialContext())
    assert layers == ["top"]
    assert found.vectors.tolist() == [[3.0]]
    assert (found.lemmas, found.kinds) == (["take_place"], ["2"])


def test_artificial_text_has_ambiguous_lemmas_with_their_true_senses():
    settings = DisambiguationSettings(corpus="artificial", train_sentences=60, test_sentences=20)
    sentences = data.sense_training(settings, 40)
    inventory = data.inventory("artificial", 40)
    keys = {(lemma, key) for s in sentences for lemma, ks in zip(s.lemmas, s.senses) for key in ks}
    assert all(key in inventory[lemma] for lemma, key in keys)
    assert len({lemma for lemma, _ in keys}) < len(keys)


@pytest.mark.mirror
def test_all_official_instances_count_and_74_of_them_have_no_place():
    """As many as Raganato et al. (2017, Table 1) count; of SemEval-2007 those that there are."""
    counted = {name: total for name, (*_, total) in data.TEST_SETS.items()}
    assert counted == {"SE2": 2282, "SE3": 1850, "SE07": 465, "SE13": 1644, "SE15": 1022}
    settings = DisambiguationSettings(corpus="wordnet")
    missing = {}
    for name in counted:
        sentences, total = data.sense_test(settings, 0, name)
        missing[name] = total - sum(bool(keys) for s in sentences for keys in s.senses)
    assert missing == {"SE2": 42, "SE3": 17, "SE07": 0, "SE13": 7, "SE15": 8}
