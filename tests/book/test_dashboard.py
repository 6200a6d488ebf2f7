"""The landing page: its count of cells, and why claims do not hold."""

from types import SimpleNamespace

import pytest

from xlrepro.book.dashboard.experiments import _cells
from xlrepro.book.dashboard.scatter import Cloud, _far_off
from xlrepro.book.dashboard.squares import _reasons
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claim_files import load_claims
from xlrepro.evidence.compare import VERDICTS
from xlrepro.evidence.judging import ClaimVerdict, Judge


def counted(key, **counts):
    found = {v: counts.get(v.replace(" ", "_"), 0) for v in VERDICTS}
    return _cells(
        SimpleNamespace(catalog=load_catalog(), cell_counts=lambda *_: found), key, "open"
    )


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("word_order/table6", "1 = 2 ▲ 3 ▼"),
        ("man_moe/table4", "4 on other data"),
        ("word_order/table1", "1 = 2 ▲ 3 ▼ 4 on other data"),
    ],
)
def test_cells_on_other_data_have_no_mark(key, text):
    assert counted(key, within=1, above=2, below=3, other_data=4).text == text


def test_cells_that_cannot_be_run_are_told_from_those_that_were_not():
    entry = counted("man_moe/table2", not_run=5, not_in_this_corpus=6, quoted=7)
    assert entry.detail == "5 not run, 6 not in this corpus, 7 quoted"


def judged(paper, **by_id):
    """An `Evidence` on which claims have a verdict of one seed at open, and none elsewhere."""
    claims = load_claims(paper)
    verdicts = {
        c.id: {"open": ClaimVerdict(by_id[c.id], n=1) if c.id in by_id else None} for c in claims
    }
    return SimpleNamespace(
        catalog=load_catalog(),
        judge=Judge(),
        all_claims={paper: claims},
        verdicts=lambda _: verdicts,
    )


def test_below_a_paper_s_claims_stands_what_weighs_most_on_those_that_fail():
    html = _reasons(judged("word_order", O01w="fails", O02="undecided"), "word_order")
    assert "Behind 1 that fail: " in html
    assert 'href="deviations.html#deviation-W01"' in html
    assert html.endswith("1 of 1 undecided: one seed.</p>")


def test_where_nothing_fails_there_is_no_reason():
    assert _reasons(judged("word_order", O01w="holds"), "word_order") == ""


def test_the_plot_says_how_many_cells_lie_far_off_and_on_what_data():
    cloud = Cloud("word_order", same=[(50, 51), (50, 60)], other=[(50, 70), (1, 99), (3, 3)])
    assert _far_off([cloud]).startswith("3 lie more than 5 points off it, 2 of them on stand-ins")
    assert _far_off([Cloud("word_order", same=[(50, 51)])]) == ""
