"""Generated pages: what they say is computed, escaped, and complete."""

import csv
import io
from xml.etree import ElementTree

import pytest

from xlrepro.evidence.deviations import load_deviations, load_errata
from xlrepro.pages import overview
from xlrepro.pages.gathered import load_evidence


def test_a_table_escapes_what_it_is_given():
    html = overview.table("A <b>", ["x"], [["<script>"], [{"text": "&", "detail": "<i>"}]])
    assert "<script>" not in html
    assert {"A &lt;b&gt;", "&lt;i&gt;"} <= {e for e in ("A &lt;b&gt;", "&lt;i&gt;") if e in html}


@pytest.mark.parametrize(
    "html",
    [overview.glance, overview.mosaic, overview.experiments, overview.downloads],
    ids=lambda made: made.__name__,
)
def test_markdown_takes_a_page_s_html_as_one_block(html):
    text = str(html())
    assert "\n\n" not in text
    ElementTree.fromstring(
        f"<p>{text.replace('&nbsp;', ' ').replace('<br>', '<br/>').replace(' download>', '>')}</p>"
    )


def test_the_first_screen_has_a_section_per_paper_with_its_verdict():
    html = overview.glance()
    papers = load_evidence().catalog.papers
    assert html.count("<section") == html.count("xl-badge") == len(papers)
    assert all(str(paper.url) in html for paper in papers.values())


def test_the_answer_s_counts_add_up():
    evidence = load_evidence()
    counted = sum(c.kind == "text" for known in evidence.claims.values() for c in known)
    numbers = overview.numbers()
    assert f"the {counted} checkable sentences" in overview.answer()
    assert 0 < numbers["within"] < numbers["own"] < numbers["run"] < numbers["reported"]


def test_every_claim_has_a_square_and_a_place_on_its_paper_s_page():
    mosaic = overview.mosaic()
    for paper, known in load_evidence().claims.items():
        page = overview.claims(paper)
        for claim in known:
            assert f'{paper}/claims.html#{claim.id}"' in mosaic
            assert f'<li id="{claim.id}">' in page


def test_every_deviation_and_erratum_is_listed_once():
    text, errata = overview.deviations(), overview.errata()
    assert [d.id for d in load_deviations() if text.count(f'id="deviation-{d.id}"') != 1] == []
    assert [e.id for e in load_errata() if f">{e.id}</th>" not in errata] == []
    apart = errata.partition("## Stricter readings")[2]
    assert all(f">{name}</th>" in apart for name in ("E01", "E03", "E08", "E11", "E14"))


def test_the_files_to_download_are_tidy_and_described():
    files = overview.download_files()
    for name, (_, fields) in overview.DICTIONARY.items():
        rows = list(csv.DictReader(io.StringIO(files[f"{name}.csv"])))
        assert list(rows[0]) == [each for field in fields for each in field.split(", ")]
        assert len(rows) > 150
    cells = list(csv.DictReader(io.StringIO(files["cells.csv"])))
    ort = next(r for r in cells if (r["experiment"], r["system"], r["column"])
               == ("word_order/table2", "word:ORT", "avg"))  # fmt: skip
    assert float(ort["reported"]) == 53.1
