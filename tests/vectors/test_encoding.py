import numpy as np
import torch

from xlrepro.vectors.encoding import TagSet, collate, encode

WORDS = [["a", "b"], ["b", "c", "a", "d"], ["d"], ["a", "a", "b"]]
TAGS = [["X", "Y"], ["Y", "X", "X", "Z"], ["Z"], ["X", "X", "Y"]]


class Spelling:
    """Vectors that name their word: the code of its first letter."""

    dim = 2

    def lookup(self, language, words):
        return np.array([[ord(w[0]), 1.0] for w in words], np.float32), np.ones(len(words), np.int8)


def split_of(words=WORDS, tags=TAGS):
    return encode("xx", words, tags, TagSet(["X", "Y"]), Spelling())


def test_every_token_gets_the_vector_of_its_word():
    split = split_of()
    assert split.table[0].tolist() == [0.0, 0.0]  # padding
    for words, rows in zip(WORDS, split.rows, strict=True):
        assert split.table[rows][:, 0].tolist() == [ord(w) for w in words]


def test_padding_is_masked_and_tags_stay_with_their_tokens():
    split = split_of()
    assert split.tags[2].tolist() == [-1]  # outside the set: never predicted right
    batch = collate(split, [3, 1])
    assert batch.mask.tolist() == [[True, True, True, False], [True] * 4]
    assert batch.rows[0].tolist()[3:] == [0]
    assert torch.equal(batch.tags[0][batch.mask[0]], split.tags[3])
    assert torch.equal(batch.tags[1][batch.mask[1]], split.tags[1])
