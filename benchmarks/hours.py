"""Hours of a GPU that `paper` takes, estimated from the trials' own settings.

    python -m benchmarks.hours

Nothing is measured here. Assumed are an H100's rates, of which `benchmarks.gpu` measures what it
can, and times of one step where launching kernels is what costs (6 µs each, counted by the audit
of 2026-11-25). What trials share (an adaptation, a language model, another table's trial) counts
once. Small trainings share a GPU (`--per-gpu`). Within a factor of two.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from xlrepro.experiments import all_experiments
from xlrepro.papers.man_moe.settings import TransferSettings as MoeSettings
from xlrepro.papers.ramen.settings import AdaptationSettings, EvaluationSettings, StageSettings
from xlrepro.papers.sense_alignment.settings import LanguageModelSettings
from xlrepro.trials import Trial

BF16, TF32 = 300e12, 160e12  # operations a second [assumed]; the card's peaks are 989 and 494
KERNEL = 6e-6  # seconds to launch one [assumed]
KERNELS_A_LAYER = 80  # of an update, forward, backward and Adam [assumed]
TOGETHER = 3  # small trainings on a GPU: its kernels leave room for as many [assumed]
MINUTES = {
    "pos": 6,
    "spans": 6,
    "nlu": 6,
    "mbert": 8,
    "finetune": 25,
}  # a trial of word_order [audit]
TRANSLATION_UPDATES = 208_000  # [audit: 133,000 pairs, 50 epochs]
# Kernels of an update, forward, backward and Adam, at 25 subwords: operations but views, counted on
# a CPU with `benchmarks.gpu`'s update.
TRANSLATION_KERNELS = {
    "translation:NMT": 9_059, "translation:MTL (Full)": 17_882,
    "translation:MTL (Partial)": 17_966, "translation:MTL (Routing)": 12_305,
}  # fmt: skip
MOE_STEP, MOE_ITERATIONS = 45e-3, 18_750  # [audit] an iteration; 15,000 to 22,500
SMALL_BERT_STEP = 35e-3  # [audit] of BERT-Tiny and SaBERT-Tiny: launches
EXAMPLES = {"XNLI": 392_702, "UD": 12_543, "UD supervised": 15_000}  # to train on; the last a mean
SUBWORDS = {"XNLI": 40, "UD": 22, "UD supervised": 22}  # of an example [assumed]
VECTORS = 1_000_000 * 22 + 12_500_000  # words of a language's anchors and of MultiNLI
READ = 50_000  # words a second of a finished language model, in batches [assumed]


def per_token(large: bool, length: int, subwords: int) -> float:
    """Return multiplications for a token: layers, attention, the output of a seventh of all.

    A head has no output over subwords: 0.
    """
    layers, dim = (24, 1024) if large else (12, 768)
    return layers * (12 * dim**2 + 2 * length * dim) + 0.15 * dim * subwords


def adaptation_hours(settings: AdaptationSettings) -> float:
    """Return the hours of one bilingual model: embeddings alone, then all in two languages."""
    large = "large" in settings.english.model

    def products(stage: StageSettings) -> float:
        tokens = stage.updates * stage.sequences * stage.length
        return tokens * per_token(large, stage.length, 32_000)

    # A product takes 2 operations; forward, and backward to states and, in stage 2, to weights.
    operations = 2 * 2 * products(settings.embeddings) + 2 * 3 * 2 * products(settings.bilingual)
    return operations / BF16 / 3600


def head_hours(settings: EvaluationSettings) -> float:
    """Return the hours of a trial's heads, on kept states or with the encoder tuned."""
    epochs = settings.head.epochs if settings.together else settings.tuned_epochs
    updates = max(1, EXAMPLES[settings.task] / settings.head.batch_size)
    if not epochs:
        return updates * settings.head.epochs * 300 * KERNEL / TOGETHER / 3600
    made = settings.adaptation
    large = made is not None and "large" in made.english.model
    tokens = settings.head.batch_size * SUBWORDS[settings.task]
    launches = (24 if large else 12) * KERNELS_A_LAYER * KERNEL / TOGETHER
    rate = BF16 if settings.precision == "mixed" else TF32
    step = launches + 6 * tokens * per_token(large, SUBWORDS[settings.task], 0) / rate
    return updates * epochs * step * len(settings.checkpoints) / 3600


def language_model_hours(settings: LanguageModelSettings) -> float:
    """Return the hours of a language model's steps."""
    training, network = settings.training, settings.network
    if network.family == "bert":
        return training.steps * SMALL_BERT_STEP / TOGETHER / 3600
    words = training.streams * training.unroll
    lstm = 2 * 2 * (2 * network.dim * 4 * network.cells + network.cells * network.dim)
    softmax = 2 * (settings.senses.negatives or 0) * network.dim
    seconds = lstm / (BF16 if settings.precision == "mixed" else TF32) + softmax / TF32
    return training.steps * 6 * words * seconds / 3600


def parts(trial: Trial) -> Iterator[tuple[str, str, float]]:
    """Yield what a trial needs: a label, what tells it from others, its hours."""
    paper, task = trial.task.split("/")
    if paper == "word_order":
        yield paper, trial.key, MINUTES[task] / 60 / TOGETHER
    elif paper == "man_moe":
        steps = MOE_ITERATIONS * len(trial.typed(MoeSettings).targets)
        yield "man_moe, word_order/table4", trial.key, steps * MOE_STEP / 3600 / TOGETHER
    elif paper == "routing_nmt":
        step = TRANSLATION_KERNELS[trial.systems[0]] * KERNEL
        yield paper, trial.key, TRANSLATION_UPDATES * step / 3600 / TOGETHER
    elif paper == "ramen":
        settings = trial.typed(EvaluationSettings)
        made = settings.adaptation
        for target in settings.targets if made else ():
            size = "LARGE" if "large" in made.english.model else "BASE"
            recipe = f"{target} {made.model_dump_json()}"
            yield f"ramen, bilingual models of {size} size", recipe, adaptation_hours(made)
        yield "ramen, heads", trial.key, head_hours(settings)
    elif "model" in trial.settings and trial.settings["model"]["text"]["source"] == "supplied":
        settings = LanguageModelSettings(**trial.settings["model"])
        target = trial.settings.get("target", "de" if settings.joint else "en")
        for language in {target} if settings.joint else {"en", target}:
            recipe = f"{language} {settings.model_dump_json()}"
            yield "sense_alignment, language models", recipe, language_model_hours(settings)
            if target != "en":
                yield "sense_alignment, anchors and features", recipe, VECTORS / READ / 3600


@cache
def estimate() -> list[tuple[str, str, float]]:
    """Return experiment, label and GPU hours of everything; what is shared stands where it is met
    first, in the order of `xlrepro list`.
    """
    found: dict[tuple[str, str], tuple[str, str, float]] = {}
    for key, experiment in all_experiments().items():
        if "paper" in experiment.profiles:
            for trial in experiment.trials("paper"):
                for label, recipe, hours in parts(trial):
                    found.setdefault((label, recipe), (trial.experiment or key, label, hours))
    return [*found.values()]


def table() -> str:
    """Return the guide's table: what takes how many hours, and the sum."""
    lines = ["| what | how many | GPU hours |", "|---|--:|--:|"]
    for label in sorted({label for _, label, _ in estimate()}):
        hours = [h for _, name, h in estimate() if name == label]
        lines.append(f"| {label} | {len(hours)} | {sum(hours):.0f} |")
    return "\n".join([*lines, f"| together | | {sum(h for *_, h in estimate()):.0f} |"])


def of_experiments() -> dict[str, float]:
    """Return the hours that each experiment adds."""
    found = defaultdict[str, float](float)
    for experiment, _, hours in estimate():
        found[experiment] += hours
    return found


if __name__ == "__main__":
    print(table())
    for name, hours in of_experiments().items():
        print(f"{name}: {hours:.1f}")
