"""What ``run --again`` says of numbers that moved: was it the code, or the machine?"""

import pytest

from xlrepro.cli.runs import _moved
from xlrepro.trials.trial import Cell

CLASS = {"numerical_class": "a" * 16}


def moved(record, **changes):
    """Return what is said of a record and the same trial with another value and ``changes``."""
    before = record.model_copy(update={**CLASS, "device": "a CPU"})
    first, *others = before.cells
    other = Cell(first.system, first.column, first.value + 1, first.metric, first.unit)
    update = {"cells": (other, *others), **changes}
    return _moved(before, before.model_copy(update=update))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fingerprint": "0" * 64}, "other code: xlrepro witness tells"),
        ({"numerical_class": "b" * 16}, "another numerical class"),
        ({"versions": {"python": "2.7"}}, "other versions of python"),
        ({"numerical_class": None}, "perhaps another machine"),
        ({"numerical_class": None, "device": "B"}, "another machine, a CPU before"),
        ({}, "the same code on a machine of the same class"),
        ({"device": "another CPU"}, "the same code on a machine of the same class"),
    ],
)
def test_a_difference_of_machine_is_told_from_one_of_code(record_of, changes, said):
    assert said in moved(record_of(), **changes)


def test_other_code_is_not_blamed_on_the_machine(record_of):
    assert "class" not in moved(record_of(), fingerprint="0" * 64)


def test_other_vectors_are_named(record_of):
    record = record_of().model_copy(update={"artefacts": {"mapped-de-0": "a" * 64}})
    assert "other vectors" in moved(record, artefacts={"mapped-de-0": "b" * 64})


def test_equal_numbers_need_no_explanation(record_of):
    record = record_of()
    other = record.model_copy(update={"fingerprint": "0" * 64})
    assert _moved(record, other) == "the same 2 numbers as before"
