"""What of a corpus is encoded, and with which merges, on a few made-up lines."""

from types import SimpleNamespace

import pytest

from tests.papers.routing_nmt.small_trials import small_settings
from xlrepro.papers.routing_nmt.data import encoding
from xlrepro.papers.routing_nmt.data.encoding import Encoded
from xlrepro.papers.routing_nmt.data.examples import Splits
from xlrepro.papers.routing_nmt.model import END, START, UNKNOWN

UNCUT = dict.fromkeys(("train_pairs", "test_pairs", "auxiliary_train", "longest_auxiliary"))
LINES = ["a | b", "a a a | b", "a | b b b", "aaa | b", "a | bbb", "a a | b b"]


def splits(train, held_out):
    """Lines, ``source | target``, as a corpus has them; development is like test."""
    pairs, others = (
        [tuple(tuple(side.split()) for side in line.split("|")) for line in lines]
        for lines in (train, held_out)
    )
    read = [line.partition(" | ")[2] for line in held_out]
    return Splits(pairs, others, others, lines={"dev": read, "test": read})


@pytest.fixture
def encoded(monkeypatch):
    def encode(train=LINES, held_out=LINES, auxiliary=LINES, **changes):
        corpus = SimpleNamespace(
            translation=lambda pair: splits(train, held_out),
            auxiliary=lambda task: splits(auxiliary, auxiliary),
        )
        monkeypatch.setitem(encoding.CORPORA, "artificial", corpus)
        return Encoded(small_settings(**{"bpe_operations": 0, **UNCUT, **changes}))

    return encode


def lines_of(data, examples):
    """Examples of translation as lines again."""
    return [
        f"{' '.join(data.source_words(e))} | {' '.join(data.words(e.target[1:-1]))}"
        for e in examples
    ]


def pieces(vocabulary):
    return {token for token in vocabulary.tokens if not token.startswith("<")}


def test_two_sets_of_merges_are_learned_each_on_its_own_side(encoded):
    lines = ["ab ab | cd cd cd"]
    data = encoded(lines, bpe_operations=1, joint_bpe=False)
    assert pieces(data.source) == {"a", "b", "b</w>", "ab</w>"}
    assert pieces(data.tasks["translation"].target) == {"c", "d", "d</w>", "cd</w>"}
    assert lines_of(data, data.tasks["translation"].train) == lines
    joint = encoded(lines, bpe_operations=1, joint_bpe=True)
    assert pieces(joint.source) == {"a", "b", "b</w>", "c", "d", "d</w>", "cd</w>"}
    assert pieces(joint.tasks["translation"].target) == pieces(joint.source)


@pytest.mark.parametrize("joint", [True, False])
def test_letters_that_no_training_pair_has_are_unknown(encoded, joint):
    train, strange = ["a | b", "z | z"], ["z | z"]
    data = encoded(train, strange, strange, joint_bpe=joint, train_pairs=1)
    for task, each in data.tasks.items():
        assert [e.source[1:] for e in (*each.dev, *each.test)] == [[UNKNOWN]] * 2, task
    translation = data.tasks["translation"]
    assert [e.target for e in translation.test] == [[START, UNKNOWN, END]]


@pytest.mark.parametrize(
    ("cut", "kept"),
    [
        ({"longest_words": 2}, [0, 3, 4, 5]),
        ({"longest_pieces": 2}, [0, 5]),
        ({"train_pairs": 2}, [0, 1]),
        ({"train_pairs": 2, "longest_words": 2}, [0, 3]),
    ],
)
def test_training_pairs_are_cut_and_held_out_ones_stay(encoded, cut, kept):
    data = encoded(**cut)
    translation = data.tasks["translation"]
    assert lines_of(data, translation.train) == [LINES[i] for i in kept]
    assert lines_of(data, translation.dev) == lines_of(data, translation.test) == LINES


def test_held_out_pairs_are_cut_with_their_references(encoded):
    data = encoded(test_pairs=2)
    translation = data.tasks["translation"]
    assert len(translation.train) == len(LINES)
    for split in ("dev", "test"):
        assert lines_of(data, getattr(translation, split)) == LINES[:2]
        assert translation.references[split] == [("b",), ("b",)]
        assert translation.lines[split] == ["b", "b"]


def test_auxiliary_targets_are_cut_by_length_then_number_in_every_split(encoded):
    data = encoded(longest_auxiliary=2, auxiliary_train=4, auxiliary_dev=3)
    ner, short = data.tasks["ner"], [line for line in LINES if "b b b" not in line]
    sources = [
        [" ".join(data.source_words(e)) for e in examples]
        for examples in (ner.train, ner.dev, ner.test)
    ]
    wanted = [line.partition(" | ")[0] for line in short]
    assert sources == [wanted[:4], wanted[:3], wanted[:3]]


@pytest.mark.parametrize("least", [1, 2])
def test_auxiliary_tokens_that_training_has_once_are_known_by_choice(encoded, least):
    data = encoded(auxiliary=["a | O B", "a | O"], min_count=least)
    ner = data.tasks["ner"]
    target = [ner.target.tokens[number] for number in ner.train[0].target]
    assert target == ["<s>", "O", "B" if least == 1 else "<unk>", "</s>"]


def test_every_source_begins_with_its_own_tasks_tag():
    data = Encoded(small_settings())
    assert len(data.tasks) == 4
    for task, each in data.tasks.items():
        for examples in (each.train, each.dev, each.test):
            assert {data.source.tokens[e.source[0]] for e in examples} == {f"<{task}>"}
