"""What `word_order/alignment_quality` reads: vectors at levels of alignment, languages by order.

A level changes the vectors of the target languages alone, so one tagger, trained on English, is
tested at every level. The level of an encoder's vectors has its own English, and its own taggers.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

import numpy as np

from xlrepro.checked import Checked
from xlrepro.data.named import ARTIFICIAL, FAMILY_SEED
from xlrepro.data.sentences import Sentence
from xlrepro.errors import SettingsError
from xlrepro.papers.word_order.measures.vectors import true_dictionary
from xlrepro.papers.word_order.settings import TaggingSettings
from xlrepro.precision import cached_per_precision
from xlrepro.tasks.source import Source, word_vectors
from xlrepro.vectors import evaluation
from xlrepro.vectors.encoding import WordVectors
from xlrepro.vectors.mappings.retrieval import precision_at_1
from xlrepro.vectors.noise import NoisyVectors
from xlrepro.vectors.open.dictionary import unit_rows

# Steps away from English word order: at each, more dependents take the side that they have in the
# artificial Japanese. Words and inflection stay the same, so only the order differs.
STEPS: tuple[dict[str, float], ...] = (
    {},
    {"object": 1, "object_pronoun": 1, "recipient": 1, "oblique": 1, "adverb": 1, "focus": 1},
    {"genitive": 1, "relative": 1},
    {"adposition": 0, "subordinator": 0},
    {"auxiliary": 0, "copula": 0, "adverbial_clause": 1, "complement": 1},
)
ORDERS = tuple(f"order{step}" for step in range(len(STEPS)))


class Level(Checked):
    """A level of alignment.

    Attributes:
        name: as the columns have it, ``"noise 4"``.
        vectors: the set that is made worse.
        noise: σ of the Gaussian noise on target words, see `NoisyVectors`.
        seed: of that noise; each level has its own.
        wrong: share of the dictionary's entries that are wrong; artificial languages only.
    """

    name: str
    vectors: Literal["dictionary", "mapped", "encoder"] = "dictionary"
    noise: float = 0.0
    seed: int = 0
    wrong: float = 0.0


class Languages(Checked):
    """Target languages and where they come from.

    Attributes:
        corpus: as in `TaggingSettings`.
        targets: their codes.
        by_order: whether they are the artificial languages of ``ORDERS``.
    """

    corpus: str
    targets: tuple[str, ...]
    by_order: bool = False


def order_typologies() -> list:  # type: ignore[type-arg]
    """Return the typologies of ``ORDERS``: English inflection, own words, rising order distance."""
    from xlrepro.artificial.typology import parameters

    changed: dict[str, float] = {}
    typologies = []
    for code, step in zip(ORDERS, STEPS, strict=True):
        changed |= step
        typologies.append(
            replace(parameters("en"), code=code, branch="isolate", cognates=0.1, **changed)  # type: ignore[arg-type]
        )
    return typologies


@lru_cache(maxsize=2)
def family(by_order: bool):  # type: ignore[no-untyped-def]
    """Return the artificial languages; English is the same in both families."""
    from xlrepro.artificial import Family

    return Family(FAMILY_SEED, order_typologies() if by_order else ())


@cached_per_precision(maxsize=8)
def _plain(languages: Languages, name: str, wrong: float) -> WordVectors:
    if languages.corpus == ARTIFICIAL:
        from xlrepro.vectors import artificial as artificial_vectors

        known = family(languages.by_order)
        return artificial_vectors.load(known, languages.targets, name=name, noise=wrong)
    if wrong:
        raise SettingsError("wrong dictionary entries are for artificial languages: use noise")
    return word_vectors(False, name, languages.targets)


def vectors(languages: Languages, level: Level) -> NoisyVectors:
    """Return the word vectors of a level."""
    return NoisyVectors(_plain(languages, level.vectors, level.wrong), level.noise, level.seed)


def p_at_1(languages: Languages, level: Level, language: str) -> float:
    """Return dictionary-induction P@1 (CSLS) from English at a level, percent.

    Real languages are tested on MUSE's test words, artificial ones on the true dictionary.
    """
    known = vectors(languages, level)
    if languages.corpus == ARTIFICIAL:
        gold = true_dictionary(family(languages.by_order), language)
    else:
        gold = evaluation.test_dictionary(language)
    share, _ = precision_at_1(
        gold,
        known.words(known.source),
        unit_rows(np.asarray(known.matrix(known.source))),
        known.words(language),
        unit_rows(known.matrix(language)),
    )
    return 100 * share


def test_sentences(
    training: TaggingSettings, languages: Languages, language: str
) -> Sequence[Sentence]:
    """Return the test sentences of a language, the source language's included."""
    if languages.by_order:
        limit = training.test_sentences or 100
        return list(family(True).corpus(language, limit, split="test"))
    return Source.of(training, training.task).sentences(language, "test")
