"""A page is out of date when, and only when, a record that it reads has changed."""

import json

import pytest

from xlrepro.book.notebooks.batch import find_notebooks
from xlrepro.book.notebooks.digest import Circumstances, experiments_read, notebook_digest
from xlrepro.experiments import all_experiments


@pytest.fixture
def write_record(tmp_path, monkeypatch):
    """Return a function that writes a record of an experiment into a store of its own."""
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path))
    (tmp_path / "records").mkdir()

    def write(experiment: str, value: float) -> None:
        path = tmp_path / "records" / f"{experiment.replace('/', '.')}.json"
        path.write_text(json.dumps({"experiment": experiment, "value": value}), encoding="utf-8")

    return write


def digest_of(page):
    """Return what a page's notebook depends on today, at smoke."""
    source = find_notebooks([page])[page]
    return notebook_digest(page, source, {"profile": "smoke"}, Circumstances.now())


@pytest.mark.parametrize(
    ("page", "other"),
    [
        ("word_order/figure1", "word_order/table2"),  # draws on its trials
        ("word_order/table1", "word_order/table2"),  # a claim reads both
        ("word_order/table3", "man_moe/table4"),  # a claim reads Table 4, which draws on it
    ],
)
def test_record_of_an_experiment_that_the_page_reads_changes_its_digest(write_record, page, other):
    empty = digest_of(page)
    write_record(other, 1.0)
    first = digest_of(page)
    write_record(other, 1.0)
    again = digest_of(page)
    write_record(other, 2.0)
    assert empty != first == again != digest_of(page)


def test_record_that_the_page_does_not_read_changes_nothing(write_record):
    before = digest_of("word_order/figure1")
    write_record("man_moe/table5", 1.0)
    assert digest_of("word_order/figure1") == before


def test_broken_record_counts_as_none(write_record, tmp_path):
    before = digest_of("word_order/figure1")
    (tmp_path / "records" / "half.json").write_text('{"experiment": "wor', encoding="utf-8")
    assert digest_of("word_order/figure1") == before


@pytest.mark.parametrize("key", all_experiments())
def test_a_page_reads_its_own_records_and_those_it_draws_on(key):
    own = all_experiments()[key].trained_in
    assert experiments_read(key)[: len(own)] == own
