import random
import string
import time

from xlrepro.vectors.backoff import WordIndex


def stand_ins(words, word, language):
    return [words[row] for row in WordIndex(words, language).back_off([word])]


def test_parts_of_a_hyphenated_word():
    assert stand_ins(["post", "war", "house"], "post-war", "en") == ["post", "war"]


def test_compound_takes_its_two_known_parts():
    words = ["hunde", "schule", "rathaus", "ratte"]
    assert stand_ins(words, "hundeschule", "de") == ["hunde", "schule"]


def test_compound_may_be_joined_by_a_linking_sound():
    assert stand_ins(["arbeit", "zimmer"], "arbeitszimmer", "de") == ["arbeit", "zimmer"]


def test_only_compounding_languages_split_words():
    assert stand_ins(["hunde", "schule"], "xhundeschule", "fr") == []


def test_inflected_form_takes_the_nearest_with_the_longest_common_prefix():
    words = ["marchons", "marcher", "marche", "marin"]
    assert stand_ins(words, "marchez", "fr") == ["marcher", "marche"]


def test_of_equally_near_words_the_most_frequent_come_first_and_at_most_five():
    words = [f"bolan{letter}" for letter in "gfedcba"]
    assert stand_ins(words, "bolanz", "es") == words[:5]


def test_a_prefix_shorter_than_half_the_word_is_not_enough():
    assert stand_ins(["abcd"], "abcxyzuvw", "es") == []


def test_diacritics_left_out_are_found_before_anything_else():
    assert stand_ins(["señor", "senora"], "senor", "es") == ["señor"]


def test_unspaced_scripts_are_cut_into_the_longest_known_pieces():
    assert stand_ins(["北京", "北", "大学"], "北京大学", "zh") == ["北京", "大学"]


def test_unspaced_character_unknown_by_itself_takes_words_that_begin_with_it():
    assert stand_ins(["国家", "国际", "家"], "国", "zh") == ["国家", "国际"]


def test_korean_particle_is_taken_off():
    assert stand_ins(["학교", "학생"], "학교에서", "ko") == ["학교"]


def test_hebrew_and_arabic_clitics_are_taken_off():
    assert stand_ins(["מלון"], "והמלון", "he") == ["מלון"]
    assert stand_ins(["كتاب"], "والكتاب", "ar") == ["كتاب"]


def test_marks_take_their_first_sign():
    assert stand_ins([")", "x"], ")))", "ru") == [")"]


def test_nothing_like_it_gives_nothing():
    assert stand_ins(["alpha", "beta"], "zzzzzz", "en") == []


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


def test_lookup_does_not_walk_through_the_vocabulary():
    rng = random.Random(0)
    words = list(
        dict.fromkeys("".join(rng.choices(string.ascii_lowercase, k=8)) for _ in range(100_000))
    )
    index = WordIndex(words, "de")
    index.back_off(["warmingup"])
    queries = ["".join(rng.choices(string.ascii_lowercase, k=9)) for _ in range(1000)]
    started = time.process_time()
    for query in queries:
        index.back_off([query])
    # A walk costs some 10 ms a word, 10 s in all.
    assert time.process_time() - started < 1.0
