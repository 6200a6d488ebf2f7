"""The open stand-ins: parallel text, WikiANN, the treebank sample, The Little Prince."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from xlrepro.data import loading, registry
from xlrepro.data.readers.penn_trees import Tree
from xlrepro.errors import SettingsError
from xlrepro.papers.routing_nmt.data.examples import Pair, Splits, splits_of
from xlrepro.papers.routing_nmt.linearisers import graphs, trees
from xlrepro.papers.routing_nmt.text.normalise import tokens
from xlrepro.papers.routing_nmt.text.overlap import without_overlap

# pair -> language; its training pairs are cut to so many after overlap is removed
PAIRS = {
    "en-vi": ("vi", None),
    "en-fa-small": ("fa", None),
    "en-de-5k": ("de", 5_000),
    "en-de-10k": ("de", 10_000),
}
# (data set, file) of everything read, by language of the pair and by auxiliary task
FILES: dict[str, tuple[tuple[str, str], ...]] = {
    "vi": (
        *(
            (name, f"{code}/{split}")
            for name in ("iwslt15-en-vi", "xnli")
            for split in ("dev", "test")
            for code in ("en", "vi")
        ),
        ("tatoeba", "eng-vie"),
        ("ramen-parallel", "en/train"),
        ("ramen-parallel", "vi/train"),
    ),
    "fa": (
        ("tatoeba", "eng-fas"),
        ("tico19", "eng-fas"),
        ("flores200", "devtest/eng"),
        ("flores200", "devtest/fas"),
    ),
    "de": tuple(
        ("multi30k", f"{code}/{split}")
        for split in ("train", "dev", "test")
        for code in ("en", "de")
    ),
    "ner": tuple(("panx-wikiann", f"en/{split}") for split in ("train", "dev", "test")),
    "syntax": (("ptb-nltk-sample", "en/all"),),
    "semantics": tuple(("amr-little-prince", f"en/{split}") for split in ("train", "dev", "test")),
}
TICO_DEV = 600  # the last pairs of TICO-19: no development set of Persian is in the mirror
TREE_SHARES = (0.8, 0.9)  # files of the treebank sample below these shares: train, then dev


def language_of(pair: str) -> str:
    """Return the target language of a pair.

    Raises:
        SettingsError: for an unknown pair.
    """
    if pair not in PAIRS:
        raise SettingsError(f"unknown pair {pair!r} of open text; known: {', '.join(PAIRS)}")
    return PAIRS[pair][0]


def data_hashes(pair: str, auxiliary_tasks: Iterable[str]) -> dict[str, str]:
    """Return the content hash of every file that a trial reads."""
    wanted = [
        *FILES[language_of(pair)],
        *(file for task in auxiliary_tasks for file in FILES[task]),
    ]
    return {f"{name}/{file}": registry.content_hash(name, file) for name, file in wanted}


@cache
def translation(pair: str) -> Splits:
    """Return the pairs of a language, training pairs without overlap and cut to the pair's size."""
    language, size = language_of(pair), PAIRS[pair][1]
    raw = {"vi": _vietnamese, "fa": _persian, "de": _german}[language]()
    splits = splits_of(raw, escaped=language == "vi")
    return replace(splits, train=splits.train[:size])


Lines = Iterable[tuple[str, str]]


def _aligned(name: str, source: str, target: str) -> Lines:
    return zip(loading.load_lines(name, source), loading.load_lines(name, target), strict=True)


def _german() -> dict[str, Lines]:
    return {s: _aligned("multi30k", f"en/{s}", f"de/{s}") for s in ("train", "dev", "test")}


def _vietnamese() -> dict[str, Lines]:
    held_out = {s: _aligned("iwslt15-en-vi", f"en/{s}", f"vi/{s}") for s in ("dev", "test")}
    inferences = [
        (english[column], vietnamese[column])
        for split in ("dev", "test")
        for english, vietnamese in zip(
            loading.load_rows("xnli", f"en/{split}"),
            loading.load_rows("xnli", f"vi/{split}"),
            strict=True,
        )
        for column in (0, 1)  # premise and hypothesis
    ]
    tatoeba = [(row[0], row[1]) for row in loading.load_rows("tatoeba", "eng-vie")]
    subtitles = list(_aligned("ramen-parallel", "en/train", "vi/train"))
    return {"train": [*inferences, *tatoeba, *subtitles], **held_out}


def _persian() -> dict[str, Lines]:
    tatoeba, tico = (
        [(row[0], row[1]) for row in loading.load_rows(name, "eng-fas")]
        for name in ("tatoeba", "tico19")
    )
    return {
        "train": [*tatoeba, *tico[:-TICO_DEV]],
        "dev": tico[-TICO_DEV:],
        "test": _aligned("flores200", "devtest/eng", "devtest/fas"),
    }


@cache
def auxiliary(task: str) -> Splits:
    """Return the sentences of an auxiliary task with their linearised targets."""
    drawn = {"ner": _entities, "syntax": _trees, "semantics": _graphs}[task]()
    # tags and trees of different sentences may be equal: only equal sources give away
    held_out = drawn["dev"] + drawn["test"]
    train, overlapping, repeated = without_overlap(drawn["train"], held_out, targets=False)
    counts = {"found": len(drawn["train"]), "overlapping": overlapping, "repeated": repeated}
    return Splits(train, drawn["dev"], drawn["test"], counts)


def _entities() -> dict[str, list[Pair]]:
    return {
        split: [
            (tuple(tokens_as_they_are(s.tokens)), s.entities or ())
            for s in loading.load("panx-wikiann", f"en/{split}")
        ]
        for split in ("train", "dev", "test")
    }


def tokens_as_they_are(words: Sequence[str]) -> list[str]:
    """Return one token per word, each normalised: tags keep one token each."""
    return ["".join(tokens(word)) or word for word in words]


def _trees() -> dict[str, list[Pair]]:
    files = loading.load_trees("ptb-nltk-sample", "en/all")
    names = sorted(files)
    ends = [round(share * len(names)) for share in TREE_SHARES]
    parts = {"train": names[: ends[0]], "dev": names[ends[0] : ends[1]], "test": names[ends[1] :]}
    return {
        split: [pair for name in chosen for tree in files[name] for pair in tree_pair(tree)]
        for split, chosen in parts.items()
    }


_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}


def tree_pair(tree: Tree) -> list[Pair]:
    """Return a tree's words and its linearisation; nothing for a tree of traces alone."""
    kept = trees.cleaned(tree)
    if kept is None:
        return []
    words = " ".join(_BRACKETS.get(word, word) for word in kept.words())
    return [(tuple(tokens(words)), tuple(trees.linearised_tree(kept)))]


def _graphs() -> dict[str, list[Pair]]:
    return {
        split: [
            (tuple(tokens(g.sentence)), tuple(graphs.linearised_graph(graphs.skeleton(g))))
            for g in loading.load_graphs("amr-little-prince", f"en/{split}")
        ]
        for split in ("train", "dev", "test")
    }
