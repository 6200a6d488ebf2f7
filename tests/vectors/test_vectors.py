import numpy as np
import pytest

from xlrepro.errors import SettingsError
from xlrepro.vectors.tables import BACK_OFF, EXACT, UNKNOWN, VectorSet


@pytest.fixture
def vectors():
    rng = np.random.default_rng(0)
    words = {
        "en": ["the", "house", "boat", "2000", "london", "0000", "."],
        "de": ["haus", "boot", "häuser", "das"],
        "th": ["นํ้า", "ทํา"],
        "fr": ["l'", "maison"],
    }
    rows = {code: rng.normal(3, 2, (len(w), 8)).astype(np.float32) for code, w in words.items()}
    return VectorSet("tiny", words, rows)


@pytest.mark.parametrize(
    ("language", "words", "expected"),
    [
        ("de", ["Haus", "hausen", "qqqq"], [EXACT, BACK_OFF, UNKNOWN]),
        ("th", ["ทำ"], [EXACT]),  # decomposed in the vectors
        ("fr", ["L’"], [EXACT]),  # a typographic apostrophe
        ("de", ["the"], [UNKNOWN]),  # short strings are not shared
    ],
)
def test_exact_back_off_and_unknown_are_told_apart(vectors, language, words, expected):
    assert vectors.lookup(language, words)[1].tolist() == expected


def test_scale_is_that_of_the_source_language_for_all_and_an_unknown_word_is_zero(vectors):
    raw = {code: np.asarray(vectors.matrix(code)) for code in ("en", "de")}
    matrix, _ = vectors.lookup("de", ["haus", "qqqq"])
    expected = (raw["de"][0] - raw["en"].mean(axis=0)) / raw["en"].std(axis=0)
    np.testing.assert_allclose(matrix[0], expected, rtol=1e-4)
    assert not matrix[1].any()


def test_year_is_looked_up_as_it_stands_before_its_digits_are_dropped(vectors):
    matrix, found = vectors.lookup("en", ["2000", "1999", "0000"])
    assert found.tolist() == [EXACT] * 3
    assert not np.allclose(matrix[0], matrix[1])
    np.testing.assert_array_equal(matrix[1], matrix[2])


def test_name_takes_the_vector_of_the_same_string_in_english(vectors):
    matrix, found = vectors.lookup("de", ["London", "Boat", "."])
    assert found.tolist() == [BACK_OFF] * 3
    np.testing.assert_array_equal(matrix, vectors.lookup("en", ["london", "boat", "."])[0])


def test_mean_of_several_words_has_their_length():
    words = {"en": ["a", "b"], "de": ["hunde", "schule"]}
    matrices = {"en": np.eye(2, dtype=np.float32), "de": np.eye(2, dtype=np.float32)}
    found = VectorSet("v", words, matrices)
    raw = found.lookup("de", ["hundeschule"])[0][0] * 0.5 + 0.5
    np.testing.assert_allclose(raw, [2**-0.5, 2**-0.5], rtol=1e-5)


def test_languages_without_vectors_and_words_without_them_are_named(vectors):
    with pytest.raises(SettingsError, match=r"'xx'.*en, de, th, fr"):
        vectors.lookup("xx", ["a"])
    with pytest.raises(SettingsError, match=r"have .*; expected \(2, "):
        VectorSet("v", {"en": ["a", "b"]}, {"en": np.zeros((3, 4), dtype=np.float32)})
