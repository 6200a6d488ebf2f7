"""Verdicts on claims of several comparisons, and on sizes where nothing stands in."""

import math

import pytest

from xlrepro.evidence.claims.files import Claim, load_claims
from xlrepro.evidence.claims.judging import Condition, Judge
from xlrepro.evidence.reproduced import t_interval

OPEN = Condition("open")
BY_ID = {claim.id: claim for claim in load_claims()}
CHAIN = Claim(
    id="T1",
    kind="text",
    section="s",
    text="t",
    cells="c",
    paper="word_order",
    predicate='value("table2", "word:ORT", "avg") > value("table2", "word:RPT", "avg") '
    '> value("table2", "word:TRS", "avg")',
)


def test_a_magnitude_is_not_judged_at_open_even_where_nothing_stands_in(numbers):
    row, other = (
        "ablation:ORT + CRF (PE -, FF Conv1d, k -)",
        "ablation:ORT + CRF (PE -, FF Linear, k -)",
    )
    cells = {
        (r, c): {0: v, 1: v + 0.1} for c in ("es", "th") for r, v in ((row, 9.0), (other, 1.0))
    }
    found = numbers(cells, "word_order/table6")
    size, sign = (Judge(found).judge(BY_ID[i], OPEN) for i in ("O24", "O24s"))
    assert (size.status, sign.status) == ("not evaluable", "holds")
    assert "about the size of an effect" in size.note


def test_a_chain_is_not_refuted_by_the_link_that_supports_it(numbers):
    # ORT > RPT by far; RPT is below TRS, t = 3.5: a share of 0.04, but the interval includes 0
    step = math.sqrt(3) / 3.5
    trs = {0: 50.0, 1: 51.0, 2: 52.0}
    rpt = {s: v - 1 + step * (s - 1) for s, v in trs.items()}
    cells = {"ORT": {s: v + 40 for s, v in rpt.items()}, "RPT": rpt, "TRS": trs}
    found = numbers({(f"word:{name}", "avg"): values for name, values in cells.items()})
    verdict = Judge(found).judge(CHAIN, OPEN)
    assert verdict.share <= 0.05
    assert verdict.status == "undecided"


def test_of_several_comparisons_the_least_sure_one_says_what_is_decidable(numbers):
    cells = {
        ("word:ORT", "avg"): {0: 60.0, 1: 50.0, 2: 61.0},
        ("word:RPT", "avg"): {0: 50.0, 1: 60.0, 2: 55.0},
        ("word:TRS", "avg"): {0: 49.9, 1: 59.8, 2: 55.0},
    }
    verdict = Judge(numbers(cells)).judge(CHAIN, OPEN)
    assert verdict.decidable == pytest.approx(t_interval([10.0, -10.0, 6.0]).high - 2.0)
