"""Coverage and alignment of the word vectors behind the word-level rows."""

from xlrepro.embeddings import evaluation
from xlrepro.papers.word_order.data import FAMILY_SEED
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill coverage of the test tokens and dictionary-induction P@1 per language, percent.

    A language without a test dictionary has no P@1 cell; ``details`` says why.
    """
    (system,) = trial.systems
    settings = trial.settings
    cells, reasons = [], {}
    languages = settings["languages"]
    for i, code in enumerate(languages):
        if settings["profile"] == "smoke":
            from xlrepro.corpora.artificial import Family

            scores = evaluation.evaluate_artificial(
                Family(FAMILY_SEED), settings["vectors"], code, tuple(languages)
            )
        else:
            scores = evaluation.evaluate(settings["vectors"], code)
        cells += [Cell(system, f"{code}/{what}", value, what) for what, value in scores.items()]
        if "P@1" not in scores:
            reasons[code] = "no MUSE test dictionary" if code != "en" else "the source language"
        context.progress((i + 1) / len(languages), code)
    return TrialResult(
        cells=cells,
        details={"no_p_at_1": reasons},
        signatures={
            "coverage": "coverage|tokens:test|match:exact|v:1",
            "coverage with back-off": "coverage|tokens:test|match:exact+back-off|v:1",
            "P@1": "bdi|retrieval:csls-10|ranks:5000-6499|v:1",
        },
    )
