"""The built book, served on 127.0.0.1, and Debian's Chromium to look at it with."""

import asyncio
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.async_api import Page as AsyncPage
from playwright.async_api import Playwright, async_playwright
from playwright.sync_api import Browser, Page, sync_playwright

from xlrepro.pages.book import index_page
from xlrepro.paths import build_dir

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--no-first-run"]  # fmt: skip
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
WORKERS = 3  # browsers at a time, for two cores: each page has pauses
PATIENCE_MS = 120_000  # a busy machine is no fault of the book
# Sphinx's own pages without content of ours.
NOT_PAGES = ("genindex.html", "search.html")


def script(name: str) -> str:
    """Return a function that a page runs."""
    return Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8")


# The theme keeps a second one for print, which nobody sees or hears on a screen.
COUNT_HEADINGS = """() =>
    Array.from(document.querySelectorAll("h1")).filter((h) => h.offsetParent !== null).length"""
COUNT_BEHIND_BARS = """() => Array.from(document.querySelectorAll(".xl-scroll"))
    .filter((box) => box.scrollWidth > box.clientWidth + 1).length"""
SILENT_IMAGES = "Array.from(document.images).filter((i) => !i.alt.trim()).map((i) => i.src)"
# axe-core 4.12.1 (MPL-2.0), out of a package that is fetched once; none of its code runs.
AXE = "axe-playwright-python==0.1.8"
AXE_SHA256 = "84494fec757e4710dc751c8d7a636e457f4532f08f85c86dc9070133fbff53bc"


@cache
def axe() -> str:
    """Return axe's script, fetched into the build's folder where it is not there.

    To be called before browsers start: of two that fetch it one would read what the other writes.
    """
    script = build_dir() / "vendor" / "axe.min.js"
    if not script.is_file():
        script.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest"]
        subprocess.run([*command, str(script.parent), AXE], check=True)
        with zipfile.ZipFile(next(script.parent.glob("axe_*.whl"))) as wheel:
            name = next(n for n in wheel.namelist() if n.endswith("/axe.min.js"))
            script.write_bytes(wheel.read(name))
    content = script.read_bytes()
    assert hashlib.sha256(content).hexdigest() == AXE_SHA256, f"delete {script}"
    return content.decode()


# A colour on its way from one theme to the other is nobody's: a button takes 150 ms.
AT_REST = "*, ::before, ::after { transition: none !important; animation: none !important; }"
# The page hears of another size of its window with the next frame, and draws by it in that one.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SET_THEME = """(theme) => {
    document.documentElement.dataset.theme = theme;
    document.documentElement.style.colorScheme = theme;
}"""


@dataclass
class Visit:
    """What one page did and showed."""

    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    math: dict[str, Any] = field(default_factory=dict)
    sorted_columns: list[dict[str, Any]] = field(default_factory=list)
    headings: int = 0
    images_without_alt: list[str] = field(default_factory=list)
    behind_bars: int = 0  # tables wider than their box, at a desk
    barriers: dict[str, list[str]] = field(default_factory=dict)
    looks: dict[int, dict[str, Any]] = field(default_factory=dict)  # by width


@pytest.fixture(scope="session")
def book() -> Path:
    if not (index_page().parent / "index.html").is_file():
        pytest.fail(
            f"the book is not built: run `xlrepro book` first ({index_page().parent} is empty)"
        )
    return index_page().parent


@pytest.fixture(scope="session")
def base(book: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(book))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=DESK)
    context.set_default_timeout(PATIENCE_MS)
    yield context.new_page()
    context.close()


def page_names(book: Path) -> list[str]:
    names = sorted(p.relative_to(book).as_posix() for p in book.rglob("*.html"))
    return [n for n in names if n not in NOT_PAGES and not n.startswith(("_static", "_sources"))]


@pytest.fixture(scope="session")
def visits(book: Path, base: str) -> dict[str, Visit]:
    """Every page, opened once at desk width, then at phone width, in both themes."""
    axe()
    with ThreadPoolExecutor(1) as pool:  # this thread may have a loop: the other tests' browser
        found = pool.submit(asyncio.run, visit_all(base, page_names(book))).result()
    return dict(sorted(found.items()))


async def visit_all(base: str, names: list[str]) -> dict[str, Visit]:
    found: dict[str, Visit] = {}
    waiting = iter(names)

    async def work(playwright: Playwright) -> None:
        visits: list[Visit] = []
        page = await opened(playwright, visits)
        for name in waiting:
            try:
                found[name] = await look(page, f"{base}/{name}", visits)
            except TimeoutError:  # a busy browser may stop drawing: once more in another
                page = await opened(playwright, visits)
                found[name] = await look(page, f"{base}/{name}", visits)

    async with async_playwright() as playwright:
        await asyncio.gather(*(work(playwright) for _ in range(WORKERS)))
    return found


async def opened(playwright: Playwright, to: list[Visit]) -> AsyncPage:
    """Open a page in a browser of its own; what it does is told to the last visit."""
    browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
    page = await browser.new_page()
    page.on("console", lambda m: to[-1].console.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: to[-1].console.append(str(error)))
    page.on("request", lambda request: to[-1].requests.append(request.url))
    page.on("response", lambda r: to[-1].missing.append(r.url) if r.status >= 400 else None)
    return page


async def look(page: AsyncPage, url: str, visits: list[Visit]) -> Visit:
    """Look at a page; Playwright itself waits for a page's answer without end."""
    visits.append(Visit())
    try:
        await asyncio.wait_for(fill(visits[-1], page, url), PATIENCE_MS / 1000)
    except TimeoutError as error:
        raise TimeoutError(f"{url} does not answer") from error
    return visits[-1]


async def fill(visit: Visit, page: AsyncPage, url: str) -> None:
    await page.set_viewport_size(DESK)
    await page.goto(url, wait_until="load", timeout=PATIENCE_MS)
    await page.add_style_tag(content=AT_REST)
    if await page.evaluate("!!document.querySelector('.bd-article .math')"):
        await page.evaluate("() => window.MathJax && MathJax.startup.promise")
    visit.looks[DESK["width"]] = await page.evaluate(script("look"))
    visit.behind_bars = await page.evaluate(COUNT_BEHIND_BARS)
    visit.math = await page.evaluate(script("find_math"))
    visit.headings = await page.evaluate(COUNT_HEADINGS)
    visit.images_without_alt = await page.evaluate(SILENT_IMAGES)
    visit.sorted_columns = await page.evaluate(script("sort_all"))
    await page.set_viewport_size(PHONE)
    await page.evaluate(DRAWN)
    visit.looks[PHONE["width"]] = await page.evaluate(script("look"))
    await page.evaluate(script("cut"), url.endswith("/index.html"))
    await page.add_script_tag(content=axe())
    for size in (PHONE, DESK):
        await page.set_viewport_size(size)
        await page.wait_for_timeout(400)  # the theme looks 300 ms later what scrolls now
        for colours, theme in enumerate(("light", "dark")):
            await page.evaluate(SET_THEME, theme)
            found = await page.evaluate(script("run_axe"), bool(colours))
            visit.barriers[f"{theme}, {size['width']}"] = found
