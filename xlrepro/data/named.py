"""Annotated corpora by the names that settings use: artificial, registered, or supplied."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xlrepro.artefacts import note_data
from xlrepro.data import loading, registry, supplied
from xlrepro.data.readers.columns import read_conll_ner, read_conllu
from xlrepro.data.readers.labelled import read_reviews
from xlrepro.data.registry import ARTIFICIAL, FAMILY_SEED
from xlrepro.data.sentences import Sentence
from xlrepro.errors import SettingsError

UTTERANCES = supplied.UTTERANCES
# English utterances, re-split from the evaluation and test files: 12,802 in all.
RESPLIT_SEED = 0
RESPLIT = {"train": slice(0, 10_000), "dev": slice(10_000, 11_400), "test": slice(11_400, None)}


@dataclass(frozen=True)
class Corpus:
    """Sentences of several languages in train, dev and test.

    Attributes:
        name: of the corpus.
        task: that it is read for: ``POS``, ``NER``, ``SF``.
    """

    name: str
    task: str

    def sentences(self, language: str, split: str, limit: int | None) -> list[Sentence]:
        """Return the first ``limit`` sentences of a split, all if it is None.

        Raises:
            DataError: if a file is missing or malformed.
        """
        if self.name == ARTIFICIAL:
            return self._artificial(language, split, limit)
        if self.name == "ud-release":  # a language's treebanks, one after the other
            files = map(registry.note_supplied, supplied.release_files(language, split))
            return [sentence for file in files for sentence in read_conllu(file)][:limit]
        if self.name == supplied.CONLL:
            return list(read_conll_ner(supplied.opened(f"{self.name}/{language}/{split}"))[:limit])
        if self.name == OFFICIAL and (language, split) == ("en", "train"):
            file = supplied.opened(f"{UTTERANCES}/train-en.conllu")
            return loading.read_sentences(UTTERANCES, file)[:limit]
        if self.name == UTTERANCES and language == "en":
            return _resplit_english()[RESPLIT[split]][:limit]
        registered = self.name.removesuffix("-official")
        return loading.load(registered, f"{language}/{split}")[:limit]

    def files(self, languages: Sequence[str], split: str = "test") -> list[tuple[str, str]]:
        """Return data set and file of a registered split, of some languages.

        Raises:
            SettingsError: if there is no such artificial language.
        """
        if self.name == ARTIFICIAL:
            from xlrepro.artificial import parameters

            for code in languages:
                parameters(code)
            return []
        registered = self.name.removesuffix("-official")
        of_user = ("ud-release", supplied.CONLL, supplied.REVIEWS)
        return [] if registered in of_user else [(registered, f"{c}/{split}") for c in languages]

    def _artificial(self, language: str, split: str, limit: int | None) -> list[Sentence]:
        from xlrepro.artificial import family_of

        assert limit is not None  # see `check_source`
        note_data(ARTIFICIAL, registry.artificial_hash())
        kind = "mixed" if self.task == "POS" else "requests"  # which have more names, and slots
        return family_of(FAMILY_SEED).corpus(language, limit, split=split, kind=kind)


def _resplit_english() -> list[Sentence]:
    """Return the English evaluation and test utterances in one fixed random order.

    The Facebook utterances' English training file is not open.
    """
    utterances = [s for part in ("dev", "test") for s in loading.load(UTTERANCES, f"en/{part}")]
    order = np.random.default_rng(RESPLIT_SEED).permutation(len(utterances))
    return [utterances[i] for i in order]


OFFICIAL = f"{UTTERANCES}-official"  # with the English training file that the user supplies
TWEETS = "sentiment-umsab"
SLOT_DOMAINS = ("alarm", "reminder", "weather")
DOMAINS = {UTTERANCES: SLOT_DOMAINS, OFFICIAL: SLOT_DOMAINS, TWEETS: ("tweets",)}
REAL_VECTORS = ("encoder", "distributional", supplied.ALIGNED)  # of no artificial language
CORPORA = {
    ARTIFICIAL: ("POS", "NER", "SF", "reviews"),
    "ud-r2.2": ("POS",), "ud-release": ("POS",),  # the official release of UD 2.2
    "panx-wikiann": ("NER",), supplied.CONLL: ("NER",), UTTERANCES: ("SF",), OFFICIAL: ("SF",),
    TWEETS: ("reviews",), supplied.REVIEWS: ("reviews",),
}  # fmt: skip


def corpus(name: str, task: str) -> Corpus:
    """Return a corpus by its name.

    Args:
        name: of the corpus.
        task: what it must be annotated for.

    Raises:
        SettingsError: if there is no such corpus for the task; names those that there are.
    """
    known = [each for each, tasks in CORPORA.items() if task in tasks]
    if name not in known:
        raise SettingsError(f"unknown corpus {name!r} for {task}; known: {', '.join(known)}")
    return Corpus(name, task)


def check_source(settings: Any, task: str) -> None:
    """Refuse what cannot be read: a corpus without an end, vectors that its languages lack.

    Args:
        settings: with ``corpus``, ``vectors`` and both limits.
        task: what the corpus must be annotated for.

    Raises:
        SettingsError: says what to set.
    """
    name, vectors = settings.corpus, settings.vectors
    corpus(name, task)
    if name == ARTIFICIAL and None in (settings.train_sentences, settings.test_sentences):
        raise SettingsError("artificial texts have no end: set train_sentences, test_sentences")
    lacking = REAL_VECTORS if name == ARTIFICIAL else supplied.UNSUPERVISED
    if vectors in lacking and name not in (supplied.CONLL, supplied.REVIEWS):
        raise SettingsError(f"{name} has no vectors {vectors!r}: use 'dictionary' or 'mapped'")


UMSAB_CLASSES = {"0": "negative", "1": "", "2": "positive"}  # the neutral ones have no class


def reviews(corpus: str, language: str, domain: str, split: str) -> list[tuple[str, str]]:
    """Return class and text of each review, the class empty where a tweet is neutral.

    Args:
        corpus: tweets, which have no domain, or what the user supplies.
        language: its code.
        domain: of supplied reviews.
        split: ``"train"``, ``"dev"`` or ``"test"``.

    Raises:
        DataError: if the file is missing or malformed.
    """
    if corpus == supplied.REVIEWS:
        return read_reviews(supplied.opened(supplied.review_file(language, domain, split)))
    rows = loading.load_rows(corpus, f"{language}/{split}")
    return [(UMSAB_CLASSES[label], line) for label, line in rows]
