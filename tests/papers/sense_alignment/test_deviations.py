"""A deviation of a model is one of its variants too: rows of ours whose centres begin otherwise."""

import pytest

from xlrepro.evidence.deviations import load_deviations
from xlrepro.experiments import experiment
from xlrepro.papers.sense_alignment.experiments import EXPERIMENTS
from xlrepro.papers.sense_alignment.systems import AFTERWARDS, ORTHOGONAL, VARIANTS


def variants(key):
    """Return (row, the row that it is a variant of) of an experiment."""
    names = [system.identifier for system in experiment(key).systems]
    pairs = [(n, n.removesuffix(v)) for n in names for v in (*VARIANTS, AFTERWARDS, ORTHOGONAL)]
    return [(row, model) for row, model in pairs if row != model and model in names]


@pytest.mark.parametrize("key", [e.key for e in EXPERIMENTS])
def test_what_touches_a_models_row_touches_its_variants(key):
    missed = {
        (deviation.id, row)
        for row, model in variants(key)
        for deviation in load_deviations(key)
        for column in experiment(key).columns
        if deviation.touches(key, model, column) and not deviation.touches(key, row, column)
    }
    assert variants(key)
    assert missed == set()
