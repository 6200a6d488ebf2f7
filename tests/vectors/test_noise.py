import numpy as np
import pytest

from xlrepro.errors import SettingsError
from xlrepro.vectors.mappings.retrieval import precision_at_1
from xlrepro.vectors.noise import NoisyVectors
from xlrepro.vectors.open.dictionary import unit_rows
from xlrepro.vectors.tables import VectorSet

DIM, COUNT = 64, 400
WORDS = [f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(COUNT)]


@pytest.fixture(scope="module")
def plain():
    english = np.random.default_rng(0).normal(2.0, 3.0, (COUNT, DIM)).astype(np.float32)
    words = {"en": [f"e{w}" for w in WORDS], "xx": WORDS}
    return VectorSet("made up", words, {"en": english, "xx": english.copy()})


def test_the_source_language_is_untouched(plain):
    noisy = NoisyVectors(plain, 3.0, 1)
    words = plain.words("en")
    assert np.array_equal(noisy.lookup("en", words)[0], plain.lookup("en", words)[0])
    assert np.array_equal(noisy.matrix("en"), plain.matrix("en"))


def test_no_noise_changes_nothing(plain):
    noisy = NoisyVectors(plain, 0.0, 1)
    assert np.array_equal(noisy.lookup("xx", WORDS)[0], plain.lookup("xx", WORDS)[0])


@pytest.mark.parametrize("sigma", [0.5, 2.0, 4.0])
def test_the_scale_stays_and_the_cosine_falls_as_stated(plain, sigma):
    before = plain.lookup("xx", WORDS)[0]
    after = NoisyVectors(plain, sigma, 1).lookup("xx", WORDS)[0]
    lengths = (after**2).sum() / (before**2).sum()
    cosines = (unit_rows(before) * unit_rows(after)).sum(axis=1)
    assert lengths == pytest.approx(1.0, abs=0.03)
    assert cosines.mean() == pytest.approx(1 / np.sqrt(1 + sigma**2), abs=0.02)


def test_a_word_has_one_vector_whatever_stands_beside_it(plain):
    alone = NoisyVectors(plain, 2.0, 1).lookup("xx", ["wab"])[0][0]
    among = NoisyVectors(plain, 2.0, 1).lookup("xx", ["waa", "wab", "WAB"])[0]
    assert np.array_equal(alone, among[1])
    assert np.array_equal(alone, among[2])


def test_two_words_have_different_noise(plain):
    noisy = NoisyVectors(plain, 2.0, 1)
    noise = noisy.lookup("xx", WORDS)[0] * np.sqrt(5) - plain.lookup("xx", WORDS)[0]
    assert abs(np.corrcoef(noise[0], noise[1])[0, 1]) < 0.5


def test_the_seed_decides_the_noise(plain):
    one, two = (NoisyVectors(plain, 2.0, seed).lookup("xx", WORDS)[0] for seed in (1, 2))
    assert not np.allclose(one, two)


def test_unknown_words_stay_zero(plain):
    vectors, kinds = NoisyVectors(plain, 2.0, 1).lookup("xx", ["qqqqqqqq"])
    assert (kinds[0], float(np.abs(vectors).sum())) == (0, 0.0)


def test_induction_is_measured_on_the_vectors_that_are_looked_up(plain):
    noisy = NoisyVectors(plain, 2.0, 1)
    english = np.asarray(plain.matrix("en"))
    standardised = (noisy.matrix("xx") - english.mean(axis=0)) / english.std(axis=0)
    assert np.allclose(standardised, noisy.lookup("xx", WORDS)[0], atol=1e-4)


def test_more_noise_means_lower_induction(plain):
    gold = {f"e{w}": {w} for w in WORDS}
    found = []
    for sigma in (0.0, 2.0, 8.0):
        noisy = NoisyVectors(plain, sigma, 1)
        sides = (unit_rows(noisy.matrix(c)) for c in ("en", "xx"))
        english, foreign = sides
        share, _ = precision_at_1(gold, noisy.words("en"), english, WORDS, foreign)
        found.append(share)
    assert found[0] == 1.0
    assert found[0] > found[1] > found[2]


def test_negative_noise_is_an_error(plain):
    with pytest.raises(SettingsError, match="give 0 or more"):
        NoisyVectors(plain, -1.0, 1)
