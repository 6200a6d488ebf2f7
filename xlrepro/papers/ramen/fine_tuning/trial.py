"""The trials whose encoder is tuned with the head on English; the target's embeddings follow.

A head is trained on frozen states, as in the tables; from there encoder layers and head are tuned
together. Embeddings stay as they are, so that the target's can take the place of the English ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from xlrepro.papers.ramen import reading
from xlrepro.papers.ramen.data import labelled
from xlrepro.papers.ramen.data.labelled import Pair
from xlrepro.papers.ramen.data.texts import SOURCE
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
from xlrepro.papers.ramen.heads import PairStates, fit
from xlrepro.papers.ramen.reading import Reader
from xlrepro.papers.ramen.recipes import adaptation_of
from xlrepro.papers.ramen.stages import adaptation
from xlrepro.tasks.parsing import attachment_signature
from xlrepro.training.loop import Fit
from xlrepro.training.settings import in_its_precision, validated
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult


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
        score: language to the scores on its test set, read as pieces, by measure.
    """

    head: nn.Module
    size: int
    frozen: Way
    tuned: Way
    score: Callable[[str], dict[str, float]]


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial: accuracy, or LAS and UAS, of each target, percent.

    Details: both learning curves, the English test scores, and the log of the adaptation.
    """
    settings = validated(trial.settings, trial.label, FineTuningSettings)
    (system,), inference = trial.systems, settings.task == "XNLI"
    reader, logs = _reader(settings, context.device)
    layer = settings.head.layer or len(reader.network(SOURCE).layers)
    learnt = (_classifier if inference else _parser)(
        settings, reader, layer, trial.seed, context.device
    )
    tuned = nn.ModuleList([layers_of(reader.network(SOURCE), layer), learnt.head])
    first, second = _fits(learnt, tuned, settings, trial.seed, context)
    curves: dict[str, Any] = {"frozen": asdict(first), "tuned": asdict(second)}
    curves["english"] = learnt.score(SOURCE)
    scores = {target: learnt.score(target) for target in settings.targets}
    cells = []
    for column in trial.columns:
        measure, _, target = column.rpartition("/")
        metric = "accuracy" if inference else measure or "LAS"
        cells.append(Cell(system, column, scores[target][metric], metric))
    signature = ACCURACY if inference else attachment_signature(settings.head.subtypes)
    return TrialResult(
        cells=cells,
        details={
            "settings": settings.model_dump(mode="json"),
            "heads": {"+".join(settings.targets): curves},
            "adaptation": logs,
        },
        signatures={cell.metric: signature for cell in cells},
        training_tokens=first.tokens + second.tokens,
        training_seconds=first.seconds + second.seconds,
    )


def _reader(settings: FineTuningSettings, device: str) -> tuple[Reader, dict[str, Any]]:
    """Return an encoder of this trial's own, which is changed, and the log of its adaptation."""
    if settings.model is not None:
        return reading.multilingual(settings.model, settings.layers, device), {}
    (target,) = settings.targets
    made = adaptation_of(settings, target)
    log = adaptation.load(made, "end", device)[2]
    return reading.bilingual(made, "end", device), {target: log}


def _fits(
    learnt: Learnt,
    tuned: nn.Module,
    settings: FineTuningSettings,
    seed: int,
    context: TrialContext,
) -> tuple[Fit, Fit]:
    """Train the head alone, then encoder and head: every epoch is made, the best on dev is kept."""
    epochs = settings.tuned_epochs
    changes = {"epochs": epochs, "patience": epochs, "learning_rate": settings.tuned_rate}
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


def _parser(
    settings: FineTuningSettings, reader: Reader, layer: int, seed: int, device: str
) -> Learnt:
    head = settings.head
    few = head.dev or head.test

    def read(language: str, part: str, limit: int | None) -> tuple[Any, Any, Any]:
        sentences = labelled.trees(settings.corpus, language, part, limit)
        words = [labelled.tokens(s, language, settings.corpus) for s in sentences]
        return sentences, words, words_of(reader, language, words, layer)

    train, train_words, train_texts = read(SOURCE, "train", head.train)
    dev, dev_words, dev_texts = read(SOURCE, "dev", few)
    states, dev_states = (
        reader.words(SOURCE, words, head.layer) for words in (train_words, dev_words)
    )
    parser = TunedParser(states, train, head, settings.precision, seed, device)

    def score(language: str) -> dict[str, float]:
        test, _, texts = read(language, "test", few if language == SOURCE else head.test)
        attachment = parser.score(texts, test)
        return {"LAS": attachment.las, "UAS": attachment.uas}

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


def _classifier(
    settings: FineTuningSettings, reader: Reader, layer: int, seed: int, device: str
) -> Learnt:
    head = settings.head
    few = head.dev or head.test

    def read(language: str, part: str, limit: int | None) -> PairTexts:
        pairs = labelled.inference(settings.corpus, language, part, limit)
        premises, hypotheses = (whole(reader, language, s, layer) for s in _sides(pairs))
        return PairTexts(premises, hypotheses, [p.label for p in pairs])

    parts = (("train", head.train), ("dev", few))
    states, dev_states = (
        _frozen(reader, labelled.inference(settings.corpus, SOURCE, *part), head.layer)
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
        lambda language: {
            "accuracy": classifier.score_texts(
                read(language, "test", few if language == SOURCE else head.test)
            )
        },
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
