"""Coverage and alignment of the word vectors behind the word-level rows."""

from typing import TYPE_CHECKING, Any

import numpy as np

from xlrepro.data.named import FAMILY_SEED
from xlrepro.tasks.source import word_vectors
from xlrepro.training.settings import in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult
from xlrepro.vectors import evaluation
from xlrepro.vectors.mappings.csls import precision_at_1

if TYPE_CHECKING:
    from xlrepro.artificial import Family

# What evaluation.evaluate calls a number, and the column that shows it.
COLUMNS = {
    "coverage_test_exact": "coverage",
    "coverage_test": "coverage with back-off",
    "induction_p_at_1": "P@1",
    "induction_p_at_1_spelt": "P@1 without same spelling",
}
SIGNATURES = {
    "coverage": "coverage|tokens:ud-test|match:exact|v:1",
    "coverage with back-off": "coverage|tokens:ud-test|match:exact+back-off|v:1",
    "P@1": "bdi|from:en|retrieval:csls-10|ranks:5000-6499|v:1",
    "P@1 without same spelling": "bdi|from:en|retrieval:csls-10|ranks:5000-6499|spelling:other|v:1",
}
TRUE_WORDS = 300  # English words of the artificial test dictionary
SMOKE_SENTENCES = 300  # of the text that each artificial language's own vectors are learnt from


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill coverage of the test tokens and dictionary-induction P@1 per language, percent.

    A language without a test dictionary has no P@1 cells; ``details`` says why, and how many words
    were tested where there is one.
    """
    (system,) = trial.systems
    settings = trial.settings
    languages = settings["languages"]
    cells, reasons, tested = [], {}, {}
    measure = _artificial(settings) if settings["profile"] == "smoke" else _registered(settings)
    for i, code in enumerate(languages):
        scores = measure(code)
        cells += [
            Cell(system, f"{code}/{column}", scores[name], column)
            for name, column in COLUMNS.items()
            if name in scores and f"{code}/{column}" in trial.columns
        ]
        if "induction_tested" in scores:
            tested[code] = scores["induction_tested"]
        else:
            reasons[code] = "the source language" if code == "en" else evaluation.NO_TEST_LIST
        context.progress((i + 1) / len(languages), code)
    return TrialResult(
        cells=cells,
        details={"no_p_at_1": reasons, "tested_words": tested},
        signatures=SIGNATURES,
    )


def _registered(settings: dict[str, Any]) -> Any:
    """Return the measure of an open vector set."""

    def measure(code: str) -> dict[str, float]:
        vectors = word_vectors(False, settings["vectors"], (code,))
        return evaluation.evaluate(vectors, code, splits=("test",))

    return measure


def true_dictionary(family: "Family", language: str) -> dict[str, set[str]]:
    """Return the first English words of an artificial dictionary with all their translations."""
    gold: dict[str, set[str]] = {}
    for english, foreign in family.dictionary("en", language):
        if english in gold or len(gold) < TRUE_WORDS:
            gold.setdefault(english, set()).add(foreign)
    return gold


def _artificial(settings: dict[str, Any]) -> Any:
    """Return the measure of an artificial vector set, against the true dictionary."""
    from xlrepro.artificial import family_of
    from xlrepro.vectors import artificial as artificial_vectors

    family = family_of(FAMILY_SEED)
    vectors = artificial_vectors.load(
        family, settings["languages"], name=settings["vectors"], sentences=SMOKE_SENTENCES
    )

    def unit(matrix: np.ndarray) -> np.ndarray:
        return matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)

    def measure(code: str) -> dict[str, float]:
        shares = evaluation.coverage(vectors, code, family.corpus(code, 50, split="test"))
        scores = {
            "coverage_test_exact": 100 * shares["exact"],
            "coverage_test": 100 * shares["with_back_off"],
        }
        if code != "en":
            precision, count = precision_at_1(
                true_dictionary(family, code),
                vectors.words("en"),
                unit(np.asarray(vectors.matrix("en"))),
                vectors.words(code),
                unit(np.asarray(vectors.matrix(code))),
            )
            scores |= {"induction_p_at_1": 100 * precision, "induction_tested": count}
        return scores

    return measure
