"""The record of a BERT that was pretrained here: cost, loss curve, accuracy on held-out text."""

from xlrepro.pretraining.multilingual_bert import load
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

METRIC = "masked-piece accuracy"
SIGNATURE = "masked-piece accuracy|text:held out|share:15%|mask:80/10/10|v:1"


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the share of hidden pieces named right, per language and their mean, percent.

    The model is built first if it is not in the cache; its cost is that of the building, whenever
    it was. Details: sizes, tokens, vocabulary, text per language, loss curve.
    """
    (system,) = trial.systems
    log = dict(load(trial.settings["model"]).log)
    counts = log.pop("accuracy")
    scores = {code: 100.0 * right / hidden for code, (right, hidden) in counts.items() if hidden}
    scores["avg"] = sum(scores.values()) / len(scores)
    return TrialResult(
        cells=[Cell(system, c, scores[c], METRIC) for c in trial.columns if c in scores],
        details={**log, "hidden_pieces": {code: hidden for code, (_, hidden) in counts.items()}},
        signatures={METRIC: SIGNATURE},
        training_tokens=log["tokens"],
        training_seconds=log["seconds"],
    )
