import numpy as np
import pytest

from xlrepro.errors import SettingsError
from xlrepro.vectors.mappings.retrieval import csls_retrieve
from xlrepro.vectors.mappings.seeded import map_with_seed, procrustes
from xlrepro.vectors.open.dictionary import unit_rows


@pytest.fixture
def rotation():
    q, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(20, 20)))
    return q


def test_a_known_rotation_is_recovered(rotation):
    x = np.random.default_rng(0).normal(size=(100, 20))
    np.testing.assert_allclose(procrustes(x, x @ rotation), rotation, atol=1e-5)


def test_the_map_is_orthogonal_whatever_the_data():
    rng = np.random.default_rng(2)
    w = procrustes(rng.normal(size=(30, 12)), rng.normal(size=(30, 12)))
    np.testing.assert_allclose(w @ w.T, np.eye(12), atol=1e-5)


def test_no_other_rotation_fits_better(rotation):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 20)), rng.normal(size=(40, 20))
    best = np.linalg.norm(x @ procrustes(x, y) - y)
    for _ in range(50):
        other, _ = np.linalg.qr(rng.normal(size=(20, 20)))
        assert np.linalg.norm(x @ other - y) >= best


def test_refinement_finds_pairs_that_the_seed_does_not_name(rotation):
    rng = np.random.default_rng(4)
    x = unit_rows(rng.normal(size=(300, 20)))
    y = unit_rows(x @ rotation + rng.normal(scale=0.08, size=x.shape))
    seed = [(row, row) for row in range(12)]

    def right(w):
        return (csls_retrieve(unit_rows(x @ w), y, x @ w) == np.arange(300)).mean()

    rough = right(map_with_seed(x, y, seed))
    refined = right(map_with_seed(x, y, seed, refinements=3))
    assert refined > rough + 0.05
    assert refined > 0.95


def test_shapes_that_do_not_match_are_refused():
    with pytest.raises(SettingsError, match="as many source as target"):
        procrustes(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(SettingsError, match="at least one"):
        map_with_seed(np.zeros((3, 2)), np.zeros((4, 2)), [])
