"""What a page shows beyond what the evidence computes: which systems it compares."""

import pytest

from xlrepro.errors import SettingsError
from xlrepro.evidence.reproduced import ReproducedCell, ReproducedNumbers, View
from xlrepro.pages.page import open_page

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
