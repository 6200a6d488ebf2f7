import numpy as np

from xlrepro.vectors.open.lexicon import (
    centred_unit_rows,
    dictionary_vectors,
    shared_strings,
    unit_rows,
)


def test_vector_is_the_weighted_mean_of_the_translations_at_length_1():
    source = unit_rows(np.random.default_rng(0).normal(size=(3, 4)))
    table = {"x": {"a": 0.75, "c": 0.25}, "y": {"b": 1.0}}
    words, matrix = dictionary_vectors(table, {"a": 0, "b": 1, "c": 2}, source)
    assert words == ["x", "y"]
    mean = 0.75 * source[0] + 0.25 * source[2]
    np.testing.assert_allclose(matrix[0], mean / np.linalg.norm(mean), rtol=1e-5)
    np.testing.assert_allclose(matrix[1], source[1], rtol=1e-5)


def test_identical_strings_map_to_themselves_from_four_letters_up():
    table = {"taxi": {"cab": 1.0}}
    shared = shared_strings(["radio", "die", "taxi", "haus"], table, ["radio", "die", "taxi", "!"])
    assert shared == {"!": {"!": 1.0}, "radio": {"radio": 1.0}}


def test_zero_rows_stay_zero():
    assert not unit_rows(np.zeros((2, 3))).any()


def test_centred_rows_have_length_1():
    rows = centred_unit_rows(np.random.default_rng(1).normal(5, 1, size=(50, 8)))
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    assert np.abs(rows.mean(axis=0)).max() < 0.2
