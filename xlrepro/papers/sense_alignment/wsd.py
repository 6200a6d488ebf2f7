"""Word sense disambiguation: the trials of Table 2."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from xlrepro.data.readers.senses import SenseSentence
from xlrepro.papers.sense_alignment import disambiguation, features, sense_data
from xlrepro.papers.sense_alignment.disambiguation import Instances, NearestCentroid
from xlrepro.papers.sense_alignment.pretraining import artefacts
from xlrepro.papers.sense_alignment.pretraining.text import SOURCE
from xlrepro.papers.sense_alignment.settings import DisambiguationSettings, validated
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

METRIC = "F1"
SIGNATURE = "f1|level:word sense|scorer:unified framework|totals:official|v:1"
# What a block of rows answers with.
Answer = Callable[[NearestCentroid, Instances], list[str | None]]
ANSWERS: dict[str, Answer] = {
    "wsd": NearestCentroid.among_all,
    "lemma": NearestCentroid.of_the_lemma,
    "baseline:most frequent sense": NearestCentroid.most_frequent,
    "baseline:first sense": NearestCentroid.first_senses,
}


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill F1 as a fraction, per system of the trial and test set.

    Block ``wsd`` takes the nearest of all senses, ``lemma`` the nearest of the lemma's; so do
    ``wsd-time`` and ``lemma-time``, whose models differ. Details: a 95 % interval over instances of
    each cell, by bootstrap; the training of the language model.
    """
    settings = validated(trial.settings, trial.label, DisambiguationSettings)
    pairs = settings.model.text.ambiguous if settings.model else 0
    inventory = sense_data.inventory(settings.corpus, pairs)
    classifier = NearestCentroid(
        _instances(sense_data.training(settings, pairs), settings, trial.seed, context), inventory
    )
    cells: list[Cell] = []
    intervals: dict[str, dict[str, list[float]]] = {system: {} for system in trial.systems}
    for number, name in enumerate(trial.columns):
        sentences, total = sense_data.test_set(settings, pairs, name)
        words = _instances(sentences, settings, trial.seed, context)
        for system in trial.systems:
            answer = ANSWERS.get(system) or ANSWERS[system.partition(":")[0].partition("-")[0]]
            answers = answer(classifier, words)
            marks = disambiguation.right(answers, words.senses)
            answered = sum(a is not None for a in answers)
            value = disambiguation.f1(sum(marks), answered, total)
            cells.append(Cell(system, name, value, METRIC, "fraction"))
            missing = total - len(marks)
            intervals[system][name] = bootstrap(
                marks, [a is not None for a in answers], missing, settings.draws, trial.seed
            )
        context.progress((number + 1) / len(trial.columns), name)
    details: dict[str, Any] = {
        "settings": settings.model_dump(mode="json", exclude={"model"}),
        "bootstrap": intervals,
        "senses": len(classifier.senses),
    }
    result = TrialResult(cells, details, {METRIC: SIGNATURE})
    if settings.model is not None:
        model = artefacts.load(seeded(settings, trial.seed), context.device)
        result.details["language_model"] = {k: v for k, v in model.log.items() if k != "content"}
        result.artefacts["language model"] = model.content
        result.training_tokens = model.log["tokens"]
        result.training_seconds = model.log["seconds"]
    return result


def seeded(settings: DisambiguationSettings, seed: int) -> Any:
    """Return the language model's settings with the trial's seed."""
    assert settings.model is not None
    return settings.model.model_copy(update={"seed": seed})


def _instances(
    sentences: Sequence[SenseSentence],
    settings: DisambiguationSettings,
    seed: int,
    context: TrialContext,
) -> Instances:
    artificial = settings.corpus == "artificial"
    # Underscores join the parts of a word in SemCor alone.
    words = [list(s.tokens) if artificial else disambiguation.words_of(s)[0] for s in sentences]
    read = [features.as_read(w, SOURCE, artificial) for w in words]
    if settings.model is None:
        vectors = [torch.zeros(len(w), 1) for w in read]
    else:
        model = seeded(settings, seed)
        vectors = features.kept(model, read, settings.layer, device=context.device)
    return disambiguation.instances(sentences, vectors)


def bootstrap(
    right: Sequence[bool], answered: Sequence[bool], missing: int, draws: int, seed: int
) -> list[float]:
    """Return the 95 % interval of F1 over draws of instances, those without a place too.

    Args:
        right: of each instance that was placed.
        answered: likewise.
        missing: official instances that were not.
        draws: number of draws.
        seed: of the draws.
    """
    total = len(right) + missing
    marks = np.concatenate((np.asarray(right, dtype=bool), np.zeros(missing, dtype=bool)))
    given = np.concatenate((np.asarray(answered, dtype=bool), np.zeros(missing, dtype=bool)))
    random = np.random.default_rng([seed, 7])
    scores = []
    for _ in range(draws):
        rows = random.integers(total, size=total)
        scores.append(disambiguation.f1(int(marks[rows].sum()), int(given[rows].sum()), total))
    low, high = np.quantile(scores, (0.025, 0.975))
    return [round(float(low), 4), round(float(high), 4)]
