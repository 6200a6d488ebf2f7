import re
from pathlib import Path

import pytest

from xlrepro import experiments
from xlrepro.data.registry import dataset
from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims.files import load_claims
from xlrepro.evidence.claims.judging import Judge
from xlrepro.evidence.deviations import (
    NOT_TESTED,
    WEIGHTS,
    DeviationList,
    deviations_list,
    first_sentence,
    load_deviations,
    load_errata,
    read_deviations,
    read_errata,
)
from xlrepro.experiments import all_experiments, experiment
from xlrepro.papers.word_order.experiments.spans import SHARES

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
    assert "Touches here:</b> (rows word:*; columns ar)" in (
        DeviationList("word_order/table2", found)._repr_html_()
    )
    assert 'table2.html">word_order/table2</a> (rows word:*; columns ar)' in (
        DeviationList("all", found, links=True)._repr_html_()
    )


def test_an_id_must_not_stand_twice(tmp_path):
    with pytest.raises(DataError, match="W1 stands there twice"):
        written(tmp_path, FILE + FILE.split("deviations:\n")[1])


def test_table_2_names_its_stand_ins():
    text = deviations_list("word_order/table2", profile="open")._repr_html_()
    assert [word in text for word in ("Arabic-PUD", "Hindi-PUD", "Procrustes")] == [True] * 3


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
    assert set(weights) == set(WEIGHTS)


def test_every_deviation_has_its_place():
    found = deviations_list("word_order/table2")
    html = found._repr_html_()
    assert [d.id for d in found.deviations if f'id="deviation-{d.id}"' not in html] == []


def test_what_is_not_a_first_sentence_folds(tmp_path):
    (found,) = written(tmp_path, FILE.replace("here: h", "here: First this. Then <that>"))
    html = DeviationList("x", (found,))._repr_html_()
    (summary,) = re.findall("<summary>.*?</summary>", html)
    assert "<span>p → First this.</span>" in summary
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


EVIDENT = [
    (key, profile)
    for key, experiment in all_experiments().items()
    for profile in experiment.profiles
    if profile == "open" and load_catalog().experiment(key).reported
]


@pytest.mark.parametrize(("key", "profile"), EVIDENT)
def test_a_page_with_open_numbers_has_a_deviation_that_weighs_most(key, profile):
    first = deviations_list(key, profile=profile).deviations[:1]
    assert [d.weight for d in first if d.weight == "some"] == []


# What is said of an experiment's trials and does not hold for those of them that another draws on:
# id to the reason, by the other.
_SLOTS = {
    "W20": "entities are another task: slot trials alone are drawn",
    "W67": "entities are another task: slot trials alone are drawn",
    **dict.fromkeys(
        ("W60", "W61", "W62", "W63", "W69", "W70", "W74", "W90"), "no row on M-BERT is drawn"
    ),
    "W71": "says which rows Table 1 has",
    "W91": "no row on vectors out of an encoder is drawn",
}
_PLAIN = {"W15": "no shuffled row is drawn"}
_NO_RPT = {"W12": "RPT is not drawn", "W82": "nor is the BiLSTM", "W92": "nor here"}
_SWEEP = {
    "MM08": "no 1-to-1 row is drawn",
    "MM10": "no translation row is drawn",
}
_THREE = {"W93": "has three seeds of each row"}
EXEMPT = {
    "ramen/table3": {"R02": "no row on mBERT is drawn"},
    "routing_nmt/figure2": {
        "T18": "no BLEU is drawn",
        "T15": "no row of partial sharing is drawn",
        "T19": "no translation is scored",
    },
    "word_order/figure1": {
        **_PLAIN,
        "W17": "no row on mapped vectors is drawn",
        "W71": "says which rows Table 2 has",
        "W82": "no BiLSTM is drawn",
        "W91": "no row on vectors out of an encoder is drawn",
    },
    "word_order/table5": {**_SLOTS, **_PLAIN},
    "word_order/table6": {**_SLOTS, **_NO_RPT, **_THREE},
    "word_order/figure2": {**_SLOTS, **_PLAIN, **_THREE},
    "word_order/figure3": {**_SLOTS, **_PLAIN, **_NO_RPT, **_THREE},
    "man_moe/table3": _SWEEP,
    "man_moe/table6": _SWEEP,
    "man_moe/figure4": {
        "MM06": "the block without-muse is not drawn",
        "MM51": "no row on vectors mapped without a dictionary is drawn",
        "MM55": "nor here",
        "MM57": "nor here",
    },
}


def drawn(reader):
    """Return the ids of the deviations of the trials that an experiment takes from its own paper.

    Table 4 of word_order takes MAN-MoE's: what differs from that paper stands on that page, and W50
    says so.
    """
    paper = reader.key.split("/")[0]
    return {
        d.id
        for source in reader.draws_on
        if source.split("/")[0] == paper
        for d in load_deviations(source)
        if set(d.profiles) & set(reader.profiles)
    }


@pytest.mark.parametrize("key", [k for k, e in all_experiments().items() if e.draws_on])
def test_an_experiment_shows_the_deviations_of_the_trials_it_draws(key):
    shown = {d.id for d in load_deviations(key)}
    assert drawn(all_experiments()[key]) - shown - set(EXEMPT.get(key, ())) == set()


@pytest.mark.parametrize("key", EXEMPT)
def test_no_exemption_outlives_its_deviation(key):
    shown = {d.id for d in load_deviations(key)}
    assert set(EXEMPT[key]) <= drawn(all_experiments()[key]) - shown


def deviation(identifier):
    (found,) = (d for d in load_deviations() if d.id == identifier)
    return found


TESTS = Path(__file__).resolve().parent.parent
NAMES_OF_TESTS = {
    name
    for path in TESTS.rglob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
}
AS_THE_CODE = [
    d
    for d in load_deviations()
    if re.search(r"\bthe code\b|\b(as in|of) the\s+authors'\s+(code|file)\b", d.here, re.IGNORECASE)
    or re.search(r"\b(as in|beside) the code\b", f"{d.why} {d.effect}", re.IGNORECASE)
]


@pytest.mark.parametrize("deviation", AS_THE_CODE, ids=lambda d: d.id)
def test_what_is_said_to_be_as_in_the_authors_code_names_its_test_or_says_there_is_none(deviation):
    assert deviation.test


@pytest.mark.parametrize("deviation", [d for d in load_deviations() if d.test], ids=lambda d: d.id)
def test_the_test_that_a_deviation_names_is_there(deviation):
    assert deviation.test in NAMES_OF_TESTS | {NOT_TESTED}


def test_a_page_says_what_is_not_tested():
    keys = ("man_moe/table2", "sense_alignment/table2")
    shown = {d.id: d.checked for key in keys for d in deviations_list(key).deviations}
    assert shown["SA13"] == "not tested"
    assert shown["MM16"] == "checked by test_gates_have_a_bias_where_the_settings_say"


def test_artificial_languages_are_a_deviation_of_every_experiment():
    built = {key for key in all_experiments() if key.startswith("word_order/")}
    assert set(deviation("W16").experiments) == built


def test_the_epochs_named_in_deviations_are_those_of_the_presets():
    def fit(name, profile="open", system="word:TRS", number=0):
        settings = experiment(f"word_order/{name}").trials(profile, [system])[number].settings
        return settings["epochs"], settings["patience"]

    (most, patience), entities, slots = fit("table2"), fit("table1"), fit("table1", number=-1)
    assert entities == slots == (most, patience)
    (shuffled, *_) = (s for s in experiment("word_order/table6").systems if "shuffled" in s.name)
    short, _ = fit("table6", system=shuffled.identifier)
    assert f"{short} in Table 6" in deviation("W15").here
    assert f"at smoke {fit('table2', 'smoke')[0]} and {fit('table1', 'smoke')[0]}" in (
        deviation("W15").here
    )
    told = " ".join(deviation("W07").here.split())
    assert f"not improved for {patience} epochs, at most {most}" in told
    mapped, _ = fit("table2", system="word-mapped:TRS")
    assert f"linear decay over {short} epochs (Table 6" in told
    assert f"or {mapped} (Table 2 on mapped vectors)" in told


def test_the_few_shot_counts_named_in_a_deviation_are_those_of_the_shares():
    files = dataset("fb-multilingual-nlu").files
    for code, language in (("es", "Spanish"), ("th", "Thai")):
        total = files[f"{code}/train"].counts["sentences"]
        *most, last = (f"{round(share * total)}" for share in SHARES if share)
        counts = f"{', '.join(most)} and {last} {language}"
        assert counts in deviation("W73").here
        assert f"of {total:,}" in deviation("W73").here


def test_an_unknown_experiment_is_an_error():
    with pytest.raises(SettingsError, match="unknown experiment"):
        load_deviations("word_order/table9")


def test_every_claim_that_fails_on_printed_numbers_has_an_erratum():
    judge = Judge()
    fail = {c.id for c in load_claims() if c.kind != "ours" and judge.judge(c).status == "fails"}
    assert {e.claim for e in load_errata() if e.claim} == fail


def test_a_malformed_erratum_is_an_error(tmp_path):
    path = tmp_path / "e.yaml"
    path.write_text("errata:\n  - {id: E1, paper: p, kind: rumour, where: w, what: x}\n")
    with pytest.raises(DataError, match=r"e\.yaml: errata\.0\.kind"):
        read_errata(path)


def test_the_list_of_all_links_each_deviation_to_its_claims():
    shown = deviations_list(claims={"W01": [("word_order", "O01w")]})._repr_html_()
    assert shown.count('<a href="word_order/claims.html#O01w">O01w</a>') == 1


def test_a_file_that_is_a_link_to_nothing_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "deviations").mkdir()
    (tmp_path / "catalog.yaml").touch()
    (tmp_path / "deviations" / "x.yaml").symlink_to(tmp_path / "gone")
    monkeypatch.setattr("xlrepro.evidence.deviations.data_dir", lambda: tmp_path)
    with pytest.raises(DataError, match=r"x\.yaml cannot be read \(No such file or directory\): "):
        load_deviations()


def test_deviations_are_read_once():
    assert load_deviations("word_order/table2")[0] is load_deviations("word_order/table2")[0]
