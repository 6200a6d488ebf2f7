"""The sizes of the corpora: the paper's and ours in one table."""

import pytest

from xlrepro.evidence.view import View
from xlrepro.papers.man_moe.figures.corpus_sizes import sizes_table

COUNTS = {
    ("corpus:th", "alarm/train"): {0: 640.0},
    ("corpus:th", "alarm/slot types"): {0: 1.0},
    ("corpus:en", "alarm/train"): {0: 639.0},
}


@pytest.fixture
def table(numbers):
    found = numbers(COUNTS, "man_moe/table2", metric="samples", unit="count")
    return sizes_table(View("man_moe/table2", "open", found))


def lines(table, corpus):
    return [[e.text for e in row[1:]] for row in table.rows if row[0].text == corpus]


def test_the_printed_counts_stand_as_printed(table):
    assert [h.text for h in table.headings[3:]] == ["train", "dev", "test", "slot types"]
    paper = lines(table, "paper")
    assert ["de", "Navigation", "13356", "1599", "2014", "–"] in paper
    assert ["all", "Navigation", "–", "–", "–", "8"] in paper
    assert len(paper) == 15  # four languages and their total in three domains


def test_ours_stand_below_a_row_per_language_and_domain(table):
    assert lines(table, "here (open)") == [
        ["th", "alarm", "640", "–", "–", "1"],
        ["en", "alarm", "639", "–", "–", "–"],
    ]
    assert table.rows[-1][0].text == "here (open)"


def test_the_caption_says_what_is_counted(table):
    assert "ours as they are" in table.caption
    assert "(Facebook's requests in English, Spanish and Thai)" in table.caption


def test_scores_are_not_sizes(numbers):
    found = numbers({("without:MAN-MoE", "en/alarm"): {0: 70.0}}, "man_moe/table2", metric="F1")
    assert lines(sizes_table(View("man_moe/table2", "open", found)), "here (open)") == []
