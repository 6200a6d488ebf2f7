import pytest

from xlrepro.papers.word_order.figures.commonest_tag import accuracy, guess, guess_table

EN = {"NOUN": [9, 10]}


@pytest.fixture
def tagged(record):
    def make(system, seed, **by_tag):
        details = {"by_tag": {"en": EN, **by_tag}, "settings": {"source": "en"}}
        return record(system, seed=seed).model_copy(update={"details": details})

    return make


def test_a_guess_is_right_where_the_commonest_tag_stands():
    assert guess({"NOUN": [0, 3], "VERB": [1, 1]}) == 75.0


def test_accuracy_counts_tokens_not_tags():
    assert accuracy({"NOUN": [0, 3], "VERB": [1, 1]}) == 25.0


def test_each_system_stands_beside_the_guess_over_targets_and_seeds(tagged):
    de, hi = {"NOUN": [6, 6], "VERB": [0, 4]}, {"NOUN": [2, 8], "VERB": [1, 2]}
    better = {"NOUN": [6, 6], "VERB": [4, 4]}
    records = [
        tagged("word:ORT", 0, de=de, hi=hi),
        tagged("word:ORT", 1, de=better, hi=hi),
        tagged("mbert:TRS", 0, de={"NOUN": [1, 6], "VERB": [0, 4]}),
    ]
    rows = [[e.text for e in row] for row in guess_table(records, "open").rows]
    # ORT: de (60 + 100) / 2 against 60, hi 30 against 80
    assert rows == [
        ["word:ORT", "2", "55.00", "70.00", "1"],
        ["mbert:TRS", "1", "10.00", "60.00", "1"],
    ]
