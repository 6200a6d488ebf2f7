"""Dot plots: what a row says, where its marks stand, and the colours of systems."""

import math
import re
from xml.etree import ElementTree

import pytest

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.figures.plots import looks_of
from xlrepro.evidence.figures.row_plot import (
    PALETTE,
    SHAPES,
    Look,
    Mark,
    Row,
    RowPlot,
    looks,
    ticks_between,
)
from xlrepro.experiments import all_experiments

NAN = math.nan


def plot(*rows, **more):
    return RowPlot("A title", "What it shows.", "points", tuple(rows), **more)


def row(label, *values, low=NAN, high=NAN, **more):
    return Row(label, tuple(Mark(v, low, high, Look()) for v in values), f"{values}", **more)


def places(drawn, tag="svg"):
    """Return the marks' places in percent, from left to right as they are drawn."""
    return [float(p) for p in re.findall(rf'<{tag} x="([\d.]+)%"', drawn._repr_html_())]


def test_marks_stand_where_their_values_are():
    found = places(plot(row("a", 0.0), row("b", 5.0), row("c", 10.0)))
    assert found[1] - found[0] == pytest.approx(found[2] - found[1], abs=0.1)
    assert found == sorted(found)


def test_an_interval_is_inside_the_axis_and_a_bound_ends_it():
    assert plot(row("a", 50.0, low=-20.0, high=120.0)).ends == pytest.approx((-25.6, 125.6))
    bounded = plot(row("a", 50.0, low=-20.0, high=120.0), bounds=(0, 100))
    assert bounded.ends == pytest.approx((-4.0, 104.0))


def test_a_plot_of_differences_holds_zero():
    low, high = plot(row("a", 3.0), zero=True).ends
    assert low < 0 < 3 < high


@pytest.mark.parametrize(("low", "high"), [(-0.3, 2.1), (99.0, 99.4), (-5000, 3), (0.0012, 0.0013)])
def test_ticks_are_few_round_and_inside(low, high):
    ticks = ticks_between(low, high)
    assert 2 <= len(ticks) <= 6
    assert all(low <= tick <= high for tick in ticks)


def test_each_row_is_a_row_of_a_table_and_escaped():
    html = plot(row("<b>", 1.0), row("b", 2.0))._repr_html_()
    table = ElementTree.fromstring(re.search(r"<table.*</table>", html, re.DOTALL)[0])
    assert [r.find("th").text for r in table if r.find("th") is not None] == ["<b>", "b"]


def test_a_group_is_named_once_above_its_rows():
    html = plot(*(row(n, 1.0, group=g) for n, g in (("a", "x"), ("b", "x"), ("c", "y"))))
    assert re.findall(r'xl-group">(\w)<', html._repr_html_()) == ["x", "y"]


def test_places_are_percentages_so_that_letters_keep_their_size():
    html = plot(row("a", 1.0, 2.0))._repr_html_()
    assert "viewBox" not in re.search(r"<table.*</table>", html, re.DOTALL)[0]


def test_an_empty_plot_says_why():
    assert "What it shows." in plot()._repr_html_()


def test_the_repr_holds_no_measured_number():
    assert repr(plot(row("a", 1.25))) == "Figure: A title"


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("ground", ["#ffffff", "#121212"])
@pytest.mark.parametrize("colour", PALETTE)
def test_a_colour_stands_out_from_a_light_and_from_a_dark_ground(colour, ground):
    """WCAG 2.1, 1.4.11: 3 to 1 for what is drawn."""
    first, second = sorted((luminance(colour), luminance(ground)), reverse=True)
    assert (first + 0.05) / (second + 0.05) >= 3


def test_systems_of_one_colour_differ_in_shape():
    found = looks(["TRS", "TRS w/ shuffled data", "ORT"], ["ORT", "TRS"])
    assert found["TRS"].colour == found["TRS w/ shuffled data"].colour != found["ORT"].colour
    assert len({look.shape for look in found.values()}) == 3
    assert {look.shape for look in found.values()} <= set(SHAPES)


@pytest.mark.parametrize("paper", load_catalog().papers)
def test_a_system_has_one_colour_on_all_pages_of_its_paper(paper):
    colours: dict[str, set[str]] = {}
    for key, experiment in all_experiments().items():
        if key.startswith(f"{paper}/"):
            for system, look in looks_of(key, [s.identifier for s in experiment.systems]).items():
                colours.setdefault(system.partition(":")[2], set()).add(look.colour)
    assert colours
    assert {name for name, found in colours.items() if len(found) > 1} == set()


@pytest.mark.parametrize("width", [3, 40])
def test_the_style_knows_how_long_labels_and_numbers_are(width):
    long = Row("x" * width, (Mark(1.0, NAN, NAN, Look()),), "y" * 12)
    html = plot(long, row("b", 2.0))._repr_html_()
    assert f"--xl-label:{width};--xl-text:12" in html


def test_every_other_number_of_the_axis_may_go_where_the_column_is_narrow():
    marks = re.findall(
        r'<text x="[^"]*" y="13"( class="xl-odd")?>',
        plot(row("a", 0.0), row("b", 5.0))._repr_html_(),
    )
    assert [bool(mark) for mark in marks] == [i % 2 == 1 for i in range(len(marks))]
    assert len(marks) > 2
