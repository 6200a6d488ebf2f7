"""Corpora, trees and graphs as tokens, and what of a corpus is encoded with which merges."""

import pytest

from tests.papers.routing_nmt.small import settings_of
from xlrepro.artificial import Family, graph
from xlrepro.papers.routing_nmt import corpora, linearisers
from xlrepro.papers.routing_nmt.corpora import Splits, auxiliary, translation
from xlrepro.papers.routing_nmt.encoding import Encoded

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
    def encode(train=LINES, held_out=LINES, **changes):
        monkeypatch.setattr(corpora, "translation", lambda s: splits(train, held_out))
        more = {"bpe_operations": 0, **UNCUT, **changes}
        return Encoded(settings_of("smoke", "NMT", "en-vi", more))

    return encode


def source_words(data, example):
    return data._subwords[0].joined([data.source.tokens[n] for n in example.source[1:]])


def lines_of(data, examples):
    """Examples of translation as lines again."""
    pairs = [(source_words(data, e), data.words(e.target[1:-1])) for e in examples]
    return [f"{' '.join(source)} | {' '.join(target)}" for source, target in pairs]


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
        assert [target for _, target in getattr(translation.splits, split)] == [("b",), ("b",)]
        assert translation.splits.lines[split] == ["b", "b"]


def test_artificial_trees_have_every_word_and_graphs_every_edge():
    family = Family(3)
    for sentence in family.corpus("en", 30):
        tree = linearisers.constituents(sentence)
        assert tree.words() == sentence.tokens
        assert linearisers.linearised_tree(tree).count("XX") == len(sentence.tokens)
    for realisation in family.realisations("en", 30):
        triples = graph(realisation.meaning)
        tokens = linearisers.linearised_graph(linearisers.meaning_graph(triples), {})
        roles = [token for token in tokens if token.startswith(":")]
        assert len(roles) == sum(role != "instance" for _, role, _ in triples)


AUXILIARY = ("ner", "syntax", "semantics")


def bare(words):
    """Letters and digits of the words that have some, in small letters."""
    return tuple(word.lower() for word in words if any(c.isalnum() for c in word))


@pytest.mark.mirror
def test_no_held_out_sentence_is_on_its_side_of_the_training_pairs():
    splits = translation(settings_of("open", "NMT", "en-de-5k", {}))
    held_out = [*splits.dev, *splits.test]
    assert (len(splits.test), len(splits.train)) == (1000, 5000)
    for side in (0, 1):
        trained = {bare(each[side]) for each in splits.train}
        assert not trained & {bare(each[side]) for each in held_out}
    assert splits.counts["overlapping"] == 2  # they are left out (deviation T14)
    sources = {bare(source) for source, _ in held_out} - {()}
    for task in AUXILIARY:
        seen = [s for s, _ in auxiliary("open", task).train if bare(s) in sources]
        assert not seen, task  # whose tree or graph would be learned, not its translation


@pytest.mark.mirror
@pytest.mark.parametrize("task", AUXILIARY)
def test_no_held_out_sentence_of_an_auxiliary_task_is_trained_on(task):
    splits = auxiliary("open", task)
    trained = {bare(source) for source, _ in splits.train}
    assert not trained & {bare(source) for source, _ in (*splits.dev, *splits.test)}


ENGLISH = {
    "train": "The rain falls .\nThe sun shines .\nThe snow shines .\n",
    "dev": "the sun shines\n",
    "test": "The snow falls .\nThe rain shines .\n",
}
OTHER = {
    "train": "ra , fa .\nsu sha .\nno sha .\n",
    "dev": "su sha\n",
    "test": "no , fa .\nra sha .\n",
}
PTB = "( (S (NP-SBJ (DT The) (NN rain)) (VP (VBZ falls) (NP (-NONE- *))) (. .)) )\n"
AMR = "# ::id 1\n# ::snt The rain falls .\n(f / fall-01\n  :ARG1 (r / rain))\n\n"
ENTITIES = "-DOCSTART- -X- O O\n\nThe DT I-NP O\nrain NN I-NP I-PER\nfalls V I-VP O\n. . O O\n\n"
TARGETS = {
    "ner": "O B-PER O O",
    "syntax": "(S (NP XX XX )NP (VP XX )VP XX )S",
    "semantics": "( fall-01 :ARG1 rain )",
}


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Training has three auxiliary sentences of each task, development two, test one."""
    texts = {}
    for split, times in {"train": 3, "dev": 2, "test": 1}.items():
        for code in ("vi", "fa"):
            texts[f"routing-nmt/en-{code}/{split}.en"] = ENGLISH[split]
            texts[f"routing-nmt/en-{code}/{split}.{code}"] = OTHER[split]
        texts[f"routing-nmt/ptb/{split}.mrg"] = PTB * times
        texts[f"routing-nmt/amr-2.0/{split}.txt"] = AMR * times
        texts[f"conll-ner/en/{split}"] = ENTITIES * times
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    yield
    corpora.auxiliary.cache_clear()  # nothing is kept beyond the test
    corpora._supplied_translation.cache_clear()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("pair", "read"), [("en-vi", "no, fa."), ("en-fa", "no , fa .")])
def test_supplied_corpora_are_read_cut_and_tagged(pair, read):
    few = {"bpe_operations": 5, "min_count": 3}
    data = Encoded(settings_of("paper", "MTL (Full)", pair, few))
    translation = data.tasks["translation"]
    assert data.counts["translation"]["overlapping"] == 1
    assert translation.splits.lines["test"][0] == read
    assert data.words(translation.test[0].target[1:-1]) == ["no", ",", "fa", "."]
    for task, each in data.tasks.items():
        sizes = tuple(len(examples) for examples in (each.train, each.dev, each.test))
        assert sizes == ((2, 1, 2) if task == "translation" else (3, 2, 1))
        source = [data.source.tokens[each.train[0].source[0]], *source_words(data, each.train[0])]
        assert source == [f"<{task}>", "The", "rain", "falls", "."]
        if task != "translation":
            target = [each.target.tokens[number] for number in each.test[0].target[1:-1]]
            assert " ".join(target) == TARGETS[task]
