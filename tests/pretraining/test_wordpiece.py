import random
from collections import Counter

import pytest

from xlrepro.pretraining.wordpiece import SPECIAL, WordPiece, learn_vocabulary, parts_of

COUNTS = {"abab": 5, "abc": 4, "bc": 3, "cab": 3, "a": 9, "ac": 1}


def naive_vocabulary(counts, size):
    """Count all pairs anew for every merge."""
    words = {w: [w[0], *("##" + c for c in w[1:])] for w in counts}
    vocabulary = [*SPECIAL, *sorted({p for pieces in words.values() for p in pieces})]
    while len(vocabulary) < size:
        pairs = Counter()
        for word, pieces in words.items():
            for pair in zip(pieces, pieces[1:]):  # noqa: RUF007
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], p))
        piece = best[0] + best[1].removeprefix("##")
        if piece not in vocabulary:
            vocabulary.append(piece)
        for word, pieces in words.items():
            merged = []
            for p in pieces:
                if merged and (merged[-1], p) == best:
                    merged[-1] = piece
                else:
                    merged.append(p)
            words[word] = merged
    return vocabulary


@pytest.mark.parametrize("size", [11, 12, 14, 60])
def test_merges_are_those_of_counting_anew_every_time(size):
    assert learn_vocabulary(COUNTS, size, 100) == naive_vocabulary(COUNTS, size)


def test_merges_of_random_words_are_those_of_counting_anew():
    draw = random.Random(1)
    counts = {
        "".join(draw.choices("abcd", k=draw.randint(1, 7))): draw.randint(1, 9) for _ in "x" * 60
    }
    assert learn_vocabulary(counts, 90, 100) == naive_vocabulary(counts, 90)


def test_the_order_of_the_counts_does_not_matter():
    backwards = dict(reversed(COUNTS.items()))
    assert learn_vocabulary(backwards, 14, 100) == learn_vocabulary(COUNTS, 14, 100)


def test_words_split_as_the_tokenizers_package_splits_them():
    models = pytest.importorskip("tokenizers").models
    vocabulary = learn_vocabulary(COUNTS, 14, 100)
    ours = WordPiece(vocabulary)
    theirs = models.WordPiece({piece: i for i, piece in enumerate(vocabulary)}, unk_token="[UNK]")
    draw = random.Random(0)
    words = [
        "".join(draw.choices("abcd", weights=[5, 5, 5, 1], k=draw.randint(1, 8))) for _ in "x" * 200
    ]
    for word in [*words, "a" * 100, "a" * 101]:
        assert ours.numbers(word) == [token.id for token in theirs.tokenize(word)]


def test_a_rare_character_stays_out_and_makes_its_word_unknown():
    pieces = WordPiece(learn_vocabulary({"aab": 9, "az": 1}, 50, characters=2))
    assert pieces.numbers("az") == [pieces.unknown]
    assert pieces.unknown not in pieces.numbers("ab")


def test_han_characters_stand_alone_and_hangul_is_taken_apart():
    assert parts_of("中国") == ["中", "国"]
    assert len(parts_of("한")[0]) == 3


def test_every_word_has_at_least_one_piece():
    assert WordPiece([*SPECIAL, "a"]).numbers("") == [1]
