"""What a page shows beyond what the evidence computes: which systems it compares."""

import pytest

from xlrepro.errors import SettingsError
from xlrepro.evidence.gathered import Evidence
from xlrepro.pages.page import open_page

BASE = "without:MAN-MOE+CharCNN"
RAN = [
    *(BASE, "without:MAN-MoE", "choice:gate not detached", "choice:mixture of probabilities"),
    *("without-mapped:MAN-MoE", "without-mapped:MAN-MOE+CharCNN"),
]


@pytest.fixture
def page(record):
    """Return the page of man_moe/table4 with an average for each of ``RAN``."""
    opened = open_page("man_moe/table4")
    opened.evidence = Evidence(tuple(
        record(system, {"avg": i + seed / 2}, seed, "man_moe/table4", "open", "F1")
        for i, system in enumerate(RAN) for seed in (0, 1)
    ))  # fmt: skip
    return opened


def test_a_page_whose_loans_lack_records_compares_nothing():
    opened = open_page("man_moe/figure4")
    opened.evidence = Evidence(())
    assert opened.compare().parts == ()


def pairs(shown):
    """Return the pairs of a forest plot, as its text alternative names them."""
    said = shown.parts[0].alt.partition(". ")[2] if shown.parts else ""
    return dict(each.split(": ")[:2] for each in said.split("; ") if each)


def test_a_name_is_compared_within_every_block_that_has_it_an_identifier_in_its_own(page):
    both = pairs(page.paired_differences("MAN-MOE+CharCNN"))
    assert [label.count("(mapped vectors)") for label in both] == [0, 2]
    assert list(pairs(page.paired_differences(BASE))) == ["MAN-MOE+CharCNN − MAN-MoE"]
    found = pairs(page.paired_differences(BASE, block="choice"))
    assert [said.partition(" (")[0] for said in found.values()] == ["−2.00", "−3.00"]
    assert pairs(page.paired_differences("without:MAN-MOE+CharCNN+UMWE")) == {}


@pytest.mark.parametrize(
    ("first", "block"), [("without:MAN-MoE+CharCNN", "choice"), (BASE, "choices")]
)
def test_an_unknown_base_or_block_is_an_error(page, first, block):
    with pytest.raises(SettingsError, match="man_moe/table4 has no system"):
        page.paired_differences(first, block=block)


def test_settings_of_a_run_reach_its_trials_and_its_own_column(record, monkeypatch):
    key, system = "routing_nmt/table1", "translation:NMT"
    opened = open_page(key, "smoke", [5], [system], {"epochs": 1})
    trial, *_ = opened._trials
    assert trial.settings["epochs"] == 1
    assert "--set epochs=1 --systems translation:NMT --seeds 5" in repr(opened)
    column = trial.columns[0]
    made = record(system, {column: 33.0}, seed=5, experiment=key, metric="PPL")
    monkeypatch.setattr(opened.store, "get", lambda asked: made if asked == trial else None)
    (table,) = opened._this_run([column])  # no title: a run of one's own is not folded
    (row,) = table.frame.to_dict("records")
    assert row["this run (smoke)"].text.startswith("33")
    assert "epochs = 1, seeds = [5]" in table.caption


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seeds": 3}, "seeds must be a list"),
        ({"jobs": "2"}, "jobs must be 1 or more, not '2'"),
        ({"overrides": {"targets": ["fr", "fr"]}}, "a column is named twice: en, fr, fr, avg"),
        ({"overrides": {"encoder.kernel": 5}}, "encoder"),
        ({"overrides": {"epochs": {5}}}, "JSON's values: Object of type set"),
    ],
)
def test_a_wrong_parameter_fails_before_any_run(changed, message):
    with pytest.raises(SettingsError, match=message):
        open_page("word_order/table2", **changed)


def test_details_are_means_over_seeds_by_system_and_part(record):
    details = [
        {"heads": {"fr": {"best": b, "held": [1, 4]}}, "settings": {"pair": "en-de"}, "curve": c}
        for b, c in ((2, [[0, 3.0], [9, 1.0]]), (4, [[0, 5.0], [9, 2.0]]))
    ]
    opened = open_page("word_order/table2")
    opened.evidence = Evidence(tuple(
        record(seed=seed, profile="open").model_copy(update={"details": each})
        for seed, each in enumerate(details)
    ))  # fmt: skip
    paths = {"best epoch": "heads.*.best", "right, %": "heads.*.held"}
    (row,) = opened.details(paths, first="settings.pair").frame.to_dict("records")
    assert (row["system"], row["part"]) == ("ORT", "en-de, French")
    assert (row["best epoch"].text, row["right, %"].text) == ("3", "25.00")
    (row,) = opened.details({"loss": "curve"}).frame.to_dict("records")
    assert row["loss"].text == "4.000 to 1.500"


def test_a_column_of_details_has_as_many_decimals_as_its_largest_number_needs(record):
    runs = {"word:ORT": 1302.4, "word:TRS": 588.6, "word:RPT": 0.0}
    opened = open_page("word_order/table2")
    opened.evidence = Evidence(tuple(
        record(system, profile="open").model_copy(update={"details": {"seconds": seconds}})
        for system, seconds in runs.items()
    ))  # fmt: skip
    shown = opened.details({"seconds": "seconds"}).frame
    assert {cell.text for cell in shown["seconds"]} == {"1,302", "589", "0"}


def test_settings_that_a_paper_reports_stand_beside_ours():
    rows = {"SaELMo": ("sense_alignment/tables6_8", "alive:SaELMo")}
    names = {"lstm:n_layers": 2, "lstm:dim": "model.network.cells"}
    table = open_page("sense_alignment/tables6_8").reported_settings(rows, names)
    found = table.frame.set_index("setting")
    assert list(found.columns[:2]) == ["model or task", "the paper"]
    assert found.loc["lstm:n_layers", "paper"] == "2"
    assert found.loc["lstm:dim", "paper"] == found.loc["lstm:dim", "the paper"]


def test_the_answer_draws_the_blocks_of_its_difference_alone():
    page = open_page("ramen/table3")
    _, figures, *_ = page.answer().parts
    (figure,) = figures.parts
    assert "): XNLI, accuracy;" in figure.title
    assert len(page.scores().parts) > 5
