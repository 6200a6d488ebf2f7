"""The distance column of Tables 1 and 2, recomputed.

Ahmad et al. (2019): a language is 52 numbers, the share of a relation's dependents that stand on
one side of their head; the distance of two languages is the numbers' mean absolute difference.
"""

from xlrepro.data.named import FAMILY_SEED
from xlrepro.data.readers import word_order_features
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the distance of every column's language to English, from real or artificial features."""
    (system,) = trial.systems
    settings = trial.settings
    if settings["source"] == "artificial":
        from xlrepro.artificial import family_of, features

        family = family_of(FAMILY_SEED)
        table = {
            code: features(family.corpus(code, settings["sentences"], split="train"))
            for code in trial.columns
        }
    else:
        table = word_order_features.table()
    cells = [
        Cell(
            system,
            code,
            word_order_features.mean_absolute_difference(table["en"], table[code]),
            "word-order distance",
            "mean absolute difference",
        )
        for code in trial.columns
    ]
    return TrialResult(cells=cells, signatures={"word-order distance": "mad|features:52|v:1"})
