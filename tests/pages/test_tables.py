"""Tables and lists: what they show, that all text is escaped, and that they read well anywhere."""

import re
from html.parser import HTMLParser

import pytest

from xlrepro.evidence.claims import Condition, judge
from xlrepro.evidence.compare import compare
from xlrepro.evidence.deviations import load_deviations
from xlrepro.evidence.gathered import Evidence
from xlrepro.evidence.reproduced import View
from xlrepro.pages import plots
from xlrepro.pages.page import claims_list
from xlrepro.pages.tables import Cell, Table, comparison_tables, framed, legend, markup, run_table

KEY = "word_order/table2"
NASTY = "<script>alert(1)</script>\"'&"


class Read(HTMLParser):
    """Tags and attributes of HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


@pytest.fixture
def frame(numbers):
    """Return a comparison of one system in one language, over two seeds."""
    return compare(View(KEY, "open", numbers({("word:ORT", "de"): {0: 60.0, 1: 61.0}})))


def test_all_text_is_escaped_wherever_it_stands():
    cell = Cell(NASTY, NASTY, kind=NASTY, title=NASTY, href=NASTY, keys=(NASTY,))
    (deviation, *_) = load_deviations(KEY)
    texts = dict.fromkeys(("title", "paper", "here", "why", "effect"), NASTY)
    shown = [
        Table(NASTY, framed([[cell, NASTY]], NASTY, "b"))._repr_html_(),
        markup("deviations", [deviation.model_copy(update=texts)], "", {}),
        markup("paragraphs", [NASTY]),
        markup("shown", [(NASTY, NASTY)], NASTY),
        markup("figure", NASTY, NASTY),
    ]
    for html in shown:
        read = Read(html)
        assert "script" not in read.tags
        assert not [name for name in read.attributes if name.startswith("on")]


def test_numbers_stand_flush_right_and_sort_by_themselves_and_none_is_in_a_repr():
    table = Table("c", framed([["a", 1234], ["b", 2.5]], "row", "n"), "2 rows")
    assert repr(table) == "2 rows"
    html = table._repr_html_()
    assert 'align="right" data-sort="1234">1,234<' in html
    assert 'data-sort="2.5">2.50<' in html


def test_a_number_its_interval_the_paper_s_number_and_the_verdict_stand_in_its_cell(frame):
    html = "".join(t._repr_html_() for t in comparison_tables(frame))
    assert re.search(r'href="#r-0+">60\.50\xa0±\xa06\.35</a><br><small[^>]*>[\d.]+, [+−]\d', html)
    assert 'ORT<br><small class="xl-detail">dictionary vectors (for fastText&#39;s)<' in html
    assert "style=" in html
    assert "not run" in html


def test_an_interval_that_is_cut_at_the_bounds_of_a_share_shows_both_ends(numbers):
    found = numbers({("word:ORT", "de"): {0: 100.0, 1: 66.0, 2: 100.0}})
    (table, *_) = comparison_tables(compare(View(KEY, "open", found)))
    assert "88.67 (39.90 to 100.00)" in table._repr_html_()


def test_a_score_says_that_it_is_above_the_paper_s_and_outdated(numbers):
    of = numbers({("word:ORT", "de"): {0: 99.0, 1: 99.1}}, profile="paper", stale=True)
    html = comparison_tables(compare(View(KEY, "paper", of)))[0]._repr_html_()
    assert [sign in html for sign in "▲▼†"] == [True, False, True]


def test_without_a_printed_number_a_fraction_has_three_decimals_a_large_count_none(numbers):
    of = numbers({("word:new", "de"): {0: 0.5754, 1: 0.5754}}, metric="F1", unit="fraction")
    assert "0.575\xa0±" in comparison_tables(compare(View(KEY, "open", of)))[0]._repr_html_()
    of = numbers({("word:new", "de"): {0: 938232.42}}, metric="steps", unit="count")
    assert ">938,232<" in comparison_tables(compare(View(KEY, "open", of)))[0]._repr_html_()


def test_a_long_comparison_is_cut_into_tables_that_fit_a_page(numbers):
    found = numbers({("word:ORT", f"x{i}"): {0: 1.0} for i in range(20)})
    tables = comparison_tables(compare(View(KEY, "open", found)))
    assert all(t.frame.shape[1] <= 8 for t in tables if not t.folded)


def test_each_table_names_the_stand_ins_of_its_own_columns_alone(numbers):
    key, data = "sense_alignment/figures4_7", "data: artificial languages"
    rows = [("purity:ELMo", "purity"), ("vectors:SaELMo", "own senses among the nearest")]
    found = numbers({cell: {0: 60.0, 1: 61.0} for cell in rows}, experiment=key)
    captions = [t.caption for t in comparison_tables(compare(View(key, "open", found)))]
    assert [data in caption for caption in captions] == [True, False]


def test_what_nobody_ran_is_folded_below_the_rest(frame):
    first, *others = comparison_tables(frame)
    assert not first.folded
    assert {row.verdict for row in frame[frame["n"] == 0].itertuples()} == {"not run"}
    assert "without a number of ours: not run" in " ".join(t.folded for t in others)
    assert "<details><summary>" in others[0]._repr_html_()


def test_the_legend_says_units_interval_and_proxies(frame):
    said = legend(frame)
    for part in ("accuracy in percent", "2 seeds", "95 % confidence interval", "proxy", "▲ above"):
        assert part in said


def test_this_run_stands_beside_the_published_numbers(numbers, frame):
    mine = compare(View(KEY, "smoke", numbers({("word:ORT", "de"): {5: 33.0}}, profile="smoke")))
    (row,) = run_table(mine, frame, "This run").frame.to_dict("records")
    ours, run = "ours, open (proxies)", "this run (smoke)"
    assert list(row) == ["system", "column", "the paper", ours, run, "n"]
    assert row["system"].detail == "open: dictionary vectors (for fastText's)"
    assert (row[ours].text[:5], row[run].text[:2]) == ("60.50", "33")


# -- Claims and deviations


def test_the_authors_claims_stand_first_and_our_readings_fold_under_them():
    html = claims_list(Evidence(()), "word_order")
    first = html.partition('<li id="O01">')[2]
    assert first.index("further reading") < first.index('<li id="O01w">') < first.index('id="O02"')


def test_a_verdict_names_its_comparisons_and_its_power(record):
    values = {"word:ORT": [60.0, 60.1, 60.2], "word:TRS": [50.0, 50.2, 50.1]}
    evidence = Evidence(tuple(
        record(s, {"avg": v}, seed, profile="open")
        for s, of in values.items() for seed, v in enumerate(of)
    ))  # fmt: skip
    (claim,) = [c for c in evidence.claims("word_order") if c.id == "O01w"]
    assert judge(claim, Condition("open"), evidence.numbers).status == "replicates"
    (shown,) = re.findall(r'<li id="O01w">.*?</li>', claims_list(evidence, KEY), re.DOTALL)
    for part in ("replicates", "60.10 &gt; 50.10", "true in 3 of them", "power 100 %"):
        assert part in shown


def test_a_deviation_names_what_it_touches_and_the_claims(tmp_path):
    (found,) = [d for d in load_deviations() if d.id == "W01"]
    (claim,) = [c for c in Evidence(()).claims("word_order") if c.id == "O01w"]
    narrow = found.model_copy(update={"rows": {KEY: ("word:*",)}, "columns": {KEY: ("ar",)}})
    html = markup("deviations", [narrow], "../", {"W01": [claim]})
    assert "word_order/table2</a> (some rows) (some columns)" in html
    assert 'href="../word_order/claims.html#O01w"' in html
    assert "None is known" in markup("deviations", [], "", {})


def test_a_row_has_the_same_name_wherever_it_is_shown(numbers):
    """The paper's own NLU model is that of the rates' rows: a BiLSTM."""
    key, own = "word_order/table3", "nlu:Liu et al. (2019)"
    ran = {(s, "es/slot F1"): {0: 60.0, 1: 61.0} for s in (own, f"{own} using ORT")}
    frame = compare(View(key, "open", numbers(ran, experiment=key)))
    called = "Liu et al. (2019) (BiLSTM)"
    assert comparison_tables(frame)[0].frame["system"][0].text == called
    assert run_table(frame, frame, "").frame["system"][0].text == called
    assert f"{called}: 60.50" in plots.scores(frame, ["es/slot F1"])[0].alt
