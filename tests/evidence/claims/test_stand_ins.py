"""Claims at a profile whose data are not the paper's: what is read there, and what is refused."""

import re

import pytest

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims.files import load_claims
from xlrepro.evidence.claims.judging import Condition, Judge
from xlrepro.evidence.deviations import load_deviations
from xlrepro.evidence.reported import load_reported

CLAIMS = {claim.id: claim for claim in load_claims("man_moe")}
OPEN = Condition("open")
BOTH = {0: 1.0, 1: 1.0}


def slots(numbers, ours, theirs, columns=("en/avg", "es/avg", "th/avg")):
    """Return MAN-MoE's and BWE's averages, the same in all languages."""
    cells = {("without:MAN-MoE", c): ours for c in columns}
    cells |= {("without:BWE (3-to-1)", c): theirs for c in columns}
    return numbers(cells, "man_moe/table2", metric="F1")


@pytest.mark.parametrize(("bwe", "status"), [(0.0, "holds"), (2.0, "fails")])
def test_an_ordering_is_read_on_the_columns_that_stand_in(numbers, bwe, status):
    verdict = Judge(slots(numbers, BOTH, {0: bwe, 1: bwe})).judge(CLAIMS["M01"], OPEN)
    assert (verdict.status, verdict.note) == (status, "en for de, th for zh")


def test_without_the_columns_that_stand_in_nothing_was_run(numbers):
    found = slots(numbers, BOTH, BOTH, ("de/avg", "es/avg", "zh/avg"))
    verdict = Judge(found).judge(CLAIMS["M01"], OPEN)
    assert verdict.status == "not run"
    assert "table2 / without:MAN-MoE / en/avg" in verdict.missing


def test_a_profile_with_the_papers_data_reads_the_printed_columns(numbers):
    cells = {("without:MAN-MoE", f"{c}/avg"): BOTH for c in ("de", "es", "zh")}
    cells |= {("without:BWE (3-to-1)", column): {0: 0.0, 1: 0.0} for _, column in cells}
    found = numbers(cells, "man_moe/table2", "paper", metric="F1")
    verdict = Judge(found).judge(CLAIMS["M01"], Condition("paper"))
    assert (verdict.status, verdict.note) == ("holds", "")


def test_a_claim_about_magnitudes_is_not_judged_on_a_stand_in(numbers):
    cells = {("ablation:MAN-MoE", f"{c}/avg"): {0: 90.0, 1: 90.0} for c in ("en", "es", "th")}
    cells |= {("ablation:- MAN", column): {0: 1.0, 1: 1.0} for _, column in cells}
    verdict = Judge(numbers(cells, "man_moe/table3")).judge(CLAIMS["M12"], OPEN)
    assert (verdict.status, verdict.share) == ("not evaluable", None)
    assert verdict.note.startswith("not judged: it is about values on the paper's data; ours: ")


def test_a_verdict_says_whose_pre_trained_weights_it_rests_on(numbers):
    claims = {claim.id: claim for claim in load_claims("word_order")}
    cells = {("mbert:TRS w/ M-BERT PE", "avg"): BOTH, ("mbert:TRS", "avg"): {0: 0.0, 1: 0.0}}
    verdict = Judge(numbers(cells, "word_order/table2")).judge(claims["O10w"], OPEN)
    assert (verdict.status, verdict.note) == ("holds", "multilingual-e5-small for the paper's")


@pytest.mark.parametrize(
    ("identifier", "block", "note"),
    [("O31", "mbert", "multilingual-e5-small for the paper's"), ("O31w", "word", "")],
)
def test_figure_1_says_whose_weights_it_rests_on(numbers, identifier, block, note):
    claims = {claim.id: claim for claim in load_claims("word_order")}
    gains = {"TRS": 0.0, "ORT": 1.0, "TRS w/ M-BERT PE": 1.0}
    cells = {
        (f"{block}:{row}", f"{code}/{tag}"): dict.fromkeys((0, 1), gain * (tag == "VERB"))
        for row, gain in gains.items()
        for code in load_reported().columns("word_order/table2")
        for tag in ("VERB", "NOUN")
    }
    verdict = Judge(numbers(cells, "word_order/figure1")).judge(claims[identifier], OPEN)
    assert (verdict.status, verdict.note) == ("holds", note)


@pytest.mark.parametrize("column", ["ar/NOUN", "avg/VERB", "de/VERB"])
def test_figure_1_stands_on_the_treebanks_of_table_2(column):
    figure, table = (
        load_catalog().experiment(f"word_order/{name}").stand_ins["open"]
        for name in ("figure1", "table2")
    )
    assert figure.data == table.data
    assert figure.covers(column) == table.covers(column.partition("/")[0])


def test_quoted_numbers_are_not_set_beside_ours_of_another_corpus(numbers):
    cells = {("long:MAN-MOE+CharCNN", c): {0: 99.0, 1: 99.0} for c in ("de", "es", "nl", "avg")}
    verdict = Judge(numbers(cells, "man_moe/table4")).judge(CLAIMS["M14"], OPEN)
    assert (verdict.status, verdict.share) == ("not evaluable", None)
    assert "numbers of another corpus than ours (WikiANN)" in verdict.note


def test_a_claim_that_names_points_is_about_magnitudes():
    """The predicates with a number other than a count of cells (M03's 8 of 9)."""
    with_numbers = {
        i for i, c in CLAIMS.items() if re.search(r"[<>] [\d.]+|near\(|\d \*", c.predicate)
    }
    assert with_numbers == {i for i, c in CLAIMS.items() if c.magnitudes}


EXPERIMENTS = {k: e for k, e in load_catalog().experiments.items() if e.stand_ins}


@pytest.mark.parametrize("key", EXPERIMENTS)
def test_each_column_that_is_replaced_is_printed(key):
    printed = {
        part for cell in load_reported().cells(key, context=None) for part in cell.column.split("/")
    }
    replaced = {f for s in EXPERIMENTS[key].stand_ins.values() for f in s.columns}
    assert replaced <= printed or not printed


@pytest.mark.parametrize("key", EXPERIMENTS)
def test_a_deviation_says_what_stands_in(key):
    for profile, stand_in in EXPERIMENTS[key].stand_ins.items():
        told = " ".join(d.here for d in load_deviations(key) if profile in d.profiles)
        wanted = [f"{ours} for {printed}" for printed, ours in stand_in.columns.items()]
        assert [pair for pair in wanted if pair not in told] == []
