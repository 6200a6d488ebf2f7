"""The page of an experiment as readers meet it: answer first, nothing cut, letters to read."""

import html
import re
from typing import Any

import pytest

from xlrepro.experiments import all_experiments

from .conftest import DESK, PHONE, Visit

pytestmark = pytest.mark.browser

LEAST = 8.99  # pixels of a letter, at a desk and on a phone
FOLD = 900  # where the sentences of an answer end at the latest, at a desk and on a phone
Looks = dict[tuple[str, int], dict[str, Any]]


@pytest.fixture(scope="module")
def looks(visits: dict[str, Visit]) -> Looks:
    """Every page of an experiment, at desk and at phone width."""
    found = {
        (name.removesuffix(".html"), width): look
        for name, visit in visits.items()
        for width, look in visit.looks.items()
    }
    assert {key for key, _ in found} == set(all_experiments())
    return found


def test_the_answer_ends_within_nine_hundred_pixels(looks):
    """All its sentences, at a desk and on a phone."""
    late = {place: look["told"] for place, look in looks.items() if not 0 < look["told"] <= FOLD}
    assert late == {}


def test_the_answer_s_headline_lies_on_a_phone_s_first_screen(looks):
    late = {
        key: look["headline"]
        for (key, width), look in looks.items()
        if width == PHONE["width"] and not 0 < look["headline"] <= PHONE["height"]
    }
    assert late == {}


def test_at_a_desk_the_answer_s_figure_begins_beside_its_sentences(looks):
    low = {
        key: look["figure"]
        for (key, width), look in looks.items()
        if width == DESK["width"] and not 0 < look["figure"] <= 600
    }
    assert low == {}


def test_letters_in_figures_are_nine_pixels_at_least(looks):
    small = {
        place: min(look["letters"] + look["words"])
        for place, look in looks.items()
        if min(look["letters"] + look["words"], default=9) < LEAST
    }
    assert small == {}


def test_no_letters_of_a_figure_fall_on_others(looks):
    assert {place: look["onto"] for place, look in looks.items() if look["onto"]} == {}


def test_no_column_is_cut(looks):
    assert {place: look["cut"] for place, look in looks.items() if look["cut"]} == {}


def test_at_a_desk_the_overview_fits_the_window(looks):
    """A table that is wider than the page hides columns behind a bar that few find."""
    wide = {
        key: look["tables"]
        for (key, width), look in looks.items()
        if width == DESK["width"] and look["tables"]
    }
    assert wide == {}


def test_a_box_of_its_own_has_more_than_forty_rows(looks):
    small = {p: look["boxes"] for p, look in looks.items() if min(look["boxes"], default=99) <= 40}
    assert small == {}


def test_no_figure_is_wider_than_its_column(looks):
    assert {place: look["wide"] for place, look in looks.items() if look["wide"]} == {}


def test_short_labels_of_rows_stay_on_one_line(looks):
    assert {place: look["broken"] for place, look in looks.items() if look["broken"]} == {}


def test_no_page_is_wider_than_its_window(looks):
    assert {p: look["overflow"] for p, look in looks.items() if look["overflow"] > p[1]} == {}


def test_heads_stay_in_sight_and_code_is_folded(looks):
    assert {look["stuck"] for look in looks.values()} == {"sticky"}
    assert {place for place, look in looks.items() if look["open"]} == set()


KEY_OF_PLOT = re.compile(
    r'stroke="([^"]+)" stroke-width="[\d.]+">[^<]*<[^>]*></g></svg> ([^<]+)</span>'
)


def test_a_system_has_the_same_colour_wherever_a_figure_names_it(book):
    colours: dict[tuple[str, str], set[str]] = {}
    for key, experiment in all_experiments().items():
        names = {html.escape(s.identifier.partition(":")[2]) for s in experiment.systems}
        page = (book / f"{key}.html").read_text(encoding="utf-8")
        for colour, told in KEY_OF_PLOT.findall(page):
            name = told.removesuffix(")").rpartition(" (")[0] if told.endswith(")") else told
            if known := {name, told} & names:
                colours.setdefault((key.split("/")[0], *known), set()).add(colour)
    assert len({paper for paper, *_ in colours}) > 1
    assert {place: found for place, found in colours.items() if len(found) > 1} == {}


def test_a_number_leads_to_its_record_and_that_to_a_command(page, base):
    page.goto(f"{base}/word_order/table2.html")
    link = page.locator(".xl-table td a[href^='#r-']").first
    target = link.get_attribute("href")
    row = page.locator(f"tr:has([id='{target[1:]}'])")
    assert "xlrepro run word_order/table2" in row.inner_text()


def test_a_link_to_a_deviation_opens_it(page, base):
    page.goto(f"{base}/word_order/table2.html#deviation-W01")
    assert page.locator("#deviation-W01 details").get_attribute("open") is not None


def test_the_copy_button_copies_the_command(page, base):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=base)
    page.goto(f"{base}/word_order/table2.html")
    page.locator("button.xl-copy").first.click()
    page.wait_for_function("document.querySelector('button.xl-copy').textContent === 'copied'")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "xlrepro run word_order/table2 --profile open"
