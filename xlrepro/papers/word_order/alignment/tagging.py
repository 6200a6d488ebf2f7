"""Scores over a range of alignment quality: the trials of ``word_order/alignment_quality``.

One trial trains one tagger on English and tests it at every level of alignment. That is the same
as a training per level, because a level leaves the English vectors alone; and what differs between
two levels is then the alignment and nothing else. No sentence of a target language is read before
training and model selection are over.
"""

from functools import partial
from typing import Any

from xlrepro.checked import Checked
from xlrepro.data.readers import word_order_features
from xlrepro.papers.word_order.alignment import data
from xlrepro.papers.word_order.alignment.data import Languages, Level
from xlrepro.papers.word_order.model import SequenceTagger
from xlrepro.papers.word_order.settings import TaggingSettings, validated
from xlrepro.papers.word_order.tagging import result, trained
from xlrepro.tasks.source import Source
from xlrepro.tasks.tagging import encoded, score, tag_set
from xlrepro.training.batches import TEST_TOKENS, predicted_tags
from xlrepro.training.settings import SINGLE, Precision, in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

FEATURE_SENTENCES = 400  # of an artificial language, for its word-order features
SIGNATURES = {
    "P@1": "bdi|from:en|retrieval:csls-10|dictionary:muse-test or true|v:1",
    "word-order distance": "mad|features:52|v:1",
}


class AlignmentSettings(Checked):
    """Everything that decides a trial's numbers, besides seed and data.

    Attributes:
        training: how the tagger is trained; its own targets are empty.
        languages: what it is tested on.
        levels: at which levels of alignment.
        precision: of all floats, that of the training.
    """

    training: TaggingSettings
    languages: Languages
    levels: tuple[Level, ...]
    precision: Precision = SINGLE


class MeasureSettings(Checked):
    """What is measured of a level.

    Attributes:
        languages: the languages of all tasks.
        tasks: target languages of each task.
        level: the level.
        precision: of all floats.
    """

    languages: Languages
    tasks: dict[str, tuple[str, ...]]
    level: Level
    precision: Precision = SINGLE


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Train one tagger and test it at every level.

    Cells: accuracy (POS) or slot F1 (SF), percent, per level and language, ``POS/noise 4/de``;
    ``POS/noise 4/avg`` over the targets; and ``POS/en``, which no level changes.
    """
    settings = validated(trial.settings, trial.label, AlignmentSettings)
    training = settings.training
    source = Source.of(training, training.task)
    tagger, curve = trained(training, source, trial.seed, context)
    evaluated = _evaluated(tagger, source, settings, context.device)
    scores = {f"{training.task}/{column}": value for column, value in evaluated.items()}
    return result(trial, training, tagger, curve, scores, dev_scores="dev_scores", whole=settings)


def _evaluated(
    tagger: SequenceTagger, source: Source, settings: AlignmentSettings, device: str
) -> dict[str, float]:
    languages, tags = settings.languages, tag_set(source)
    predict = partial(predicted_tags, tagger, device=device, max_tokens=TEST_TOKENS)
    texts = {
        code: data.test_sentences(settings.training, languages, code)
        for code in (settings.training.source, *languages.targets)
    }

    def at(level: Level, language: str) -> float:
        vectors = data.vectors(languages, level)
        test = encoded(texts[language], language, source.task, tags, vectors)
        return score(source.task, test.gold, predict(test.encoded), tags)

    scores = {settings.training.source: at(settings.levels[0], settings.training.source)}
    for level in settings.levels:
        targets = {code: at(level, code) for code in languages.targets}
        scores |= {f"{level.name}/{code}": value for code, value in targets.items()}
        scores[f"{level.name}/avg"] = sum(targets.values()) / len(targets)
    return scores


@in_its_precision
def measure(trial: Trial, context: TrialContext) -> TrialResult:
    """Measure dictionary induction at one level.

    Cells: P@1, percent, per task and language under the column of the score that it belongs to,
    ``POS/noise 4/de``, and ``POS/noise 4/avg``, the mean over the task's targets.
    """
    settings = validated(trial.settings, trial.label, MeasureSettings)
    (system,) = trial.systems
    precision: dict[str, float] = {}
    for i, code in enumerate(settings.languages.targets):
        precision[code] = data.p_at_1(settings.languages, settings.level, code)
        context.progress((i + 1) / len(settings.languages.targets), code)
    cells = []
    for task, targets in settings.tasks.items():
        values = {code: precision[code] for code in targets}
        values["avg"] = sum(values.values()) / len(targets)
        cells += [
            Cell(system, f"{task}/{settings.level.name}/{code}", value, "P@1")
            for code, value in values.items()
        ]
    return TrialResult(cells=cells, signatures={"P@1": SIGNATURES["P@1"]})


def distances(trial: Trial, context: TrialContext) -> TrialResult:
    """Measure the word-order distance to English of the artificial languages of rising distance."""
    from xlrepro.artificial import features

    (system,) = trial.systems
    family = data.family(by_order=True)

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
