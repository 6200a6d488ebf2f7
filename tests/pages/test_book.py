"""The book's folder and its rendering."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest
import yaml

from tests.toy_trials import wait_for
from xlrepro.pages import book
from xlrepro.pages.sphinx import slim


def test_a_page_has_no_script_that_it_does_not_need():
    mathjax = '<script>window.MathJax = {}</script><script defer src="a/tex-svg.js"></script>'
    thebe = '<script>const THEBE_JS_URL = "x"</script><script src="a/sphinx-thebe.js?v"></script>'
    unwanted = thebe + '\n<script defer src="a/fontawesome.js?d=1"></script>'
    kept = '<link rel="preload" href="_static/x.css"/><script src="tables.js"></script><p>'
    assert slim(kept + mathjax + unwanted) == kept
    equation = '<span class="math notranslate">'
    assert slim(mathjax + unwanted + equation) == mathjax + equation


def test_the_foot_links_the_repository_once_the_citation_names_it(project):
    citation = project / "CITATION.cff"
    citation.write_text("cff-version: 1.2.0\n", encoding="utf-8")
    assert "Repository" not in book.footer()
    assert "url = " not in book.footer()
    url = "https://example.org/nlp/xlrepro"
    citation.write_text(f"repository-code: {url}\n", encoding="utf-8")
    assert f'<a href="{url}">Repository</a>' in book.footer()
    assert f"url = {{{url}}}" in book.footer()


@pytest.fixture
def rendered(project, write_notebook):
    """A project whose rendered book shows what there is."""
    write_notebook("fake/one", "print(1)")
    book.index_page().parent.mkdir(parents=True)
    book.index_page().write_text("<html>", encoding="utf-8")
    (book.book_dir() / "current.sha256").write_text(book.everything("smoke"), encoding="utf-8")
    return project


def test_a_book_that_shows_what_there_is_is_not_made_again(rendered):
    lines = []
    assert book.make("smoke", report=lines.append) == (book.index_page(), {})
    assert lines == ["nothing has changed since the book was rendered"]


@pytest.mark.parametrize(
    "changed",
    ["book/index.md", "notebooks/fake/one.ipynb", "data/catalog.yaml", "build/records/aa.json"],
)
def test_whatever_it_is_made_from_makes_it_out_of_date(rendered, changed):
    before = book.everything("smoke")
    path = rendered / changed
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("changed", encoding="utf-8")
    assert book.everything("smoke") != before != book.everything("open")


def test_a_renderer_ends_with_the_command_that_started_it(project, monkeypatch, tmp_path):
    """And with it what the renderer has started."""
    began = tmp_path / "began"
    slow = "import subprocess as s; p = s.Popen(['sleep', '617']); "
    slow += f"open({str(began)!r}, 'w'); p.wait()"
    code = (
        # where tests run in the background of a script, SIGINT is ignored from the start
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import pathlib\nfrom xlrepro.pages import book, notebooks\n"
        f"book.JUPYTER_BOOK = {slow!r}\nbook.book_dir().mkdir(parents=True)\n"
        "with notebooks.only_one(book.book_dir()):\n    book.render(pathlib.Path('.'))\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    wait_for(began.is_file, "the renderer")
    child.send_signal(signal.SIGINT)  # the command line makes SIGTERM one of these
    assert child.wait(30)
    time.sleep(0.5)
    assert subprocess.run(["pgrep", "-f", "^sleep 617"], capture_output=True).returncode


def test_the_menu_lists_every_page_once_and_every_paper():
    toc = yaml.safe_load(book.filled_in(book.project_root() / "book" / "_toc.yml"))
    files = re.findall(r"file: (\S+)", yaml.safe_dump(toc))
    assert len(files) == len(set(files))
    assert {"word_order/findings", "word_order/table2", "claims", "downloads"} <= set(files)


def test_a_notebook_that_was_not_run_is_a_page_that_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path))
    cells = json.loads(book.notebook_page("word_order/table2", "smoke"))["cells"]
    assert "Not run for this copy" in cells[-1]["source"]
