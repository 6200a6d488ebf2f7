"""Scores over a range of alignment quality: the trials of ``word_order/alignment_quality``.

One trial trains one tagger on English and tests it at every level of alignment. That is the same
as a training per level, because a level leaves the English vectors alone; and what differs between
two levels is then the alignment and nothing else. No sentence of a target language is read before
training and model selection are over.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, ValidationError

from xlrepro import metrics
from xlrepro.corpora.readers import word_order_features
from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings.vectors.encoding import EncodedSplit, Lookup, TagSet, encode
from xlrepro.errors import SettingsError
from xlrepro.papers.word_order import alignment_data, data, pos_tagging, span_data, span_labelling
from xlrepro.papers.word_order.alignment_data import Languages, Level
from xlrepro.papers.word_order.model import SequenceTagger
from xlrepro.papers.word_order.settings import TaggingSettings
from xlrepro.papers.word_order.span_data import SpanSettings
from xlrepro.papers.word_order.training import Fit
from xlrepro.papers.word_order.zero_shot import predictions
from xlrepro.training.precision import SINGLE, Precision, in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

FEATURE_SENTENCES = 400  # of an artificial language, for its word-order features
SIGNATURES = {
    "P@1": "bdi|from:en|retrieval:csls-10|dictionary:muse-test or true|v:1",
    "word-order distance": "mad|features:52|v:1",
}


class AlignmentSettings(BaseModel):
    """Everything that decides a trial's numbers, besides seed and data.

    Attributes:
        training: how the tagger is trained; its own targets are empty.
        languages: what it is tested on.
        levels: at which levels of alignment.
        precision: of all floats, that of the training.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    training: SpanSettings | TaggingSettings
    languages: Languages
    levels: tuple[Level, ...]
    precision: Precision = SINGLE

    @property
    def task(self) -> str:
        """``"POS"``, or the span task's name."""
        return self.training.task if isinstance(self.training, SpanSettings) else "POS"


class MeasureSettings(BaseModel):
    """What is measured of a level.

    Attributes:
        languages: the languages of all tasks.
        tasks: target languages of each task.
        level: the level.
        precision: of all floats.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    languages: Languages
    tasks: dict[str, tuple[str, ...]]
    level: Level
    precision: Precision = SINGLE


S = TypeVar("S", bound=BaseModel)


def _validated(trial: Trial, kind: type[S]) -> S:
    try:
        return kind.model_validate(trial.settings)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SettingsError(f"settings of {trial.label}: {where}: {first['msg'].lower()}") from None


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Train one tagger and test it at every level.

    Cells: accuracy (POS) or slot F1 (SF), percent, per level and language, ``POS/noise 4/de``;
    ``POS/noise 4/avg`` over the targets; and ``POS/en``, which no level changes.
    """
    settings = _validated(trial, AlignmentSettings)
    (system,) = trial.systems
    tags, tagger, fit = _trained(settings.training, trial.seed, context)
    scores = _evaluate(tagger, tags, settings, context.device)
    metric = "accuracy" if settings.task == "POS" else "slot F1"
    signature = (
        metrics.accuracy_signature() if metric == "accuracy" else metrics.span_f1_signature()
    )
    details: dict[str, Any] = {
        "settings": settings.model_dump(mode="json"),
        "dev_scores": fit.dev_scores,
        "train_loss": fit.losses,
        "best_epoch": fit.best_epoch,
        "parameters": sum(p.numel() for p in tagger.parameters()),
    }
    return TrialResult(
        cells=[Cell(system, f"{settings.task}/{c}", v, metric) for c, v in scores.items()],
        details=details,
        signatures={metric: signature},
        training_tokens=fit.tokens,
        training_seconds=fit.seconds,
    )


def _trained(
    training: TaggingSettings, seed: int, context: TrialContext
) -> tuple[TagSet, SequenceTagger, Fit]:
    if isinstance(training, SpanSettings):
        tags = span_data.tag_set(training)
        return tags, *span_labelling.train_labeller(training, tags, seed, context)
    tagger, fit = pos_tagging.train_tagger(training, seed, context.device, context.progress)
    return data.UPOS, tagger, fit


def _evaluate(
    tagger: SequenceTagger, tags: TagSet, settings: AlignmentSettings, device: str
) -> dict[str, float]:
    training, languages = settings.training, settings.languages

    def score(language: str, found: Sequence[Sentence], lookup: Lookup) -> float:
        split = encode(language, [s.tokens for s in found], _tags_of(found, training), tags, lookup)
        return _score(split, found, predictions(tagger, split, device), training, tags)

    texts = {
        code: alignment_data.test_sentences(training, languages, code)
        for code in (training.source, *languages.targets)
    }
    plain = alignment_data.vectors(languages, settings.levels[0])
    scores = {training.source: score(training.source, texts[training.source], plain)}
    for level in settings.levels:
        lookup = alignment_data.vectors(languages, level)
        own = [score(code, texts[code], lookup) for code in languages.targets]
        scores |= {f"{level.name}/{c}": v for c, v in zip(languages.targets, own, strict=True)}
        scores[f"{level.name}/avg"] = sum(own) / len(own)
    return scores


def _tags_of(found: Sequence[Sentence], training: TaggingSettings) -> list[Sequence[str]]:
    if isinstance(training, SpanSettings):
        return [span_data.labels(s, training.task) for s in found]
    return [s.upos or () for s in found]


def _score(
    split: EncodedSplit,
    found: Sequence[Sentence],
    predicted: Sequence[torch.Tensor],
    training: TaggingSettings,
    tags: TagSet,
) -> float:
    if isinstance(training, SpanSettings):
        gold = [span_data.labels(s, training.task) for s in found]
        return metrics.span_f1(gold, span_labelling.named(predicted, tags))
    return pos_tagging.accuracy(split.tags, predicted)


@in_its_precision
def measure(trial: Trial, context: TrialContext) -> TrialResult:
    """Measure dictionary induction at one level.

    Cells: P@1, percent, per task and language under the column of the score that it belongs to,
    ``POS/noise 4/de``, and ``POS/noise 4/avg``, the mean over the task's targets.
    """
    settings = _validated(trial, MeasureSettings)
    (system,) = trial.systems
    found: dict[str, float] = {}
    for i, code in enumerate(settings.languages.targets):
        found[code] = alignment_data.p_at_1(settings.languages, settings.level, code)
        context.progress((i + 1) / len(settings.languages.targets), code)
    cells = []
    for task, targets in settings.tasks.items():
        values = {code: found[code] for code in targets}
        values["avg"] = sum(values.values()) / len(targets)
        cells += [
            Cell(system, f"{task}/{settings.level.name}/{code}", value, "P@1")
            for code, value in values.items()
        ]
    return TrialResult(cells=cells, signatures={"P@1": SIGNATURES["P@1"]})


def distances(trial: Trial, context: TrialContext) -> TrialResult:
    """Measure the word-order distance to English of the artificial languages of rising distance."""
    from xlrepro.corpora.artificial import features

    (system,) = trial.systems
    family = alignment_data.family(by_order=True)

    def of(code: str) -> Any:
        return features(family.corpus(code, FEATURE_SENTENCES, split="train"))

    english = of("en")
    cells = [
        Cell(
            system,
            column,
            word_order_features.mean_absolute_difference(english, of(column.split("/")[1])),
            "word-order distance",
            "mean absolute difference",
        )
        for column in trial.columns
    ]
    signatures = {"word-order distance": SIGNATURES["word-order distance"]}
    return TrialResult(cells=cells, signatures=signatures)
