"""Findings: numbers are filled in, and a sentence whose direction is not so any more is refused."""

from statistics import stdev

import pytest

from xlrepro.errors import SettingsError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.pages import findings
from xlrepro.pages.findings import Findings, filled

PAPERS = tuple(load_catalog().papers)


@pytest.fixture(scope="module")
def page() -> Findings:
    return Findings("word_order")


@pytest.mark.parametrize("paper", PAPERS)
def test_every_page_is_true_of_today_s_numbers_and_has_its_sections(paper):
    text = findings.markdown(paper)
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads[:2] == ["## In short", "## What the paper says"]
    assert heads[-2:] == ["## What it would take", "## Cost"]
    assert 1 <= len(findings.in_short(paper)) <= 3
    assert "xl-forest" in text


@pytest.mark.parametrize("paper", PAPERS)
def test_the_head_compares_what_its_claim_is_about(paper):
    head = findings.read(paper)[0]
    for each in [head.main, *head.forest]:
        gap = Findings(paper).gap(*each.compare)
        assert gap.n > 0, each.says


def test_a_direction_that_is_not_so_is_refused_with_file_and_line(page):
    text = "# Page\n\nORT is above TRS by {{ higher('table2', 'word:ORT', 'word:TRS', 'avg') }}.\n"
    with pytest.raises(SettingsError, match=r"book/a\.md:12: .* is not 'higher' but same: .*CI"):
        filled(text, page.names, "book/a.md", first_line=10)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{{ nope }}", "'nope' is undefined"),
        ("{{ mean('table2', 'word:NOPE', 'avg') }}", "was not run"),
        ("{{ cost('table2', 'word:NOPE') }}", "was not run"),
        ("{{ reported('table2', 'word:NOPE', 'avg') }}", "nothing is reported"),
        ("{{ higher( }}", "unexpected"),
    ],
)
def test_what_cannot_be_filled_in_is_one_line(page, text, complaint):
    with pytest.raises(SettingsError, match=rf"a\.md:1: .*{complaint}"):
        filled(text, page.names, "a.md")


def test_a_gap_over_several_columns_is_their_mean(page):
    both = page.gap("table2", "word:ORT", "word:TRS", ["de", "fr"])
    each = [page.gap("table2", "word:ORT", "word:TRS", code).mean for code in ("de", "fr")]
    assert both.mean == pytest.approx(sum(each) / 2)


def test_the_spread_between_two_trainings_is_the_deviation_of_the_pair(page):
    pair = [float(page.mean("table2", f"word:{name}", "avg", 9)) for name in ("ORT", "TRS")]
    spread = float(page.spread("table2", "word:ORT", "word:TRS", ["avg", "avg"], 9))
    assert spread == pytest.approx(stdev(pair), abs=1e-6)
