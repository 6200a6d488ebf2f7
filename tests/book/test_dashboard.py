"""The landing page: its count of cells, and why claims do not hold."""

from types import SimpleNamespace

import pandas as pd
import pytest

from xlrepro.book.dashboard import summary
from xlrepro.book.dashboard.experiments import _cells
from xlrepro.book.dashboard.scatter import Cloud, _far_off, clouds
from xlrepro.book.dashboard.squares import reasons
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims import ClaimVerdict, Judge, load_claims
from xlrepro.evidence.compare import VERDICTS


def counted(key, **counts):
    found = {v: counts.get(v.replace(" ", "_"), 0) for v in VERDICTS}
    return _cells(
        SimpleNamespace(catalog=load_catalog(), cell_counts=lambda *_: found), key, "open"
    )


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("word_order/table6", "1 = 2 ▲ 3 ▼"),
        ("man_moe/table4", "4 on other data"),
        ("sense_alignment/table2", "1 = 2 ▲ 3 ▼ 4 on other data"),
        ("word_order/table1", "1 = 2 ▲ 3 ▼ 4 on other data"),
    ],
)
def test_cells_on_other_data_have_no_mark(key, text):
    assert counted(key, within=1, above=2, below=3, other_data=4).text == text


def test_cells_that_cannot_be_run_are_told_from_those_that_were_not():
    entry = counted("man_moe/table2", not_run=5, not_here=6, quoted=7)
    assert entry.detail == "5 not run, 6 not here, 7 quoted"


def judged(paper, **by_id):
    """An `Evidence` on which claims have a verdict of one seed at open, and none elsewhere."""
    claims = load_claims(paper)
    verdicts = {
        c.id: {"open": ClaimVerdict(by_id[c.id], n=1) if c.id in by_id else None} for c in claims
    }
    return SimpleNamespace(
        catalog=load_catalog(),
        judge=Judge(),
        all_claims={paper: claims},
        verdicts=lambda _: verdicts,
    )


def test_below_a_paper_s_claims_stands_what_weighs_most_on_those_that_fail():
    html = reasons(judged("word_order", O01w="fails", O02="undecided"), "word_order")
    assert "Behind the 1 that fails: " in html
    assert 'href="deviations.html#deviation-W01"' in html
    assert html.endswith("1 of 1 undecided: one seed.</p>")


def test_where_nothing_fails_there_is_no_reason():
    assert reasons(judged("word_order", O01w="holds"), "word_order") == ""


def test_the_plot_says_how_many_cells_lie_far_off_and_for_how_many_a_reason_is_known():
    told = _far_off([Cloud("word_order", far=3, weighed=2), Cloud("ramen", far=1, weighed=1)])
    assert told.startswith("4 lie more than 5 points off it, 3 of them on pages with a deviation")
    assert _far_off([Cloud("word_order")]) == ""


def test_a_cell_far_off_is_counted_and_whether_its_page_names_what_weighs_most():
    frame = pd.DataFrame(
        {"reported": [50.0, 50.0, 0.5], "reproduced": [54.0, 56.0, 0.6], "metric": "accuracy"}
    ).assign(unit=["percent", "percent", "fraction"], verdict="within")
    found = SimpleNamespace(
        catalog=load_catalog(),
        runs={(key, p): key == "word_order/table2" and p == "open"
              for key in load_catalog().experiments for p in ("open", "paper")},
        frame=lambda *_: frame,
    )  # fmt: skip
    cloud = next(c for c in clouds(found) if c.paper == "word_order")
    assert (len(cloud.same), cloud.far, cloud.weighed) == (3, 2, 2)


def test_the_line_of_records_counts_those_on_real_data_by_their_standing(monkeypatch):
    profiles = ("open", "open", "paper", "smoke", "open")
    records = [SimpleNamespace(profile=p, key=str(i)) for i, p in enumerate(profiles)]
    found = dict(zip(map(id, records), ("fresh", "stale", "witnessed", "fresh", "fresh")))
    records.append(records[0])  # as an experiment that shares it has it, too
    monkeypatch.setattr(summary, "load_evidence", lambda: SimpleNamespace(records=records))
    monkeypatch.setattr(summary, "standing_check", lambda: lambda record: found[id(record)])
    assert "<b>2</b> fresh, <b>1</b> witnessed, <b>1</b> stale" in summary.standing()


def test_a_copy_without_records_says_so_once(monkeypatch):
    monkeypatch.setattr(summary, "load_evidence", lambda: SimpleNamespace(records=[]))
    assert summary.standing() + summary.cost() == (
        "<p>No record on real data is part of this copy yet.</p>"
    )
