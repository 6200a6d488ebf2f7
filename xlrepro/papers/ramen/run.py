"""The trials of all tables: train a head on English (or, in Table 4, on the target), test it.

A head is trained on frozen states. Where the encoder is tuned, its layers and the head go on
together from there, or begin so where a pair is read as one sequence; embeddings stay as they are,
so that the target's can take the place of the English ones. No labelled sentence of a target
language is read before training and selection are over; in Table 4, none of its test set.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from torch import nn

from xlrepro.encoders.pretrained import Encoder, load
from xlrepro.papers.ramen import adaptation, data, heads
from xlrepro.papers.ramen.adaptation import CHECKPOINTS
from xlrepro.papers.ramen.settings import AdaptationSettings, EnglishSettings, EvaluationSettings
from xlrepro.papers.ramen.supplied import SOURCE
from xlrepro.tasks.parsing import ATTACHMENT_SIGNATURE
from xlrepro.training.loop import Fit, fast_products
from xlrepro.training.settings import in_its_precision
from xlrepro.trials import Cell, Trial, TrialContext, TrialResult

SUPERVISED = "UD supervised"
ACCURACY = "acc|level:pair|labels:3|v:1"
Address = tuple[str, str, str]  # measure, language, updates
Scores = dict[str, tuple[float, list[bool]]]  # measure to the score and which items were right
# While it is tuned, M-BERT has the dropout of the paper's English models.
DROPOUT: float = EnglishSettings.model_fields["dropout"].default


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial: accuracy, or LAS and UAS, of each target at each checkpoint, percent.

    Details: the learning curves of each head, its English test score, and the log of the
    adaptation: updates, subwords seen, losses, seconds, accuracy on held-out subwords.
    """
    settings = trial.typed(EvaluationSettings)
    scores: dict[Address, tuple[float, list[bool]]] = {}
    details: dict[str, Any] = {"settings": settings.model_dump(mode="json"), "heads": {}}
    # One head serves all targets of a multilingual encoder, unless it is trained on the target.
    supervised = settings.task == SUPERVISED
    shared = settings.adaptation is None and not supervised
    groups = [settings.targets] if shared else [(target,) for target in settings.targets]
    fits: list[Fit] = []
    for group in groups:
        for checkpoint in settings.checkpoints:
            found, curves, done = _scored(settings, group, checkpoint, trial.seed, context)
            fits += done
            scores |= found
            details["heads"]["+".join((*group, checkpoint))] = curves
        if settings.adaptation is not None:
            log = adaptation.logs(settings.adaptation, group[0], context.device)
            details.setdefault("adaptation", {})[group[0]] = log
    (system,), cells = trial.systems, []
    items: dict[str, Sequence[bool]] = {}
    for column in trial.columns:  # its parts name measure, language, updates
        parts = {*column.split("/")}
        measure = "accuracy" if settings.task == "XNLI" else "UAS" if "UAS" in parts else "LAS"
        ((value, items[column]),) = (
            found
            for (name, target, updates), found in scores.items()
            if name == measure
            and target in parts
            and (updates in parts or parts.isdisjoint(CHECKPOINTS.values()))
        )
        cells.append(Cell(system, column, value, measure))
    signature = ACCURACY if settings.task == "XNLI" else ATTACHMENT_SIGNATURE
    return TrialResult(
        cells=cells,
        details=details,
        signatures={cell.metric: signature for cell in cells},
        training_tokens=sum(fit.tokens for fit in fits),
        training_seconds=sum(fit.seconds for fit in fits),
        items=items,
        stopped=all(fit.stopped for fit in fits),
    )


def _scored(
    settings: EvaluationSettings,
    group: Sequence[str],
    checkpoint: str,
    seed: int,
    context: TrialContext,
) -> tuple[dict[Address, tuple[float, list[bool]]], dict[str, Any], list[Fit]]:
    """Train a head on one checkpoint, score its targets, and let go of the encoder.

    A tuned encoder with its gradients is large: that of the next checkpoint comes when it has gone.

    Returns:
        Percent, and which test items were right, by measure, target and checkpoint; what the record
        tells of the training; how it went.
    """
    read = encoders(settings, group[0], checkpoint, context.device)
    source = group[0] if settings.task == SUPERVISED else SOURCE
    score, curves, done = _trained(settings, read, source, seed, context)
    scores = {
        (measure, target, CHECKPOINTS[checkpoint]): found
        for target in group
        for measure, found in score(target).items()
    }
    return scores, curves, done


# ---- encoders

Encoders = Callable[[str], Encoder]  # a language to what reads it


def encoders(
    settings: EvaluationSettings, target: str, checkpoint: str, device: str = "cpu"
) -> Encoders:
    """Return what reads each language: English and the target; it is built first if need be.

    What is to be tuned is fresh, the others are kept in the process.
    """
    layer = settings.head.layer or settings.layers
    find = _encoders.__wrapped__ if settings.tuned else _encoders
    return find(settings.adaptation, settings.model, layer, target, checkpoint, device)


@lru_cache(maxsize=2)
def _encoders(
    made: AdaptationSettings | None,
    model: str | None,
    layer: int | None,
    target: str,
    checkpoint: str,
    device: str,
) -> Encoders:
    if made is not None:
        return adaptation.readers(made, target, checkpoint, layer, device).__getitem__
    encoder = load(model or "", layer, DROPOUT, device)
    return lambda language: encoder


def tuned_layers(encoder: Encoder) -> nn.Module:
    """Return the layers that are tuned, and freeze everything else of the encoder (§3)."""
    for part in (encoder.model, encoder.embeddings):
        if part is not None:
            part.requires_grad_(False)
    layers: nn.Module = encoder.model.encoder.layer  # type: ignore[union-attr,assignment]
    return layers.requires_grad_(True)


# ---- heads


def examples(
    settings: EvaluationSettings, read: Encoders, language: str, split: str, frozen: bool = True
) -> heads.Examples:
    """Return a language's labelled examples of a split, as the encoder of the language reads them.

    Args:
        settings: of the trial.
        read: a language to its encoder.
        language: its code.
        split: ``"train"``, ``"dev"`` or ``"test"``.
        frozen: whether states are kept ones.
    """
    head, supervised = settings.head, settings.task == SUPERVISED
    few = split == "dev" or (split == "test" and language == SOURCE and not supervised)
    limit = head.train if split == "train" else (few and head.dev) or head.test
    if settings.task == "XNLI":
        pairs = data.inference(settings.corpus, language, split, limit)
        found = heads.of_pairs(read(language), pairs, settings.together)
    else:
        trees = data.trees(settings.corpus, language, split, limit, supervised)
        words = [data.tokens(tree, language, settings.corpus) for tree in trees]
        found = heads.of_trees(read(language), trees, words)
    return found if frozen else found.tuned(settings.precision == "mixed")


def _trained(
    settings: EvaluationSettings, read: Encoders, source: str, seed: int, context: TrialContext
) -> tuple[Callable[[str], Scores], dict[str, Any], list[Fit]]:
    """Train a head, then layers and head; or these alone.

    Returns:
        A language to the scores on its test set; what the record tells of the training; how it
        went.
    """
    train, dev = (examples(settings, read, source, part) for part in ("train", "dev"))
    of_pairs = heads.PairClassifier if settings.together else heads.Classifier
    kind = of_pairs if settings.task == "XNLI" else heads.Parser
    head, how = kind(train, settings.head, seed, context.device), settings.head

    def score(language: str) -> Scores:
        right = head.right(examples(settings, read, language, "test", frozen=not settings.tuned))
        return {measure: (heads.percent(items), items) for measure, items in right.items()}

    fits: dict[str, Fit] = {}
    if not settings.together:
        fits["frozen"] = heads.fit(head, head.module, train, dev, how, seed, context.progress)
        epochs = settings.tuned_epochs  # all are made, the best on dev is kept
        changes = {"epochs": epochs, "patience": epochs, "learning_rate": settings.tuned_rate}
        how = how.model_copy(update=changes)
    if settings.tuned:
        both = nn.ModuleList([tuned_layers(read(source)), head.module])
        with fast_products(context.device):
            tuned = [each.tuned(settings.precision == "mixed") for each in (train, dev)]
            fits["tuned"] = heads.fit(head, both, tuned[0], tuned[1], how, seed, context.progress)
    curves: dict[str, Any] = {
        name: {"train_loss": fit.losses, "dev": fit.dev_scores, "best_epoch": fit.best_epoch}
        for name, fit in fits.items()
    }
    if settings.tuned_epochs:
        curves["tuned"]["patience"] = None  # it has its epochs, whatever the head's patience
    curves = curves if settings.tuned else curves["frozen"]
    if settings.task != SUPERVISED:
        # Nothing is selected on English test: it is row-parallel to the targets' test sets.
        curves["english"] = {measure: value for measure, (value, _) in score(SOURCE).items()}
    return score, curves, [*fits.values()]
