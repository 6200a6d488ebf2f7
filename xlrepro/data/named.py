"""Annotated corpora by the names that settings use: artificial, registered, or supplied.

A corpus reads a language's split and names what it reads by content, whatever its kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, Protocol

import numpy as np

from xlrepro.data import loading, registry, supplied
from xlrepro.data.readers import conll_ner
from xlrepro.data.readers.conllu import read_conllu
from xlrepro.data.sentences import Sentence
from xlrepro.errors import SettingsError

ARTIFICIAL = "artificial"
UTTERANCES = supplied.UTTERANCES
FAMILY_SEED = 0
# English utterances, re-split from the evaluation and test files: 12,802 in all.
RESPLIT_SEED = 0
RESPLIT = {"train": slice(0, 10_000), "dev": slice(10_000, 11_400), "test": slice(11_400, None)}

Part = tuple[str, str]  # language and split
Kind = Literal["mixed", "statements", "requests"]  # of artificial sentences


class Corpus(Protocol):
    """Sentences of several languages in train, dev and test."""

    @property
    def tasks(self) -> Sequence[str]:
        """Return the tasks that it is annotated for: ``POS``, ``NER``, ``SF``."""
        ...

    def sentences(self, language: str, split: str, limit: int | None) -> list[Sentence]:
        """Return the first ``limit`` sentences of a split, all if it is None.

        Raises:
            DataError: if a file is missing or malformed.
        """
        ...

    def hashes(self, parts: Sequence[Part]) -> dict[str, str]:
        """Return the name and the content hash of every file that these splits are read from.

        Raises:
            DataError: naming the supplied files that are missing.
        """
        ...


@dataclass(frozen=True)
class Artificial:
    """The artificial languages; ``requests`` have intents."""

    kind: Kind = "mixed"
    tasks: ClassVar = ("POS", "NER", "SF")

    def sentences(self, language: str, split: str, limit: int | None) -> list[Sentence]:
        """Return ``limit`` sentences."""
        if limit is None:
            raise SettingsError(
                "artificial corpora have no end: set train_sentences and test_sentences"
            )
        from xlrepro.artificial import family_of

        return family_of(FAMILY_SEED).corpus(language, limit, split=split, kind=self.kind)

    def hashes(self, parts: Sequence[Part]) -> dict[str, str]:
        """Return the family: it decides all."""
        return {ARTIFICIAL: f"family {FAMILY_SEED}"}


@dataclass(frozen=True)
class Registered:
    """A corpus of the registry, its files named ``language/split``."""

    name: str
    tasks: tuple[str, ...]

    def sentences(self, language: str, split: str, limit: int | None) -> list[Sentence]:
        """Return the first sentences of a registered file."""
        return loading.load(self.name, f"{language}/{split}")[:limit]

    def hashes(self, parts: Sequence[Part]) -> dict[str, str]:
        """Return the hashes that the registry has."""
        files = [f"{language}/{split}" for language, split in parts]
        return {f"{self.name}/{file}": registry.content_hash(self.name, file) for file in files}


class ReSplit(Registered):
    """The Facebook utterances without their English training file, which is not open."""

    def sentences(self, language: str, split: str, limit: int | None) -> list[Sentence]:
        """Return the first sentences; English ones of a re-split of two files."""
        if language == "en":
            return _resplit_english()[RESPLIT[split]][:limit]
        return super().sentences(language, split, limit)

    def hashes(self, parts: Sequence[Part]) -> dict[str, str]:
        """Return the hashes; every English split is read from the same two files."""
        english = [("en", "dev"), ("en", "test")]
        others = [part for part in parts if part[0] != "en"]
        return super().hashes([*(english if len(others) < len(parts) else []), *others])


@lru_cache(maxsize=1)
def _resplit_english() -> list[Sentence]:
    """Return the English evaluation and test utterances in one fixed random order."""
    utterances = [s for part in ("dev", "test") for s in loading.load(UTTERANCES, f"en/{part}")]
    order = np.random.default_rng(RESPLIT_SEED).permutation(len(utterances))
    return [utterances[i] for i in order]


class OfficialUtterances(Registered):
    """The Facebook utterances with the English training file that the user supplies."""

    def sentences(self, language: str, split: str, limit: int | None) -> list[Sentence]:
        """Return the first sentences of the supplied file, or of registered ones."""
        if (language, split) != ("en", "train"):
            return super().sentences(language, split, limit)
        return loading.read_sentences(self.name, supplied.training_utterances())[:limit]

    def hashes(self, parts: Sequence[Part]) -> dict[str, str]:
        """Return the hashes; the supplied file by its size."""
        hashes = super().hashes([part for part in parts if part != ("en", "train")])
        if ("en", "train") in parts:
            file = supplied.training_utterances()
            hashes[f"supplied/{file.name}"] = supplied.size(file)
        return hashes


class Release:
    """The official release of Universal Dependencies 2.2."""

    tasks = ("POS",)

    def sentences(self, language: str, split: str, limit: int | None) -> list[Sentence]:
        """Return the first sentences of a language's treebanks, one after the other."""
        files = supplied.release_files(language, split)
        return [sentence for file in files for sentence in read_conllu(file)][:limit]

    def hashes(self, parts: Sequence[Part]) -> dict[str, str]:
        """Return the sizes of the files."""
        files = [file for part in parts for file in supplied.release_files(*part)]
        return {f"supplied/{file.name}": supplied.size(file) for file in files}


class Conll:
    """The named entities of CoNLL-2002 and CoNLL-2003."""

    tasks = ("NER",)

    def sentences(self, language: str, split: str, limit: int | None) -> list[Sentence]:
        """Return the first sentences of a supplied file."""
        (file,) = conll_ner.files([(language, split)])
        return list(conll_ner.read(file)[:limit])

    def hashes(self, parts: Sequence[Part]) -> dict[str, str]:
        """Return the sizes of the files."""
        return {
            f"supplied/{conll_ner.NAME}/{language}/{split}": supplied.size(file)
            for (language, split), file in zip(parts, conll_ner.files(parts), strict=True)
        }


CORPORA: dict[str, Corpus] = {
    ARTIFICIAL: Artificial(),
    "ud-r2.2": Registered("ud-r2.2", ("POS",)),
    "ud-release": Release(),
    "panx-wikiann": Registered("panx-wikiann", ("NER",)),
    conll_ner.NAME: Conll(),
    UTTERANCES: ReSplit(UTTERANCES, ("SF",)),
    f"{UTTERANCES}-official": OfficialUtterances(UTTERANCES, ("SF",)),
}


def corpus(name: str, task: str, kind: Kind = "mixed") -> Corpus:
    """Return a corpus by its name.

    Args:
        name: of the corpus.
        task: what it must be annotated for.
        kind: of its sentences, where it is artificial.

    Raises:
        SettingsError: if there is no such corpus for the task; names those that there are.
    """
    known = {each: corpus_ for each, corpus_ in CORPORA.items() if task in corpus_.tasks}
    if name not in known:
        raise SettingsError(f"unknown corpus {name!r} for {task}; known: {', '.join(known)}")
    return Artificial(kind) if name == ARTIFICIAL else known[name]
