"""Rows and columns of every experiment."""

from collections import Counter

import pytest

from xlrepro.evidence.reported import load_reported
from xlrepro.experiments import all_experiments

EXPERIMENTS = pytest.mark.parametrize("each", all_experiments().values(), ids=lambda e: e.key)


@EXPERIMENTS
def test_rows_that_are_not_ours_are_those_that_the_paper_prints(each):
    printed = set(load_reported().systems(each.key))
    rows = {system.identifier for system in each.systems if not system.ours}
    assert rows <= printed or not printed


@EXPERIMENTS
def test_no_two_trials_of_a_seed_fill_one_cell(each):
    for profile in each.profiles:
        filled = Counter(address for cells in each.announced(profile) for address in cells)
        assert [address for address, count in filled.items() if count > 1] == []
