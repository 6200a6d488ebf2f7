"""The landing page's count of cells."""

from types import SimpleNamespace

import pytest

from xlrepro.book.dashboard.experiments import _cells
from xlrepro.evidence.catalog import load_catalog
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
        ("word_order/table1", "1 = 2 ▲ 3 ▼ 4 on other data"),
    ],
)
def test_cells_on_other_data_have_no_mark(key, text):
    assert counted(key, within=1, above=2, below=3, other_data=4).text == text


def test_cells_that_cannot_be_run_are_told_from_those_that_were_not():
    entry = counted("man_moe/table2", not_run=5, not_in_this_corpus=6, quoted=7)
    assert entry.detail == "5 not run, 6 not in this corpus, 7 quoted"
