import random
import re
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from xlrepro.evidence.compare import compare
from xlrepro.evidence.figures import (
    bars,
    gain_against_distance,
    heat_map,
    new_panels,
    reported_against_reproduced,
)
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View

DRAWINGS = (heat_map, gain_against_distance, bars, reported_against_reproduced)


@pytest.fixture(scope="module")
def frame(numbers):
    draw = random.Random(0)
    columns = ("en", "no", "de", "zh", "hi", "avg")
    cells = {
        (c.system, c.column): {s: c.value + 5 + draw.gauss(0, 1) for s in range(3)}
        for c in load_reported().cells("word_order/table2")
        if c.system in ("word:ORT", "word:TRS") and c.column in columns
    }
    compared = compare(View("word_order/table2", "open", numbers(cells)))
    return compared[compared["column"].isin(columns)]


@pytest.mark.parametrize("draw", DRAWINGS)
def test_the_same_data_gives_the_same_bytes(draw, frame):
    first, second = draw(frame), draw(frame)
    assert first.svg() == first.svg() == second.svg()


@pytest.mark.parametrize("draw", DRAWINGS)
def test_the_html_holds_the_drawing_whole(draw, frame):
    figure = draw(frame)
    source = HtmlImage.source(figure._repr_html_())
    kind, _, data = source.partition(",")
    assert kind == "data:image/svg+xml"
    shown = ElementTree.fromstring(unquote(data))
    drawn = ElementTree.fromstring(figure._bytes("svg", {"Date": None, "Creator": None}))
    for node in list(drawn):
        if node.tag.endswith("metadata"):
            drawn.remove(node)
    assert facts_of(shown) == facts_of(drawn)
    assert len(facts_of(shown)) > 50


def facts_of(drawing: ElementTree.Element) -> list[tuple[str, dict[str, str], list[str]]]:
    """Return all that is drawn, in order: tag, attributes, text; line breaks count as spaces.

    Of a place, the hundredths of a point.
    """

    def told(name, value):
        text = " ".join(value.split())
        return re.sub(r"(\.\d\d)\d+", r"\1", text) if name in ("d", "x", "y") else text

    return [
        (e.tag, {k: told(k, v) for k, v in e.attrib.items()}, (e.text or "").split())
        for e in drawing.iter()
    ]


class HtmlImage(HTMLParser):
    """Finds the source of the image in an HTML text."""

    def handle_starttag(self, tag, attrs):
        self.found = dict(attrs)["src"]

    @classmethod
    def source(cls, html: str) -> str:
        """Return what a browser takes for the address of the image."""
        parser = cls()
        parser.feed(html)
        return parser.found


def test_pngs_are_the_same_too(frame):
    assert bars(frame).png() == bars(frame).png()


@pytest.mark.parametrize("draw", DRAWINGS)
def test_the_alt_text_is_one_sentence_and_stands_in_the_html(draw, frame):
    figure = draw(frame)
    assert figure.alt.endswith(".")
    assert 'alt="' + figure.alt.split(";")[0][:40] in figure._repr_html_()


@pytest.mark.parametrize("draw", DRAWINGS)
def test_nothing_run_is_said_not_drawn(draw):
    empty = compare(View("word_order/table2", "open", ReproducedNumbers([])))
    assert any(word in draw(empty).alt for word in ("not both run", "nothing was run", "no cell"))


def test_the_heat_map_names_the_extremes(frame):
    ran = frame[frame["difference"].notna()]
    high = ran.loc[ran["difference"].idxmax()]
    assert f"({high['system']}, {high['column']})" in heat_map(frame).alt


def test_the_heat_map_orders_languages_by_distance_and_averages_last(frame):
    labels = [t.get_text() for t in heat_map(frame).drawing.axes[0].get_xticklabels()]
    assert labels == ["en", "no", "de", "zh", "hi", "avg"]


def test_the_scatter_plot_gives_the_correlation_of_each_series(frame):
    legend = gain_against_distance(frame).drawing.axes[0].get_legend()
    texts = [t.get_text() for t in legend.get_texts()]
    assert [t.split(":")[0] for t in texts] == ["reported, word", "reproduced, word"]
    assert all("ρ = " in t and "4 languages" in t for t in texts)


def test_bars_can_be_of_some_columns(frame):
    axes = bars(frame, columns=["avg"]).drawing.axes[0]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["avg"]


def test_the_repr_holds_no_measured_number(frame):
    assert repr(bars(frame)) == "Figure: Part-of-speech tagging in 31 languages, zero-shot (open)"


def test_figures_leave_the_callers_settings_alone(frame):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    heat_map(frame).svg()
    assert dict(mpl.rcParams) == before


def test_the_face_is_white_so_that_it_reads_on_a_dark_page(frame):
    assert heat_map(frame).drawing.get_facecolor() == (1.0, 1.0, 1.0, 1.0)


def test_panels_are_a_grid_without_a_panel_under_it():
    drawing, panels = new_panels(2, 3, 6.0, 4.0, sharex=True)
    assert panels.shape == (2, 3)
    assert drawing.axes == list(panels.flat)
    assert tuple(drawing.get_size_inches()) == (6.0, 4.0)
    panels[0, 0].set_xlim(0, 7)
    assert panels[1, 2].get_xlim() == (0, 7)


def test_the_axis_of_bars_ends_where_percents_do(numbers):
    found = numbers({("word:ORT", "de"): {0: 100.0, 1: 0.2, 2: 5.6}, ("word:TRS", "de"): {0: 40.0}})
    axes = bars(compare(View("word_order/table2", "open", found))).drawing.axes[0]
    assert axes.get_ylim() == (0, 105)


def test_the_axis_of_small_bars_is_not_stretched(numbers):
    found = numbers({("word:ORT", "de"): {0: 10.0, 1: 11.0}})
    axes = bars(compare(View("word_order/table2", "open", found))).drawing.axes[0]
    assert 10 < axes.get_ylim()[1] < 40
