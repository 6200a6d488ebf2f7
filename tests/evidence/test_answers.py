"""The sentences of a page's answer."""

import pytest

from xlrepro.evidence.answers import (
    answer,
    claims_sentence,
    difference_sentence,
    headline_of,
)
from xlrepro.evidence.catalog import Difference, load_catalog
from xlrepro.evidence.claims.files import load_claims
from xlrepro.evidence.claims.judging import ClaimVerdict, Judge
from xlrepro.evidence.claims.table import claims_of
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View
from xlrepro.experiments import all_experiments, own_numbers

KEY = "word_order/table2"
MAIN = Difference(first="word:ORT", second="word:TRS", column="avg")


def said(numbers):
    return difference_sentence(View(KEY, "open", numbers), MAIN)


def test_the_main_difference_has_an_interval_beside_the_papers(numbers):
    found = numbers({("word:ORT", "avg"): {0: 3.0, 1: 4.0}, ("word:TRS", "avg"): {0: 1.0, 1: 3.0}})
    # differences 2 and 1: mean 1.5, half an interval 12.706 * 0.5
    assert said(found) == (
        "ORT − TRS (avg): +1.5 points, −4.9 to +7.9, two seeds; the paper: +9.6, outside of it."
    )


def test_rows_that_answer_at_a_profile_are_named_with_their_block(numbers):
    main = load_catalog().experiment("man_moe/table4").answer_at("open")
    cells = {
        (s, t): {0: n, 1: n + 1.0}
        for n, s in enumerate((main.first, main.second))
        for t in ("de", "es", "nl")
    }
    view = View("man_moe/table4", "open", numbers(cells, "man_moe/table4"))
    told = difference_sentence(view, main)
    assert told.startswith("MAN-MOE+CharCNN − BWE+CharCNN (3-to-1) (avg, block long): −1.0 points")
    assert "the paper: +" in told


def test_a_stand_in_s_column_answers_for_the_printed_one(numbers):
    key, main = "sense_alignment/table4", load_catalog().experiment("sense_alignment/table4").answer
    found = numbers(
        {
            (main.first, "de/tweets"): {0: 53.0, 1: 52.0},
            (main.second, "de/tweets"): {0: 50.0, 1: 50.0},
        },
        key,
    )
    view = View(key, "open", found)
    told = difference_sentence(view, main)
    assert told.startswith("Bi-SaELMo − Joint-ELMo (de/tweets for de/books): +2.5 points")
    assert "two seeds of the heads;" in told  # one language model stands behind them
    assert headline_of(view, main) != "The main difference was not run"


def test_a_paper_s_difference_within_the_interval_is_said_to_be_inside_of_it(numbers):
    found = numbers({("word:ORT", "avg"): {0: 7.0, 1: 13.0}, ("word:TRS", "avg"): {0: 1.0, 1: 1.0}})
    assert said(found).endswith("two seeds; the paper: +9.6, inside of it.")


def test_an_end_beside_zero_shows_on_which_side(numbers):
    gaps = {0: 0.05, 1: 0.1, 2: 0.17}
    found = numbers({("word:ORT", "avg"): gaps, ("word:TRS", "avg"): dict.fromkeys(gaps, 0.0)})
    assert "+0.11 points, −0.04 to +0.26, three seeds" in said(found)


def test_one_seed_has_no_interval(numbers):
    found = numbers({("word:ORT", "avg"): {0: 3.0}, ("word:TRS", "avg"): {0: 1.0}})
    assert "+2.0 points, one seed, so no interval; the paper" in said(found)


def test_what_was_not_run_is_said_beside_the_papers_difference():
    assert said(ReproducedNumbers([])) == "ORT − TRS (avg): not run at open; the paper: +9.6."


def test_systems_without_a_common_seed_have_no_difference(numbers):
    found = numbers({("word:ORT", "avg"): {0: 3.0}, ("word:TRS", "avg"): {1: 1.0}})
    assert "not run with the same seeds" in said(found)


@pytest.mark.parametrize(
    ("statuses", "sentence"),
    [
        (["holds"], "Judged on these numbers, of 1 claim 1 holds."),
        (["fails", "undecided"], "Judged on these numbers, of 2 claims 1 fails, 1 is undecided."),
        (
            ["holds", "not run", "holds"],
            "Judged on these numbers, of 3 claims 2 hold, 1 was not judged.",
        ),
    ],
)
def test_claims_are_counted_by_their_verdict(statuses, sentence):
    assert claims_sentence([ClaimVerdict(status) for status in statuses]) == sentence


def test_an_answer_has_its_cost_and_hides_its_numbers_in_the_text(numbers, record):
    view = View("word_order/learning_rates", "open", ReproducedNumbers([]))
    told = answer(view, [], [record(wall_seconds=90.0)])
    assert told.cost.startswith("Behind this: 1 trial, 2 min")
    assert repr(told) == (
        "Answer, word_order/learning_rates (open): 0 sentences computed from records"
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "headline"),
    [
        ([3.0, 3.1, 3.2], 9.6, "The same direction as in the paper"),
        ([-3.0, -3.1, -3.2], 9.6, "The other way round than in the paper"),
        ([3.0, -3.1, 0.2], 9.6, "No difference is shown: the interval includes 0"),
        ([3.0], 9.6, "One seed: a direction, without an interval"),
        ([], 9.6, "The main difference was not run"),
    ],
)
def test_the_headline_is_the_direction_beside_the_papers(numbers, ours, theirs, headline):
    cells = {("word:ORT", "avg"): dict(enumerate(ours)), ("word:TRS", "avg"): {}}
    cells["word:TRS", "avg"] = dict.fromkeys(range(len(ours)), 0.0)
    view = View(KEY, "open", numbers(cells) if ours else ReproducedNumbers([]))
    assert headline_of(view, MAIN) == headline


def test_a_page_without_a_main_difference_answers_with_its_claims(numbers, record):
    view = View("word_order/learning_rates", "open", ReproducedNumbers([]))
    judged = [(load_claims("word_order")[0], ClaimVerdict("fails"))]
    told = answer(view, judged, [record()])
    assert told.headline == "Judged on these numbers, of 1 claim 1 fails."
    assert told.sentences == ()


def test_a_page_with_a_main_claim_says_what_became_of_it(record):
    claims = [c for c in load_claims("ramen") if c.id in ("A16", "A17")]
    judged = [(c, ClaimVerdict("holds" if c.id == "A17" else "fails")) for c in claims]
    view = View("ramen/figure2", "open", ReproducedNumbers([]))
    told = answer(view, judged, [record()])
    assert told.headline == f"Holds: {claims[1].text}"
    assert told.sentences == ("Judged on these numbers, of 2 claims 1 holds, 1 fails.",)


def test_a_page_of_printed_numbers_answers_with_how_many_came_back(record):
    view = View("word_order/distances", "open", own_numbers(["word_order/distances"], ["open"]))
    told = answer(view, [], [record()])
    assert told.headline.startswith("Of 32 cells 32 are within")


def test_without_records_on_real_data_the_page_says_so_and_what_the_paper_has(numbers, record):
    found = numbers({("word:ORT", "avg"): {0: 3.0}, ("word:TRS", "avg"): {0: 1.0}})
    told = answer(View(KEY, "smoke", found), [], [record()])
    assert told.headline.startswith("Nothing has been run on real data yet")
    assert told.sentences == ("ORT − TRS (avg): the paper: +9.6 points.",)
    assert "2.0" not in told._repr_html_()


def test_an_answer_links_to_the_one_or_two_deviations_that_weigh_most(numbers, record):
    told = answer(View(KEY, "open", ReproducedNumbers([])), [], [record()])
    assert 1 <= len(told.why) <= 2
    assert {d.weight for d in told.why} == {"most"}
    assert f'href="#deviation-{told.why[0].id}"' in told._repr_html_()


MAINS = {k: (e.answer, *e.contrasts) for k, e in load_catalog().experiments.items() if e.answer}


@pytest.mark.parametrize("key", MAINS)
def test_the_main_differences_are_some_that_the_experiment_fills(key):
    own = all_experiments()[key]
    for main in MAINS[key]:
        assert {main.first, main.second} <= {system.identifier for system in own.systems}
        assert main.column in own.columns


@pytest.mark.parametrize("key", [k for k, e in load_catalog().experiments.items() if e.main_claim])
def test_a_main_claim_is_one_that_the_page_judges(key):
    judge = Judge(own_numbers([key], ["open"]))
    assert load_catalog().experiment(key).main_claim in {c.id for c in claims_of(key, judge)}


def test_differences_of_rows_are_of_printed_rows():
    for key, entry in load_catalog().experiments.items():
        for row, sides in entry.differences.items():
            assert {row, *sides} <= set(load_reported().systems(key))
