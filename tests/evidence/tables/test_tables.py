import re
from html import escape
from html.parser import HTMLParser

import pandas as pd
import pytest

from xlrepro.evidence.compare import VERDICTS, compare
from xlrepro.evidence.deviations import load_deviations
from xlrepro.evidence.provenance import record_anchor
from xlrepro.evidence.tables.cells import (
    cells_table,
    decimals_of,
    pairs_table,
)
from xlrepro.evidence.tables.overview import (
    CellsFile,
    Legend,
    best_cells,
    comparison_tables,
    legend,
)
from xlrepro.evidence.tables.table import Entry, Table, headings, listing, measured, number
from xlrepro.evidence.view import View
from xlrepro.paths import project_root

STATIC = project_root() / "book" / "_static"


class Parsed(HTMLParser):
    """The tags of a table in order, and a check that they are nested."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def comparison_table(frame, **options):
    """Return the overview of a comparison that is one table."""
    (table,) = comparison_tables(frame, **options)
    return table


def simple(*rows, **more):
    return Table("A caption.", headings("name", "n", numeric=("n",)), tuple(rows), **more)


@pytest.fixture
def frame(numbers):
    found = numbers(
        {
            ("word:ORT", "de"): {0: 50.0, 1: 52.0, 2: 54.0},
            ("word:ORT", "sv"): {0: 80.0, 1: 81.0},
            ("word:TRS", "de"): {0: 20.0},
        }
    )
    systems = ["word:ORT", "word:TRS"]
    compared = compare(View("word_order/table2", "open", found))
    return pd.concat(compared[compared["system"] == system] for system in systems)


def test_html_is_nested_and_nothing_stays_open(frame):
    for table in (comparison_table(frame), cells_table(frame)):
        assert Parsed(table.html).open == []


def test_the_table_has_a_caption_and_scopes(frame):
    parsed = Parsed(comparison_table(frame).html)
    assert len(parsed.all("caption")) == 1
    assert {a["scope"] for a in parsed.all("th")} == {"col", "row"}


def test_the_scrolling_container_can_be_reached_by_keyboard_and_has_a_name(frame):
    (region,) = [a for a in Parsed(cells_table(frame).html).all("div") if "role" in a]
    assert (region["role"], region["tabindex"], bool(region["aria-label"])) == ("region", "0", True)


@pytest.mark.parametrize("field", ["text", "detail", "title", "href", "verdict"])
def test_everything_is_escaped(field):
    hostile = "<script>alert(1)</script>\"'&"
    entry = Entry(**{"text": "x", field: hostile})
    html = simple((entry, Entry("1"))).html
    assert "<script" not in html
    assert [t for t, _ in Parsed(html).tags if t == "script"] == []


def test_the_caption_is_escaped():
    assert "<b>" not in Table("<b>x</b>", headings("a"), ()).html


def test_numbers_sort_by_their_value():
    parsed = Parsed(simple((Entry("x"), Entry("1,000", sort=1000.0))).html)
    assert [a["data-sort"] for a in parsed.all("td")] == ["1000"]


def test_a_cell_not_run_has_its_class_and_says_so(frame):
    table = comparison_table(frame)
    cells = [a.get("class") for a in Parsed(table.html).all("td")]
    assert "xl-not-run" in cells
    assert "not run" in table.html


def test_a_verdict_is_told_in_words_too(frame):
    html = comparison_table(frame).html
    assert [w in html for w in ("(within)", "(above)", "(below)")] == [True, True, True]


def test_a_row_per_language_with_its_distance(frame):
    table = comparison_table(frame)
    row = next(r for r in table.rows if r[0].text == "de")
    assert row[1].text == "0.14"
    assert re.match(r"52\.00 ± \d\.\d\d$", row[2].text)
    assert row[2].detail == "50.59, +1.41 ="


def test_a_row_per_system_where_there_are_no_more_columns(frame):
    (table,) = comparison_tables(frame[frame["column"].isin(["de", "sv"])])
    assert [r[0].text for r in table.rows] == ["ORT", "TRS"]


def test_stale_cells_say_so(numbers):
    found = numbers({("word:ORT", "de"): {0: 50.0}}, stale=True)
    frame = compare(View("word_order/table2", "open", found))
    frame = frame[frame["system"] == "word:ORT"]
    assert "50.00†" in str(comparison_table(frame))
    assert "†: the code has changed since." in legend(frame)


def test_one_seed_is_shown_without_an_interval(frame):
    row = next(r for r in comparison_table(frame).rows if r[0].text == "de")
    assert (row[3].text, row[3].detail) == ("20.00", "43.24, −23.24 ▼; n=1")


def test_every_cell_has_a_row_of_its_own(frame):
    table = cells_table(frame)
    assert len(table.rows) == len(frame) == 60
    row = next(r for r in table.rows if (r[0].text, r[1].text) == ("word:TRS", "de"))
    assert [e.text for e in row[2:]] == [
        "43.24", "20.00", "", "1", "−23.24", "below", "one seed: no interval",
    ]  # fmt: skip


def test_the_repr_holds_no_measured_number_and_the_text_does(frame):
    table = comparison_table(frame)
    assert repr(table) == "word_order/table2, open: 2 systems x 30 columns, 3 of 60 cells run"
    assert "52.00" in str(table)


def test_pairs_show_each_seed(numbers):
    found = numbers({("word:ORT", "avg"): {0: 2.0, 1: 3.0}, ("word:TRS", "avg"): {0: 1.0, 1: 4.0}})
    pair = ("word:ORT", "word:TRS")
    gap = View("word_order/table2", "open", found).difference(*pair, "avg")
    table = pairs_table([(*pair, gap)])
    (row,) = table.rows
    assert (row[0].text, row[2].text) == ("word:ORT − word:TRS", "0.00")
    assert (table.headings[-1].text, row[-1].text) == ("by seed", "+1.00, −1.00")  # without notes


def test_a_pair_of_one_seed_says_so(numbers):
    found = numbers({("word:ORT", "avg"): {0: 2.0}, ("word:TRS", "avg"): {0: 1.0}})
    pair = ("word:ORT", "word:TRS")
    gap = View("word_order/table2", "open", found).difference(*pair, "avg")
    table = pairs_table([(*pair, gap)])
    assert "95 % interval" not in [heading.text for heading in table.headings]
    assert table.rows[0][-1].text == "one seed: no interval"


def test_numbers_the_paper_lacks_are_shown_without_it(numbers):
    found = numbers({("word:ORT", "1.0e-03"): {0: 95.0}}, "word_order/learning_rates")
    table = comparison_table(compare(View("word_order/learning_rates", "open", found)))
    assert "paper" not in str(table)
    assert table.rows[0][1].text == "95.00"


def test_text_is_aligned():
    lines = str(simple((Entry("long name"), Entry("1")), (Entry("x"), Entry("10")))).splitlines()
    assert lines[2:] == ["name        n", "long name   1", "x          10"]


@pytest.mark.parametrize(
    ("value", "decimals", "signed", "text"),
    [
        (1.005, 2, False, "1.00"),
        (-1.25, 1, True, "−1.2"),
        (2.0, 1, True, "+2.0"),
        (-0.001, 2, True, "0.00"),
        (0.0, 2, True, "0.00"),
        (None, 2, False, ""),
        (float("nan"), 2, False, ""),
    ],
)
def test_how_numbers_are_written(value, decimals, signed, text):
    assert number(value, decimals, signed) == text


@pytest.mark.parametrize(("printed", "places"), [("53.10", 2), ("0.555", 3), ("12", 0), ("", 2)])
def test_as_many_decimals_as_the_paper_printed(printed, places):
    assert decimals_of(printed) == places


@pytest.mark.parametrize(("value", "places"), [(3.32, 2), (3.0, 0), (938_232.42, 0)])
def test_a_count_has_decimals_where_they_say_something(value, places):
    assert decimals_of("", "count", value) == places


def test_columns_that_are_empty_go():
    table = simple((Entry("a"), Entry(""))).dense()
    assert ([h.text for h in table.headings], table.rows) == (["name"], ((Entry("a"),),))


def test_counts_are_whole_numbers(numbers):
    found = numbers(
        {("corpus:th", "alarm/train"): {0: 640.0}}, "man_moe/table2", metric="n", unit="count"
    )
    frame = compare(View("man_moe/table2", "open", found))
    frame = frame[frame["n"] > 0]
    assert comparison_table(frame).rows[0][1].text == "640"
    assert cells_table(frame).rows[0][3].text == "640"


@pytest.fixture
def elsewhere(numbers):
    """Return a comparison on a corpus that is not the paper's: es/avg was run, de/avg cannot."""
    found = numbers({("without:MAN-MoE", "es/avg"): {0: 10.0}}, "man_moe/table2", metric="F1")
    frame = compare(View("man_moe/table2", "open", found))
    frame = frame[frame["system"] == "without:MAN-MoE"].set_index("column", drop=False)
    return frame.loc[["es/avg", "de/avg"]]


def test_a_difference_between_corpora_has_no_mark(elsewhere):
    entry = comparison_table(elsewhere).rows[0][1]
    assert (entry.verdict, entry.detail) == ("other data", "62.56, −52.56")


def test_a_column_that_our_corpus_lacks_says_so_beside_the_papers_number(elsewhere):
    entry = comparison_table(elsewhere).rows[1][1]
    assert (entry.text, entry.detail) == ("not here", "65.68")
    assert 'class="xl-not-here"' in comparison_table(elsewhere).html


def test_what_stands_in_is_said_instead_of_explaining_marks(elsewhere):
    told = legend(elsewhere)
    assert "Our data are not the paper's (Facebook's requests in English" in told
    assert "▲" not in told


def test_where_some_columns_have_the_papers_data_the_caption_says_both(numbers):
    found = numbers({("word:ORT", "SF/es"): {0: 10.0}}, "word_order/table1", metric="F1")
    caption = legend(compare(View("word_order/table1", "open", found)))
    assert "(WikiANN for NER, and other English utterances for SF/en at open), so the" in caption
    assert "the difference has no verdict there." in caption
    assert "▲ above" in caption


def test_the_caption_says_whose_pre_trained_weights_they_are(frame):
    caption = legend(frame)
    assert "weights are not the paper's (multilingual-e5-small for mbert and finetune at" in caption


def test_with_the_papers_data_the_caption_explains_the_marks(numbers):
    found = numbers({("nlu:Liu et al. (2019)", "es/slot F1"): {0: 10.0}}, "word_order/table3")
    frame = compare(View("word_order/table3", "open", found))
    assert "▲ above" in legend(frame)
    assert "Our data" not in legend(frame)


def test_cells_that_cannot_be_run_are_not_counted_as_run(elsewhere):
    line = "man_moe/table2, open: 1 systems x 2 columns, 1 of 2 cells run, 1 not here"
    assert repr(comparison_table(elsewhere)) == line


def test_units_and_seeds_are_said_once_above(frame):
    told = legend(frame)
    assert told.startswith("accuracy in percent. Large: ours at open, mean over 3 seeds ± half")
    assert "Small: the paper's number" in told


def test_why_nothing_was_run_is_said_above(numbers):
    found = numbers({("without:MAN-MoE", "avg"): {0: 10.0}}, "man_moe/table4", metric="F1")
    said = legend(compare(View("man_moe/table4", "open", found)))
    assert "Quoted: quoted by the paper from elsewhere." in said


def test_the_best_of_a_block_is_bold_where_there_is_more_than_one(frame):
    assert best_cells(frame) == {("word:ORT", "de")}
    assert comparison_table(frame).html.count("<b>") == 1


def test_a_number_leads_to_its_records(frame):
    links = re.findall(r'href="#(r-[^"]+)"', comparison_table(frame).html)
    keys = [keys[0] for keys in frame[frame["n"] > 0]["keys"]]
    assert sorted(links) == sorted(map(record_anchor, keys))


def test_forty_rows_stand_in_the_page_and_more_in_a_box():
    tables = [simple(*[(Entry("x"), Entry("1"))] * count).html for count in (40, 41)]
    assert ["xl-long" in html for html in tables] == [False, True]


def test_the_file_has_every_cell_with_its_interval(frame):
    lines = CellsFile(frame).text.splitlines()
    assert len(lines) == 61
    (line,) = [line for line in lines if line.startswith("word:ORT,de,")]
    assert line.startswith("word:ORT,de,accuracy,percent,50.59,52,47.032,56.968,3,1.41,within")


def test_the_line_above_links_to_what_weighs_most():
    (deviation,) = [d for d in load_deviations("word_order/table2") if d.id == "W01"]
    assert 'href="#deviation-W01"' in Legend("", (deviation,))._repr_html_()


def test_the_line_above_links_to_all_deviations_the_weighty_by_their_titles():
    known = load_deviations("word_order/table2")
    html = Legend("", tuple(known))._repr_html_()
    assert re.findall(r'href="#deviation-(\w+)"', html) == [
        d.id for most in (True, False) for d in known if (d.weight == "most") == most
    ]
    assert [escape(d.title) in html for d in known] == [True] * len(known)


def test_every_verdict_with_a_look_of_its_own_has_a_style():
    css = (STATIC / "tables.css").read_text(encoding="utf-8")
    shown = [v for v in VERDICTS if v != "not reported"]
    assert [v for v in shown if f".xl-{v.replace(' ', '-')}" not in css] == []


@pytest.mark.parametrize("name", ["tables.js", "tables.css"])
def test_scripts_and_styles_fetch_nothing(name):
    text = (STATIC / name).read_text(encoding="utf-8")
    assert re.findall(r"https?://|@import|url\(|fetch\(|XMLHttpRequest", text) == []


@pytest.fixture
def touching():
    """Return a deviation that touches RPT alone, one that touches Arabic alone, one of a block."""
    (known,) = (d for d in load_deviations("word_order/table2") if d.id == "W13")
    where = {"R": ("rows", "word:RPT"), "C": ("columns", "ar"), "B": ("rows", "word:*"), "A": ()}
    return [
        known.model_copy(
            update={"id": i, **({at[0]: {"word_order/table2": (at[1],)}} if at else {})}
        )
        for i, at in where.items()
    ]


def led_to(html):
    """Return the ids of the deviations that a piece of HTML links to."""
    return re.findall(r'href="#deviation-(\w+)"', html)


def test_a_deviation_of_a_row_alone_is_linked_at_its_head_and_at_no_other(numbers, touching):
    found = compare(View("word_order/table2", "open", numbers({("word:ORT", "de"): {0: 50.0}})))
    tables = comparison_tables(found, deviations=touching)
    heads = {(i, h.text): led_to(h.html()) for i, t in enumerate(tables) for h in t.headings}
    assert {name: ids for name, ids in heads.items() if ids} == {(0, "RPT"): ["R"]}
    rows = {(i, r[0].text): led_to(r[0].html(True)) for i, t in enumerate(tables) for r in t.rows}
    assert {name: ids for name, ids in rows.items() if ids} == {
        (i, "ar"): ["C"] for i in range(len(tables))
    }


def test_a_deviation_of_all_of_a_table_s_columns_is_linked_once_in_its_caption(numbers, touching):
    found = compare(View("word_order/table2", "open", numbers({("word:ORT", "de"): {0: 50.0}})))
    captions = [re.search("<caption>.*?</caption>", t.html)[0] for t in
                comparison_tables(found, deviations=touching)]  # fmt: skip
    assert [led_to(caption) for caption in captions] == [["B"], []]


def test_blocks_that_stand_in_one_table_are_named_in_its_caption(numbers, touching):
    found = compare(View("word_order/table1", "open", numbers({}, "word_order/table1")))
    at = {"word_order/table1": ("word:*",)}
    (block,) = (d.model_copy(update={"rows": at}) for d in touching if d.id == "B")
    table = comparison_tables(found, deviations=[block])[0]
    notes = [(about, [x.text for x in links]) for about, links in table.notes]
    assert notes == [("of word", ["B"])]
    assert [led_to(row[0].html(True)) for row in table.rows] == [[]] * len(table.rows)


def test_the_line_above_leaves_to_the_heads_what_touches_them_alone(touching):
    html = Legend("", tuple(touching), "word_order/table2")._repr_html_()
    assert led_to(html) == ["A"]
    assert "What touches some rows or columns alone is named at these." in html


def test_a_listing_sorts_its_numbers_by_their_values():
    table = listing("c", ["row"], ["n", "mean"], [("a", 1200, measured(-0.5, 1, True))])
    heads = [(heading.text, heading.numeric) for heading in table.headings]
    assert heads == [("row", False), ("n", True), ("mean", True)]
    assert table.rows == ((Entry("a"), Entry("1,200", sort=1200), Entry("−0.5", sort=-0.5)),)
