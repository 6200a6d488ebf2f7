import pytest

from xlrepro.errors import DataError
from xlrepro.vectors.open.lexicon import (
    mix,
    parallel_pairs,
    read_pairs,
    read_wiktionary,
    split_by_rank,
)


def test_ranks_count_source_words_not_pairs():
    pairs = [(f"w{rank}", f"v{rank}{copy}") for rank in range(6600) for copy in "ab"]
    train, test, rest = split_by_rank(pairs)
    assert (len(train), len(test), len(rest)) == (10_000, 3_000, 200)
    assert {english for english, _ in test} == {f"w{rank}" for rank in range(5000, 6500)}


def test_word_that_comes_again_keeps_its_first_rank():
    pairs = [("again", "x")] + [(f"w{rank}", "y") for rank in range(5200)] + [("again", "z")]
    train, test, _ = split_by_rank(pairs)
    assert ("again", "z") in train
    assert ("again", "z") not in test


def test_pairs_are_read_in_stored_form(tmp_path):
    path = tmp_path / "en-de.txt"
    path.write_text("House Haus\n1999\tneunzehn\n", encoding="utf-8")
    assert read_pairs(path, "de") == [("house", "haus"), ("0000", "neunzehn")]


def test_wiktionary_gives_single_words_without_the_infinitive_particle(tmp_path):
    path = tmp_path / "en-xx.tsv"
    path.write_text(
        "to blorp\tv\tzimm\nair hole\tn\tlukk\nglim\tn\tto sagga\ntark\tadj\tosto-\n"
        "frim\tn\tuna   dua\n",
        encoding="utf-8",
    )
    assert read_wiktionary(path, "xx") == [
        ("blorp", "zimm"),
        ("tark", "osto"),
        ("frim", "una"),
        ("frim", "dua"),
    ]


def test_sentence_pairs_are_read_once(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("a b\tx y\na b\tx y\nc\tz\n", encoding="utf-8")
    assert parallel_pairs([path, path]) == [("a b", "x y"), ("c", "z")]
    path.write_text("a b\tx y\nc\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pairs\.tsv:2"):
        parallel_pairs([path])


KNOWN = frozenset({"a", "b", "c"})


def test_weights_of_a_word_sum_to_one():
    table = mix([("a", "x"), ("b", "x")], [("c", "x", 3.0), ("a", "x", 1.0)], KNOWN)
    assert sum(table["x"].values()) == pytest.approx(1)


def test_aligned_text_weighs_as_much_as_the_dictionary_at_the_trusted_count():
    table = mix([("a", "x")], [("b", "x", 5.0)], KNOWN, trust=5.0)
    assert table["x"] == pytest.approx({"a": 0.5, "b": 0.5})


def test_one_source_alone_has_all_the_weight():
    table = mix([("a", "x")], [("b", "y", 1.0)], KNOWN)
    assert table == {"x": {"a": 1.0}, "y": {"b": 1.0}}


def test_rare_and_minor_alignments_are_noise():
    table = mix([], [("a", "x", 100.0), ("b", "x", 4.0), ("c", "y", 0.4)], KNOWN)
    assert table == {"x": {"a": 1.0}}


def test_words_without_a_known_translation_are_left_out():
    assert mix([("q", "x")], [("q", "y", 9.0)], KNOWN) == {}


def test_only_the_heaviest_translations_are_kept():
    table = mix([("a", "x"), ("a", "x"), ("b", "x"), ("b", "x"), ("c", "x")], [], KNOWN, most=2)
    assert table["x"] == {"a": 0.5, "b": 0.5}
