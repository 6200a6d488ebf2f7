"""How well and how fast each embedding mapping aligns languages with English, and which collapse.

Every method gets its own kind of supervision and nothing more: the training ranks of the MUSE
dictionaries, words spelt alike, or nothing. All are scored on the test ranks. The training ranks
also tell whether a method that did not see them collapsed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.man_moe.mappings.rows import ENGLISH, FAMILY_SEED, REPEATED, SUPERVISED
from xlrepro.training.settings import in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult
from xlrepro.vectors.mappings.artificial_spaces import source, turned
from xlrepro.vectors.mappings.muse import muse
from xlrepro.vectors.mappings.procrustes import ProcrustesSettings, procrustes_map
from xlrepro.vectors.mappings.rcsls import RcslsSettings, rcsls
from xlrepro.vectors.mappings.recipes import AdversarialSettings
from xlrepro.vectors.mappings.retrieval import csls_retrieve
from xlrepro.vectors.mappings.spaces import (
    COLLAPSED,
    Mapped,
    MappingProblem,
    MappingReport,
    Space,
)
from xlrepro.vectors.mappings.umwe import umwe
from xlrepro.vectors.mappings.vecmap import VecMapSettings, vecmap

NOISE = 0.1  # length of their noise beside vectors of length 1
SAME_SPELLING = 0.1  # share of artificial words that keep their spelling
SIGNATURES = {
    "P@1": "bdi|from:en|retrieval:csls-10|ranks:muse-test|v:1",
    "seconds": "wall-time|learning-alone|threads:1|v:1",
    "collapsed": "share-of-runs|under-5-percent-of-muse-train-words-of-other-spelling|v:1",
}


@dataclass(frozen=True)
class Method:
    """A row of the comparison.

    Attributes:
        learn: the method.
        settings: the class of its settings.
        supervised: it sees the training dictionary, and is not judged by it.
        random: its outcome depends on the seed.
    """

    learn: Callable[..., Any]
    settings: Callable[..., Any]
    supervised: bool = False
    random: bool = False


LEARNERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "Procrustes": (procrustes_map, ProcrustesSettings),
    "Procrustes + refinement": (procrustes_map, ProcrustesSettings),
    "RCSLS": (rcsls, RcslsSettings),
    "RCSLS + spectral": (rcsls, RcslsSettings),
    "VecMap identical": (vecmap, VecMapSettings),
    "VecMap unsupervised": (vecmap, VecMapSettings),
    "MUSE": (muse, AdversarialSettings),
    "UMWE": (umwe, AdversarialSettings),
}
METHODS = {
    name: Method(learn, settings, name in SUPERVISED, name in REPEATED)
    for name, (learn, settings) in LEARNERS.items()
}


@dataclass(frozen=True)
class Language:
    """One language beside English.

    Attributes:
        space: its words and vectors.
        train: (its row, English row), the training dictionary.
        test: English word to its translations, the test dictionary.
    """

    space: Space
    train: np.ndarray
    test: Mapping[str, set[str]]


def method_settings(name: str, values: Mapping[str, Any]) -> Any:
    """Return the settings object of a method.

    Raises:
        SettingsError: for a method or setting that there is not.
    """
    if name not in METHODS:
        raise SettingsError(f"there is no mapping {name!r}; there are: {', '.join(METHODS)}")
    try:
        return METHODS[name].settings(**values)
    except TypeError as error:
        raise SettingsError(f"settings of {name}: {error}") from None


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Learn the maps of all languages by one method and score them.

    Fills per language P@1 (percent), the seconds of learning, and for a method without a
    dictionary whether it collapsed (0 or 100 percent). UMWE learns all languages at once: each gets
    an equal share of its seconds.
    """
    (system,) = trial.systems
    settings = trial.settings
    name = system.partition(":")[2]
    english, languages = _data(settings)
    maps = _learn(name, settings["method"], english, languages, trial.seed, context)
    cells, details = [], {}
    for code, mapped in maps.items():
        precision, spelt, tested = _precision(mapped, english, languages[code])
        report = mapped.report
        cells += [
            Cell(system, f"{code}/P@1", 100 * precision, "P@1"),
            Cell(system, f"{code}/seconds", report.seconds, "seconds", "seconds"),
        ]
        if not METHODS[name].supervised:
            share = 100.0 * (report.status == COLLAPSED)
            cells.append(Cell(system, f"{code}/collapsed", share, "collapsed"))
        details[code] = _detail(report, spelt, tested)
    seconds = sum(m.report.seconds for m in maps.values())
    return TrialResult(cells, details, SIGNATURES, training_seconds=seconds)


def _detail(report: MappingReport, spelt: float, tested: int) -> dict[str, Any]:
    return {
        "status": report.status,
        "criterion": report.criterion,
        "checking_precision": report.precision,
        "pairs": report.pairs,
        "steps": report.steps,
        "p_at_1_of_other_spelling": None if np.isnan(spelt) else 100 * spelt,
        "tested": tested,
        "history": [round(value, 5) for value in report.history[-50:]],
    }


def _learn(
    name: str,
    values: Mapping[str, Any],
    english: Space,
    languages: Mapping[str, Language],
    seed: int,
    context: TrialContext,
) -> dict[str, Mapped]:
    method = METHODS[name]
    judged = {} if method.supervised else languages
    checks = {code: _check(language, english) for code, language in judged.items()}
    problems = {
        code: MappingProblem(
            language.space,
            english,
            pairs=language.train if method.supervised else None,
            check=checks.get(code),
            seed=seed,
            device=context.device,
        )
        for code, language in languages.items()
    }
    settings = method_settings(name, values)
    if method.learn is umwe:
        learnt = umwe(problems, settings)
        return {code: _shared_cost(mapped, len(learnt)) for code, mapped in learnt.items()}
    maps = {}
    for done, (code, problem) in enumerate(problems.items()):
        maps[code] = method.learn(problem, settings)
        context.progress((done + 1) / len(languages), code)
    return maps


def _shared_cost(mapped: Mapped, languages: int) -> Mapped:
    seconds = mapped.report.seconds / languages
    return replace(mapped, report=replace(mapped.report, seconds=seconds))


def _check(language: Language, english: Space) -> np.ndarray:
    """Return the training pairs that are not spelt alike: VecMap may have seen those that are."""
    differs = [language.space.words[row] != english.words[other] for row, other in language.train]
    return language.train[np.array(differs, dtype=bool)]


def _precision(mapped: Mapped, english: Space, language: Language) -> tuple[float, float, int]:
    """Return P@1 of translating English test words, and what else there is to say.

    Returns:
        P@1 of all words that count; of those without a translation spelt alike (nan where there is
        none); from 0 to 1; and the number of words that count.

    Raises:
        DataError: if no test word counts.
    """
    # shape: (words of the language, dim) and (words of English, dim)
    foreign, known = mapped.apply(language.space.matrix, english.matrix)
    rows = {word: row for row, word in enumerate(english.words)}
    candidates = set(language.space.words)
    queries = [w for w, gold in language.test.items() if w in rows and gold & candidates]
    if not queries:
        raise DataError("no test word is among the most frequent words: raise the setting words")
    # shape: (queries,); a row of the language's words for each
    best = csls_retrieve(known[[rows[word] for word in queries]], foreign, known)
    right = {
        word: language.space.words[row] in language.test[word] for word, row in zip(queries, best)
    }
    spelt = [right[word] for word in queries if word not in language.test[word]]
    other = sum(spelt) / len(spelt) if spelt else float("nan")
    return sum(right.values()) / len(queries), other, len(queries)


def _data(settings: Mapping[str, Any]) -> tuple[Space, dict[str, Language]]:
    if settings["corpus"] == "artificial":
        return _artificial(settings)
    return _registered(settings["languages"], settings["words"])


def _artificial(settings: Mapping[str, Any]) -> tuple[Space, dict[str, Language]]:
    """Return copies of one space; the first half of the words is the training dictionary."""
    english = source(settings["words"], settings["dim"], FAMILY_SEED)
    languages = {}
    for number, code in enumerate(settings["languages"]):
        rng = np.random.default_rng([FAMILY_SEED, 2, number])
        space, truth = turned(english, code, NOISE, rng, same_spelling=SAME_SPELLING)
        pairs = np.stack([np.arange(len(truth)), truth], axis=1)
        half = len(pairs) // 2
        test = {english.words[other]: {space.words[row]} for row, other in pairs[half:]}
        languages[code] = Language(space, pairs[:half], test)
    return english, languages


def _registered(codes: Sequence[str], words: int) -> tuple[Space, dict[str, Language]]:
    from xlrepro.vectors import evaluation
    from xlrepro.vectors.mappings.open_spaces import dictionary_rows, monolingual_space

    english = monolingual_space(ENGLISH, words)
    languages = {}
    for code in codes:
        space = monolingual_space(code, words)
        pairs = dictionary_rows(code, space, english)
        languages[code] = Language(space, pairs, evaluation.test_dictionary(code))
    return english, languages
