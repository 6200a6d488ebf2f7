import pytest

from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.catalog import (
    LITERATURE,
    CatalogEntry,
    ReportedTable,
    StandIn,
    load_catalog,
    read_catalog,
)
from xlrepro.paths import data_dir

# The notebooks that there are to be, and those of ours.
PLANNED = {
    "man_moe": {"table2", "table3", "table4", "table5", "table6", "figure4"},
    "sense_alignment": {"table2", "table3", "table4", "table5", "tables6_8", "figures4_7"},
    "word_order": {
        *("table1", "table2", "table3", "table4", "table5", "table6"),
        *(
            "figure1",
            "figure2",
            "figure3",
            "distances",
            "open_vectors",
            "learning_rates",
        ),
    },
    "routing_nmt": {"table1", "figure2"},
    "ramen": {"table1", "table2", "table3", "table4", "figure2"},
}


def test_every_planned_experiment_is_listed():
    planned = {f"{paper}/{name}" for paper, names in PLANNED.items() for name in names}
    assert set(load_catalog().experiments) == planned


def test_every_experiment_asks_a_question():
    questions = [e.question for e in load_catalog().experiments.values()]
    assert [q for q in questions if not q.endswith("?")] == []


def test_every_citation_stands_in_the_bibliography():
    path = data_dir().parent / "book" / "references.bib"
    text = path.read_text(encoding="utf-8")
    missing = [p.citation for p in load_catalog().papers.values() if f"{{{p.citation}," not in text]
    assert missing == []


def test_a_block_of_ours_is_compared_with_the_row_it_names():
    entry = load_catalog().experiment("word_order/table2")
    assert entry.reference("word-mapped:ORT") == "word:ORT"


def test_a_block_that_answers_for_another_is_compared_with_its_printed_rows():
    pairs = [
        (entry.reference_blocks.get(ours), theirs)
        for entry in load_catalog().experiments.values()
        for blocks in entry.judged_on.values()
        for theirs, ours in blocks.items()
    ]
    assert pairs
    assert all(printed == theirs for printed, theirs in pairs)


def test_a_block_of_the_paper_is_compared_with_itself():
    assert load_catalog().experiment("word_order/table2").reference("mbert:ORT") == "mbert:ORT"


def test_quoted_systems_are_known_by_block_and_by_name():
    entry = load_catalog().experiment("man_moe/table4")
    names = ("with:Ni et al. (2017)", "without:Xie et al. (2018)", "without:MAN-MoE")
    assert [entry.is_quoted(n) for n in names] == [True, True, False]


@pytest.mark.parametrize(
    ("quoted", "system", "why"),
    [
        (["old:*"], "old:A", LITERATURE),
        ({"old:*": "too dear", "old:A": "lost"}, "old:A", "lost"),
        ({"old:*": "too dear", "old:A": "lost"}, "old:B", "too dear"),
        (["old:A"], "old:B", ""),
    ],
)
def test_a_row_that_is_only_shown_has_its_own_reason_or_that_of_its_block(quoted, system, why):
    table = ReportedTable.model_validate(
        {"table": "t", "column": ["x"], "blocks": {}, "quoted": quoted}
    )
    entry = CatalogEntry(short="t", title="t", question="q?", reported=(table,))
    assert (entry.quoted_because(system), entry.is_quoted(system)) == (why, bool(why))


@pytest.mark.parametrize(
    ("columns", "printed", "ours", "lacks"),
    [
        ({"zh": "th"}, "zh/avg", "th/avg", True),
        ({"zh": "th"}, "de/avg", "de/avg", False),
        ({"zh": "th"}, "th/avg", "th/avg", False),
        ({"de": "en", "en": "es"}, "en", "es", False),  # en is in our data: it is read for de
        ({"de": "en", "en": "es"}, "de", "en", True),
    ],
)
def test_a_stand_in_lacks_the_columns_that_it_replaces(columns, printed, ours, lacks):
    stand_in = StandIn(data="others", columns=columns)
    assert (stand_in.column(printed), stand_in.lacks(printed)) == (ours, lacks)


@pytest.mark.parametrize(("metric", "better"), [("accuracy", True), ("TER", False), ("x", None)])
def test_direction_of_a_metric(metric, better):
    assert load_catalog().higher_is_better(metric) is better


def test_unknown_experiment_names_the_known_ones_of_the_paper():
    with pytest.raises(SettingsError, match=r"word_order/table9.*word_order/table2"):
        load_catalog().experiment("word_order/table9")


def test_unknown_paper_names_the_known_ones():
    with pytest.raises(SettingsError, match="'x'; known: word_order, man_moe"):
        load_catalog().of_paper("x")


def test_an_unknown_field_names_file_and_place(tmp_path):
    path = tmp_path / "catalog.yaml"
    path.write_text("papers: {}\nmetrics: {}\nexperiments: {}\nextra: 1\n")
    with pytest.raises(DataError, match=r"catalog\.yaml: extra"):
        read_catalog(path)


def test_an_experiment_of_no_paper_is_an_error(tmp_path):
    path = tmp_path / "catalog.yaml"
    path.write_text(
        "papers: {}\nmetrics: {}\n"
        "experiments: {a/b: {short: t, title: t, question: q, reported: []}}\n"
    )
    with pytest.raises(DataError, match="a/b belongs to no paper"):
        read_catalog(path)


@pytest.mark.parametrize(
    ("key", "judged"),
    [("word_order/table2", True), ("word_order/table1", True), ("word_order/table4", False)],
)
def test_an_experiment_is_judged_where_some_of_its_columns_have_the_papers_data(key, judged):
    entry = load_catalog().experiment(key)
    assert (entry.is_judged("open"), entry.is_judged("smoke")) == (judged, False)
