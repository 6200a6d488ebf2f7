"""The corpora of translation and of the auxiliary tasks: artificial, open, or supplied by the user.

Supplied are the paper's own, most under licences, below the folder of supplied files
(``paths.supplied_dir``):

    routing-nmt/en-vi/{train,dev,test}.{en,vi}    IWSLT 2015 as Stanford has it (tst2012, tst2013)
    routing-nmt/en-fa/{train,dev,test}.{en,fa}    TED and LDC2016E93, normalised by Hazm
    routing-nmt/ptb/{train,dev,test}.mrg          sections 02-21, 22 and 23, each in one file
    routing-nmt/amr-2.0/{train,dev,test}.txt      LDC2017T10, each part in one file
    conll-ner/en/{train,dev,test}                 CoNLL-2003

The open proxies are German captions, WikiANN, the treebank sample, and The Little Prince.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from xlrepro.artificial import family_of, sentence_of
from xlrepro.artificial import graph as meaning_triples
from xlrepro.data import loading, registry, supplied
from xlrepro.data.readers.columns import read_conll_ner
from xlrepro.data.readers.text_files import read_text_lines
from xlrepro.data.readers.trees import Graph, Tree, read_graphs, read_tree_file, read_tree_zip
from xlrepro.data.sentences import Sentence
from xlrepro.papers.routing_nmt import linearisers
from xlrepro.papers.routing_nmt.settings import SPLITS, TranslationSettings
from xlrepro.papers.routing_nmt.text import Pair, detokenised, plain, tokens

FAMILY_SEED = 7
# the order of the target's words imitates one of these: Vietnamese is SVO, Persian SOV
ARTIFICIAL_TARGETS = {"en-vi": "id", "en-fa": "hi"}
DRAWN = {"train": 600, "dev": 60, "test": 60}  # artificial sentences of each task
OPEN_SIZE = 5_000  # training pairs, once overlap is removed
TREE_SHARES = (0.8, 0.9)  # files of the treebank sample below these shares: train, then dev


@dataclass(frozen=True)
class Splits:
    """Tokenised pairs of one task.

    Attributes:
        train, dev, test: pairs of source and target tokens, before BPE.
        counts: what was left out and what stayed, by name; numbers alone.
        lines: of ``dev`` and ``test`` of translation, each target as one reads it.
    """

    train: Sequence[Pair]
    dev: Sequence[Pair]
    test: Sequence[Pair]
    counts: dict[str, int] = field(default_factory=dict)
    lines: Mapping[str, Sequence[str]] = field(default_factory=dict)


def splits_of(raw: Mapping[str, Iterable[tuple[str, str]]], escaped: bool) -> Splits:
    """Return lines of translation as splits, training pairs without overlap.

    Args:
        raw: of ``train``, ``dev`` and ``test``, sources and targets as they are written.
        escaped: whether held-out lines are tokenised and escaped: their targets are put together
            to be read, others are kept as they are.
    """
    drawn: dict[str, list[Pair]] = {}
    lines: dict[str, list[str]] = {}
    empty: dict[str, int] = {}
    for split, written in raw.items():
        pairs = [(tuple(tokens(a)), tuple(tokens(b)), b) for a, b in written]
        kept = [each for each in pairs if each[0] and each[1]]
        empty[f"empty {split}"] = len(pairs) - len(kept)
        drawn[split] = [(source, target) for source, target, _ in kept]
        if split != "train":
            lines[split] = [detokenised(list(b)) if escaped else line for _, b, line in kept]
    splits = without_overlap(drawn, lines)
    return replace(splits, counts=splits.counts | empty)


def without_overlap(
    drawn: Mapping[str, Sequence[Pair]],
    lines: Mapping[str, Sequence[str]] | None = None,
    targets: bool = True,
) -> Splits:
    """Return splits whose training pairs share no side with a held-out pair, each pair once.

    Args:
        drawn: tokenised pairs of ``train``, ``dev`` and ``test``.
        lines: see :class:`Splits`.
        targets: whether a held-out target gives a pair away too, and not a source alone.

    Example:
        >>> pair, other = (("a",), ("b",)), (("a",), ("c",))
        >>> without_overlap({"train": [pair, pair], "dev": [], "test": [other]}).counts
        {'found': 2, 'overlapping': 2, 'repeated': 0}
    """
    held_out = [*drawn["dev"], *drawn["test"]]
    sources = {plain(source) for source, _ in held_out}
    outputs = {plain(target) for _, target in held_out} if targets else set()
    apart = [(a, b) for a, b in drawn["train"] if not (plain(a) in sources or plain(b) in outputs)]
    kept, found = list(dict.fromkeys(apart)), len(drawn["train"])
    counts = {"overlapping": found - len(apart), "repeated": len(apart) - len(kept)}
    return Splits(kept, drawn["dev"], drawn["test"], {"found": found, **counts}, lines or {})


def translation(settings: TranslationSettings) -> Splits:
    """Return the pairs of a trial's languages, training pairs without overlap."""
    read = {
        "artificial": _artificial_translation,
        "open": _open_translation,
        "supplied": _supplied_translation,
    }[settings.corpus]
    return read(settings.pair)


@cache
def auxiliary(corpus: str, task: str) -> Splits:
    """Return the sentences of an auxiliary task with their targets as tokens.

    Raises:
        DataError: for a malformed supplied file.
    """
    read = {
        "artificial": _artificial_auxiliary,
        "open": _open_auxiliary,
        "supplied": _supplied_auxiliary,
    }[corpus]
    drawn = {split: read(task, split) for split in SPLITS}
    if corpus != "open":
        return Splits(drawn["train"], drawn["dev"], drawn["test"])
    # tags and trees of different sentences may be equal: only equal sources give away
    return without_overlap(drawn, targets=False)


# ---- artificial


@cache
def _artificial_translation(pair: str) -> Splits:
    """Statements in two languages; training pairs never repeat a held-out sentence."""
    family, codes = family_of(FAMILY_SEED), ("en", ARTIFICIAL_TARGETS[pair])
    drawn: dict[str, list[Pair]] = {}
    for split, number in DRAWN.items():
        sides = (family.corpus(code, number, split, kind="statements") for code in codes)
        drawn[split] = [(a.tokens, b.tokens) for a, b in zip(*sides, strict=True)]
    lines = {split: [detokenised(list(b)) for _, b in drawn[split]] for split in ("dev", "test")}
    return without_overlap(drawn, lines)


def _artificial_auxiliary(task: str, split: str) -> list[Pair]:
    """Sentences of their own with tags, trees or graphs."""
    pairs = []
    for realisation in family_of(FAMILY_SEED).realisations(
        "en", DRAWN[split], f"{task} {split}", kind="statements"
    ):
        sentence = sentence_of(realisation)
        if task == "ner":
            target: Sequence[str] = sentence.entities or ()
        elif task == "syntax":
            target = linearisers.linearised_tree(linearisers.constituents(sentence))
        else:
            graph = linearisers.meaning_graph(meaning_triples(realisation.meaning))
            target = linearisers.linearised_graph(graph, {})
        pairs.append((sentence.tokens, tuple(target)))
    return pairs


# ---- open


@cache
def _open_translation(_: str) -> Splits:
    raw: dict[str, Iterable[tuple[str, str]]] = {}
    for split in SPLITS:
        files = (registry.fetch("multi30k", f"{code}/{split}") for code in ("en", "de"))
        raw[split] = zip(*map(read_text_lines, files), strict=True)
    splits = splits_of(raw, escaped=False)
    return replace(splits, train=splits.train[:OPEN_SIZE])


def _open_auxiliary(task: str, split: str) -> list[Pair]:
    if task == "ner":
        return _tagged(loading.load("panx-wikiann", f"en/{split}"))
    if task == "semantics":
        return _graph_pairs(read_graphs(registry.fetch("amr-little-prince", f"en/{split}")))
    files = _treebank()
    names = sorted(files)
    ends = [0, *(round(share * len(names)) for share in TREE_SHARES), len(names)]
    place = SPLITS.index(split)
    chosen = names[ends[place] : ends[place + 1]]
    return [pair for name in chosen for tree in files[name] for pair in tree_pair(tree)]


@cache
def _treebank() -> dict[str, list[Tree]]:
    return read_tree_zip(registry.fetch("ptb-nltk-sample", "en/all"))


def _tagged(sentences: Iterable[Sentence]) -> list[Pair]:
    """One normalised token per word: tags keep one token each."""
    one = cache(lambda word: "".join(tokens(word)) or word)  # most words come more than once
    return [(tuple(map(one, s.tokens)), s.entities or ()) for s in sentences]


_TREEBANK = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}


def tree_pair(tree: Tree) -> list[Pair]:
    r"""Return a tree's words and its tokens; nothing for a tree of traces alone.

    What the treebank's notation adds to words is undone: brackets and quotation marks by name, and
    backslashes before ``/`` and ``*``.

    Example:
        >>> tree_pair(Tree("NP", (Tree("CD", (), r"3\/4"),)))
        [(('3', '/', '4'), ('(NP', 'XX', ')NP'))]
    """
    kept = linearisers.cleaned(tree)
    if kept is None:
        return []
    plain = (_TREEBANK.get(w, w.replace("\\/", "/").replace("\\*", "*")) for w in kept.words())
    return [(tuple(tokens(" ".join(plain))), tuple(linearisers.linearised_tree(kept)))]


def _graph_pairs(found: Iterable[Graph]) -> list[Pair]:
    written = ((g.sentence, linearisers.linearised_graph(g.root, g.concepts())) for g in found)
    return [(tuple(tokens(sentence)), tuple(target)) for sentence, target in written]


# ---- supplied


def _supplied(name: str) -> Path:
    return supplied.opened(f"routing-nmt/{name}")


@cache
def _supplied_translation(pair: str) -> Splits:
    source, target = pair.split("-")
    raw: dict[str, Iterable[tuple[str, str]]] = {}
    for split in SPLITS:
        files = (_supplied(f"{pair}/{split}.{code}") for code in (source, target))
        raw[split] = zip(*map(read_text_lines, files), strict=True)
    return splits_of(raw, escaped=target == "vi")


def _supplied_auxiliary(task: str, split: str) -> list[Pair]:
    if task == "ner":
        return _tagged(read_conll_ner(supplied.opened(f"{supplied.CONLL}/en/{split}")))
    if task == "syntax":
        trees = read_tree_file(_supplied(f"ptb/{split}.mrg"))
        return [pair for tree in trees for pair in tree_pair(tree)]
    return _graph_pairs(read_graphs(_supplied(f"amr-2.0/{split}.txt")))
