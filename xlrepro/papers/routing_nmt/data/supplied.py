"""The paper's own corpora, which the user supplies; most are under licences.

Below the folder of supplied files (``paths.supplied_dir``):

    routing-nmt/en-vi/{train,dev,test}.{en,vi}    IWSLT 2015 as Stanford has it (tst2012, tst2013)
    routing-nmt/en-fa/{train,dev,test}.{en,fa}    TED and LDC2016E93, normalised by Hazm
    routing-nmt/ptb/{train,dev,test}.mrg          sections 02-21, 22 and 23, each in one file
    routing-nmt/amr-2.0/{train,dev,test}.txt      LDC2017T10, each part in one file
    conll-ner/en/{train,dev,test}                 see ``conll_ner``
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from xlrepro.data.readers import conll_ner
from xlrepro.data.readers.penman import read_graphs
from xlrepro.data.readers.penn_trees import read_trees
from xlrepro.data.readers.text_files import read_text_lines
from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.routing_nmt.data.examples import Pair, Splits, splits_of
from xlrepro.papers.routing_nmt.data.open_text import tokens_as_they_are, tree_pair
from xlrepro.papers.routing_nmt.linearisers import graphs
from xlrepro.papers.routing_nmt.text.normalise import tokens
from xlrepro.paths import supplied_dir

NAME = "routing-nmt"
PAIRS = ("en-vi", "en-fa")
SPLITS = ("train", "dev", "test")


def files(pair: str, auxiliary_tasks: Iterable[str]) -> dict[str, Path]:
    """Return every supplied file that a trial reads, by name.

    Raises:
        DataError: naming all that are not there.
        SettingsError: for an unknown pair.
    """
    if pair not in PAIRS:
        raise SettingsError(f"unknown pair {pair!r} of supplied text; known: {', '.join(PAIRS)}")
    root = supplied_dir() / NAME
    ends = {"syntax": ("ptb", "mrg"), "semantics": ("amr-2.0", "txt")}
    wanted = [f"{pair}/{split}.{code}" for split in SPLITS for code in pair.split("-")]
    wanted += [
        f"{ends[task][0]}/{split}.{ends[task][1]}"
        for task in auxiliary_tasks
        if task in ends
        for split in SPLITS
    ]
    paths = {name: root / name for name in wanted}
    missing = [name for name, path in paths.items() if not path.is_file()]
    if missing:
        raise DataError(
            f"no {', '.join(missing)} below {root}: put the paper's corpora there, or set "
            f"XLREPRO_SUPPLIED to the folder above {NAME}/"
        )
    if "ner" in auxiliary_tasks:
        entity_files = conll_ner.files([("en", split) for split in SPLITS])
        paths |= {f"conll-ner/en/{s}": path for s, path in zip(SPLITS, entity_files, strict=True)}
    return paths


def data_hashes(pair: str, auxiliary_tasks: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of every file that a trial reads; errors as `files`."""
    return {
        f"supplied/{name}": hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files(pair, auxiliary_tasks).items()
    }


@cache
def translation(pair: str) -> Splits:
    """Return the pairs of two languages, training pairs without overlap; errors as `files`."""
    paths, (source, target) = files(pair, ()), pair.split("-")
    raw: dict[str, Iterable[tuple[str, str]]] = {}
    for split in SPLITS:
        lines = [read_text_lines(paths[f"{pair}/{split}.{code}"]) for code in (source, target)]
        if len(lines[0]) != len(lines[1]):
            raise DataError(
                f"{pair}/{split} has {len(lines[0])} lines of {source} and {len(lines[1])} of "
                f"{target}: the two files must match line by line"
            )
        raw[split] = zip(*lines)
    return splits_of(raw, escaped=target == "vi")


@cache
def auxiliary(task: str) -> Splits:
    """Return the sentences of an auxiliary task with their linearised targets.

    Raises:
        DataError: naming the files that are not there, or for a malformed one.
    """
    root = supplied_dir() / NAME
    drawn: dict[str, list[Pair]] = {}
    for split in SPLITS:
        if task == "ner":
            (file,) = conll_ner.files([("en", split)])
            drawn[split] = [
                (tuple(tokens_as_they_are(s.tokens)), s.entities or ())
                for s in conll_ner.read(file)
            ]
        elif task == "syntax":
            path = root / "ptb" / f"{split}.mrg"
            text = "\n".join(read_text_lines(path))
            drawn[split] = [p for tree in read_trees(text, str(path)) for p in tree_pair(tree)]
        else:
            drawn[split] = [
                (tuple(tokens(g.sentence)), tuple(graphs.linearised_graph(graphs.skeleton(g))))
                for g in read_graphs(root / "amr-2.0" / f"{split}.txt")
            ]
    return Splits(drawn["train"], drawn["dev"], drawn["test"])
