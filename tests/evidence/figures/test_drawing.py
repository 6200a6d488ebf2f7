import random
import re
from xml.etree import ElementTree

import pytest

from xlrepro.evidence.compare import compare
from xlrepro.evidence.figures.drawing import (
    NARROW,
    WIDE,
    Figure,
    gain_against_distance,
    name_points,
    new_drawing,
    new_panels,
    reported_against_reproduced,
    styled,
)
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View

DRAWINGS = (gain_against_distance, reported_against_reproduced)


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
def test_each_drawing_in_the_page_is_whole_and_its_letters_are_text(draw, frame):
    wide, narrow = (ElementTree.fromstring(draw(frame).svg(narrow=n)) for n in (False, True))
    for drawing in (wide, narrow):
        texts = ["".join(e.itertext()).strip() for e in drawing.iter() if e.tag.endswith("text")]
        assert "ORT" in " ".join(texts)
    assert float(narrow.get("viewBox").split()[2]) < float(wide.get("viewBox").split()[2])


@pytest.mark.parametrize("draw", DRAWINGS)
def test_black_is_the_pages_colour_and_no_style_or_font_leaks_into_the_page(draw, frame):
    html = draw(frame)._repr_html_()
    assert [
        word for word in ("#000000", "<style", "DejaVu", "font:", "white") if word in html
    ] == []
    assert "currentColor" in html


def test_no_name_inside_a_drawing_stands_twice_on_a_page(frame):
    html = "".join(draw(frame)._repr_html_() for draw in DRAWINGS)
    names = re.findall(r' id="([^"]+)"', html)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("narrow", [False, True])
def test_letters_are_nine_pixels_at_least_where_the_drawing_stands_unscaled(narrow, frame):
    for draw in DRAWINGS:
        drawn = draw(frame).svg(narrow=narrow)
        sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", drawn)]
        assert min(sizes) * 96 / 72 >= 9  # a unit of the drawing is a point


def test_a_drawing_is_at_most_as_wide_as_its_column():
    @styled
    def draw():
        drawing, axes = new_drawing(20, 3)
        axes.plot([1, 2])
        return Figure("A line.", drawing)

    found = draw()
    assert (found.drawing.get_figwidth(), found.narrow.get_figwidth()) == (WIDE, NARROW)


def test_names_of_points_stand_apart_and_those_without_a_place_are_left_out():
    drawing, axes = new_drawing(3, 3)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    crowd = [(f"p{i}", 0.5, 0.5) for i in range(9)]
    name_points(axes, [("alone", 0.1, 0.1), *crowd])
    drawing.draw_without_rendering()
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
    assert list(boxes) == ["alone", "p0", "p1", "p2", "p3"]  # a corner each
    found = list(boxes.values())
    assert not any(a.overlaps(b) for i, a in enumerate(found) for b in found[:i])


def test_names_of_points_stay_between_the_sides_of_their_panel():
    drawing, grid = new_panels(1, 2, 5, 2)
    for axes in grid[0]:
        axes.set(xlim=(0, 1), ylim=(0, 1))
    for axes in grid[0]:
        name_points(axes, [("left of it", 0.99, 0.5), ("right of it", 0.01, 0.5)])
    drawing.draw_without_rendering()
    for axes in grid[0]:
        panel = axes.get_window_extent()
        boxes = [text.get_window_extent() for text in axes.texts]
        assert len(boxes) == 2
        assert all(panel.x0 <= box.x0 and box.x1 <= panel.x1 for box in boxes)


def test_a_page_with_a_main_difference_draws_the_gain_of_its_block_alone(numbers):
    cells = {
        (f"{block}:{name}", code): {0: 50.0, 1: 51.0}
        for block in ("word", "mbert")
        for name in ("ORT", "TRS")
        for code in ("no", "de", "zh")
    }
    found = compare(View("word_order/table2", "open", numbers(cells)))
    legend = gain_against_distance(found).drawing.legends[0]
    assert [t.get_text().split(":")[0] for t in legend.get_texts()] == [
        "reported, word",
        "reproduced, word",
    ]


def test_panels_of_a_narrow_drawing_stand_below_each_other():
    @styled
    def draw():
        drawing, panels = new_panels(2, 3, 7, 4)
        assert panels.shape == (2, 3)
        return Figure("Panels.", drawing)

    assert {a.get_subplotspec().get_gridspec().ncols for a in draw().narrow.axes} == {1}


@pytest.mark.parametrize("draw", DRAWINGS)
def test_the_alt_text_is_one_sentence_and_stands_in_the_html(draw, frame):
    figure = draw(frame)
    assert figure.alt.endswith(".")
    assert 'aria-label="' + figure.alt.split(";")[0][:40] in figure._repr_html_()


@pytest.mark.parametrize("draw", DRAWINGS)
def test_nothing_run_is_said_not_drawn(draw):
    empty = compare(View("word_order/table2", "open", ReproducedNumbers([])))
    assert any(word in draw(empty).alt for word in ("not both run", "nothing was run", "no cell"))


def test_the_scatter_plot_gives_the_correlation_of_each_series(frame):
    legend = gain_against_distance(frame).drawing.legends[0]
    texts = [t.get_text() for t in legend.get_texts()]
    assert [t.split(":")[0] for t in texts] == ["reported, word", "reproduced, word"]
    assert all("ρ = " in t and "4 languages" in t for t in texts)


def test_figures_leave_the_callers_settings_alone(frame):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    gain_against_distance(frame).svg()
    assert dict(mpl.rcParams) == before


def test_panels_are_a_grid_without_a_panel_under_it():
    drawing, panels = new_panels(2, 3, 6.0, 4.0, sharex=True)
    assert panels.shape == (2, 3)
    assert drawing.axes == list(panels.flat)
    assert tuple(drawing.get_size_inches()) == (6.0, 4.0)
    panels[0, 0].set_xlim(0, 7)
    assert panels[1, 2].get_xlim() == (0, 7)


def test_the_repr_holds_no_measured_number(frame):
    title = "Gain of ORT over TRS against word-order distance"
    assert repr(gain_against_distance(frame)) == f"Figure: {title}"
