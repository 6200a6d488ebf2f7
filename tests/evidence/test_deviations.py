import re

import pytest

from xlrepro import experiments
from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.claims import Judge, load_claims
from xlrepro.evidence.deviations import (
    WEIGHTS,
    first_sentence,
    load_deviations,
    load_errata,
    read_deviations,
    read_errata,
)
from xlrepro.pages.tables import DeviationList, deviations_list

FILE = """paper: word_order
deviations:
  - {id: W1, title: t, experiments: [table2], profiles: [open], paper: p, here: h, why: w,
     effect: e, certainty: known}
"""


def written(tmp_path, text):
    path = tmp_path / "d.yaml"
    path.write_text(text, encoding="utf-8")
    return read_deviations(path)


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


@pytest.mark.parametrize(("kind", "known"), [("rows", "word:ORT"), ("columns", "ar")])
def test_a_row_or_column_that_the_experiment_lacks_is_one_line(tmp_path, monkeypatch, kind, known):
    def check(name):
        text = FILE.replace("why: w,\n    ", f"why: w, {kind}: {{table2: ['{name}']}},")
        found = written(tmp_path, text)
        monkeypatch.setattr("xlrepro.evidence.deviations.load_deviations", lambda key: found)
        experiments.check_deviations()

    check(known)
    with pytest.raises(DataError, match=f"W1: word_order/table2 has no {kind[:-1]} 'x'; it has: "):
        check("x")


def test_every_row_and_column_that_a_deviation_names_is_there():
    named = [d for d in load_deviations() if d.rows or d.columns]
    assert {d.id[0] for d in named} == {"W", "M", "S", "T", "R"}
    experiments.check_deviations()


def test_a_deviation_touches_the_cells_that_its_rows_and_its_columns_name(tmp_path):
    more = "why: w, rows: {table2: ['word:*']}, columns: {table2: [ar]},"
    (found,) = written(tmp_path, FILE.replace("why: w,\n    ", more))
    cells = {("word:ORT", "ar"), ("word:ORT", "de"), ("mbert:ORT", "ar")}
    assert {c for c in cells if found.touches("word_order/table2", *c)} == {("word:ORT", "ar")}
    assert not found.touches("word_order/table1", "word:ORT", "ar")


def test_a_deviation_without_rows_and_columns_touches_every_cell(tmp_path):
    (found,) = written(tmp_path, FILE)
    assert found.touches("word_order/table2", "mbert:ORT", "de")
    assert found.place("word_order/table2") == ("", ())


def test_the_list_says_which_rows_and_columns_it_touches(tmp_path):
    more = "why: w, rows: {table2: ['word:*']}, columns: {table2: [ar]},"
    found = tuple(written(tmp_path, FILE.replace("why: w,\n    ", more)))
    assert "Touches here:</b> rows word:*; columns ar" in (
        DeviationList("word_order/table2", found)._repr_html_()
    )
    assert 'table2.html">word_order/table2</a> (rows word:*; columns ar)' in (
        DeviationList("all", found, linked=True)._repr_html_()
    )


def test_an_id_must_not_stand_twice(tmp_path):
    with pytest.raises(DataError, match="W1 stands there twice"):
        written(tmp_path, FILE + FILE.split("deviations:\n")[1])


def test_table_2_names_its_stand_ins():
    text = deviations_list("word_order/table2", profile="open")._repr_html_()
    assert [word in text for word in ("Arabic and Hindi", "PUD", "Procrustes")] == [True] * 3


def test_only_the_deviations_of_a_profile_are_shown():
    smoke = deviations_list("word_order/table2", profile="smoke").deviations
    assert smoke
    assert {"smoke" in d.profiles for d in smoke} == {True}


def test_an_experiment_without_deviations_says_so():
    found = deviations_list("word_order/distances", profile="paper")
    assert repr(found) == "word_order/distances: 0 known deviations"
    assert "None is known" in found._repr_html_()


def test_what_weighs_most_stands_first_and_what_weighs_little_last():
    weights = [d.weight for d in deviations_list("word_order/table2").deviations]
    assert weights == sorted(weights, key=WEIGHTS.index)


def test_every_deviation_has_its_place():
    found = deviations_list("word_order/table2")
    html = found._repr_html_()
    assert [d.id for d in found.deviations if f'id="deviation-{d.id}"' not in html] == []


def test_what_is_not_a_first_sentence_folds(tmp_path):
    (found,) = written(tmp_path, FILE.replace("here: h", "here: First this. Then <that>"))
    html = DeviationList("x", (found,))._repr_html_()
    (summary,) = re.findall("<summary>.*?</summary>", html, re.DOTALL)
    assert "p → First this." in summary
    assert "Then &lt;that&gt;" in html.replace(summary, "")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One. Two.", "One."),
        (
            "As in Chen et al. (2019), Eq. 2 and Fig. 3. More.",
            "As in Chen et al. (2019), Eq. 2 and Fig. 3.",
        ),
        ("No end", "No end"),
    ],
)
def test_the_first_sentence_ends_where_a_reader_says_so(text, first):
    assert first_sentence(text) == first


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


def test_the_list_of_all_links_each_deviation_to_its_claims():
    shown = deviations_list(claims={"W01": [("word_order", "O01w")]})._repr_html_()
    assert shown.count('<a href="word_order/claims.html#O01w">O01w</a>') == 1
