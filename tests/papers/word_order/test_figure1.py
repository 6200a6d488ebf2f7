from types import SimpleNamespace

import pytest

from xlrepro.experiments import experiment
from xlrepro.papers.word_order.cells import by_tag

BY_TAG = {
    "en": {"NOUN": [9, 10], "VERB": [8, 10], "X": [1, 1]},
    "de": {"NOUN": [2, 4], "VERB": [1, 4]},
    "ja": {"NOUN": [3, 4]},
}


@pytest.fixture(scope="module")
def found():
    return by_tag(SimpleNamespace(details={"by_tag": BY_TAG}))


def test_nothing_is_trained_for_figure_1():
    table2 = {t.key for t in experiment("word_order/table2").trials("smoke")}
    figure1 = {t.key for t in experiment("word_order/figure1").trials("smoke")}
    assert figure1
    assert figure1 < table2


def test_a_cell_is_the_share_right_among_the_tokens_of_a_tag(found):
    assert (found["de/NOUN"], found["de/VERB"], found["en/VERB"]) == (50.0, 25.0, 80.0)


def test_the_average_leaves_out_the_source_and_languages_without_the_tag(found):
    assert (found["avg/NOUN"], found["avg/VERB"]) == (62.5, 25.0)


def test_tags_that_are_missing_or_not_shown_have_no_cell(found):
    assert not {"ja/VERB", "en/X", "avg/X"} & set(found)


def test_one_target_has_no_average():
    one = by_tag(SimpleNamespace(details={"by_tag": {k: BY_TAG[k] for k in ("en", "de")}}))
    assert not {"avg/NOUN", "avg/VERB"} & set(one)
