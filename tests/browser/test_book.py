"""What a reader of the rendered book meets, page by page, in a real browser without a network."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from .conftest import PHONE, Visit, page_names

pytestmark = pytest.mark.browser

MOST_BYTES, MOST_BYTES_OF_DASHBOARD = 1_000_000, 400_000
PAPERS = ("word_order", "man_moe", "sense_alignment", "routing_nmt", "ramen")
Visits = dict[str, Visit]


@pytest.mark.parametrize("fault", ["console", "missing", "images_without_alt", "behind_bars"])
def test_no_page_logs_an_error_lacks_a_file_or_a_text_of_an_image_or_hides_columns(visits, fault):
    assert {n: found for n, v in visits.items() if (found := getattr(v, fault))} == {}


def test_no_request_leaves_the_machine(visits: Visits, base: str):
    allowed = (f"{base}/", "data:", "blob:")
    outside = {n: [u for u in v.requests if not u.startswith(allowed)] for n, v in visits.items()}
    assert {name: urls for name, urls in outside.items() if urls} == {}


def test_all_math_is_drawn(visits: Visits):
    maths = {name: v.math for name, v in visits.items()}
    bad = {n: m for n, m in maths.items() if m["asked"] != m["drawn"] or m["broken"] or m["raw"]}
    assert bad == {}
    assert [p for p in PAPERS if not maths[f"{p}/method.html"]["drawn"]] == []


def in_order(values: list[float | None], falling: bool) -> bool:
    """Numbers in order, cells without one at the end."""
    numbers = [v for v in values if v is not None]
    ordered = sorted(numbers, reverse=falling)
    return values == ordered + [None] * (len(values) - len(numbers))


def test_every_numeric_column_sorts_by_its_numbers(visits: Visits):
    wrong = {
        (name, c["column"])
        for name, v in visits.items()
        for c in v.sorted_columns
        if c["up"] is None or not in_order(c["up"], False) or not in_order(c["down"], True)
    }
    assert wrong == set()


def test_filter_leaves_the_rows_that_hold_the_words(page, base: str):
    page.goto(f"{base}/sense_alignment/table3.html")
    page.locator(".xl-filter input:visible").first.fill("joint-elmo+proj")
    rows = page.locator(".xl-table:visible").first.locator("tbody tr:visible")
    texts = rows.all_inner_texts()
    assert texts
    assert {"Joint-ELMo+Proj" in text for text in texts} == {True}


def looks(visits: Visits) -> list[tuple[str, int, dict[str, Any]]]:
    """Every page at desk and at phone width."""
    return [(name, width, look) for name, v in visits.items() for width, look in v.looks.items()]


def test_no_page_is_wider_than_its_window_and_none_of_an_experiment_cuts_anything(visits: Visits):
    wide = [
        (name, width, look)
        for name, width, look in looks(visits)
        if look["overflow"] > width or (look["headline"] and look["cut"])
    ]
    assert wide == []


def test_the_answer_lies_on_the_first_two_screens_of_a_phone(visits: Visits):
    on_phone = {name: look["headline"] for name, width, look in looks(visits) if width < 500}
    assert on_phone["word_order/table2.html"] > 0
    assert {n: end for n, end in on_phone.items() if end > 2 * PHONE["height"]} == {}


def test_every_page_has_one_main_heading(visits: Visits):
    assert {name: v.headings for name, v in visits.items() if v.headings != 1} == {}


class Links(HTMLParser):
    """A page's links, and the places that a link may lead to."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {v for k in ("id", "name") if (v := values.get(k))}
        target = values.get("href" if tag in ("a", "link") else "src")
        if target:
            self.targets.append(target)


def test_no_link_or_anchor_is_dead_and_those_that_leave_the_book_are_well_formed(book: Path):
    names = [*page_names(book), "search.html"]
    pages = {name: Links((book / name).read_text(encoding="utf-8")) for name in names}
    dead = []
    for name, target in ((name, target) for name, page in pages.items() for target in page.targets):
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            known = parts.scheme in ("", "http", "https", "mailto", "data")
            if not known or (parts.scheme.startswith("http") and "." not in parts.netloc):
                dead.append((name, target))
            continue
        here = book / name
        path = (here.parent / unquote(parts.path)).resolve() if parts.path else here.resolve()
        page = pages.get(path.relative_to(book.resolve()).as_posix())
        lost = page and parts.fragment and unquote(parts.fragment) not in page.anchors
        if not path.is_file() or lost:
            dead.append((name, target))
    assert dead == []


def test_nobody_meets_a_serious_barrier(visits: Visits):
    """axe-core on every page, in both themes, at desk and at phone width."""
    assert {len(visit.barriers) for visit in visits.values()} == {4}
    met = [(n, *each) for n, v in visits.items() for each in v.barriers.items() if each[1]]
    assert met == []


def test_no_page_is_large(book: Path):
    sizes = {name: (book / name).stat().st_size for name in page_names(book)}
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}
    assert sizes["index.html"] < MOST_BYTES_OF_DASHBOARD


def test_a_claim_s_row_leads_to_its_place(page, base: str):
    page.goto(f"{base}/claims.html")
    page.locator(".xl-filter input:visible").first.fill("positions frozen")
    link = page.locator("tbody tr:visible a").first
    name = link.inner_text()
    link.click()
    page.wait_for_url(f"**/claims.html#{name}")
    page.locator(f"#{name}").wait_for(state="visible")


def test_the_first_screen_prints_on_one_page(page, base: str):
    page.goto(f"{base}/index.html")
    assert len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4"))) == 1


@pytest.mark.parametrize(
    ("words", "page_found"),
    [
        ("O01w", "word_order/claims"), ("Table 6", "word_order/table6"), ("M17", "man_moe/claims"),
        ("word sense disambiguation", "sense_alignment/table2"), ("WSD", "sense_alignment/table2"),
        ("M-BERT", "word_order/table2"), ("multilingual BERT", "ramen/table1"),
    ],
)  # fmt: skip
def test_search_finds_claims_and_tables_before_all_else(page, base: str, words: str, page_found):
    page.goto(f"{base}/search.html?q={words}")
    # Results come one after the other.
    results = page.locator("#search-results li > a")
    page.locator(f"#search-results li > a[href*='{page_found}.html']").first.wait_for()
    names = [r.get_attribute("href") for r in results.all()][:10]
    assert any(f"{page_found}.html" in name for name in names)
    assert all("/" in name and not name.startswith("guide/") for name in names[:3])


def test_a_printed_page_has_no_menu_and_open_folds(page, base: str):
    page.goto(f"{base}/word_order/claims.html")
    page.emulate_media(media="print")
    assert not page.locator(".bd-sidebar-primary").is_visible()
    assert page.locator(".xl-claims details p").last.is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_book_opened_as_a_file_draws_math_and_sorts_tables(page, book: Path):
    errors: list[str] = []
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.goto((book / "word_order" / "method.html").as_uri())
    page.wait_for_selector("mjx-container")
    page.goto((book / "word_order" / "table1.html").as_uri())
    assert (errors, page.locator("button.xl-sort").count() > 0) == ([], True)


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
    assert copied == "xlrepro run word_order/table2 --profile open --again"
