import hashlib
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.util.parallel import make_chunks

from xlrepro.book import vendored
from xlrepro.book.assemble import listed_pages, write
from xlrepro.book.pages import experiments
from xlrepro.book.pages.api import api_pages
from xlrepro.book.pages.benchmarks import benchmark_tables
from xlrepro.book.pages.experiments import page, state_of
from xlrepro.book.pages.reported import reported_tables
from xlrepro.book.sphinx_extension import (
    _deal_out,
    _make_menu_of_titles,
    escape_bars,
    needed_scripts,
    titles_alone,
)
from xlrepro.book.templating import escape_markdown, render
from xlrepro.book.toc import table_of_contents
from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.reported import load_reported
from xlrepro.paths import project_root


def toc_files(toc: str) -> list[str]:
    parts = yaml.safe_load(toc)["parts"]
    chapters = [chapter for part in parts for chapter in part["chapters"]]
    return [page["file"] for c in chapters for page in (c, *c.get("sections", []))]


def test_contents_list_every_experiment_of_all_five_papers():
    catalog = load_catalog()
    listed = set(toc_files(table_of_contents(catalog, [])))
    pages = {f"{paper}/{name}" for paper in catalog.papers for name in ("method", "claims")}
    own = {key for key, entry in catalog.experiments.items() if not entry.shown_on}
    assert {*own, *pages} <= listed


def test_contents_list_no_page_twice():
    files = toc_files(table_of_contents(load_catalog(), ["api/nn"]))
    assert sorted(files) == sorted(set(files))


def test_every_printed_number_stands_on_the_page_of_its_experiment():
    numbers = load_reported()
    lost = []
    for key in load_catalog().experiments:
        shown = "".join(t.html for t in reported_tables(numbers, key))
        cells = [c for c in numbers.cells(key, context=None) if c.printed]
        lost += [c.source for c in cells if f">{c.printed}" not in shown]
    assert lost == []


def test_experiment_without_a_notebook_says_so_and_shows_the_paper_s_table(monkeypatch, tmp_path):
    monkeypatch.setattr(experiments, "notebooks_dir", lambda: tmp_path)
    suffix, text = page("ramen/table1", "smoke")
    assert (suffix, "Not built yet" in text, "<table>" in text) == (".md", True, True)


def test_failed_notebook_is_shown_as_failed(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path))
    failed = tmp_path / "notebooks" / "smoke" / "word_order" / "table2.failed.ipynb"
    failed.parent.mkdir(parents=True)
    failed.write_text("{}", encoding="utf-8")
    assert state_of("word_order/table2", "smoke") == "failed"


def test_page_of_an_earlier_run_says_that_the_last_one_failed(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path))
    folder = tmp_path / "notebooks" / "smoke" / "word_order"
    folder.mkdir(parents=True)
    earlier = {"cells": [{"cell_type": "markdown", "metadata": {}, "source": "# Table 2"}]}
    (folder / "table2.ipynb").write_text(json.dumps(earlier), encoding="utf-8")
    assert "The last run failed" not in page("word_order/table2", "smoke")[1]
    (folder / "table2.failed.ipynb").write_text("{}", encoding="utf-8")
    first, second = json.loads(page("word_order/table2", "smoke")[1])["cells"]
    assert first["source"] == "# Table 2"
    assert "The last run failed" in second["source"]


def test_assembling_again_touches_nothing_that_is_the_same(tmp_path):
    source = {"a.md": "# A", "b/c.md": "# C"}
    write(source, tmp_path)
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.md")}
    source["a.md"] = "# B"
    write(source, tmp_path)
    changed = {p.name for p, t in before.items() if p.stat().st_mtime_ns != t}
    assert changed == {"a.md"}


def test_pages_that_are_gone_are_removed(tmp_path):
    write({"a.md": "# A", "old.md": "# Old"}, tmp_path)
    write({"a.md": "# A"}, tmp_path)
    assert listed_pages(tmp_path) == ["a"]


def test_unknown_mark_in_a_page_is_an_error_with_its_place():
    with pytest.raises(SettingsError, match=r"index\.md.*nowhere"):
        render("fine\n<< nowhere() >>", {}, "book/index.md")


def test_equations_pass_through_the_marks_unchanged():
    text = r"$\frac{{a}}{b}$ and {cite}`x` {% y %}"
    assert render(text, {}, "a.md") == text


def test_markdown_signs_of_plain_text_are_escaped():
    assert escape_markdown("a|b_c\n*d*") == r"a\|b\_c \*d\*"


def test_bars_in_literal_text_stay():
    assert escape_bars("|x| and ``a|b``") == r"\|x\| and ``a|b``"


def script(name: str = "", body: str = "") -> SimpleNamespace:
    return SimpleNamespace(filename=name, attributes={"body": body})


def test_page_without_math_goes_without_mathjax_and_repetitions():
    scripts = [
        script("tables.js"),
        script("tables.js"),
        script("vendor/tex-svg.js"),
        script(body="window.MathJax = {}"),
        script(body='const THEBE_JS_URL = "x"'),
    ]
    assert [s.filename for s in needed_scripts(scripts, has_math=False)] == ["tables.js"]


def test_page_with_math_keeps_one_mathjax():
    scripts = [script("vendor/tex-svg.js"), script("vendor/tex-svg.js")]
    assert len(needed_scripts(scripts, has_math=True)) == 1


def test_api_reference_covers_every_public_module():
    text = "".join(api_pages(load_catalog()).values())
    shown = set(re.findall(r"automodule:: (\S+)", text))
    root = project_root()
    wanted = set()
    for path in (root / "xlrepro").rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        hidden = parts[-1].startswith("_") or parts[1] in ("cli", "book")
        wanted |= set() if hidden else {".".join(parts)}
    assert wanted - shown == set()


def test_malformed_benchmark_file_is_an_error_that_names_it(monkeypatch, tmp_path):
    (tmp_path / "data" / "reported").mkdir(parents=True)
    folder = tmp_path / "data" / "results" / "benchmarks"
    folder.mkdir(parents=True)
    (folder / "cpu.json").write_text('{"schema": 1}', encoding="utf-8")
    monkeypatch.setenv("XLREPRO_HOME", str(tmp_path))
    with pytest.raises(DataError, match=r"cpu\.json is not a benchmark file"):
        benchmark_tables()


def fake_fetch(content: bytes):
    def fetched(script, folder: Path) -> Path:
        wheel = folder / "any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("package/static/tex-svg.js", content)
        target = folder / script.name
        target.write_bytes(content)
        return target

    return fetched


def test_a_script_with_a_wrong_checksum_is_refused_and_not_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path))
    monkeypatch.setattr(vendored, "_installed", lambda script: None)
    monkeypatch.setattr(vendored, "_fetched", fake_fetch(b"something else"))
    with pytest.raises(DataError, match="has SHA-256"):
        vendored.locate(vendored.MATHJAX)
    assert list(tmp_path.rglob("*.js")) == []


def test_a_script_is_fetched_once(monkeypatch, tmp_path):
    content = b"the script"
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path))
    script = replace(vendored.MATHJAX, sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(vendored, "_installed", lambda script: None)
    monkeypatch.setattr(vendored, "_fetched", fake_fetch(content))
    first = vendored.locate(script)
    monkeypatch.setattr(vendored, "_fetched", lambda *_: pytest.fail("fetched twice"))
    assert vendored.locate(script) == first


@pytest.mark.parametrize("changed", ["/* new */", None])
def test_a_stylesheet_alone_reaches_pages_that_are_rendered_already(tmp_path, changed):
    from sphinx.application import Sphinx

    settings = """
import xlrepro.book.sphinx_extension as ours
extensions, html_theme = [], "basic"
html_static_path, html_css_files = ["_static"], ["page.css"]
setup = ours.watch_static_files
"""
    source, made = tmp_path / "src", tmp_path / "html"
    (source / "_static").mkdir(parents=True)
    (source / "conf.py").write_text(settings, encoding="utf-8")
    (source / "index.rst").write_text("Book\n====\n", encoding="utf-8")
    sheet = source / "_static" / "page.css"
    sheet.write_text("/* old */", encoding="utf-8")

    def pages_written():
        app = Sphinx(source, source, made, tmp_path / "trees", "html", status=None, warning=None)
        written = []
        app.connect("html-page-context", lambda _app, page, *rest: written.append(page))
        app.build()
        return written

    assert "index" in pages_written()
    if changed:
        sheet.write_text(changed, encoding="utf-8")
    assert ("index" in pages_written()) == bool(changed)
    assert (made / "_static" / "page.css").read_text(encoding="utf-8") == (changed or "/* old */")


def test_each_process_reads_a_like_share_of_the_reference():
    pages = [f"api/{i:02}" for i in range(18)] + [f"word_order/{i:02}" for i in range(58)]
    dealt = list(pages)
    _deal_out(SimpleNamespace(parallel=2), None, dealt)
    shares = [sum(p.startswith("api") for p in run) for run in make_chunks(dealt, 2) if run[1:]]
    assert sorted(dealt) == pages
    assert len(shares) > 2
    assert max(shares) - min(shares) <= 1


def contents(title: str, *below: nodes.Node) -> nodes.bullet_list:
    """Return a page's contents as Sphinx keeps them."""
    link = addnodes.compact_paragraph("", "", nodes.reference("", title, refuri="p"))
    return nodes.bullet_list("", nodes.list_item("", link, nodes.bullet_list("", *below)))


def test_a_menu_is_made_of_titles_and_the_pages_below_them():
    pages = addnodes.toctree(entries=[(None, "paper/table1")])
    whole = contents("Paper", *contents("A heading"), pages)
    slim = titles_alone(whole)
    assert slim.astext().strip() == "Paper"
    assert [t["entries"] for t in slim.findall(addnodes.toctree)] == [pages["entries"]]
    assert "A heading" in whole.astext()
    assert len(titles_alone(contents("Table 1", *contents("A heading")))[0]) == 1


def test_the_menu_alone_is_made_of_titles():
    whole = {"p": contents("Paper", *contents("A heading"))}
    app = SimpleNamespace(env=SimpleNamespace(tocs=whole))
    context = {"toctree": lambda **options: app.env.tocs["p"].astext()}
    _make_menu_of_titles(app, "p", "page.html", context, None)
    assert context["toctree"](titles_only=True).strip() == "Paper"
    assert "A heading" in context["toctree"](titles_only=False)
    assert app.env.tocs is whole
