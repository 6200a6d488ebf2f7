"""Tables: what they show, that all text in them is escaped, and that they read well anywhere."""

import re
from html.parser import HTMLParser

import pytest

from xlrepro.evidence.claims import Condition, Judge
from xlrepro.evidence.compare import compare
from xlrepro.evidence.deviations import load_deviations
from xlrepro.evidence.reproduced import View
from xlrepro.pages.tables import (
    Cell,
    CellsFile,
    DeviationList,
    Link,
    Note,
    Table,
    best_cells,
    cells_table,
    claims_table,
    comparison_tables,
    framed,
    legend,
    render,
    run_table,
    verdict_cell,
)

KEY = "word_order/table2"
NASTY = "<script>alert(1)</script>\"'&"


class _Read(HTMLParser):
    """Tags and texts of HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self.attributes = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.texts.append(data)


def test_all_text_is_escaped_wherever_it_stands():
    cell = Cell(
        NASTY, NASTY, kind=NASTY, title=NASTY, href=NASTY, anchor=NASTY,
        links=(Link(NASTY, NASTY, NASTY),), folded=(NASTY, NASTY), keys=(NASTY,),
    )  # fmt: skip
    frame = framed([[cell, NASTY]], NASTY, "b")
    table = Table(NASTY, frame, notes=(Note(NASTY, (Link(NASTY, NASTY),)),), details={"b": NASTY})
    (deviation, *_) = load_deviations(KEY)
    bad = deviation.model_copy(
        update=dict.fromkeys(("title", "paper", "here", "why", "effect"), NASTY)
    )
    shown = [
        table._repr_html_(),
        DeviationList("x", (bad,), True, {bad.id: [(NASTY, NASTY)]})._repr_html_(),
        render("paragraphs", NASTY, [NASTY], [Link(NASTY, NASTY, NASTY)], NASTY),
        render("pieces", [(NASTY, NASTY, True)], ""),
        render("figure", NASTY, "", ""),
    ]
    for html in shown:
        read = _Read(html)
        assert "script" not in read.tags
        assert not [name for name in read.attributes if name.startswith("on")]
        assert "<script>" not in html


def test_a_number_and_what_stands_below_it_do_not_run_together(numbers):
    found = numbers({("word:ORT", "de"): {0: 93.0, 1: 93.8}})
    (html,) = {t._repr_html_() for t in comparison_tables(compare(View(KEY, "open", found)))[:1]}
    assert re.search(r"± [\d.]+</?[^>]*>(</a>)?<br><small", html)
    assert "style=" in html


def test_a_table_is_text_too_and_its_repr_has_no_number():
    table = Table("Scores.", framed([["a", 1.5, "x"], ["bb", 22, "y"]], "row", "n", "t"), "2 rows")
    assert str(table).splitlines() == [
        "Scores.",
        "",
        "row     n  t",
        "a    1.50  x",
        "bb     22  y",
    ]
    assert repr(table) == "2 rows"


def test_numbers_stand_flush_right_and_sort_by_themselves():
    html = Table("c", framed([["a", 1234], ["b", 2]], "row", "n"))._repr_html_()
    assert 'data-sort="1234"' in html
    assert 'align="right"' in html


def test_long_columns_are_cut_into_tables_that_fit_a_page(numbers):
    codes = [f"x{i}" for i in range(20)]
    found = numbers({("word:ORT", c): {0: 1.0} for c in codes}, experiment="word_order/figure2")
    tables = comparison_tables(compare(View("word_order/figure2", "open", found)))
    assert all(t.frame.shape[1] <= 8 for t in tables)


def test_what_is_not_below_the_best_is_bold_and_nothing_where_nothing_is_below():
    import pandas as pd

    def bold(*rows):
        names = ["system", "block", "column", "metric", "reproduced", "low", "high", "n"]
        frame = pd.DataFrame(
            [(f"b:{i}", "b", "c", "accuracy", *row, 3) for i, row in enumerate(rows)], columns=names
        )
        return sorted(s for s, _ in best_cells(frame.assign(experiment=KEY)))

    assert bold((9.0, 8.0, 10.0), (8.5, 8.0, 9.1), (5.0, 4.0, 6.0)) == ["b:0", "b:1"]
    assert bold((9.0, 5.0, 13.0), (8.5, 5.0, 12.0)) == []


def test_the_legend_says_units_interval_and_proxies(numbers):
    found = numbers({("word:ORT", "de"): {0: 1.0, 1: 2.0}})
    said = " ".join(legend(compare(View(KEY, "open", found))))
    for part in ("95 % confidence interval", "not the choice of test items", "proxy", "▲ above"):
        assert part in said


def test_every_cell_of_a_comparison_is_in_its_file(numbers):
    found = numbers({("word:ORT", "de"): {0: 1.0, 1: 2.0}})
    frame = compare(View(KEY, "open", found))
    html = CellsFile(frame)._repr_html_()
    assert "word_order-table2-open.csv" in html
    assert html.count("%0A") == len(frame) + 1


def test_a_comparison_cell_by_cell_for_a_terminal(numbers):
    found = numbers({("word:ORT", "de"): {0: 60.0, 1: 62.0}})
    text = str(cells_table(compare(View(KEY, "open", found))))
    assert re.search(r"word:ORT +de +\d", text)


def test_this_run_stands_beside_the_published_numbers(numbers):
    mine = compare(View(KEY, "smoke", numbers({("word:ORT", "de"): {5: 33.0}}, profile="smoke")))
    shown = compare(View(KEY, "open", numbers({("word:ORT", "de"): {0: 60.0, 1: 61.0}})))
    table = run_table(mine, shown, "This run")
    (row,) = table.frame.to_dict("records")
    assert list(row) == ["system", "column", "the paper", "published, open", "this run", "n"]
    assert (row["published, open"].text[:5], row["this run"].text[:2]) == ("60.50", "33")


# -- Claims


def test_the_authors_claims_have_rows_and_our_readings_fold_under_them():
    table = claims_table("word_order", ["open"], Judge())
    ids = [cell.text for cell in table.frame["id"]]
    assert "O01" in ids
    assert "O01w" not in ids
    claim = table.frame["claim"][ids.index("O01")]
    assert claim.folded[0] == "1 reading of ours"
    assert claim.folded[1].startswith("O01w (ours)")


def test_a_verdict_names_itself_its_comparisons_and_its_power(numbers):
    values = {"word:ORT": [60.0, 60.1, 60.2], "word:TRS": [50.0, 50.2, 50.1]}
    ran = numbers({(s, "avg"): dict(enumerate(v)) for s, v in values.items()})
    judge = Judge(ran)
    (claim,) = [c for c in _claims() if c.id == "O01w"]
    cell = verdict_cell(judge.judge(claim, Condition("open")))
    assert (cell.text, cell.kind) == ("✓ replicates", "replicates")
    for part in ("60.10 > 50.10", "in 3 of 3 seeds", "power 100 %"):
        assert part in cell.detail


def _claims():
    from xlrepro.evidence.claims import load_claims

    return load_claims("word_order")


@pytest.mark.parametrize("name", ["table", "deviations", "paragraphs", "pieces", "figure"])
def test_the_template_ships_with_the_package(name):
    from xlrepro.pages.tables import _template

    assert hasattr(_template(), name)
