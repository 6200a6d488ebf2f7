import numpy as np
import pytest

from xlrepro.errors import DataError
from xlrepro.vectors.open import lexicon


def test_ranks_count_source_words_not_pairs():
    pairs = [(f"w{rank}", f"v{rank}{copy}") for rank in range(6600) for copy in "ab"]
    train, test, rest = lexicon.split_by_rank(pairs)
    assert (len(train), len(test), len(rest)) == (10_000, 3_000, 200)
    assert {english for english, _ in test} == {f"w{rank}" for rank in range(5000, 6500)}
    again = ("w0", "z")  # the last pair, and of the first word
    assert again in lexicon.split_by_rank([*pairs, again])[0]


def test_wiktionary_gives_single_words_without_the_infinitive_particle(tmp_path):
    path = tmp_path / "en-xx.tsv"
    lines = "to blorp\tv\tzimm", "air hole\tn\tlukk", "glim\tn\tto sagga", "tark\tadj\tosto-"
    path.write_text("\n".join([*lines, "frim\tn\tuna   dua\n"]), "utf-8")
    found = [" ".join(pair) for pair in lexicon.read_wiktionary(path, "xx")]
    assert found == ["blorp zimm", "tark osto", "frim una", "frim dua"]


def test_sentence_pairs_are_read_once(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("a b\tx y\na b\tx y\nc\tz\n", encoding="utf-8")
    assert lexicon.parallel_pairs([path, path]) == [("a b", "x y"), ("c", "z")]
    path.write_text("a b\tx y\nc\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pairs\.tsv:2"):
        lexicon.parallel_pairs([path])


@pytest.mark.parametrize(
    ("dictionary", "aligned", "expected"),
    [
        # aligned text weighs as much as the dictionary at the trusted count; one source has all
        ([("a", "x")], [("b", "x", 5.0)], {"x": {"a": 0.5, "b": 0.5}}),
        ([("a", "x"), ("b", "x")], [("c", "x", 15.0)], {"x": {"a": 0.125, "b": 0.125, "c": 0.75}}),
        ([("a", "x")], [("b", "y", 1.0)], {"x": {"a": 1.0}, "y": {"b": 1.0}}),
        # rare and minor alignments are noise; words without a known translation are left out
        ([], [("a", "x", 100.0), ("b", "x", 4.0), ("c", "y", 0.4)], {"x": {"a": 1.0}}),
        ([("q", "x")], [("q", "y", 9.0)], {}),
        # the heaviest two are kept
        ([("a", "x")] * 2 + [("b", "x")] * 2 + [("c", "x")], [], {"x": {"a": 0.5, "b": 0.5}}),
    ],
)
def test_dictionaries_and_aligned_text_are_mixed(dictionary, aligned, expected):
    most = 2 if len(dictionary) == 5 else 8
    table = lexicon.mix(dictionary, aligned, frozenset("abc"), trust=5.0, most=most)
    assert table == {word: pytest.approx(weights) for word, weights in expected.items()}


def test_vector_is_the_weighted_mean_of_the_translations_at_length_1():
    source = lexicon.unit_rows(np.random.default_rng(0).normal(size=(3, 4)))
    table = {"x": {"a": 0.75, "c": 0.25}, "y": {"b": 1.0}}
    words, matrix = lexicon.dictionary_vectors(table, {"a": 0, "b": 1, "c": 2}, source)
    assert words == ["x", "y"]
    mean = 0.75 * source[0] + 0.25 * source[2]
    np.testing.assert_allclose(matrix[0], mean / np.linalg.norm(mean), rtol=1e-5)
    np.testing.assert_allclose(matrix[1], source[1], rtol=1e-5)


def test_identical_strings_map_to_themselves_from_four_letters_up():
    table = {"taxi": {"cab": 1.0}}
    shared = lexicon.shared_strings(
        ["radio", "die", "taxi", "haus"], table, ["radio", "die", "taxi", "!"]
    )
    assert shared == {"!": {"!": 1.0}, "radio": {"radio": 1.0}}


def test_centred_rows_have_length_1_and_zero_rows_stay_zero():
    assert not lexicon.unit_rows(np.zeros((2, 3))).any()
    x = np.random.default_rng(1).normal(5, 1, size=(50, 8))
    rows = lexicon.centred_unit_rows(x)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    assert np.abs(rows.mean(axis=0)).max() < 0.2
    longer = np.linspace(1, 9, 50)[:, None] * x  # of length 1 before they are centred, too
    np.testing.assert_allclose(lexicon.centred_unit_rows(longer), rows, atol=1e-5)


def test_seed_pairs_are_of_untested_words_or_else_the_heaviest_translations(monkeypatch):
    monkeypatch.setattr(lexicon, "test_source_words", lambda code: frozenset("b"))
    monkeypatch.setattr(lexicon, "muse", lambda code: ([("a", "x"), ("b", "y")], [("b", "z")], []))
    assert lexicon.seed_pairs("de", frozenset(), []) == [("a", "x")]
    monkeypatch.setattr(lexicon, "muse", lambda code: ([], [], []))
    monkeypatch.setattr(lexicon, "table", lambda code, known: {"x": {"a": 0.6, "c": 0.4}})
    assert lexicon.seed_pairs("de", frozenset("ac"), ["x"]) == [("a", "x")]
