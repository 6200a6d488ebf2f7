import sys

import pytest

from xlrepro.errors import SettingsError
from xlrepro.vectors.open import tokenise as module
from xlrepro.vectors.open.tokenise import tokenise, words_of


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Don't go, it's 3.5 km!", "en", ["Do", "n't", "go", ",", "it", "'s", "3.5", "km", "!"]),
        ("the U.S. (now)", "en", ["the", "U.S.", "(", "now", ")"]),
        ("L’ami qu'il a", "fr", ["L'", "ami", "qu'", "il", "a"]),
        ("Vient-il aujourd'hui?", "fr", ["Vient", "-il", "aujourd'hui", "?"]),
        ("peut-être", "fr", ["peut-être"]),
        ("dell'arte", "it", ["dell'", "arte"]),
        ("E-Mail, bitte.", "de", ["E-Mail", ",", "bitte", "."]),
        ("हिन्दी में", "hi", ["हिन्दी", "में"]),  # combining vowel signs stay in their word
    ],
)
def test_words_and_marks_are_separated(text, language, expected):
    assert tokenise(text, language) == expected


def test_chinese_is_simplified_and_stored_words_are_lower_case_without_digits():
    assert "".join(tokenise("這是北京", "zh")) == "这是北京"
    assert "北京" in tokenise("這是北京", "zh")
    assert words_of("In 1995", "en") == ["in", "0000"]


@pytest.mark.parametrize(("language", "package"), [("zh", "jieba"), ("ja", "janome.tokenizer")])
def test_a_missing_segmenter_names_the_extra(monkeypatch, language, package):
    module._segmenter.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    name = package.partition(".")[0]
    with pytest.raises(SettingsError, match=rf"\A.* {name}, .*'xlrepro\[segmentation\]'\Z"):
        tokenise("北", language)
