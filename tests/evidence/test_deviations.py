import fnmatch

import pytest

from xlrepro import experiments
from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.claims import Judge, load_claims
from xlrepro.evidence.deviations import (
    WEIGHTS,
    deviations_by_weight,
    load_deviations,
    load_errata,
    read_deviations,
    read_errata,
)
from xlrepro.evidence.reported import load_reported

FILE = """paper: word_order
deviations:
  - {id: W1, title: t, experiments: [table2], profiles: [open], paper: p, here: h, why: w,
     effect: e, certainty: known}
"""


def written(tmp_path, text):
    path = tmp_path / "d.yaml"
    path.write_text(text, encoding="utf-8")
    return read_deviations(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[table2]", "[table9]"), "W1: the catalog has no experiment word_order/table9"),
        (("[open]", "[huge]"), r"d\.yaml: deviations\.0\.profiles"),
        (("why: w, ", ""), r"d\.yaml: deviations\.0\.why: Field required"),
        (
            ("why: w,", "why: w, columns: {table1: [ar]},"),
            "W1: rows or columns of table1, which is not among its experiments",
        ),
    ],
)
def test_a_malformed_deviation_names_file_and_place(tmp_path, change, message):
    text = FILE.replace("why: w,\n    ", "why: w,")
    with pytest.raises(DataError, match=message):
        written(tmp_path, text.replace(*change))


@pytest.mark.parametrize("key", experiments.all_experiments())
def test_every_row_and_column_that_a_deviation_names_is_there(key):
    each, printed = experiments.experiment(key), load_reported().cells(key)
    known = {
        "row": [*(s.identifier for s in each.systems), *(c.system for c in printed)],
        "column": [*each.columns, *(c.column for c in printed)],
    }
    for deviation in load_deviations(key):
        for kind, names in deviation.named(key).items():
            assert [n for n in names if not fnmatch.filter(known[kind], n)] == [], deviation.id


def test_a_deviation_touches_the_cells_that_its_rows_and_its_columns_name_or_all(tmp_path):
    key, cells = "word_order/table2", [("word:ORT", "ar"), ("word:ORT", "de"), ("mbert:ORT", "ar")]
    more = "why: w, rows: {table2: ['word:*']}, columns: {table2: [ar]},"
    (some,) = written(tmp_path, FILE.replace("why: w,\n    ", more))
    assert [some.touches(key, *cell) for cell in cells] == [True, False, False]
    assert not some.touches("word_order/table1", "word:ORT", "ar")
    (every,) = written(tmp_path, FILE)
    assert every.touches(key, "mbert:ORT", "de")


def test_an_id_must_not_stand_twice(tmp_path):
    with pytest.raises(DataError, match="W1 stands there twice"):
        written(tmp_path, FILE + FILE.split("deviations:\n")[1])


def test_the_deviations_of_a_profile_stand_by_weight():
    found = deviations_by_weight("word_order/table2", "smoke")
    assert found
    assert all("smoke" in d.profiles for d in found)
    weights = [d.weight for d in deviations_by_weight("word_order/table2")]
    assert weights == sorted(weights, key=WEIGHTS.index)


def test_an_unknown_experiment_is_an_error():
    with pytest.raises(SettingsError, match="unknown experiment"):
        load_deviations("word_order/table9")


def test_every_claim_that_fails_on_printed_numbers_has_an_erratum():
    judge = Judge()
    fail = {
        c.id for c in load_claims() if c.kind != "ours" and judge.judge(c).status == "inconsistent"
    }
    assert {e.claim for e in load_errata() if e.claim} == fail


def test_a_malformed_erratum_is_an_error(tmp_path):
    path = tmp_path / "e.yaml"
    path.write_text("errata:\n  - {id: E1, paper: p, kind: rumour, where: w, what: x}\n")
    with pytest.raises(DataError, match=r"e\.yaml: errata\.0\.kind"):
        read_errata(path)
