"""The sentences of a page's answer."""

import pytest

from xlrepro.evidence.answers import answer, claims_sentence, difference_sentence
from xlrepro.evidence.catalog import Difference, load_catalog
from xlrepro.evidence.judging import ClaimVerdict
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View
from xlrepro.experiments import all_experiments

KEY = "word_order/table2"
MAIN = Difference(first="word:ORT", second="word:TRS", column="avg")


def said(numbers):
    return difference_sentence(View(KEY, "open", numbers), MAIN, load_reported())


def test_the_main_difference_has_an_interval_beside_the_papers(numbers):
    found = numbers({("word:ORT", "avg"): {0: 3.0, 1: 4.0}, ("word:TRS", "avg"): {0: 1.0, 1: 3.0}})
    # differences 2 and 1: mean 1.5, half an interval 12.706 * 0.5
    assert said(found) == (
        "ORT − TRS (avg): +1.50 points, 95 % interval −4.85 to +7.85, 2 seeds; the paper: +9.55."
    )


def test_one_seed_has_no_interval(numbers):
    found = numbers({("word:ORT", "avg"): {0: 3.0}, ("word:TRS", "avg"): {0: 1.0}})
    assert "+2.00 points, one seed, so no interval; the paper" in said(found)


def test_what_was_not_run_is_said_beside_the_papers_difference():
    assert said(ReproducedNumbers([])) == "ORT − TRS (avg): not run at open; the paper: +9.55."


def test_systems_without_a_common_seed_have_no_difference(numbers):
    found = numbers({("word:ORT", "avg"): {0: 3.0}, ("word:TRS", "avg"): {1: 1.0}})
    assert "not run with the same seeds" in said(found)


@pytest.mark.parametrize(
    ("statuses", "sentence"),
    [
        (["holds"], "Of 1 claim 1 holds."),
        (["fails", "undecided"], "Of 2 claims 1 fails, 1 is undecided."),
        (["holds", "not run", "holds"], "Of 3 claims 2 hold, 1 was not judged."),
    ],
)
def test_claims_are_counted_by_their_verdict(statuses, sentence):
    assert claims_sentence([ClaimVerdict(status) for status in statuses]) == sentence


def test_an_answer_ends_with_its_cost_and_hides_its_numbers_in_the_text(numbers, record):
    view = View("word_order/learning_rates", "smoke", ReproducedNumbers([]))
    told = answer(view, [], [record(wall_seconds=90.0)])
    assert told.sentences[-1].startswith("Behind this: 1 trial, 2 min")
    assert repr(told) == (
        "Answer, word_order/learning_rates (smoke): 1 sentences computed from records"
    )


MAINS = {k: e.answer for k, e in load_catalog().experiments.items() if e.answer}


@pytest.mark.parametrize("key", MAINS)
def test_the_main_difference_is_one_that_the_experiment_fills(key):
    own, main = all_experiments()[key], MAINS[key]
    assert {main.first, main.second} <= {system.identifier for system in own.systems}
    assert main.column in own.columns
