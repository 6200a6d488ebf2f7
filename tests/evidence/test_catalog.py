import re

import pytest

from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.catalog import (
    CatalogEntry,
    ReportedTable,
    StandIn,
    load_catalog,
    read_catalog,
)
from xlrepro.evidence.intervals import items_of
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedCell, ReproducedNumbers
from xlrepro.experiments import all_experiments, experiment
from xlrepro.paths import data_dir


def test_every_experiment_is_built_and_asks_a_question():
    assert set(load_catalog().experiments) == set(all_experiments())
    assert {k.split("/")[0] for k in load_catalog().experiments} == set(load_catalog().papers)
    questions = [e.question for e in load_catalog().experiments.values()]
    assert [q for q in questions if not q.endswith("?")] == []


def test_no_column_is_called_by_the_code_of_a_language():
    """An experiment names its columns in words; one of two letters is nobody's word."""
    known = {
        (key, name)
        for key, entry in load_catalog().experiments.items()
        for column in {*experiment(key).columns, *load_reported().columns(key)}
        for name in entry.column_name(column).split(", ")
    }
    assert {(key, name) for key, name in known if re.fullmatch("[a-z]{2}", name)} == set()


def test_every_citation_stands_in_the_bibliography():
    path = data_dir().parent / "book" / "references.bib"
    text = path.read_text(encoding="utf-8")
    missing = [p.citation for p in load_catalog().papers.values() if f"{{{p.citation}," not in text]
    assert missing == []


@pytest.mark.parametrize(
    ("quoted", "system", "why"),
    [
        ({"old:*": "too dear", "old:A": "lost"}, "old:A", "lost"),
        ({"old:*": "too dear", "old:A": "lost"}, "old:B", "too dear"),
        ({"old:A": "lost"}, "old:B", ""),
    ],
)
def test_a_row_that_is_only_shown_has_its_own_reason_or_that_of_its_block(quoted, system, why):
    table = ReportedTable(table="t", column=("x",), blocks={}, quoted=quoted)
    entry = CatalogEntry(short="t", title="t", question="q?", reported=(table,))
    assert entry.quoted_because(system) == why


@pytest.mark.parametrize(
    ("columns", "printed", "ours", "lacks"),
    [
        ({"zh": "th"}, "zh/avg", "th/avg", True),
        ({"zh": "th"}, "de/avg", "de/avg", False),
        ({"de": "en", "en": "es"}, "en", "es", False),  # en is in our data: it is read for de
        ({"de": "en", "en": "es"}, "de", "en", True),
    ],
)
def test_a_stand_in_lacks_the_columns_that_it_replaces(columns, printed, ours, lacks):
    stand_in = StandIn(data="others", columns=columns)
    assert (stand_in.column(printed), stand_in.lacks(printed)) == (ours, lacks)


def test_unknown_names_name_the_known_ones():
    with pytest.raises(SettingsError, match=r"word_order/table9.*word_order/table2"):
        load_catalog().experiment("word_order/table9")
    with pytest.raises(SettingsError, match="'x'; known: word_order, man_moe"):
        load_catalog().of_paper("x")


def test_a_malformed_catalog_names_file_and_place(tmp_path):
    path = tmp_path / "catalog.yaml"
    paper = "{title: <b>, citation: c, version: v, menu: m, short: s, url: u}"
    path.write_text(f"metrics: {{}}\nexperiments: {{}}\npapers: {{a: {paper}}}\n")
    with pytest.raises(DataError, match=r"catalog\.yaml: papers\.a\.title: .*pattern"):
        read_catalog(path)


@pytest.mark.parametrize(
    "key", ["word_order/table1", "word_order/table4", "man_moe/table4", "sense_alignment/table5"]
)
def test_no_cell_has_more_test_items_than_its_trial_reads(key):
    trials = [t for t in experiment(key).all_trials("open", [0]) if "test_sentences" in t.settings]
    assert trials
    for trial, system, column in ((t, s, c) for t in trials for s in t.systems for c in t.columns):
        cell = ReproducedCell(key, "open", system, column, "F1", "percent", (0,), (50.0,), ())
        size, _ = items_of(load_catalog(), ReproducedNumbers([]), cell)
        sets = len(trial.settings["targets"]) if column.endswith("avg") else 1
        assert 0 < size <= sets * trial.settings["test_sentences"], (system, column)
