"""Labelled sentences of Tables 3 to 5 by the names that settings use: open, artificial, supplied.

No text of a target language is read here before a head has been trained and chosen on English.
"""

import itertools
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from xlrepro.artificial.family import sentence_of
from xlrepro.artificial.meaning import Meaning
from xlrepro.artificial.ontology import load_ontology, seeded
from xlrepro.artificial.semantics import contradicted, sentiment, weakened
from xlrepro.artificial.tree import Realisation
from xlrepro.data import loading, registry
from xlrepro.data.readers import conll_ner
from xlrepro.data.readers.tsv import read_rows
from xlrepro.data.sentences import Sentence
from xlrepro.data.supplied import size
from xlrepro.errors import DataError
from xlrepro.papers.sense_alignment.pretraining import text
from xlrepro.papers.sense_alignment.settings import TransferSettings
from xlrepro.paths import supplied_dir
from xlrepro.vectors.open.tokenise import tokenise

NLI = ("contradiction", "entailment", "neutral")
POLARITY = ("negative", "positive")
UMSAB = {"0": POLARITY[0], "2": POLARITY[1]}  # 1 is neutral
DRAWN = 6  # artificial statements drawn per one that is wanted: most take no side
HELD_OUT = 0.2  # share of the premises of XNLI's dev set that heads are chosen on
SPLIT_SEED = 0


class Example(NamedTuple):
    """Words and their label, or a label per word; a pair has two lists of words."""

    texts: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]


def examples(
    task: str, settings: TransferSettings, language: str, split: str, domain: str = ""
) -> list[Example]:
    """Return the labelled examples of a split, cut to the settings' limit.

    Args:
        task: ``"ner"``, ``"sentiment"`` or ``"inference"``.
        settings: of the trial.
        language: its code.
        split: ``"train"``, ``"dev"`` or ``"test"``.
        domain: of reviews.

    Raises:
        DataError: if a file is missing or nothing is there.
    """
    limit = settings.train_sentences if split == "train" else settings.test_sentences
    if settings.corpus == "artificial":
        pairs = settings.source_model.text.ambiguous
        labelled = _artificial(task, pairs, language, split, domain, limit or 0)
    elif task == "ner":
        labelled = _entities(settings.corpus, language, split)
    elif task == "sentiment":
        labelled = _reviews(settings.corpus, language, split, domain)
    else:
        labelled = _inference(settings.corpus, language, split)
    if not labelled:
        raise DataError(f"{settings.corpus} {language}/{split} {domain} has nothing of {task}")
    return labelled[:limit]


# -- artificial languages


@lru_cache(maxsize=32)
def _artificial(
    task: str, pairs: int, language: str, split: str, domain: str, limit: int
) -> list[Example]:
    family = text.family(pairs)
    seed = zlib.crc32(f"{language} {domain}".encode())
    if task == "inference":
        return _artificial_pairs(pairs, language, split, limit)
    count = limit * DRAWN if task == "sentiment" else limit
    drawn = family.realisations(language, count, split, seed, "statements")
    if task == "ner":
        made = [sentence_of(r) for r in drawn]
        return [Example((s.tokens,), s.entities or ()) for s in made]
    sides = [(r, sentiment(r.meaning)) for r in drawn]
    return [Example((_words(r),), (POLARITY[side > 0],)) for r, side in sides if side]


def _artificial_pairs(pairs: int, language: str, split: str, limit: int) -> list[Example]:
    """Return statements with what follows from them, what contradicts them, and other ones."""
    family, ontology = text.family(pairs), load_ontology()
    random = seeded(text.FAMILY_SEED, "pairs", language, split)
    stream = family.meanings(split, zlib.crc32(language.encode()), "statements")
    premises: list[Meaning] = []
    hypotheses: list[Meaning] = []
    labels: list[str] = []
    for meaning, other in itertools.pairwise(stream):
        kinds = {
            "entailment": weakened(meaning, ontology, random),
            "contradiction": contradicted(meaning),
            "neutral": other,
        }
        label = NLI[len(labels) % len(NLI)]
        second = kinds[label]
        if second is not None:
            premises.append(meaning)
            hypotheses.append(second)
            labels.append(label)
        if len(labels) >= limit:
            break
    speaker = family.language(language)
    said = [[_words(r) for r in speaker.realise(m, random)] for m in (premises, hypotheses)]
    return [Example((p, h), (label,)) for p, h, label in zip(*said, labels, strict=True)]


def _words(realised: Realisation) -> tuple[str, ...]:
    return tuple(word.form for word in realised.words)


# -- registered corpora


def ner_file(corpus: str, language: str, split: str) -> str:
    """Return the file of a split; Chinese has labels for dev alone, which serves as its test."""
    if corpus == "panx-wikiann" and language == "zh":
        split = "dev"
    return f"{language}/{split}"


@lru_cache(maxsize=8)
def _entities(corpus: str, language: str, split: str) -> list[Example]:
    if corpus == conll_ner.NAME:
        (file,) = conll_ner.files([(language, split)])
        sentences: Sequence[Sentence] = conll_ner.read(file)
    else:
        sentences = loading.load(corpus, ner_file(corpus, language, split))
    return [Example((s.tokens,), s.entities or ()) for s in sentences]


@lru_cache(maxsize=16)
def _reviews(corpus: str, language: str, split: str, domain: str) -> list[Example]:
    if corpus == "sentiment-umsab":
        rows = loading.load_rows(corpus, f"{language}/{split}")
        kept = [(UMSAB[label], line) for label, line in rows if label in UMSAB]
    else:
        (path,) = _supplied([f"{corpus}/{language}/{domain}/{split}.tsv"], 2)
        kept = [(label, line) for label, line in read_rows(path, 2)]
    said = [(label, tuple(tokenise(line, language))) for label, line in kept]
    return [Example((words,), (label,)) for label, words in said if words]


@lru_cache(maxsize=8)
def _inference(corpus: str, language: str, split: str) -> list[Example]:
    rows: Sequence[Sequence[str]]
    if split == "test":
        rows = loading.load_rows("xnli", f"{language}/test")
    elif corpus == "xnli+sick":
        rows = _xnli_and_sick(split)
    else:
        (path,) = _supplied([f"{corpus}/{split}.tsv"], 3)
        rows = read_rows(path, 3)
    return [
        Example((tuple(tokenise(p, language)), tuple(tokenise(h, language))), (label,))
        for p, h, label in rows
        if p.strip() and h.strip()
    ]


def _xnli_and_sick(split: str) -> list[tuple[str, ...]]:
    """Return English pairs: four fifths of XNLI's dev premises and all of SICK, or the other fifth.

    A premise has three hypotheses; all of them are on one side.
    """
    rows = loading.load_rows("xnli", "en/dev")
    premises = sorted({row[0] for row in rows})
    random = np.random.default_rng(SPLIT_SEED)
    chosen = random.permutation(len(premises))[: round(HELD_OUT * len(premises))]
    held_out = {premises[i] for i in chosen}
    if split == "dev":
        return [row for row in rows if row[0] in held_out]
    pairs = [row for row in rows if row[0] not in held_out]
    for part in ("train", "trial", "test"):  # none of them is a test set here
        for _, premise, hypothesis, _, label in loading.load_rows("sick", part)[1:]:
            pairs.append((premise, hypothesis, label.strip().lower()))
    return pairs


def _supplied(names: Sequence[str], columns: int) -> list[Path]:
    """Return supplied files by their names below the folder of supplied files.

    Raises:
        DataError: naming all that are not there.
    """
    paths = [supplied_dir() / name for name in names]
    missing = [name for name, path in zip(names, paths, strict=True) if not path.is_file()]
    if missing:
        raise DataError(
            f"no {', '.join(missing)} below {supplied_dir()}: put the corpus there, {columns} "
            "columns, tabs between, or set XLREPRO_SUPPLIED to the folder above it"
        )
    return paths


def data_hashes(task: str, settings: TransferSettings) -> dict[str, str]:
    """Return what identifies all that a trial reads: corpora, seed dictionary, its models' text.

    Raises:
        DataError: naming supplied files of the corpus that are missing.
    """
    hashes = {}
    for model in (settings.source_model, settings.target_reader):
        hashes["text/" + "-".join(model.languages)] = text.text_hash(model)
    if settings.corpus == "artificial":
        return hashes | {"artificial": f"family {text.FAMILY_SEED}"}
    pairs = ("muse-full", f"{settings.source}-{settings.target}")  # W's, with any model
    for name, file in (pairs, *_files(task, settings)):
        hashes[f"{name}/{file}"] = registry.content_hash(name, file)
    for path in _supplied_files(settings):
        hashes[f"supplied/{path.relative_to(supplied_dir())}"] = size(path)
    return hashes


def _splits(settings: TransferSettings) -> list[tuple[str, str]]:
    return [(settings.source, "train"), (settings.source, "dev"), (settings.target, "test")]


def _files(task: str, settings: TransferSettings) -> list[tuple[str, str]]:
    """Return the registered files that a trial reads, each by its corpus and name."""
    corpus, splits = settings.corpus, _splits(settings)
    if corpus == "panx-wikiann":
        return [(corpus, ner_file(corpus, code, split)) for code, split in splits]
    if corpus == "sentiment-umsab":
        return [(corpus, f"{code}/{split}") for code, split in splits]
    if task == "inference":
        files = [("xnli", f"{settings.target}/test")]
        if corpus == "xnli+sick":
            files += [("xnli", "en/dev"), *(("sick", p) for p in ("train", "trial", "test"))]
        return files
    return []


def _supplied_files(settings: TransferSettings) -> list[Path]:
    """Return the supplied files that a trial reads besides its models' text."""
    corpus = settings.corpus
    if corpus == conll_ner.NAME:
        return conll_ner.files(_splits(settings))
    if corpus == "cls-acl10":
        parts = itertools.product(settings.domains, _splits(settings))
        return _supplied([f"{corpus}/{code}/{d}/{split}.tsv" for d, (code, split) in parts], 2)
    if corpus == "multinli":
        return _supplied([f"{corpus}/{split}.tsv" for split in ("train", "dev")], 3)
    return []
