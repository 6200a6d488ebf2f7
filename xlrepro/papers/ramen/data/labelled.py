"""Labelled data: pairs of sentences with entailment, and dependency trees."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from xlrepro.data import registry
from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError
from xlrepro.papers.ramen.data.texts import FAMILY_SEED, SOURCE, SUPPLIED, family

LABELS = ("entailment", "neutral", "contradiction")
DEV_SHARE = 5  # of XNLI's English dev set, one premise in five selects


@dataclass(frozen=True)
class Pair:
    """A premise and a hypothesis as words, and the number of the label."""

    premise: tuple[str, ...]
    hypothesis: tuple[str, ...]
    label: int


@lru_cache(maxsize=32)
def inference(corpus: str, language: str, split: str, limit: int | None) -> tuple[Pair, ...]:
    """Return pairs of a split.

    English ``train`` is SICK and four fifths of XNLI's dev set at ``open``, where MultiNLI cannot
    be had; ``dev`` is the rest of it, no premise in both. ``test`` is XNLI's.

    Args:
        corpus: ``"artificial"`` or ``"open"``.
        language: its code.
        split: ``"train"``, ``"dev"`` or ``"test"``.
        limit: so many at most.

    Raises:
        DataError: if a file cannot be had, or a language has no such split.
    """
    if corpus == "artificial":
        return tuple(_artificial(language, split, limit or 1000))
    if corpus == SUPPLIED:
        return tuple(_supplied_inference(language, split)[:limit])
    if split == "test":
        pairs = _xnli(language, "test")
    elif language == SOURCE:
        rows = _xnli(SOURCE, "dev")
        chosen = set(sorted({pair.premise for pair in rows})[::DEV_SHARE])
        pairs = [pair for pair in rows if (pair.premise in chosen) == (split == "dev")]
        if split == "train":
            pairs += _sick()
            random.Random(0).shuffle(pairs)
    else:
        raise DataError(f"inference has no {split} data in {language}: train on English")
    return tuple(pairs[:limit])


def _xnli(language: str, split: str, cased: bool = False) -> list[Pair]:
    from xlrepro.data.loading import load_rows

    rows = load_rows("xnli", f"{language}/{split}", progress=False)
    return [_pair((one, two, label), language, cased) for one, two, label in rows]


def _pair(row: tuple[str, str, str], language: str, cased: bool) -> Pair:
    premise, hypothesis = (split_words(text, language, cased) for text in row[:2])
    return Pair(premise, hypothesis, LABELS.index(row[2]))


def _supplied_inference(language: str, split: str) -> list[Pair]:
    """Return MultiNLI's training set, or XNLI's dev and test sets; case is kept."""
    from xlrepro.papers.ramen.data import supplied_data

    if split == "train" and language == SOURCE:
        return [_pair(row, SOURCE, cased=True) for row in supplied_data.multinli()]
    return _xnli(language, split, cased=True)


def _sick() -> list[Pair]:
    from xlrepro.data.loading import load_rows

    rows = [row for part in ("train", "trial") for row in load_rows("sick", part, False)[1:]]
    return [
        Pair(split_words(one, SOURCE), split_words(two, SOURCE), LABELS.index(label.lower()))
        for _, one, two, _, label in rows
    ]


def split_words(text: str, language: str, cased: bool = False) -> tuple[str, ...]:
    """Return the words of a text, in small letters if not ``cased``, as the unlabelled text is."""
    from xlrepro.pretraining.text import plain_word
    from xlrepro.vectors.open.tokenise import tokenise

    words = (plain_word(word, language) for word in tokenise(text, language))
    return tuple(word if cased else word.lower() for word in words if word)


def _artificial(language: str, split: str, n: int) -> list[Pair]:
    """Pairs that entail, contradict, or do neither by construction; alike in all languages."""
    from xlrepro.artificial.ontology import load_ontology, seeded
    from xlrepro.artificial.semantics import contradicted, weakened

    draw = seeded(FAMILY_SEED, "inference", split)
    meanings = []
    labels: list[int] = []
    for meaning in family().meanings(f"inference {split}", 0, "statements"):
        if len(labels) >= n:
            break
        label = len(labels) % len(LABELS)
        other = contradicted(meaning) if label == 2 else weakened(meaning, load_ontology(), draw)
        if other is None:
            continue
        meanings += [other, meaning] if label == 1 else [meaning, other]
        labels.append(label)
    realised = family().language(language).realise(meanings, seeded(FAMILY_SEED, language, split))
    said = [tuple(word.form for word in r.words) for r in realised]
    return [Pair(said[2 * i], said[2 * i + 1], label) for i, label in enumerate(labels)]


# Where a language's trees lie in the registry. Arabic and Hindi have a test set alone (PUD).
TEST = {"en": "en/test", "fr": "fr/test", "ru": "ru/test", "ar": "ar/test", "hi": "hi/test"} | {
    "vi": "vi/test",
    "zh": "zh/test",
}
SUPERVISED = {
    "fr": ("fr-sequoia/train", "fr-sequoia/dev", "fr-sequoia/test"),
    "ru": ("ru-taiga/train", "ru-taiga/dev", "ru-taiga/test"),
    "vi": ("vi/train", "vi/dev", "vi/test"),
    "zh": ("zh/dev", "zh/dev", "zh/test"),  # dev is train: the train set cannot be had
    "ar": ("ar/test", "ar/test", "ar/test"),  # there is one file: see _share
    "hi": ("hi/test", "hi/test", "hi/test"),
}
# Arabic and Hindi PUD are 1,000 sentences for testing: of ten blocks of ten in turn so many train,
# one selects, the rest tests.
BLOCK, TRAINS = 10, 6
SPLITS = ("train", "dev", "test")


def tree_file(language: str, split: str, supervised: bool) -> str:
    """Return the registered file of a split.

    Raises:
        DataError: if there is none.
    """
    if supervised:
        if language not in SUPERVISED:
            raise DataError(f"there are no trees to train on in {language} at open")
        return SUPERVISED[language][SPLITS.index(split)]
    return TEST[language] if split == "test" else f"{language}/{split}"


@lru_cache(maxsize=32)
def trees(
    corpus: str, language: str, split: str, limit: int | None, supervised: bool = False
) -> tuple[Sentence, ...]:
    """Return sentences with heads and relations.

    Args:
        corpus: ``"artificial"`` or ``"open"``.
        language: its code.
        split: ``"train"``, ``"dev"`` or ``"test"``.
        limit: so many at most.
        supervised: of the treebank whose training data Table 4 uses.

    Raises:
        DataError: if the file cannot be had, or there is none.
    """
    if corpus == "artificial":
        return tuple(family().corpus(language, limit or 500, f"trees {split}"))
    if corpus == SUPPLIED:
        from xlrepro.papers.ramen.data import supplied_data

        return tuple(supplied_data.trees(language, split)[:limit])
    from xlrepro.data.loading import load

    sentences = load("ud-r2.2", tree_file(language, split, supervised), progress=False)
    if supervised and language == "zh" and split != "test":
        cut = len(sentences) // 10  # one sentence in ten of the dev set selects
        sentences = sentences[:cut] if split == "dev" else sentences[cut:]
    if supervised and language in ("ar", "hi"):
        sentences = [s for i, s in enumerate(sentences) if _share(i) == split]
    return tuple(sentences[:limit])


def _share(sentence: int) -> str:
    """Return the split that a sentence of a treebank without splits is in."""
    block = sentence // BLOCK % BLOCK
    return "train" if block < TRAINS else "dev" if block == TRAINS else "test"


def tokens(sentence: Sentence, language: str, corpus: str) -> tuple[str, ...]:
    """Return a tree's words as the unlabelled text has them; an empty one stays as it is."""
    from xlrepro.pretraining.text import plain_word

    plain = [plain_word(word, language) for word in sentence.tokens]
    if corpus != SUPPLIED:
        plain = [word.lower() for word in plain]
    return tuple(form or word for form, word in zip(plain, sentence.tokens, strict=True))


def hashes(corpus: str, task: str, targets: Sequence[str]) -> dict[str, str]:
    """Return what identifies the labelled data of a trial."""
    if corpus == "artificial":
        return {"artificial": f"family {FAMILY_SEED}"}
    if corpus == SUPPLIED:
        return _supplied_hashes(task, targets)
    if task == "XNLI":
        names = [("sick", "train"), ("sick", "trial"), ("xnli", "en/dev")]
        names += [("xnli", f"{code}/test") for code in (SOURCE, *targets)]
    elif task == "UD":
        names = [("ud-r2.2", f"en/{part}") for part in ("train", "dev")]
        names += [("ud-r2.2", TEST[code]) for code in (SOURCE, *targets)]
    else:
        names = [("ud-r2.2", tree_file(code, s, True)) for code in targets for s in SPLITS]
    return {f"{name}/{file}": registry.content_hash(name, file) for name, file in names}


def _supplied_hashes(task: str, targets: Sequence[str]) -> dict[str, str]:
    """Return what identifies labelled data of which some are supplied: these by size."""
    from xlrepro.papers.ramen.data import supplied_data

    if task == "XNLI":
        names = ["en/dev", *(f"{code}/test" for code in (SOURCE, *targets))]
        return {f"xnli/{name}": registry.content_hash("xnli", name) for name in names} | {
            supplied_data.INFERENCE: supplied_data.size(supplied_data.INFERENCE)
        }
    parts = [(code, split) for code in targets for split in SPLITS]
    if task == "UD":
        parts = [(SOURCE, split) for split in SPLITS] + [(code, "test") for code in targets]
    paths = [supplied_data.trees_path(*part) for part in parts]
    return {path: supplied_data.size(path) for path in paths}
