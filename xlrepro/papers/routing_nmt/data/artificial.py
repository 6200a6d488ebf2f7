"""Translation and auxiliary tasks in artificial languages: no download, no word of a language."""

from functools import cache

from xlrepro.artificial import Family
from xlrepro.artificial.family import sentence_of
from xlrepro.artificial.semantics import graph
from xlrepro.artificial.tree import Realisation
from xlrepro.papers.routing_nmt.data.examples import Pair, Splits
from xlrepro.papers.routing_nmt.linearisers.artificial import constituents, meaning_graph
from xlrepro.papers.routing_nmt.linearisers.graphs import linearised_graph
from xlrepro.papers.routing_nmt.linearisers.trees import linearised_tree
from xlrepro.papers.routing_nmt.text.normalise import detokenised
from xlrepro.papers.routing_nmt.text.overlap import without_overlap

FAMILY_SEED = 7
# the order of the target's words imitates one of these: Vietnamese is SVO, Persian SOV
TARGETS = {"en-vi": "id", "en-fa": "hi"}
DRAWN = {"train": 600, "dev": 60, "test": 60}  # sentences of each task


@cache
def _family() -> Family:
    return Family(FAMILY_SEED)


def data_hash() -> str:
    """Return what names the languages."""
    return f"family {FAMILY_SEED}"


@cache
def translation(pair: str) -> Splits:
    """Return statements in two languages; training pairs never repeat a held-out sentence."""
    target = TARGETS[pair]
    drawn = {
        split: [
            (tuple(a.tokens), tuple(b.tokens))
            for a, b in zip(
                _family().corpus("en", number, split, kind="statements"),
                _family().corpus(target, number, split, kind="statements"),
            )
        ]
        for split, number in DRAWN.items()
    }
    held_out = drawn["dev"] + drawn["test"]
    train, overlapping, repeated = without_overlap(drawn["train"], held_out)
    counts = {"overlapping": overlapping, "repeated": repeated}
    lines = {split: [detokenised(list(b)) for _, b in drawn[split]] for split in ("dev", "test")}
    return Splits(train, drawn["dev"], drawn["test"], counts, lines)


@cache
def auxiliary(task: str) -> Splits:
    """Return sentences of their own with tags, linearised trees or linearised graphs."""
    splits = {
        split: [
            _pair(task, realisation)
            for realisation in _family().realisations(
                "en", number, f"{task} {split}", kind="statements"
            )
        ]
        for split, number in DRAWN.items()
    }
    return Splits(splits["train"], splits["dev"], splits["test"])


def _pair(task: str, realisation: Realisation) -> Pair:
    sentence = sentence_of(realisation)
    if task == "ner":
        return sentence.tokens, sentence.entities or ()
    if task == "syntax":
        return sentence.tokens, tuple(linearised_tree(constituents(sentence)))
    return sentence.tokens, tuple(linearised_graph(meaning_graph(graph(realisation.meaning))))
