import csv
from shutil import copytree

import pytest

from xlrepro.errors import DataError
from xlrepro.evidence.catalog import ReportedTable, load_catalog
from xlrepro.evidence.reported import HEADER, load_reported, parse_number, read_reported, read_table
from xlrepro.paths import data_dir

FOLDER = data_dir() / "reported"
TABLES = sorted(FOLDER.glob("*/*.csv"))


def raw_rows(path):
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


@pytest.mark.parametrize("path", TABLES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_every_row_of_every_table_becomes_a_cell_with_its_printed_value(path):
    catalog = load_catalog()
    specs = [
        (key, spec)
        for key, entry in catalog.of_paper(path.parent.name).items()
        for spec in entry.reported
        if spec.table == path.stem and not spec.only
    ]
    assert len(specs) == 1
    key, spec = specs[0]
    cells = read_table(path, spec, key)
    assert [(c.printed, c.metric, c.unit) for c in cells] == [
        (r["value"], r["metric"], r["unit"]) for r in raw_rows(path)
    ]


def test_a_cell_by_its_address_has_the_papers_own_table_as_its_source():
    cell = load_reported().get("word_order/table2", "word:ORT", "de")
    assert (cell.value, cell.rounding, cell.metric) == (50.59, 0.005, "accuracy")
    assert cell.source == (
        "Liu et al. (2021), AAAI 2021 version, Table 2, row ORT (Frozen Word-level Embeddings), "
        "column de"
    )


def test_distances_describe_the_data_and_are_no_system():
    numbers = load_reported()
    assert all(not s.startswith("distance") for s in numbers.systems("word_order/table2"))
    described = {cell.system for cell in numbers.cells("word_order/table2", context=True)}
    assert described == {"distance:word-order distance to English"}


def test_extra_fields_compose_names_and_a_cell_printed_in_two_tables_names_both():
    numbers = load_reported()
    row = "ablation:ORT + CRF (PE -, FF Conv1d, k -)"
    assert numbers.get("word_order/table6", row, "es").value == 66.84
    again = numbers.get("ramen/table2", "baseline:mBERT (mono)", "LAS/fr")
    assert again.source.endswith("again in Table 5")


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("53.10", (53.1, 0.005)),
        ("20,000", (20000.0, 0.5)),
        ("0.555", (0.555, 0.0005)),
        ("-1.5", (-1.5, 0.05)),
        ("", (None, 0.0)),
        ("1e5", (None, 0.0)),
    ],
)
def test_numbers_and_their_rounding(printed, expected):
    assert parse_number(printed) == expected


GOOD = "word_order,9,G,ORT,de,POS,test,accuracy,,53.1,percent,,yes,note"
SPEC = ReportedTable(table="table2", column=("language",), blocks={"G": "word"})
HEAD = ",".join(HEADER)


def table(tmp_path, *rows, spec=SPEC):
    path = tmp_path / "table2.csv"
    path.write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    return read_table(path, spec, "word_order/table2")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([GOOD, GOOD.replace(",note", "")], r"table2\.csv:3: expected the fields paper,table"),
        ([GOOD.replace(",G,", ",H,")], r"table2\.csv:2: the catalog names no block for 'H'"),
        ([GOOD.replace(",ORT,", ",,")], r"table2\.csv:2: the row has no system"),
        ([GOOD.replace("53.1", "531")], r"table2\.csv:2: 531 is no accuracy in percent"),
        ([GOOD.replace(",note", ',"no')], r"table2\.csv is not readable as CSV"),
        (["a,b"], r"table2\.csv:2: expected the fields paper,table"),
    ],
)
def test_a_malformed_row_names_file_line_and_what_is_wrong(tmp_path, rows, message):
    with pytest.raises(DataError, match=message):
        table(tmp_path, *rows)


def test_a_field_that_the_rows_lack_is_an_error(tmp_path):
    spec = SPEC.model_copy(update={"column": ("k",)})
    with pytest.raises(DataError, match=r"table2\.csv:2: the catalog asks for the field 'k'"):
        table(tmp_path, GOOD, spec=spec)


def test_a_missing_table_names_the_file(tmp_path):
    with pytest.raises(DataError, match=r"table2\.csv is missing"):
        read_reported(tmp_path, load_catalog())


@pytest.mark.parametrize("change", [(",71.6,", ",71.7,"), ("ramen,1,", "ramen,1,")])
def test_a_cell_printed_twice_is_the_same_in_a_table_that_repeats_or_an_error(tmp_path, change):
    copytree(FOLDER / "ramen", tmp_path / "ramen")
    first, fifth = (tmp_path / "ramen" / f"{name}.csv" for name in ("table1", "table5"))
    fifth.write_text(fifth.read_text(encoding="utf-8").replace(*change, 1), encoding="utf-8")
    if change[0] == change[1]:
        text = first.read_text(encoding="utf-8")
        first.write_text(text + text.splitlines()[1] + "\n", encoding="utf-8")
    catalog = load_catalog()
    only = catalog.model_copy(update={"experiments": catalog.of_paper("ramen")})
    with pytest.raises(DataError, match=r"reported twice: (71\.7, but 71\.6|67\.7, but 67\.7) in"):
        read_reported(tmp_path, only)
