"""The page of an experiment as readers meet it: answer first, nothing cut."""

from typing import Any

import pytest

from xlrepro.experiments import all_experiments

from .conftest import PHONE, Visit

pytestmark = pytest.mark.browser

Looks = dict[tuple[str, int], dict[str, Any]]


@pytest.fixture(scope="module")
def looks(visits: dict[str, Visit]) -> Looks:
    """Every page of an experiment, at desk and at phone width."""
    found = {
        (name.removesuffix(".html"), width): look
        for name, visit in visits.items()
        for width, look in visit.looks.items()
    }
    assert {key for key, _ in found} >= {"word_order/table2", "ramen/table1", "man_moe/figure4"}
    assert {key for key, _ in found} <= set(all_experiments())
    return found


def test_the_answer_lies_on_the_first_two_screens_of_a_phone(looks):
    late = {
        key: look["headline"]
        for (key, width), look in looks.items()
        if width == PHONE["width"] and look["headline"] > 2 * PHONE["height"]
    }
    assert late == {}


@pytest.mark.parametrize("fault", ["cut", "wide"])
def test_no_column_is_cut_and_no_figure_wider_than_its_column(looks, fault):
    assert {place: look[fault] for place, look in looks.items() if look[fault]} == {}


def test_no_page_is_wider_than_its_window(looks):
    assert {p: look["overflow"] for p, look in looks.items() if look["overflow"] > p[1]} == {}


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
