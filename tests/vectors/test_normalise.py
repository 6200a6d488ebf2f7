import unicodedata

import pytest

from xlrepro.vectors.normalise import digit_shape, fold, normalise, variants, word_form


def test_forms_of_a_word_are_stored_alike():
    decomposed = unicodedata.normalize("NFKD", "น้ำ")
    assert decomposed != "น้ำ"
    assert word_form("น้ำ", "th") == word_form(decomposed, "th")
    assert normalise("，。「」’–") == ',.""\'-'
    assert digit_shape("1995 ١٩ १२") == "0000 00 00"
    assert fold("ÿø") == fold("yo")
    assert fold("мій") == fold("мии")


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


def test_the_word_as_it_stands_comes_first_and_marks_keep_themselves():
    assert variants("Haus", "de")[0] == "Haus"
    assert variants("-", "fr") == ["-"]
    assert variants("_", "he") == ["_"]
