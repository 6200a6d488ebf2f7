from types import SimpleNamespace

from xlrepro.experiments import experiment
from xlrepro.papers.word_order.cells import by_tag

BY_TAG = {
    "en": {"NOUN": [9, 10], "VERB": [8, 10], "X": [1, 1]},
    "de": {"NOUN": [2, 4], "VERB": [1, 4]},
    "ja": {"NOUN": [3, 4]},
}


def test_nothing_is_trained_for_figure_1():
    table2 = {t.key for t in experiment("word_order/table2").trials("smoke")}
    figure1 = {t.key for t in experiment("word_order/figure1").trials("smoke")}
    assert figure1
    assert figure1 < table2


def test_cells_are_shares_right_by_tag_and_their_means_over_targets_that_have_it():
    """Neither "X", which is not shown, nor a tag that a test set lacks has a cell."""
    shares = {"en/NOUN": 90.0, "en/VERB": 80.0, "de/NOUN": 50.0, "de/VERB": 25.0, "ja/NOUN": 75.0}
    found = by_tag(SimpleNamespace(details={"by_tag": BY_TAG}))
    assert found == shares | {"avg/NOUN": 62.5, "avg/VERB": 25.0}
    one = by_tag(SimpleNamespace(details={"by_tag": {k: BY_TAG[k] for k in ("en", "de")}}))
    assert not {"avg/NOUN", "avg/VERB"} & set(one)
