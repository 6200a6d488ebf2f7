"""The trials of the word-order paper on word vectors: Tables 1, 2, 5 and 6, Figures 1 to 3; what is
measured without training: word-order distances, coverage and alignment of word vectors.

No sentence of a target language is read before training and model selection are over, but the
few-shot sentences of Figure 2.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import nn

from xlrepro.artificial import family_of
from xlrepro.data.named import FAMILY_SEED
from xlrepro.data.readers import word_order_features
from xlrepro.papers.word_order.data import disturbed_test, shuffled_copy, training_split
from xlrepro.papers.word_order.model import make_tagger
from xlrepro.papers.word_order.settings import (
    SOURCE,
    WORD_DROPOUT,
    DistanceSettings,
    LabellingSettings,
    TaggingSettings,
    VectorSettings,
)
from xlrepro.tasks.source import Source, word_vectors
from xlrepro.tasks.tagging import metric, score, split_of, tag_counts, tag_set, tagger_learner
from xlrepro.training.batches import predicted_tags
from xlrepro.training.loop import Fit, fit
from xlrepro.training.settings import in_its_precision
from xlrepro.trials import Cell, Trial, TrialContext, TrialResult
from xlrepro.vectors import artificial as artificial_vectors
from xlrepro.vectors import evaluation

DEV_SCORES = {"POS": "dev_accuracy", "NER": "dev_f1", "SF": "dev_f1"}  # in a record's details

# ---- tagging


@in_its_precision
def tagging(trial: Trial, context: TrialContext) -> TrialResult:
    """Train a tagger on the source language and test it on all.

    Cells: accuracy (POS) or F1, percent, per column that the trial announces. Details: the learning
    curve and the full settings; per language how often each tag was right (POS), or the scores of
    all test sets.
    """
    settings: TaggingSettings = trial.typed(TaggingSettings)
    source = Source.of(settings, settings.task)
    tagger, curve = trained(settings, source, trial.seed, context)
    if not settings.evaluate_targets:
        scores = dict.fromkeys(trial.columns, curve.dev_scores[curve.best_epoch])
        return result(trial, settings, tagger, curve, scores)
    scores, by_tag = evaluated(tagger, settings, source, trial.seed, context.device)
    more = {"by_tag": by_tag} if settings.task == "POS" else {"scores": scores}
    return result(trial, settings, tagger, curve, scores, more)


def trained(
    settings: TaggingSettings, source: Source, seed: int, context: TrialContext
) -> tuple[nn.Module, Fit]:
    """Train on the source language's train split, and keep the best epoch on its dev split."""
    train, dev = training_split(settings, source), split_of(source, settings.source, "dev")
    tags = tag_set(source)
    torch.manual_seed(seed)
    dim = train.table.shape[1]
    tagger = make_tagger(settings.encoder, dim, len(tags), settings.head).to(context.device)

    def dev_score() -> float:
        predicted = predicted_tags(tagger, dev.encoded, context.device)
        return score(source.task, dev.gold, predicted, tags)

    def copy(epoch: int) -> Any:
        return shuffled_copy(train, tags, settings.shuffle_k, epoch, seed)

    copies = copy if settings.shuffle else None
    learner = tagger_learner(
        tagger, train, dev_score, settings, seed, context.device, WORD_DROPOUT, copies
    )
    return tagger, fit(learner, settings.epochs, settings.patience, context.progress)


def evaluated(
    tagger: nn.Module, settings: TaggingSettings, source: Source, seed: int, device: str
) -> tuple[dict[str, float], dict[str, dict[str, list[int]]]]:
    """Test on the source and on every target.

    Returns:
        Per language, as ``avg`` over the targets, and as ``k=…`` on disturbed source tests:
        accuracy or F1, percent. Per language and tag ``[right, total]``.
    """
    tags, scores, counts = tag_set(source), {}, {}
    predict = partial(predicted_tags, tagger, device=device)
    for language in (settings.source, *settings.targets):
        test = split_of(source, language, "test")
        predicted = predict(test.encoded)
        scores[language] = score(source.task, test.gold, predicted, tags)
        counts[language] = tag_counts(test.encoded.tags, predicted, tags)
    if settings.targets:
        scores["avg"] = sum(scores[code] for code in settings.targets) / len(settings.targets)
    for k in settings.test_shuffles:
        test = disturbed_test(settings, source, k, seed)
        scores[f"k={k}"] = score(source.task, test.gold, predict(test.encoded), tags)
    return scores, counts


def result(
    trial: Trial,
    settings: LabellingSettings,
    model: nn.Module,
    curve: Fit,
    scores: Mapping[str, float],
    more: Mapping[str, Any] | None = None,
) -> TrialResult:
    """Return the cells that a trial announces, and the details that every tagging trial has.

    Args:
        trial: the trial; a column is "NER/es", "es", "es/0.03" or "k=1": it, or a part of it, names
            a score.
        settings: all of them, defaults too.
        model: what was trained.
        curve: how training went.
        scores: by name, percent.
        more: details of its own.
    """
    (system,) = trial.systems
    # "NER/es" has scores["es"], as "es" and "es/0.03" have; "k=1" has scores["k=1"]
    named = {c: next(part for part in (c, *c.split("/")) if part in scores) for c in trial.columns}
    name, signature = metric(settings.task)
    return TrialResult(
        cells=[Cell(system, column, scores[part], name) for column, part in named.items()],
        details={**learning(settings, model, curve, DEV_SCORES[settings.task]), **(more or {})},
        signatures={name: signature},
        training_tokens=curve.tokens,
        training_seconds=curve.seconds,
        stopped=curve.stopped,
    )


def learning(settings: Any, model: nn.Module, curve: Fit, dev_scores: str) -> dict[str, Any]:
    """Return the details of every training: settings, learning curve, size.

    Args:
        settings: all of them, defaults too.
        model: what was trained.
        curve: how training went.
        dev_scores: the name that its dev scores have in the record.
    """
    return {
        "settings": settings.model_dump(mode="json"),
        dev_scores: curve.dev_scores,
        "train_loss": curve.losses,
        "best_epoch": curve.best_epoch,
        "parameters": sum(p.numel() for p in model.parameters()),
    }


# ---- word-order distances

FEATURE_SENTENCES = 200  # of an artificial language


def distances(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the distance of every column's language to English, from real or artificial features.

    Ahmad et al. (2019): a language is 52 numbers, the share of a relation's dependents that stand
    on one side of their head; the distance of two is the numbers' mean absolute difference.
    """
    (system,) = trial.systems
    settings: DistanceSettings = trial.typed(DistanceSettings)
    if settings.source == "artificial":
        corpus = family_of(FAMILY_SEED).corpus
        texts = {code: corpus(code, FEATURE_SENTENCES, split="train") for code in trial.columns}
        table = {code: word_order_features.features(text) for code, text in texts.items()}
    else:
        table = word_order_features.table()
    name, how = "word-order distance", "mean absolute difference"
    distance = word_order_features.mean_absolute_difference
    cells = [Cell(system, c, distance(table[SOURCE], table[c]), name, how) for c in trial.columns]
    return TrialResult(cells=cells, signatures={name: "mad|features:52|v:1"})


# ---- coverage and alignment of word vectors

# What evaluation.evaluate calls a number, the column that shows it, and its signature.
MEASURES = {
    "coverage_test_exact": ("coverage", "coverage|tokens:ud-test|match:exact|v:1"),
    "coverage_test": ("coverage with back-off", "coverage|tokens:ud-test|match:exact+back-off|v:1"),
    "induction_p_at_1": ("P@1", "bdi|from:en|retrieval:csls-10|ranks:5000-6499|v:1"),
    "induction_p_at_1_spelt": (
        "P@1 without same spelling",
        "bdi|from:en|retrieval:csls-10|ranks:5000-6499|spelling:other|v:1",
    ),
}
TRUE_WORDS = 300  # English words of the artificial test dictionary
SMOKE_SENTENCES = 300  # of the text that each artificial language's own vectors are learnt from


@in_its_precision
def vector_quality(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill coverage of the test tokens and dictionary-induction P@1 per language, percent.

    A language without a test dictionary has no P@1 cells; ``details`` says how many words were
    tested where there is one.
    """
    (system,) = trial.systems
    settings: VectorSettings = trial.typed(VectorSettings)
    cells: list[Cell] = []
    for i, code in enumerate(settings.languages):
        if trial.profile == "smoke":
            scores = _artificial_quality(settings, code)
        else:
            vectors = word_vectors(False, settings.vectors, (code,))
            scores = evaluation.evaluate(vectors, code)
        named = ((f"{code}/{column}", key, column) for key, (column, _) in MEASURES.items())
        cells += [
            Cell(system, address, scores[key], column)
            for address, key, column in named
            if key in scores and address in trial.columns
        ]
        context.progress((i + 1) / len(settings.languages), code)
    return TrialResult(cells, signatures=dict(MEASURES.values()))


def _artificial_quality(settings: VectorSettings, code: str) -> dict[str, float]:
    """Return the measures of an artificial vector set in a language, on the true dictionary."""
    family = family_of(FAMILY_SEED)
    vectors = artificial_vectors.load(
        family, settings.languages, name=settings.vectors, sentences=SMOKE_SENTENCES
    )
    # the first English words of the true dictionary with all their translations
    gold: dict[str, set[str]] = {}
    for english, foreign in family.dictionary(SOURCE, code) if code != SOURCE else ():
        if english in gold or len(gold) < TRUE_WORDS:
            gold.setdefault(english, set()).add(foreign)
    scores = evaluation.measured(vectors, code, family.corpus(code, 50, split="test"), gold)
    scores.pop("induction_p_at_1_spelt", None)  # no column at smoke
    return scores
