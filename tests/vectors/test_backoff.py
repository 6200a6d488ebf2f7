import random

import pytest

from xlrepro.vectors.backoff import WordIndex

BOLAN = [f"bolan{letter}" for letter in "gfedcba"]


@pytest.mark.parametrize(
    ("words", "word", "language", "expected"),
    [
        (["post", "war", "house"], "post-war", "en", ["post", "war"]),
        # a compound's two known parts, perhaps with a linking sound, in compounding languages alone
        (["hunde", "schule", "rathaus", "ratte"], "hundeschule", "de", ["hunde", "schule"]),
        (["arbeit", "zimmer"], "arbeitszimmer", "de", ["arbeit", "zimmer"]),
        (["hunde", "schule"], "xhundeschule", "fr", []),
        # the longest common prefix, at least half the word; of equally near words the most frequent
        (["marchons", "marcher", "marche", "marin"], "marchez", "fr", ["marcher", "marche"]),
        (BOLAN, "bolanz", "es", BOLAN[:5]),
        (["abcd"], "abcxyzuvw", "es", []),
        (["señor", "senora"], "senor", "es", ["señor"]),  # diacritics before anything else
        # scripts without spaces: the longest known parts; else words that begin with the character
        (["北京", "北", "大学"], "北京大学", "zh", ["北京", "大学"]),
        (["国家", "国际", "家"], "国", "zh", ["国家", "国际"]),
        (["학교", "학생"], "학교에서", "ko", ["학교"]),
        (["מלון"], "והמלון", "he", ["מלון"]),
        (["كتاب"], "والكتاب", "ar", ["كتاب"]),
        ([")", "x"], ")))", "ru", [")"]),
        (["alpha", "beta"], "zzzzzz", "en", []),
    ],
)
def test_an_unknown_word_takes_the_nearest_known_ones(words, word, language, expected):
    assert [words[row] for row in WordIndex(words, language).back_off([word])] == expected


def test_longest_common_prefix_agrees_with_brute_force():
    rng = random.Random(3)
    drawn = ("".join(rng.choices("abc", k=rng.randint(4, 9))) for _ in range(300))
    words = list(dict.fromkeys(drawn))
    index = WordIndex(words, "es")
    for _ in range(200):
        word = "".join(rng.choices("abc", k=7))
        rows = index.back_off([word])
        shared = [
            next((i for i, (x, y) in enumerate(zip(word, w)) if x != y), min(len(word), len(w)))
            for w in words
        ]
        best = max(shared)
        if word not in words and best >= 4:
            assert rows
            assert all(shared[row] == best for row in rows)
