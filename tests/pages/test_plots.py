"""Three kinds of plots: what they draw and say; the same data give the same text."""

import math
from xml.etree import ElementTree

import pandas as pd
import pytest

from xlrepro.evidence.compare import compare
from xlrepro.evidence.reproduced import View
from xlrepro.pages import plots
from xlrepro.pages.page import open_page
from xlrepro.pages.tables import framed, legend
from xlrepro.papers.word_order.figures import gain_against_distance

KEY = "word_order/table2"
TIDY = ("label", "series", "value", "low", "high")


def texts(figure):
    """Return what a drawing has written in it."""
    return {text.strip() for text in ElementTree.fromstring(figure.svg).itertext()}


def test_dots_have_a_row_per_label_and_say_their_numbers():
    rows = [("ORT", "ours", 1.5, 1.0, 2.0), ("TRS", "ours", -0.5, math.nan, math.nan)]
    figure = plots.dots(framed(rows, *TIDY), "Gain", unit="points", zero=True)
    assert "ORT: 1.50 (1.00 to 2.00); TRS: −0.50" in figure.alt
    assert {"ORT", "TRS", "points"} <= texts(figure)


def test_the_same_data_give_the_same_text_and_black_is_the_page_s_colour():
    frame = framed([("a", "s", 1.0, 0.5, 1.5)], *TIDY)
    first, second = (plots.dots(frame, "t") for _ in range(2))
    assert first == second
    assert "#000000" not in first.svg
    assert "currentColor" in first.svg
    assert repr(first) == "Figure: t"


def test_lines_have_a_panel_per_part_and_a_heat_map_its_numbers():
    rows = [(p, "s", x, x * 2.0, math.nan, math.nan) for p in ("es", "th") for x in (0.1, 0.2)]
    frame = framed(rows, "panel", "series", "x", "value", "low", "high")
    figure = plots.lines(frame, "Gain", xlabel="share", ylabel="points")
    assert "es, s: 0.20 at 0.1 to 0.40 at 0.2" in figure.alt
    assert {"es", "th"} <= texts(figure)
    table = pd.DataFrame({"block 1": [10.0, 60.0]}, index=["ner", "syntax"])
    assert "syntax, block 1: 60" in plots.heat(table, "Use", unit="percent", decimals=0).alt


def test_an_interval_is_drawn_from_its_low_to_its_high_end():
    axes, part = plots.Drawing().add_subplot(), framed([(88.0, 40.0, 100.0)], *TIDY[2:])
    plots._points(axes, part, [0], {"color": "k", "ls": ""}, "x")
    (bar,) = axes.containers[0][2]
    assert bar.get_segments()[0][:, 0].tolist() == [40.0, 100.0]


@pytest.fixture
def frame(numbers):
    """Return a comparison of three languages for ORT and TRS."""
    values = {
        (f"word:{name}", code): {s: base + step * i + s / 10 for s in (0, 1, 2)}
        for name, base, step in (("ORT", 60.0, 3), ("TRS", 55.0, 1))
        for i, code in enumerate(("de", "fr", "ar"))
    }
    return compare(View(KEY, "open", numbers(values)))


def test_the_paper_s_number_stands_hollow_beside_ours(frame):
    (figure,) = plots.scores(frame, ["de"])
    assert "ORT: 60.10" in figure.alt
    assert "the paper" in texts(figure)
    assert "fill: none" in figure.svg
    (moved,) = plots.scores(frame.assign(reported=frame["reported"] - 30), ["de"])
    assert moved.svg != figure.svg


def test_several_columns_have_a_figure_per_block(frame):
    titles = [figure.title for figure in plots.scores(frame, ["de", "fr"])]
    about = "Part-of-speech tagging in 31 languages, zero-shot (open)"
    assert f"{about}: word vectors, accuracy; dictionary vectors (for fastText's)" in titles


def test_differences_are_not_drawn_among_scores_and_a_lone_series_is_named(numbers):
    key, base = "ramen/table3", "xnli:RAMEN-BASE + RoBERTa"
    rows = {f"{base}, vec": 50.0, f"{base}, rnd": 40.0, "xnli-ours:par": 55.0}
    values = {(s, code): {0: v, 1: v + 1} for s, v in rows.items() for code in ("fr", "ru")}
    frame = compare(View(key, "open", numbers(values, experiment=key)))
    assert "xnli:difference vec - rnd" in set(frame["system"])
    first, ours = plots.scores(frame, ["fr", "ru"])
    assert "rnd: 40.50" in first.alt
    assert "10.00" not in first.alt
    assert "XNLI, our additional ablation, from parallel text, accuracy" in ours.title


def test_entities_have_the_metric_of_the_paper_whatever_records_call_it(numbers):
    key, values = "word_order/table1", {("rates:ORT, 0.001", "NER/es"): {0: 50.0, 1: 51.0}}
    frame = compare(View(key, "open", numbers(values, experiment=key, metric="slot F1")))
    assert "F1, percent" in texts(plots.scores(frame[frame["block"] == "rates"])[0])
    assert "slot" not in legend(frame)


def test_a_point_close_to_a_named_one_has_no_name():
    rows = [("", "s", x, 1.0, math.nan, math.nan, n) for x, n in ((0, "a"), (0.01, "b"), (1, "c"))]
    frame = framed(rows, "panel", "series", "x", "value", "low", "high", "name")
    found = texts(plots.lines(frame, "Gain", xlabel="far", ylabel="points", joined=False))
    assert {"a", "b", "c"} & found == {"a", "c"}


def test_gain_against_distance_names_the_rank_correlation(frame):
    # fr, de, ar are 0.09, 0.14, 0.26 from English, and gain 7, 5, 9 points
    assert "reproduced: ρ = 0.50, 3 languages" in gain_against_distance(frame).alt
    assert "reported" in gain_against_distance(frame.assign(reproduced=float("nan"))).alt


def test_the_rank_correlation_is_that_of_the_claim_on_it():
    page = open_page("word_order/table2")
    verdict = page.evidence.verdicts("word_order")["O19"][page.view.profile]
    rho = verdict.compared[0][0].removesuffix(" < 0")
    assert f"reproduced: ρ = {rho}, 28 languages" in gain_against_distance(page.frame).alt


def test_a_gain_over_a_setting_is_paired_by_seed(numbers):
    values = {
        (f"word:{name}", f"{code}/{share}"): {0: base, 1: base + 1}
        for name, base in (("ORT", 60.0), ("TRS", 55.0))
        for code in ("es", "th")
        for share in ("0", "0.1")
    }
    view = View("word_order/figure2", "open", numbers(values, experiment="word_order/figure2"))
    figure = plots.over_setting(view, along="share", first="word:ORT", second="word:TRS")
    assert "Spanish, ORT − TRS: 5.00 at 0.0 to 5.00 at 0.1" in figure.alt
