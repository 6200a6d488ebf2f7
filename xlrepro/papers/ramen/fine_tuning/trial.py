"""The trials whose encoder is tuned with the head on English; the target's embeddings follow.

A head is trained on frozen states, as in the tables; from there encoder layers and head are tuned
together. Embeddings stay as they are, so that the target's can take the place of the English ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from xlrepro.papers.ramen import adaptation, labelled, reading
from xlrepro.papers.ramen.english import Pieces
from xlrepro.papers.ramen.evaluation import ACCURACY
from xlrepro.papers.ramen.fine_tuning.heads import (
    PairTexts,
    TunedClassifier,
    TunedParser,
    layers_of,
    whole,
    words_of,
)
from xlrepro.papers.ramen.fine_tuning.settings import FineTuningSettings
from xlrepro.papers.ramen.heads import Fit, PairStates, fit
from xlrepro.papers.ramen.labelled import Pair
from xlrepro.papers.ramen.model import BilingualModel
from xlrepro.papers.ramen.reading import Reader
from xlrepro.papers.ramen.recipes import adaptation_of
from xlrepro.papers.ramen.texts import SOURCE
from xlrepro.tasks.parsing import attachment_signature
from xlrepro.training.precision import in_its_precision
from xlrepro.training.settings import validated
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult


class Encoder(NamedTuple):
    """A bilingual model: as a reader of frozen states, and as networks to tune; the layer read."""

    reader: Reader
    model: BilingualModel
    pieces: dict[str, Pieces]
    layer: int


class Way(NamedTuple):
    """How a head reads: the loss of a batch, the score on English dev, lengths to batch by."""

    loss: Callable[[np.ndarray], Tensor]
    dev_score: Callable[[], float]
    lengths: list[int] | None


@dataclass(frozen=True)
class Learnt:
    """A head, before training.

    Attributes:
        head: the module.
        size: number of training examples.
        frozen: reading frozen states.
        tuned: reading pieces through the encoder.
        score: language to the score on its test set, read as pieces.
    """

    head: nn.Module
    size: int
    frozen: Way
    tuned: Way
    score: Callable[[str], float]


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial: accuracy or LAS of its one target, percent.

    Details: both learning curves, the English test score, and the log of the adaptation.
    """
    settings = validated(trial.settings, trial.label, FineTuningSettings)
    (target,), (system,) = settings.targets, trial.systems
    made = adaptation_of(settings, target)
    model, pieces, log = adaptation.load(made, "end", context.device)
    layer = settings.head.layer or len(model.encoder.layers)
    reader = reading.bilingual(made, "end", context.device)
    encoder = Encoder(reader, model.to(context.device), pieces, layer)
    inference = settings.task == "XNLI"
    learnt = (_classifier if inference else _parser)(settings, encoder, trial.seed, context.device)
    first, second = _fits(learnt, settings, encoder, trial.seed, context)
    curves: dict[str, Any] = {"frozen": asdict(first), "tuned": asdict(second)}
    curves["english"] = learnt.score(SOURCE)
    metric = "accuracy" if inference else "LAS"
    return TrialResult(
        cells=[Cell(system, column, learnt.score(target), metric) for column in trial.columns],
        details={
            "settings": settings.model_dump(mode="json"),
            "heads": {target: curves},
            "adaptation": {target: log},
        },
        signatures={
            metric: ACCURACY if inference else attachment_signature(settings.head.subtypes)
        },
        training_tokens=first.examples + second.examples,
        training_seconds=first.seconds + second.seconds,
    )


def _fits(
    learnt: Learnt, settings: FineTuningSettings, encoder: Encoder, seed: int, context: TrialContext
) -> tuple[Fit, Fit]:
    """Train the head alone, then encoder and head: every epoch is made, the best on dev is kept."""
    epochs = settings.tuned_epochs
    changes = {"epochs": epochs, "patience": epochs, "learning_rate": settings.tuned_rate}
    tuned = nn.ModuleList([layers_of(encoder.model, encoder.layer), learnt.head])
    first, second = (
        fit(
            module,
            learnt.size,
            way.loss,
            way.dev_score,
            how,
            seed,
            context.progress,
            way.lengths,
        )
        for module, way, how in (
            (learnt.head, learnt.frozen, settings.head),
            (tuned, learnt.tuned, settings.head.model_copy(update=changes)),
        )
    )
    return first, second


def _parser(settings: FineTuningSettings, encoder: Encoder, seed: int, device: str) -> Learnt:
    head = settings.head
    few = head.dev or head.test

    def read(language: str, part: str, limit: int | None) -> tuple[Any, Any, Any]:
        found = labelled.trees(settings.corpus, language, part, limit)
        words = [labelled.tokens(s, language) for s in found]
        network = encoder.model.in_language(language)
        return found, words, words_of(network, encoder.pieces[language], words, encoder.layer)

    train, train_words, train_texts = read(SOURCE, "train", head.train)
    dev, dev_words, dev_texts = read(SOURCE, "dev", few)
    states, dev_states = (
        encoder.reader.words(SOURCE, words, head.layer) for words in (train_words, dev_words)
    )
    parser = TunedParser(states, train, head, settings.precision, seed, device)

    def score(language: str) -> float:
        test, _, texts = read(language, "test", few if language == SOURCE else head.test)
        return parser.score(texts, test).las

    lengths = [len(sentence) for sentence in train]
    return Learnt(
        parser.parser,
        len(train),
        Way(parser.loss, lambda: parser.score(dev_states, dev).las, lengths),
        Way(
            lambda chosen: parser.loss_of_texts(train_texts, chosen),
            lambda: parser.score(dev_texts, dev).las,
            lengths,
        ),
        score,
    )


def _classifier(settings: FineTuningSettings, encoder: Encoder, seed: int, device: str) -> Learnt:
    head = settings.head
    few = head.dev or head.test

    def read(language: str, part: str, limit: int | None) -> PairTexts:
        pairs = labelled.inference(settings.corpus, language, part, limit)
        network, pieces = encoder.model.in_language(language), encoder.pieces[language]
        premises, hypotheses = (whole(network, pieces, s, encoder.layer) for s in _sides(pairs))
        return PairTexts(premises, hypotheses, [p.label for p in pairs])

    parts = (("train", head.train), ("dev", few))
    states, dev_states = (
        _frozen(encoder.reader, labelled.inference(settings.corpus, SOURCE, *part), head.layer)
        for part in parts
    )
    texts, dev_texts = (read(SOURCE, *part) for part in parts)
    classifier = TunedClassifier(states, head, settings.precision, seed, device)
    return Learnt(
        classifier.classifier,
        len(texts.labels),
        Way(classifier.loss, lambda: classifier.score(dev_states), None),
        Way(
            lambda chosen: classifier.loss_of_texts(texts, chosen),
            lambda: classifier.score_texts(dev_texts),
            [len(ids) for ids in texts.premises.ids],
        ),
        lambda language: classifier.score_texts(
            read(language, "test", few if language == SOURCE else head.test)
        ),
    )


def _sides(pairs: Sequence[Pair]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    return [p.premise for p in pairs], [p.hypothesis for p in pairs]


def _frozen(reader: Reader, pairs: Sequence[Pair], layer: int | None) -> PairStates:
    """Return pairs as frozen states: those that the tables' trials have computed."""
    premises, hypotheses = _sides(pairs)
    place = {text: i for i, text in enumerate(dict.fromkeys(premises + hypotheses))}
    states = reader.texts(SOURCE, list(place), layer)
    u, v = (states[[place[text] for text in side]] for side in (premises, hypotheses))
    return PairStates(u, v, [p.label for p in pairs])
