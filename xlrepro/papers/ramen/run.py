"""The trials of all tables: train a head on English (or, in Table 4, on the target), test it.

A head is trained on frozen states. Where the encoder is tuned, its layers and the head go on
together from there; embeddings stay as they are, so that the target's can take the place of the
English ones. No labelled sentence of a target language is read before training and selection are
over; in Table 4, none of its test set.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from xlrepro.encoders.pretrained import Encoder, load
from xlrepro.papers.ramen import adaptation, data
from xlrepro.papers.ramen.adaptation import CHECKPOINTS
from xlrepro.papers.ramen.heads import (
    Classifier,
    KeptTexts,
    KeptWords,
    Pairs,
    Parser,
    ReadTexts,
    attached,
    fit,
    percent,
    words_right,
)
from xlrepro.papers.ramen.settings import (
    AdaptationSettings,
    EnglishSettings,
    EvaluationSettings,
    HeadSettings,
)
from xlrepro.papers.ramen.supplied import SOURCE
from xlrepro.tasks.parsing import attachment_signature
from xlrepro.training.loop import Fit
from xlrepro.training.settings import in_its_precision
from xlrepro.trials import Cell, Trial, TrialContext, TrialResult

ACCURACY = "acc|level:pair|labels:3|v:1"
# While it is tuned, M-BERT has the dropout of the paper's English models.
Address = tuple[str, str, str]  # measure, language, updates
Scores = dict[str, tuple[float, list[bool]]]  # measure to the score and which items were right
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
    shared = settings.adaptation is None and settings.task != "UD supervised"
    head_of = _classifier if settings.task == "XNLI" else _parser
    groups = [settings.targets] if shared else [(target,) for target in settings.targets]
    fits: list[Fit] = []
    for group in groups:
        for checkpoint in settings.checkpoints:
            read = encoders(settings, group[0], checkpoint, context.device)
            learnt = head_of(settings, read, group[0], trial.seed, context.device)
            curves, done = _trained(learnt, read, settings, trial.seed, context)
            fits += done
            for target in group:
                for measure, found in learnt.score(target).items():
                    scores[measure, target, CHECKPOINTS[checkpoint]] = found
            name = group if settings.tuned_epochs else (*group, checkpoint)
            details["heads"]["+".join(name)] = curves
        if settings.adaptation is not None:
            log = adaptation.logs(settings.adaptation, group[0], context.device)
            details.setdefault("adaptation", {})[group[0]] = log
    return _result(trial, settings, scores, details, fits)


def _result(
    trial: Trial,
    settings: EvaluationSettings,
    scores: Mapping[Address, tuple[float, list[bool]]],
    details: dict[str, Any],
    fits: list[Fit],
) -> TrialResult:
    (system,), inference = trial.systems, settings.task == "XNLI"
    cells: list[Cell] = []
    items: dict[str, Sequence[bool]] = {}
    for column in trial.columns:
        measure, (value, items[column]) = _found(column, scores, inference)
        cells.append(Cell(system, column, value, measure))
    signature = ACCURACY if inference else attachment_signature(subtypes=False)
    return TrialResult(
        cells=cells,
        details=details,
        signatures={cell.metric: signature for cell in cells},
        training_tokens=sum(fit.tokens for fit in fits),
        training_seconds=sum(fit.seconds for fit in fits),
        items=items,
        stopped=all(fit.stopped for fit in fits),
    )


def _found(
    column: str, scores: Mapping[Address, tuple[float, list[bool]]], inference: bool
) -> tuple[str, tuple[float, list[bool]]]:
    """Return metric and finding of a column: its parts name measure, language, updates."""
    parts = column.split("/")
    measure = "accuracy" if inference else "UAS" if "UAS" in parts else "LAS"
    for (name, target, updates), value in scores.items():
        points = [part for part in parts if part in CHECKPOINTS.values()] or [updates]
        if name == measure and target in parts and updates in points:
            return measure, value
    raise KeyError(column)


# ---- encoders

Encoders = Callable[[str], Encoder]  # a language to what reads it


def encoders(
    settings: EvaluationSettings, target: str, checkpoint: str, device: str = "cpu"
) -> Encoders:
    """Return what reads each language: English and the target; it is built first if need be.

    What is to be tuned is fresh, the others are kept in the process.
    """
    layer = settings.head.layer
    find = _encoders.__wrapped__ if settings.tuned_epochs else _encoders
    read: Encoders = find(
        settings.adaptation, settings.model, layer or settings.layers, target, checkpoint, device
    )
    return read


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


class Way(NamedTuple):
    """How a head reads: the loss of a batch, the score on dev, lengths to batch by."""

    loss: Callable[[np.ndarray], Tensor]
    dev_score: Callable[[], float]
    lengths: list[int] | None


@dataclass(frozen=True)
class Learnt:
    """A head, before training.

    Attributes:
        module: its weights.
        size: number of training examples.
        frozen: on kept states.
        tuned: through the encoder, where it is tuned.
        score: language to the scores on its test set.
    """

    module: nn.Module
    size: int
    frozen: Way
    tuned: Way | None
    score: Callable[[str], Scores]


def _trained(
    learnt: Learnt, read: Encoders, settings: EvaluationSettings, seed: int, context: TrialContext
) -> tuple[dict[str, Any], list[Fit]]:
    """Train a head, then layers and head; return what the record tells, and how it went."""

    def fitted(module: nn.Module, way: Way, how: HeadSettings) -> Fit:
        return fit(
            module, learnt.size, way.loss, way.dev_score, how, seed, context.progress, way.lengths
        )

    first = fitted(learnt.module, learnt.frozen, settings.head)
    english = settings.task != "UD supervised"
    if learnt.tuned is None:
        curve: dict[str, Any] = {"train_loss": first.losses, "dev": first.dev_scores}
        curve["best_epoch"] = first.best_epoch
        # Nothing is selected on English test: it is row-parallel to the targets' test sets.
        return ({**curve, "english": _plain(learnt, SOURCE)} if english else curve), [first]
    epochs = settings.tuned_epochs  # all are made, the best on dev is kept
    changes = {"epochs": epochs, "patience": epochs, "learning_rate": settings.tuned_rate}
    both = nn.ModuleList([tuned_layers(read(SOURCE)), learnt.module])
    second = fitted(both, learnt.tuned, settings.head.model_copy(update=changes))
    curves = {"frozen": asdict(first), "tuned": asdict(second), "english": _plain(learnt, SOURCE)}
    return curves, [first, second]


def _plain(learnt: Learnt, language: str) -> dict[str, float]:
    return {measure: score for measure, (score, _) in learnt.score(language).items()}


def _parser(
    settings: EvaluationSettings, read: Encoders, target: str, seed: int, device: str
) -> Learnt:
    head, tuned = settings.head, settings.tuned_epochs
    supervised = settings.task == "UD supervised"
    source, few = target if supervised else SOURCE, head.dev or head.test

    def split(language: str, part: str, limit: int | None) -> tuple[Any, list[tuple[str, ...]]]:
        sentences = data.trees(settings.corpus, language, part, limit, supervised)
        return sentences, [data.tokens(s, language, settings.corpus) for s in sentences]

    (train, words), (dev, dev_words) = split(source, "train", head.train), split(source, "dev", few)
    kept, kept_dev = (KeptWords.of(read(source), each) for each in (words, dev_words))
    parser = Parser(kept, train, head, seed, device)
    lengths = [len(sentence) for sentence in train]

    def way(texts: KeptWords | ReadTexts, dev_texts: KeptWords | ReadTexts) -> Way:
        return Way(
            lambda chosen: parser.loss(texts, train, chosen),
            lambda: parser.score(dev_texts, dev).las,
            lengths,
        )

    def score(language: str) -> Scores:
        limit = head.test if supervised or language != SOURCE else few
        test, words = split(language, "test", limit)
        texts = (ReadTexts.words if tuned else KeptWords.of)(read(language), words)
        trees = parser.parsed(texts, test)
        found, right = attached(trees, test), words_right(trees, test)
        return {"LAS": (found.las, right["LAS"]), "UAS": (found.uas, right["UAS"])}

    through = None
    if tuned:
        through = way(*(ReadTexts.words(read(source), each) for each in (words, dev_words)))
    return Learnt(parser.module, len(train), way(kept, kept_dev), through, score)


def _classifier(
    settings: EvaluationSettings, read: Encoders, target: str, seed: int, device: str
) -> Learnt:
    head, tuned = settings.head, settings.tuned_epochs
    few = head.dev or head.test

    def split(language: str, part: str, limit: int | None, kept: bool) -> Pairs:
        pairs = data.inference(settings.corpus, language, part, limit)
        sides = [p.premise for p in pairs], [p.hypothesis for p in pairs]
        labels = [p.label for p in pairs]
        if not kept:
            premises, hypotheses = (ReadTexts.texts(read(language), side) for side in sides)
            return Pairs(premises, hypotheses, labels)
        # A premise has three hypotheses: each text is read once.
        place = {text: i for i, text in enumerate(dict.fromkeys(sides[0] + sides[1]))}
        ids, reads = zip(*map(read(language).text, place), strict=True)
        rows = read(language).kept_states(ids, reads, mean=True)
        u, v = (KeptTexts(rows, np.array([place[text] for text in side])) for side in sides)
        return Pairs(u, v, labels)

    def way(train: Pairs, dev: Pairs, lengths: list[int] | None) -> Way:
        return Way(
            lambda chosen: classifier.loss(train, chosen), lambda: classifier.score(dev), lengths
        )

    train, dev = split(SOURCE, "train", head.train, True), split(SOURCE, "dev", few, True)
    classifier = Classifier(train, head, seed, device)
    through = None
    if tuned:
        texts = split(SOURCE, "train", head.train, False)
        lengths = texts.premises.lengths()
        through = way(texts, split(SOURCE, "dev", few, False), lengths)

    def score(language: str) -> Scores:
        limit = few if language == SOURCE else head.test
        right = classifier.right(split(language, "test", limit, not tuned))
        return {"accuracy": (percent(right), right)}

    return Learnt(classifier.module, len(train.labels), way(train, dev, None), through, score)
