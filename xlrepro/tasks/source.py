"""Where a trial's data come from: sentences and word vectors, by name."""

from dataclasses import dataclass
from typing import Any

from xlrepro.data import named, supplied
from xlrepro.data.named import ARTIFICIAL, FAMILY_SEED
from xlrepro.data.sentences import Sentence
from xlrepro.encoders import words
from xlrepro.precision import cached_per_precision
from xlrepro.vectors.open import distributional
from xlrepro.vectors.open import vectors as open_vectors
from xlrepro.vectors.tables import WordVectors


@dataclass(frozen=True)
class Source:
    """The data of one trial. Equal sources read the same, whatever is trained on them.

    Attributes:
        corpus: name of the corpus.
        task: what its sentences are annotated for: ``"POS"``, ``"NER"`` or ``"SF"``.
        languages: codes, that of training first.
        vectors_name: of the word vectors; None: words have none.
        train_sentences: read the first so many for training; None is all.
        test_sentences: the same, for dev and test.

    Example:
        >>> source = Source("artificial", "POS", ("en", "de"), "dictionary", 20, 10)
        >>> len(source.sentences("de", "test"))
        10
    """

    corpus: str
    task: str
    languages: tuple[str, ...]
    vectors_name: str | None = None
    train_sentences: int | None = None
    test_sentences: int | None = None

    @classmethod
    def of(cls, settings: Any, task: str) -> "Source":
        """Return what the settings of a trial read.

        Args:
            settings: with ``corpus``, ``vectors``, ``source``, ``targets`` and both limits.
            task: what is labelled.
        """
        languages = tuple(dict.fromkeys((settings.source, *settings.targets)))
        limits = settings.train_sentences, settings.test_sentences
        return cls(settings.corpus, task, languages, settings.vectors, *limits)

    def sentences(self, language: str, split: str) -> list[Sentence]:
        """Return the sentences of ``"train"``, ``"dev"`` or ``"test"``, as many as asked for.

        Raises:
            DataError: if a file is missing or malformed.
            SettingsError: for an unknown corpus.
        """
        limit = self.train_sentences if split == "train" else self.test_sentences
        return named.corpus(self.corpus, self.task).sentences(language, split, limit)

    @property
    def vectors(self) -> WordVectors:
        """The word vectors of the languages (cached in the process).

        Raises:
            DataError: if supplied files are missing.
            SettingsError: for unknown vectors.
        """
        return word_vectors(self.corpus == ARTIFICIAL, self.vectors_name or "", self.languages)


@cached_per_precision(maxsize=4)
def word_vectors(artificial: bool, name: str, languages: tuple[str, ...]) -> WordVectors:
    """Return word vectors by name: of artificial languages, supplied, or open."""
    if artificial:
        from xlrepro.artificial import family_of
        from xlrepro.vectors import artificial as artificial_vectors

        return artificial_vectors.load(family_of(FAMILY_SEED), languages, name=name)
    if name == supplied.ALIGNED:
        from xlrepro.vectors import vec_files

        return vec_files.load_vec(supplied.vectors_of(supplied.ALIGNED, languages))
    if name == words.ENCODER:
        return words.load()
    if name == distributional.DISTRIBUTIONAL:
        return distributional.load(languages)
    return open_vectors.load(name, languages)
