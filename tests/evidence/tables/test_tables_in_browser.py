"""Sorting and filtering as a reader does it, in Debian's Chromium."""

import shutil

import pytest

from xlrepro.evidence.tables.table import Entry, Table, headings
from xlrepro.paths import project_root

pytestmark = pytest.mark.browser
STATIC = project_root() / "book" / "_static"
ROWS = [("de", "9.5", 9.5), ("no", "10.5", 10.5), ("fr", "not run", None), ("zh", "−3", -3.0),
        ("es", "2", 2.0), ("it", "7", 7.0)]  # fmt: skip


def html():
    wide = tuple(f"column {i}" for i in range(20))
    table = Table(
        "Values by language.",
        headings("language", "value", *wide, numeric=("value",)),
        tuple(
            (Entry(a), Entry(b, sort=c), *(Entry("some words here") for _ in wide))
            for a, b, c in ROWS
        ),
    )
    script = (STATIC / "tables.js").read_text(encoding="utf-8")
    style = (STATIC / "tables.css").read_text(encoding="utf-8")
    return (
        f"<!doctype html><html lang=en><title>t</title><style>{style}</style>"
        f"<body>{table.html}<script>{script}</script></body></html>"
    )


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as play:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        opened = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    opened = browser.new_page(viewport={"width": 390, "height": 800})
    opened.set_content(html())
    yield opened
    opened.close()


def shown(page):
    return page.locator("tbody tr:visible th").all_inner_texts()


def test_a_click_sorts_by_number_and_leaves_cells_without_one_last(page):
    page.get_by_role("button", name="value").click()
    assert shown(page) == ["zh", "es", "it", "de", "no", "fr"]


def test_a_second_click_turns_the_order_and_says_so(page):
    button = page.get_by_role("button", name="value")
    button.click()
    button.click()
    assert shown(page) == ["no", "de", "it", "es", "zh", "fr"]
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"


def test_the_keyboard_sorts_too(page):
    page.get_by_role("button", name="language").focus()
    page.keyboard.press("Enter")
    assert shown(page) == sorted(r[0] for r in ROWS)


def test_the_text_box_filters_and_counts(page):
    page.get_by_label("Filter rows").fill("not run")
    assert shown(page) == ["fr"]
    assert page.get_by_role("status").inner_text() == "1 of 6 rows"


def test_a_wide_table_scrolls_inside_its_own_container(page):
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(
        "(() => { const s = document.querySelector('.xl-scroll');"
        " return s.scrollWidth > s.clientWidth; })()"
    )


def test_without_the_script_it_is_a_plain_table(browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(html())
    assert (page.locator("button").count(), page.locator("tbody tr").count()) == (0, len(ROWS))
    context.close()
