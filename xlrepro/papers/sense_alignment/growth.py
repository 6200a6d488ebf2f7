"""Tables 6 to 8: what follows from the printed settings; how many senses stay alive, in use."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xlrepro.errors import SettingsError
from xlrepro.papers.sense_alignment.settings import GrowthSettings, validated
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

if TYPE_CHECKING:
    from xlrepro.papers.sense_alignment.pretraining.artefacts import LanguageModel

BANDS = ("frequent words", "middling words", "rare words")
TOP = "uses of the top sense"
SENTENCES = 1000  # of the training text, in which uses are counted
FEWEST_USES = 10  # of a word that counts
STEPS = "steps of the printed epochs"
EPOCHS = "epochs of the stated steps"


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the arithmetic of steps and epochs, or the mean number of senses per word at the end,
    and how often a word's uses choose its top sense.

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
    from xlrepro.papers.sense_alignment.pretraining.text import SPECIAL

    chosen = settings.model.model_copy(update={"seed": trial.seed})
    model = artefacts.load(chosen, context.device)
    # shape: (words,); the log's last look may be before the last pruning
    left = model.parts[0].alive[len(SPECIAL) :].sum(-1).double()
    thirds = [float(third.mean()) for third in left.tensor_split(len(BANDS))]
    cells = [
        Cell(system, band, value, "senses per word", "count")
        for band, value in zip(BANDS, thirds, strict=True)
    ]
    return TrialResult(
        [*cells, Cell(system, TOP, top_share(model), TOP)],
        {k: v for k, v in model.log.items() if k != "content"},
        {
            "senses per word": "mean|of:words of a third of the vocabulary|v:1",
            TOP: f"share|words:used {FEWEST_USES} times or more|direction:mean of both|v:1",
        },
        training_tokens=model.log["tokens"],
        training_seconds=model.log["seconds"],
        artefacts={"language model": model.content},
    )


def top_share(model: "LanguageModel") -> float:
    """Return how many percent of uses choose the sense that is chosen most for their word.

    100 where each word has one sense in use. NaN where no word is used often enough.
    """
    import torch

    from xlrepro.papers.sense_alignment.pretraining import text
    from xlrepro.papers.sense_alignment.purity import choosing_states

    numbers = {word: i for i, word in enumerate(model.vocabulary)}
    sentences = text.split(model.settings.languages[0], model.settings.text)[0][:SENTENCES]
    known = [[i for i, word in enumerate(s) if word in numbers] for s in sentences]
    uses = Counter(s[i] for s, places in zip(sentences, known) for i in places)
    known = [[i for i in at if uses[s[i]] >= FEWEST_USES] for s, at in zip(sentences, known)]
    chosen = [Counter[tuple[int, int]]() for _ in model.parts]
    for sentence, places, states in zip(sentences, known, choosing_states(model, sentences)):
        if not places:
            continue
        words = torch.tensor([numbers[sentence[i]] for i in places])
        # shape: (directions, places, dim)
        tops = states(places).view(len(words), len(chosen), -1).transpose(0, 1)
        for counts, part, top in zip(chosen, model.parts, tops, strict=True):
            counts.update(zip(words.tolist(), part.choose(words, top).tolist(), strict=True))
    total = sum(counts.total() for counts in chosen)
    top_ones = 0
    for counts in chosen:
        most: dict[int, int] = {}
        for (word, _), count in counts.items():
            most[word] = max(count, most.get(word, 0))
        top_ones += sum(most.values())
    return 100.0 * top_ones / total if total else float("nan")


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
