"""Labelled text of Tables 2 to 5: words with senses, entities, reviews, pairs of sentences.

Each open, artificial or supplied, by the names that settings use. No text of a target language is
read here before a head has been trained and chosen on English.
"""

import itertools
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from xlrepro import artificial
from xlrepro.data import loading, named, registry, supplied
from xlrepro.data.readers.columns import SenseSentence, read_conll_ner, read_senses
from xlrepro.data.readers.labelled import read_pairs
from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError
from xlrepro.papers.sense_alignment import text
from xlrepro.papers.sense_alignment.settings import (
    CHINESE,
    MULTINLI,
    SOURCE,
    TEST_SETS,
    DisambiguationSettings,
    TransferSettings,
)
from xlrepro.vectors.open.tokenise import tokenise

# -- words with senses (Table 2)

SEMCOR = ("en/brown1", "en/brown2", "en/brownv")
ANNOTATED = ("nouns", "verbs", "adjectives")  # of an artificial language


def sense_training(settings: DisambiguationSettings, pairs: int) -> list[SenseSentence]:
    """Return the annotated training text.

    Args:
        settings: of the trial.
        pairs: of artificial languages: pairs of concepts that share a word.

    Raises:
        DataError: if a file is missing.
    """
    if settings.corpus == "artificial":
        return _artificial_senses(pairs, settings.train_sentences or 0, "semcor")
    paths = [registry.fetch("wsd-naf", file) for file in SEMCOR]
    return [s for path in paths for s in read_senses(path, "naf")][: settings.train_sentences]


def sense_test(
    settings: DisambiguationSettings, pairs: int, name: str
) -> tuple[list[SenseSentence], int]:
    """Return a test set and how many instances it has officially.

    Raises:
        DataError: if its file is missing.
    """
    if settings.corpus == "artificial":
        sentences = _artificial_senses(pairs, settings.test_sentences or 0, name)
    else:
        dataset, file, layout, total = TEST_SETS[name]
        sentences = read_senses(registry.fetch(dataset, file), layout)
        if settings.test_sentences is None:
            return sentences, total
        sentences = sentences[: settings.test_sentences]
    return sentences, sum(bool(keys) for s in sentences for keys in s.senses)


@lru_cache(maxsize=2)
def inventory(corpus: str, pairs: int) -> Mapping[str, Sequence[str]]:
    """Return the senses of each lemma, the most usual first."""
    senses: dict[str, list[str]] = {}
    if corpus == "artificial":
        stems = text.family(pairs).language(SOURCE).stems
        concepts = artificial.load_ontology().concepts.values()
        for concept in sorted(concepts, key=lambda c: (c.rank, c.key)):
            stem = stems[concept.key]
            senses.setdefault(stem, []).append(f"{stem}%{concept.key}")
        return senses
    for lemma, _, sense, _ in loading.load_rows("oewn-senses", "en/senses"):
        senses.setdefault(lemma.lower().replace(" ", "_"), []).append(sense)
    return senses


@lru_cache(maxsize=16)
def _artificial_senses(pairs: int, sentences: int, split: str) -> list[SenseSentence]:
    """Return sentences of the artificial English, every content word with its concept as sense."""
    family = text.family(pairs)
    concepts, stems = artificial.load_ontology().concepts, family.language(SOURCE).stems
    made = []
    for realised in family.realisations(SOURCE, sentences, f"senses {split}"):
        words = realised.words
        keys = [word.sense if word.sense in concepts else None for word in words]
        annotated = [k if k and concepts[k].group in ANNOTATED else None for k in keys]
        made.append(
            SenseSentence(
                tokens=realised.forms,
                lemmas=tuple(stems[k] if k else w.form for k, w in zip(keys, words)),
                tags=tuple(word.upos for word in words),
                senses=tuple((f"{stems[k]}%{k}",) if k else () for k in annotated),
            )
        )
    return made


# -- entities, reviews, pairs (Tables 3 to 5)

NLI = ("contradiction", "entailment", "neutral")
POLARITY = ("negative", "positive")
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
        task: ``"entities"``, ``"sentiment"`` or ``"inference"``.
        settings: of the trial.
        language: its code.
        split: ``"train"``, ``"dev"`` or ``"test"``.
        domain: of reviews.

    Raises:
        DataError: if a file is missing or malformed, has an unknown label, or nothing is there.
    """
    limit = settings.train_sentences if split == "train" else settings.test_sentences
    if settings.corpus == "artificial":
        pairs = settings.model.text.ambiguous
        labelled = _artificial(task, pairs, language, split, domain, limit or 0)
    elif task == "entities":
        labelled = _entities(settings.corpus, language, split)
    elif task == "sentiment":
        labelled = _reviews(settings.corpus, language, split, domain)
    else:
        labelled = _inference(settings.corpus, language, split)
    if not labelled:
        raise DataError(f"{settings.corpus} {language}/{split} {domain} has nothing of {task}")
    return labelled[:limit]


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
    if task == "entities":
        made = [artificial.sentence_of(r) for r in drawn]
        return [Example((s.tokens,), s.entities or ()) for s in made]
    sides = [(r, artificial.sentiment(r.meaning)) for r in drawn]
    return [Example((r.forms,), (POLARITY[side > 0],)) for r, side in sides if side]


def _artificial_pairs(pairs: int, language: str, split: str, limit: int) -> list[Example]:
    """Return statements with what follows from them, what contradicts them, and other ones."""
    family, ontology = text.family(pairs), artificial.load_ontology()
    random = artificial.seeded(text.FAMILY_SEED, "pairs", language, split)
    stream = family.meanings(split, zlib.crc32(language.encode()), "statements")
    premises: list[artificial.Meaning] = []
    hypotheses: list[artificial.Meaning] = []
    labels: list[str] = []
    for meaning, other in itertools.pairwise(stream):
        kinds = {
            "entailment": artificial.weakened(meaning, ontology, random),
            "contradiction": artificial.contradicted(meaning),
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
    said = [[r.forms for r in speaker.realise(m, random)] for m in (premises, hypotheses)]
    return [Example((p, h), (label,)) for p, h, label in zip(*said, labels, strict=True)]


@lru_cache(maxsize=8)
def _entities(corpus: str, language: str, split: str) -> list[Example]:
    if corpus == supplied.CONLL:
        file = supplied.opened(f"{corpus}/{language}/{split}")
        sentences: Sequence[Sentence] = read_conll_ner(file)
    else:
        split = "dev" if (corpus, language) == CHINESE else split
        sentences = loading.load(corpus, f"{language}/{split}")
    return [Example((s.tokens,), s.entities or ()) for s in sentences]


@lru_cache(maxsize=16)
def _reviews(corpus: str, language: str, split: str, domain: str) -> list[Example]:
    rows = named.reviews(corpus, language, domain, split)
    return _with_words(language, (((line,), label) for label, line in rows if label))


@lru_cache(maxsize=8)
def _inference(corpus: str, language: str, split: str) -> list[Example]:
    rows: Sequence[Sequence[str]]
    if split == "test":
        rows = loading.load_rows("xnli", f"{language}/test")
    elif corpus == "xnli+sick":
        rows = _xnli_and_sick(split)
    else:
        rows = read_pairs(supplied.opened(MULTINLI[split]))
    return _with_words(language, ((texts, label) for *texts, label in rows))


def _with_words(language: str, rows: Iterable[tuple[Sequence[str], str]]) -> list[Example]:
    """Return labelled texts as words; those without any word are left out."""
    split = ((tuple(tuple(tokenise(t, language)) for t in texts), label) for texts, label in rows)
    return [Example(texts, (label,)) for texts, label in split if all(texts)]


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
