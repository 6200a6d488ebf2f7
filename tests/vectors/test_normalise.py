import unicodedata

import pytest

from xlrepro.vectors.normalise import digit_shape, fold, normalise, variants, word_form


def test_composed_and_decomposed_thai_are_stored_alike():
    composed = "น้ำ"
    decomposed = unicodedata.normalize("NFKD", composed)
    assert composed != decomposed
    assert word_form(composed, "th") == word_form(decomposed, "th")


def test_full_width_and_typographic_marks_become_ascii():
    assert normalise("，。「」’–") == ',.""\'-'


def test_digits_of_any_script_become_zero():
    assert digit_shape("1995 ١٩ १२") == "0000 00 00"


def test_turkish_lower_case_keeps_the_dotless_i():
    assert word_form("ILIK", "tr") == "ılık"


@pytest.mark.parametrize(
    ("word", "language", "expected"),
    [
        ("_של_", "he", "של"),
        ("ה_", "he", "ה"),
        ("L’", "fr", "l'"),
        ("l'", "fr", "l"),
        ("-il", "fr", "il"),
        ("國", "zh", "国"),
        ("Größe", "de", "grösse"),
        ("ёж", "ru", "еж"),
        ("şi", "ro", "și"),
        ("50 000", "fr", "00000"),
        ("``", "en", '"'),
    ],
)
def test_treebank_forms_have_the_plain_form_among_their_variants(word, language, expected):
    assert expected in variants(word, language)


def test_the_word_as_it_stands_comes_first():
    assert variants("Haus", "de")[0] == "Haus"


def test_marks_that_are_words_keep_themselves():
    assert variants("-", "fr") == ["-"]
    assert variants("_", "he") == ["_"]


def test_fold_makes_close_alphabets_one():
    assert fold("ÿø") == fold("yo")
    assert fold("мій") == fold("мии")
