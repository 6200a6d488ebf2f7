"""What a page shows beyond what the evidence computes: which systems it compares."""

import pytest

from xlrepro.errors import SettingsError
from xlrepro.evidence.reproduced import ReproducedCell, ReproducedNumbers, View
from xlrepro.pages.page import details_table, open_page

BASE = "without:MAN-MOE+CharCNN"
RAN = [
    *(BASE, "without:MAN-MoE", "choice:gate not detached", "choice:mixture of probabilities"),
    *("without-mapped:MAN-MoE", "without-mapped:MAN-MOE+CharCNN"),
]


@pytest.fixture
def page():
    """Return the page of man_moe/table4 with an average for each of ``RAN``."""

    found = ReproducedNumbers(
        ReproducedCell(
            experiment="man_moe/table4",
            profile="open",
            system=system,
            column="avg",
            metric="F1",
            unit="percent",
            seeds=(0, 1),
            values=(float(i), float(i) + 0.5),
            keys=("a", "b"),
        )
        for i, system in enumerate(RAN)
    )
    opened = open_page("man_moe/table4")
    opened.view = View("man_moe/table4", "open", found)
    return opened


def pairs(shown):
    """Return the pairs of a forest plot, as its text alternative names them."""
    said = shown.parts[0][1].alt.partition(". ")[2] if shown.parts else ""
    return {each.partition(": ")[0]: each.partition(": ")[2] for each in said.split("; ") if each}


def test_a_name_is_compared_within_every_block_that_has_it(page):
    assert list(pairs(page.paired_differences("MAN-MOE+CharCNN"))) == [
        "MAN-MOE+CharCNN (without) − MAN-MoE (without)",
        "MAN-MOE+CharCNN (without-mapped) − MAN-MoE (without-mapped)",
    ]


def test_an_identifier_is_compared_within_its_own_block_alone(page):
    assert list(pairs(page.paired_differences(BASE))) == ["MAN-MOE+CharCNN − MAN-MoE"]


def test_an_identifier_is_compared_with_the_rows_of_another_block(page):
    found = pairs(page.paired_differences(BASE, block="choice"))
    assert [text.split(" ")[0] for text in found.values()] == ["−2.00", "−3.00"]
    assert ["(choice)" in label for label in found] == [True, True]


def test_the_differences_of_a_forest_plot_stand_in_a_table_folded_under_it(page):
    shown = page.paired_differences(BASE, block="choice")
    assert [folded for _, _, folded in shown.parts] == [False, True]
    assert len(shown.parts[1][1].frame) == len(pairs(shown)) == 2


def test_a_base_that_was_not_run_has_no_differences(page):
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
    assert "--set epochs=1" in repr(opened)
    column = trial.columns[0]
    made = record(system, {column: 33.0}, seed=5, experiment=key, metric="PPL")
    monkeypatch.setattr(opened.store, "get", lambda asked: made if asked == trial else None)
    (part,) = opened._this_run([column])
    (row,) = part[1].frame.to_dict("records")
    assert row["this run"].text.startswith("33")
    assert "epochs = 1" in part[1].caption
    assert part[2] is False  # a run of one's own stands open


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seeds": 3}, "seeds must be a list"),
        ({"overrides": ["a"]}, "overrides must be a mapping"),
        ({"overrides": {"encoder.kernel": 5}}, "encoder"),
        ({"systems": ["word:NOPE"]}, "has no system"),
    ],
)
def test_a_wrong_parameter_fails_before_any_run(changed, message):
    with pytest.raises(SettingsError, match=message):
        open_page("word_order/table2", **changed)


def test_details_are_means_over_seeds_by_system_and_part(record):
    details = [
        {"heads": {"fr": {"best": b, "held": [1, 4]}}, "settings": {"pair": "en-de"}}
        for b in (2, 4)
    ]
    records = [
        record(seed=seed).model_copy(update={"details": each}) for seed, each in enumerate(details)
    ]
    paths = {"best epoch": "heads.*.best", "right, %": "heads.*.held"}
    table = details_table(records, "open", paths, first="settings.pair")
    (row,) = table.frame.to_dict("records")
    assert (row["system"], row["part"]) == ("word:ORT", "en-de, fr")
    assert (row["best epoch"].text, row["right, %"].text) == ("3", "25.00")


def test_settings_that_a_paper_prints_stand_beside_ours():
    opened = open_page("sense_alignment/tables6_8")
    rows = {"SaELMo": ("sense_alignment/tables6_8", "alive:SaELMo")}
    table = opened.printed_settings(rows, {"lstm:n_layers": 2})
    assert list(table.frame.columns[:3]) == ["model or task", "setting", "the paper"]
    found = table.frame[table.frame["setting"] == "lstm:n_layers"]
    assert [cell.text for cell in found["paper"]] == ["2"]
