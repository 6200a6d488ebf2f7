"""Draws of the means: on one cell they are Student's t, on several they keep the covariance."""

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import helmert

from xlrepro.evidence.claims.draws import contrasts, draw, drawn_means
from xlrepro.evidence.reproduced import t_interval

VALUES = np.array([[3.0, 10.0], [1.0, 14.0], [8.0, 9.0], [5.0, 12.0]])  # shape: (seeds, cells)


def test_the_contrasts_are_helmerts():
    # Helmert's rows up to their sign
    assert np.abs(contrasts(VALUES)) == pytest.approx(np.abs(helmert(4) @ VALUES))


def test_the_contrasts_give_the_sample_covariance():
    found = contrasts(VALUES)
    assert found.T @ found / 3 == pytest.approx(np.cov(VALUES.T))


@pytest.mark.parametrize("n", [2, 3, 5])
def test_on_one_cell_a_draw_is_the_t_interval_exactly(n):
    """z along the contrasts has length 1 per unit of standard deviation: z / √(χ²/(n−1)) is t."""
    values = np.random.default_rng(n).normal(size=(n, 1))
    direction = contrasts(values)[:, 0] / np.linalg.norm(contrasts(values))
    t = stats.t.ppf(0.975, n - 1)
    # z and χ² whose ratio is exactly the quantile of t: the ends of the interval are drawn
    normal = np.array([t * direction, -t * direction])
    (high,), (low,) = drawn_means(values, normal, np.full(2, float(n - 1)))
    interval = t_interval(list(values[:, 0]))
    assert (low, high) == pytest.approx((interval.low, interval.high))


def test_the_quantiles_of_many_draws_are_those_of_t(numbers):
    (cell,) = numbers({("word:ORT", "avg"): {0: 3.0, 1: 1.0, 2: 8.0, 3: 5.0}})
    found = draw({"x": cell}, 200_000)["x"]
    expected = stats.t.ppf([0.025, 0.25, 0.9], 3) * 2.986 / 2 + 4.25
    assert np.quantile(found, [0.025, 0.25, 0.9]) == pytest.approx(expected, abs=0.05)


def cells_of(numbers, **values):
    found = numbers({(f"word:{k}", "avg"): v for k, v in values.items()})
    return {cell.system: cell for cell in found}


def test_a_shift_that_seeds_share_drops_out_of_a_difference(numbers):
    cells = cells_of(numbers, A={0: 10.0, 1: 50.0, 2: 90.0}, B={0: 10.5, 1: 50.5, 2: 90.5})
    found = draw(cells, 1000)
    assert found["word:B"] - found["word:A"] == pytest.approx(0.5)
    assert np.std(found["word:A"]) > 10


def test_other_seeds_are_drawn_apart(numbers):
    cells = cells_of(numbers, A={0: 1.0, 1: 2.0, 2: 4.0}, B={3: 1.0, 4: 2.0, 5: 4.0})
    found = draw(cells)
    assert abs(stats.spearmanr(found["word:A"], found["word:B"]).statistic) < 0.05


def test_one_seed_stays_its_value(numbers):
    assert draw(cells_of(numbers, A={0: 7.0})) == {"word:A": 7.0}


@pytest.mark.parametrize("n", [3, 5])
def test_ninety_five_percent_of_the_intervals_of_draws_cover_the_truth(n):
    """Simulated: two correlated systems, truth 1 apart; the interval of the drawn difference."""
    rng = np.random.default_rng(n)
    normal = rng.standard_normal((2000, n - 1))
    chi_square = rng.chisquare(n - 1, 2000)
    covered, rounds = 0, 600
    for _ in range(rounds):
        shared = rng.normal(size=n)
        values = np.stack([shared + rng.normal(size=n), 1 + shared + rng.normal(size=n)], axis=1)
        means = drawn_means(values, normal, chi_square)
        low, high = np.quantile(means[:, 1] - means[:, 0], [0.025, 0.975])
        covered += low <= 1 <= high
    assert covered / rounds == pytest.approx(0.95, abs=0.025)
