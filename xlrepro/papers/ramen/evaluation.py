"""The trials of all tables: train a head on English (or, in Table 4, on the target), test it.

No labelled sentence of a target language is read before training and selection are over; in Table
4, none of its test set.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from xlrepro.data.sentences import Sentence
from xlrepro.papers.ramen import reading
from xlrepro.papers.ramen.data import labelled
from xlrepro.papers.ramen.data.texts import SOURCE
from xlrepro.papers.ramen.heads import InferenceHead, PairStates, ParsingHead, fit
from xlrepro.papers.ramen.reading import Reader, States
from xlrepro.papers.ramen.recipes import UPDATES, adaptation_of
from xlrepro.papers.ramen.settings import AdaptationSettings, EvaluationSettings, validated
from xlrepro.papers.ramen.stages import adaptation
from xlrepro.tasks.parsing import attachment_signature
from xlrepro.training.loop import Fit
from xlrepro.training.settings import in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

ACCURACY = "acc|level:pair|labels:3|v:1"


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial: accuracy, or LAS and UAS, of each target at each checkpoint, percent.

    Details: the learning curve of each head, its English test score, and the log of the adaptation:
    updates, pieces seen, losses, seconds, accuracy on held-out pieces.
    """
    settings = validated(trial.settings, trial.label, EvaluationSettings)
    (system,) = trial.systems
    scores: dict[tuple[str, str, str], float] = {}
    details: dict[str, Any] = {"settings": settings.model_dump(mode="json"), "heads": {}}
    # One head serves all targets of a multilingual encoder, unless it is trained on the target.
    shared = settings.model is not None and settings.task != "UD supervised"
    groups = [settings.targets] if shared else [(target,) for target in settings.targets]
    fits = []
    for group in groups:
        for checkpoint in settings.checkpoints:
            reader = reader_of(settings, group[0], checkpoint, context.device)
            trained = _trained(settings, reader, group[0], trial.seed, context)
            for target in group:
                for measure, value in trained.score(target).items():
                    scores[measure, target, UPDATES[checkpoint]] = value
            details["heads"]["+".join((*group, checkpoint))] = trained.details()
            fits.append(trained.fit)
        if settings.adaptation is not None:
            details.setdefault("adaptation", {})[group[0]] = _log(settings, group[0], context)
    return _result(trial, system, settings, scores, details, fits)


def _result(
    trial: Trial,
    system: str,
    settings: EvaluationSettings,
    scores: dict[tuple[str, str, str], float],
    details: dict[str, Any],
    fits: list[Fit],
) -> TrialResult:
    is_inference = settings.task == "XNLI"
    values = [(column, *_value_of(column, scores, is_inference)) for column in trial.columns]
    cells = [Cell(system, column, value, measure) for column, measure, value in values]
    signature = ACCURACY if is_inference else attachment_signature(settings.head.subtypes)
    return TrialResult(
        cells=cells,
        details=details,
        signatures={cell.metric: signature for cell in cells},
        training_tokens=sum(fit.tokens for fit in fits),
        training_seconds=sum(fit.seconds for fit in fits),
    )


def _value_of(
    column: str, scores: dict[tuple[str, str, str], float], is_inference: bool
) -> tuple[str, float]:
    """Return the metric and the value of a column: its parts name measure, language, updates."""
    parts = column.split("/")
    measure = "accuracy" if is_inference else "UAS" if "UAS" in parts else "LAS"
    for (name, target, updates), value in scores.items():
        points = [part for part in parts if part in UPDATES.values()] or [updates]
        if name == measure and target in parts and updates in points:
            return measure, value
    raise KeyError(column)


@dataclass(frozen=True)
class Trained:
    """A head after training.

    Attributes:
        score: a language to its scores on its test set, by measure.
        fit: how the training went.
        english: whether it was trained on English.
    """

    score: Callable[[str], dict[str, float]]
    fit: Fit
    english: bool

    def details(self) -> dict[str, Any]:
        """Return the learning curve and the score on English test, where it means something."""
        curve = {"train_loss": self.fit.losses, "dev": self.fit.dev_scores}
        curve |= {"best_epoch": self.fit.best_epoch}  # type: ignore[dict-item]
        return {**curve, "english": self.score(SOURCE)} if self.english else curve


def _trained(
    settings: EvaluationSettings, reader: Reader, target: str, seed: int, context: TrialContext
) -> Trained:
    if settings.task == "XNLI":
        return _inference(settings, reader, seed, context)
    source = target if settings.task == "UD supervised" else SOURCE
    return _parsing(settings, reader, source, seed, context)


def reader_of(
    settings: EvaluationSettings, target: str, checkpoint: str, device: str = "cpu"
) -> Reader:
    """Return the encoder of a trial as a reader, building it first if it is not in the cache."""
    if settings.model is not None:
        return _multilingual(settings.model, settings.layers, device)
    return _bilingual(adaptation_of(settings, target), checkpoint, device)


@lru_cache(maxsize=1)
def _multilingual(name: str, layers: int | None, device: str) -> Reader:
    return reading.multilingual(name, layers, device)


@lru_cache(maxsize=2)
def _bilingual(settings: AdaptationSettings, checkpoint: str, device: str) -> Reader:
    return reading.bilingual(settings, checkpoint, device)


def _log(settings: EvaluationSettings, target: str, context: TrialContext) -> dict[str, Any]:
    return adaptation.load(adaptation_of(settings, target), "end", context.device)[2]


def _parsing(
    settings: EvaluationSettings, reader: Reader, source: str, seed: int, context: TrialContext
) -> Trained:
    head, supervised = settings.head, settings.task == "UD supervised"

    def split(language: str, part: str, limit: int | None) -> tuple[States, Sequence[Sentence]]:
        sentences = labelled.trees(settings.corpus, language, part, limit, supervised)
        words = [labelled.tokens(s, language, settings.corpus) for s in sentences]
        return reader.words(language, words, head.layer), sentences

    few = head.dev or head.test
    train, dev = split(source, "train", head.train), split(source, "dev", few)
    parser = ParsingHead(*train, head, settings.precision, seed, context.device)
    done = fit(
        parser.parser,
        len(train[1]),
        parser.loss,
        lambda: parser.score(*dev).las,
        head,
        seed,
        context.progress,
        [len(sentence) for sentence in train[1]],
    )

    def score(language: str) -> dict[str, float]:
        limit = head.test if supervised or language != SOURCE else few
        attachment = parser.score(*split(language, "test", limit))
        return {"LAS": attachment.las, "UAS": attachment.uas}

    return Trained(score, done, not supervised)


def _inference(
    settings: EvaluationSettings, reader: Reader, seed: int, context: TrialContext
) -> Trained:
    head = settings.head

    def split(language: str, part: str, limit: int | None) -> PairStates:
        pairs = labelled.inference(settings.corpus, language, part, limit)
        both = [p.premise for p in pairs], [p.hypothesis for p in pairs]
        # A premise has three hypotheses: each text is read once.
        place = {text: i for i, text in enumerate(dict.fromkeys(both[0] + both[1]))}
        states = reader.texts(language, list(place), head.layer)
        premises, hypotheses = (states[[place[text] for text in side]] for side in both)
        return PairStates(premises, hypotheses, [p.label for p in pairs])

    few = head.dev or head.test
    train, dev = split(SOURCE, "train", head.train), split(SOURCE, "dev", few)
    classifier = InferenceHead(train, head, settings.precision, seed, context.device)
    done = fit(
        classifier.classifier,
        len(train.labels),
        classifier.loss,
        lambda: classifier.score(dev),
        head,
        seed,
        context.progress,
    )

    # Nothing is selected on English test: it is row-parallel to the targets' test sets.
    def score(language: str) -> dict[str, float]:
        limit = few if language == SOURCE else head.test
        return {"accuracy": classifier.score(split(language, "test", limit))}

    return Trained(score, done, True)
