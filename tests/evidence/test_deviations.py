import pytest

from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claim_files import load_claims
from xlrepro.evidence.deviations import (
    deviations_table,
    errata_table,
    load_deviations,
    load_errata,
    read_deviations,
    read_errata,
)
from xlrepro.evidence.judging import Judge

FILE = """paper: word_order
deviations:
  - {id: W1, title: t, experiments: [table2], profiles: [open], paper: p, here: h, why: w,
     effect: e, certainty: known}
"""


def written(tmp_path, text):
    path = tmp_path / "d.yaml"
    path.write_text(text, encoding="utf-8")
    return read_deviations(path, load_catalog())


def test_deviations_carry_the_experiments_full_key(tmp_path):
    (found,) = written(tmp_path, FILE)
    assert found.experiments == ("word_order/table2",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[table2]", "[table9]"), "W1: the catalog has no experiment word_order/table9"),
        (("[open]", "[huge]"), r"d\.yaml: deviations\.0\.profiles"),
        (("why: w, ", ""), r"d\.yaml: deviations\.0\.why: Field required"),
        (("why: w,", "why: w, because: b,"), r"because"),
    ],
)
def test_a_malformed_deviation_names_file_and_place(tmp_path, change, message):
    text = FILE.replace("why: w,\n    ", "why: w,")
    with pytest.raises(DataError, match=message):
        written(tmp_path, text.replace(*change))


def test_an_id_must_not_stand_twice(tmp_path):
    with pytest.raises(DataError, match="W1 stands there twice"):
        written(tmp_path, FILE + FILE.split("deviations:\n")[1])


def test_table_2_names_its_stand_ins():
    text = str(deviations_table("word_order/table2", profile="open"))
    assert [word in text for word in ("Arabic-PUD", "Hindi-PUD", "Procrustes")] == [True] * 3


def test_only_the_deviations_of_a_profile_are_shown():
    smoke = deviations_table("word_order/table2", profile="smoke")
    assert ["smoke" in row[2].text for row in smoke.rows] == [True] * len(smoke.rows)


def test_an_experiment_without_deviations_has_an_empty_table():
    assert repr(deviations_table("ramen/table1")) == "ramen/table1: 0 known deviations"


def test_an_unknown_experiment_is_an_error():
    with pytest.raises(SettingsError, match="unknown experiment"):
        load_deviations("word_order/table9")


def test_every_claim_that_fails_on_printed_numbers_has_an_erratum():
    judge = Judge()
    fail = {c.id for c in load_claims() if c.kind != "ours" and judge.judge(c).status == "fails"}
    assert {e.claim for e in load_errata() if e.claim} == fail


def test_errata_of_one_paper():
    assert {e.paper for e in load_errata("ramen")} == {"ramen"}


def test_the_table_of_errata_has_a_row_for_each():
    assert len(errata_table().rows) == len(load_errata())


def test_a_malformed_erratum_is_an_error(tmp_path):
    path = tmp_path / "e.yaml"
    path.write_text("errata:\n  - {id: E1, paper: p, kind: rumour, where: w, what: x}\n")
    with pytest.raises(DataError, match=r"e\.yaml: errata\.0\.kind"):
        read_errata(path)
