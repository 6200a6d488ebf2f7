"""The page of an experiment as readers meet it: answer first, nothing cut, letters to read."""

from typing import Any

import pytest

from xlrepro.experiments import all_experiments

from .conftest import DESK, PATIENCE_MS, PHONE

pytestmark = pytest.mark.browser

LEAST = {DESK["width"]: 8.99, PHONE["width"]: 8.0}  # pixels of a letter
LOOK = """() => {
    const shown = (e) => e.getBoundingClientRect().width > 0;
    const scale = (e) => {
        const matrix = e.getScreenCTM();
        return matrix ? Math.hypot(matrix.a, matrix.b) : 1;
    };
    const answer = document.querySelector(".xl-answer");
    return {
        letters: Array.from(document.querySelectorAll("main figure text")).filter(shown)
            .map((e) => parseFloat(getComputedStyle(e).fontSize) * scale(e)),
        words: Array.from(document.querySelectorAll("main figure th, main figure td"))
            .filter(shown).map((e) => parseFloat(getComputedStyle(e).fontSize)),
        top: answer ? answer.getBoundingClientRect().top : null,
        headline: answer ? answer.firstElementChild.getBoundingClientRect().bottom : null,
        cut: Array.from(document.querySelectorAll(".xl-table")).filter((table) => {
            const box = table.querySelector(".xl-scroll");
            const scrolls = ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
            return box.scrollWidth > box.clientWidth + 1 && !scrolls;
        }).length,
        boxes: Array.from(document.querySelectorAll(".xl-table")).filter((table) => {
            const box = table.querySelector(".xl-scroll");
            return box.scrollHeight > box.clientHeight + 20;
        }).map((table) => table.querySelectorAll("tbody tr").length),
        stuck: Array.from(document.querySelectorAll(".xl-table thead th")).slice(0, 1)
            .map((e) => getComputedStyle(e).position)[0],
        wide: Array.from(document.querySelectorAll("figure.xl-plot, figure.xl-figure"))
            .filter((e) => e.scrollWidth > e.clientWidth + 2).length,
        overflow: document.documentElement.scrollWidth,
        tables: Array.from(document.querySelectorAll(".xl-table")).filter(shown).filter((table) => {
            const box = table.querySelector(".xl-scroll");
            return box.scrollWidth > box.clientWidth + 1;
        }).map((table) => table.querySelector("caption").textContent.slice(0, 60)),
        open: document.querySelectorAll("details.hide[open]").length,
        bytes: document.documentElement.outerHTML.length,
    };
}"""


@pytest.fixture(scope="module")
def looks(book, base, browser) -> dict[tuple[str, int], dict[str, Any]]:
    """Every page of an experiment, at desk and at phone width."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page, found = context.new_page(), {}
    for key in all_experiments():
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            page.goto(f"{base}/{key}.html", wait_until="load")
            found[key, size["width"]] = page.evaluate(LOOK)
    context.close()
    return found


def test_the_answer_lies_on_the_first_screen(looks):
    late = {
        key: look["headline"]
        for (key, width), look in looks.items()
        if width == DESK["width"] and not (look["headline"] and look["headline"] <= 900)
    }
    assert late == {}


@pytest.mark.xfail(reason="routing_nmt/figure2 has letters of 7 px on a phone (issue 17)")
def test_letters_in_figures_are_nine_pixels_at_least_and_can_be_read_on_a_phone(looks):
    small = {
        place: min(look["letters"] + look["words"])
        for place, look in looks.items()
        if min(look["letters"] + look["words"], default=9) < LEAST[place[1]]
    }
    assert small == {}


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


@pytest.mark.xfail(reason="13 figures reach beyond their columns by some pixels (issue 17)")
def test_no_figure_is_wider_than_its_column(looks):
    assert {place: look["wide"] for place, look in looks.items() if look["wide"]} == {}


def test_no_page_is_wider_than_its_window(looks):
    assert {p: look["overflow"] for p, look in looks.items() if look["overflow"] > p[1]} == {}


def test_heads_stay_in_sight_and_code_is_folded(looks):
    assert {look["stuck"] for look in looks.values()} == {"sticky"}
    assert {place for place, look in looks.items() if look["open"]} == set()


def test_no_page_is_larger_than_a_megabyte(book):
    pages = [path for path in book.rglob("*.html") if "_static" not in path.parts]
    large = {p.relative_to(book).as_posix(): p.stat().st_size for p in pages}
    assert {name: size for name, size in large.items() if size > 1_000_000} == {}


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
