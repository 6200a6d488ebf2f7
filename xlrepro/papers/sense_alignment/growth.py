"""Tables 6 to 8: what follows from the printed settings, and how many senses stay alive."""

from collections.abc import Mapping

from xlrepro.errors import SettingsError
from xlrepro.papers.sense_alignment.settings import GrowthSettings, validated
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

BANDS = ("frequent words", "middling words", "rare words")
STEPS = "steps of the printed epochs"
EPOCHS = "epochs of the stated steps"


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the arithmetic of steps and epochs, or the mean number of senses per word at the end.

    Details of a language model: ``alive``, ``[step, senses of frequent, middling, rare words]``.
    """
    settings = validated(trial.settings, trial.label, GrowthSettings)
    (system,) = trial.systems
    if settings.arithmetic is not None:
        cells = [Cell(system, c, v, c, "count") for c, v in counted(settings.arithmetic).items()]
        return TrialResult(cells, signatures={STEPS: "count|v:1", EPOCHS: "count|v:1"})
    if settings.model is None:
        raise SettingsError(f"{trial.label} names neither a language model nor an arithmetic")
    from xlrepro.papers.sense_alignment.pretraining import artefacts  # needs torch

    chosen = settings.model.model_copy(update={"seed": trial.seed})
    model = artefacts.load(chosen, context.device)
    last = model.log["alive"][-1][1:]
    return TrialResult(
        [
            Cell(system, band, value, "senses per word", "count")
            for band, value in zip(BANDS, last, strict=True)
        ],
        {k: v for k, v in model.log.items() if k != "content"},
        {"senses per word": "mean|of:words of a third of the vocabulary|v:1"},
        training_tokens=model.log["tokens"],
        training_seconds=model.log["seconds"],
        artefacts={"language model": model.content},
    )


def counted(printed: Mapping[str, float]) -> dict[str, float]:
    """Return the steps of the printed epochs, and the epochs of the stated steps.

    Args:
        printed: ``tokens`` of an epoch, ``gpus``, ``streams`` each, ``unroll`` words a step, the
            printed ``epochs`` and the stated ``steps``.

    Example:
        >>> counts = counted({"tokens": 1000, "gpus": 1, "streams": 10, "unroll": 5, "epochs": 2,
        ...                   "steps": 100})
        >>> list(counts.values())
        [40.0, 5.0]
    """
    step = printed["gpus"] * printed["streams"] * printed["unroll"]
    return {
        STEPS: printed["epochs"] * printed["tokens"] / step,
        EPOCHS: printed["steps"] * step / printed["tokens"],
    }
