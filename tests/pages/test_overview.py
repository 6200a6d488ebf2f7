"""Generated pages: what they say is computed, escaped, and complete."""

import csv
import io
from xml.etree import ElementTree

import pytest

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.deviations import load_deviations, load_errata
from xlrepro.evidence.gathered import load_evidence
from xlrepro.pages import overview
from xlrepro.pages.page import claims_list
from xlrepro.paths import project_root

PAPERS = load_catalog().papers


@pytest.mark.parametrize("html", [overview.glance, overview.all_claims, overview.experiments])
def test_markdown_takes_a_page_s_html_as_one_block(html):
    text = str(html())
    assert "\n\n" not in text
    ElementTree.fromstring(f"<p>{text.replace('&nbsp;', ' ').replace('<br>', '<br/>')}</p>")


def test_the_first_screen_has_a_section_per_paper_with_its_verdict():
    html = overview.glance()
    assert html.count("<section") == html.count("xl-badge") == len(PAPERS)
    assert all(str(paper.url) in html for paper in PAPERS.values())


def test_the_answer_s_counts_add_up():
    evidence = load_evidence()
    counted = sum(c.counted for paper in PAPERS for c in evidence.claims(paper))
    numbers = overview.numbers()
    assert f"the {counted} checkable sentences" in overview.answer()
    assert 0 <= numbers["scores"] < numbers["run"] < numbers["reported"]


def test_every_claim_has_a_row_and_a_place_on_its_paper_s_page():
    listed, evidence = overview.all_claims(), load_evidence()
    for paper in PAPERS:
        page = claims_list(evidence, paper)
        for claim in evidence.claims(paper):
            assert (f'{paper}/claims.html#{claim.id}"' in listed) == claim.counted
            assert f'<li id="{claim.id}">' in page


def test_every_deviation_and_erratum_is_listed_once():
    text, errata = overview.deviations(), overview.errata()
    assert [d.id for d in load_deviations() if text.count(f'id="deviation-{d.id}"') != 1] == []
    assert [e.id for e in load_errata() if errata.count(f">{e.id}</th>") != 1] == []


def test_the_files_to_download_are_tidy_and_described():
    files = overview.download_files()
    described = (project_root() / "book" / "downloads.md").read_text(encoding="utf-8")
    for text in files.values():
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [name for name in rows[0] if f"`{name}`" not in described] == []
        assert len(rows) > 150
    cells = list(csv.DictReader(io.StringIO(files["cells.csv"])))
    ort = next(r for r in cells if (r["experiment"], r["system"], r["column"])
               == ("word_order/table2", "word:ORT", "avg"))  # fmt: skip
    assert float(ort["reported"]) == 53.1


def test_curves_say_how_the_trainings_behind_cells_went():
    rows = {"without:MAN-MOE+CharCNN": "MAN-MoE", "without:BWE+CharCNN (3-to-1)": "BWE"}
    html = overview.curves("man_moe/table4", "experiments.*.dev_scores", {"Dutch": "nl"}, rows,
                           title="Entities", xlabel="evaluation", ylabel="F1")  # fmt: skip
    assert "Dutch, MAN-MoE: 44.98 at 1" in html
    assert "with early stopping" in html
