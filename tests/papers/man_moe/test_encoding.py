"""Texts as rows of one table: spelling, unknown words, batches of several languages."""

import numpy as np
import pytest
import torch

from tests.papers.man_moe.small_models import make_settings
from xlrepro.papers.man_moe import encoding, training
from xlrepro.papers.man_moe.data import RawVectors
from xlrepro.vectors.tables import VectorSet


class TwoWords:
    """Knows the words "ab" and "cd" alone."""

    dim = 3

    def lookup(self, language, words):
        known = np.array([word in ("ab", "cd") for word in words])
        return np.ones((len(words), 3), dtype=np.float32) * known[:, None], known.astype(np.int8)


def table_of(words, **changes):
    settings = make_settings(**changes)
    return encoding.word_table(words, TwoWords(), encoding.CharacterIds("abcd"), "de", settings)


def test_a_word_has_a_row_per_language_and_spellings_are_shared():
    table = table_of([("en", "ab"), ("es", "ab"), ("en", "cd")])
    assert len(set(table.rows.values())) == 3
    same = [table.spellings[table.rows[code, "ab"]] for code in ("en", "es")]
    assert same[0] == same[1] != table.spellings[table.rows["en", "cd"]]
    assert table.characters[table.spellings[table.rows["en", "cd"]]].tolist() == [3, 4]


def test_unknown_words_get_their_own_fixed_random_vectors():
    words = [("en", "x"), ("en", "y"), ("en", "ab")]
    first, second = table_of(words), table_of(words)
    assert torch.equal(first.vectors, second.vectors)
    assert not torch.equal(first.vectors[1], first.vectors[2])
    torch.testing.assert_close(first.vectors[3], torch.ones(3))


@pytest.mark.parametrize(("target", "spellings"), [("de", 1), ("es", 2)])
def test_characters_lose_their_case_where_the_target_is_german(target, spellings):
    words = [("en", "ab"), ("en", "AB")]
    table = encoding.word_table(
        words, TwoWords(), encoding.CharacterIds("abAB"), target, make_settings()
    )
    assert len(table.characters) == 1 + spellings


def test_unseen_characters_share_one_number():
    ids = encoding.CharacterIds(["ab"])
    assert ids.spell("axyb") == [1, 3, 3, 2]
    assert len(ids) == 3


def test_a_batch_of_two_languages_keeps_words_labels_and_languages_apart():
    table = table_of([("en", "ab"), ("es", "cd"), ("es", "ab")])
    english = encoding.with_labels(encoding.encode("en", 0, [["ab"]], table), [["O"]], ("O", "B-x"))
    spanish = encoding.with_labels(
        encoding.encode("es", 1, [["cd", "ab"]], table), [["B-x", "O"]], ("O", "B-x")
    )
    batch = encoding.collate([(english, [0]), (spanish, [0])])
    assert batch.rows.tolist() == [[1, 0], [2, 3]]
    assert batch.mask.tolist() == [[True, False], [True, True]]
    assert batch.languages.tolist() == [0, 1]
    assert batch.gold.tolist() == [0, 1, 0]


def test_endless_batches_see_every_text_before_any_comes_again(texts):
    stream = training.endless_batches(texts.labelled[0], 4, np.random.default_rng(0))
    first = [i for _ in range(2) for i in next(stream)]
    assert sorted(first) == list(range(6))
    assert sorted(i for _ in range(2) for i in next(stream)) == list(range(6))


def test_a_word_unknown_to_the_authors_code_is_a_unit_vector_whatever_its_case():
    table = table_of([("en", "Xy"), ("en", "xy"), ("es", "xy"), ("en", "ab")], word_vectors="raw")
    upper, lower, other, known = table.vectors[1:]
    torch.testing.assert_close(upper.norm(), torch.tensor(1.0))
    assert torch.equal(upper, lower)
    assert not torch.equal(lower, other)
    torch.testing.assert_close(known, torch.ones(3))


def test_raw_vectors_are_those_of_the_file_by_lower_case_form_alone():
    words = {"en": ["ab", "abc"], "es": ["cd"]}
    matrices = {"en": np.array([[3.0, 4.0], [5.0, 6.0]]), "es": np.array([[7.0, 8.0]])}
    raw = RawVectors(VectorSet("two", words, matrices))
    # A form that only English has, and one that backs off to a known part, are unknown.
    vectors, kinds = raw.lookup("es", ["CD", "abc", "cds", "cd "])
    assert vectors.tolist() == [[7.0, 8.0], [0.0, 0.0], [0.0, 0.0], [7.0, 8.0]]
    assert kinds.tolist() == [1, 0, 0, 1]
