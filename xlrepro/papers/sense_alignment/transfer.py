"""Zero-shot transfer on frozen vectors: entities, sentiment, inference (Tables 3, 4 and 5).

A head learns on English alone. The target language's vectors come from the same language model, or
from one of its own; W brings them into the English space where the system's name has ``+Proj``. W
changes nothing in English, so that a trial trains one head for the system with it and the one
without.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from xlrepro import metrics
from xlrepro.nn.recurrent import BiLSTM
from xlrepro.papers.sense_alignment import data, text, training, vectors
from xlrepro.papers.sense_alignment.data import NLI, POLARITY, Example
from xlrepro.papers.sense_alignment.settings import SOURCE, TransferSettings
from xlrepro.tasks import classification
from xlrepro.tasks.classification import Examples, computed_in
from xlrepro.tasks.tagging import SequenceTagger, TaggedSplit, score, span_tags, tagger_learner
from xlrepro.training.batches import predicted_tags
from xlrepro.training.loop import Fit, fit
from xlrepro.training.settings import FitSettings, HeadSettings
from xlrepro.trials import Cell, Trial, TrialContext, TrialResult
from xlrepro.vectors.encoding import EncodedSplit, TagSet
from xlrepro.vectors.normalise import simplified
from xlrepro.vectors.open.tokenise import SEGMENTED_LANGUAGES, tokenise

Spread = tuple[Tensor, Tensor]
SPREAD_TEXTS = 2000  # English training texts that mean and deviation are taken of


def tagged(
    features: Sequence[Tensor], gold: Sequence[Sequence[str]], tags: TagSet, spread: Spread
) -> TaggedSplit:
    """Return sentences as a table with a row per word, standardised, and their tags.

    Args:
        features: per sentence ``(length, dim)``.
        gold: per sentence the names of its words' tags.
        tags: those that a tagger knows.
        spread: mean and deviation of English.
    """
    mean, deviation = spread
    # shape: (words + 1, dim); row 0 is padding
    table = torch.cat([mean[None], *features]).sub_(mean).div_(deviation)
    rows = torch.arange(1, len(table)).split([len(x) for x in features])
    numbers = [torch.tensor([tags.number(name) for name in names]) for names in gold]
    return TaggedSplit(EncodedSplit(table, list(rows), numbers), [tuple(t) for t in gold])


def train_tagger(
    train_set: TaggedSplit,
    dev_set: TaggedSplit,
    tags: TagSet,
    head: HeadSettings,
    seed: int,
    context: TrialContext,
) -> tuple[SequenceTagger, Fit]:
    """Train a BiLSTM-CRF (Table 3); return it with the weights of its best English dev epoch."""
    torch.manual_seed(seed)
    device = context.device
    table = train_set.encoded.table
    encoder = BiLSTM(table.shape[1], head.hidden_dim, layers=1, dropout=head.dropout)
    tagger = SequenceTagger(encoder, len(tags), input_dropout=head.dropout)
    tagger = tagger.to(table.dtype).to(device)
    values = head.model_dump(exclude={"hidden_dim", "dropout"})
    fitting = FitSettings(**values, schedule="constant", warmup_steps=0)
    dev_score = partial(f1, tagger, dev_set, tags, device)
    learner = tagger_learner(tagger, train_set.encoded, dev_score, fitting, seed, device)
    return tagger, fit(learner, head.epochs, head.patience, context.progress)


def f1(tagger: SequenceTagger, split: TaggedSplit, tags: TagSet, device: str) -> float:
    """Return the F1 of spans, percent."""
    return score("NER", split.gold, predicted_tags(tagger, split.encoded, device), tags)


def entities(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the F1 of the target language, percent (Table 3)."""
    settings = trial.typed(TransferSettings)
    (column,) = trial.columns

    def labelled(language: str, split: str, maps: Tensor | None = None) -> tuple[Any, Any]:
        """Return the vectors of each sentence's tokens, ``(length, dim)``, and their tags."""
        found = data.examples("entities", settings, language, split)
        features = token_vectors(settings, language, found, 0, maps, context)
        return features, [e.labels[: settings.longest] for e in found]

    (train, gold), (dev, dev_gold) = (labelled(SOURCE, split) for split in ("train", "dev"))
    spread, tags = spread_of(train), span_tags(gold)
    splits = tagged(train, gold, tags, spread), tagged(dev, dev_gold, tags, spread)
    model, done = train_tagger(*splits, tags, settings.head, trial.seed, context)
    cells = []
    for system in trial.systems:
        features, test_gold = labelled(settings.target, "test", maps_of(settings, system, context))
        test = tagged(features, test_gold, tags, spread)
        cells.append(Cell(system, column, f1(model, test, tags, context.device), "F1"))
    return _result(settings, cells, {"F1": metrics.span_f1_signature()}, [done], context)


def sentiment(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the accuracy of the target language in each domain, percent (Table 4)."""
    return _classified("sentiment", POLARITY, trial, context)


def inference(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the accuracy of the target language, percent (Table 5)."""
    return _classified("inference", NLI, trial, context)


def _classified(
    task: str, names: Sequence[str], trial: Trial, context: TrialContext
) -> TrialResult:
    """Train a classifier per domain on English; fill its accuracies on the target language."""
    settings = trial.typed(TransferSettings)
    cells, fits = [], list[Fit]()
    items: dict[str, Sequence[bool]] = {}

    def read(
        domain: str, language: str, split: str, spread: Spread | None, maps: Tensor | None = None
    ) -> Examples:
        """Return examples, standardised by mean and deviation of English, or None: by their own."""
        found = data.examples(task, settings, language, split, domain)
        labels = torch.tensor([names.index(e.labels[0]) for e in found])
        parts = []
        for number in range(len(found[0].texts)):
            features = token_vectors(settings, language, found, number, maps, context)
            # A document is the mean of its words; a premise or hypothesis stays a sequence.
            parts.append([v.mean(0) for v in features] if task == "sentiment" else features)
        return Examples(tuple(parts), labels, spread or spread_of(parts[0]))

    for column, domain in zip(trial.columns, settings.domains or ("",), strict=True):
        train_set = read(domain, SOURCE, "train", None)
        spread = train_set.spread
        dev_set = read(domain, SOURCE, "dev", spread)
        progress = context.part(len(fits), len(trial.columns)).progress
        given = len(names), settings.head, trial.seed, context.device, progress
        model, done = classification.train(train_set, dev_set, *given)
        fits.append(done)
        for system in trial.systems:
            maps = maps_of(settings, system, context)
            test = read(domain, settings.target, "test", spread, maps)
            classes = classification.predicted(model, test, context.device)
            value = metrics.accuracy(test.labels.tolist(), classes)
            cells.append(Cell(system, column, value, "accuracy"))
            items[f"{system} {column}"] = (test.labels == torch.tensor(classes)).tolist()
    signatures = {"accuracy": metrics.accuracy_signature("text" if settings.domains else "pair")}
    result = _result(settings, cells, signatures, fits, context)
    result.items = items
    return result


def spread_of(features: Sequence[Tensor]) -> Spread:
    """Return mean and standard deviation of each entry of English training vectors.

    Small language models have small states that share a large part; heads learn from what differs.
    """
    rows = torch.cat([v.reshape(-1, v.shape[-1]) for v in features[:SPREAD_TEXTS]])
    rows = rows.to(computed_in(rows.dtype))
    return rows.mean(0), rows.std(0).clamp(min=1e-6)


def token_vectors(
    settings: TransferSettings,
    language: str,
    examples: Sequence[Example],
    number: int,
    maps: Tensor | None,
    context: TrialContext,
) -> list[Tensor]:
    """Return the vectors of each example's tokens, ``(length, dim)``, the mean of all layers."""
    segmented = settings.corpus != "artificial" and language in SEGMENTED_LANGUAGES
    read, places = [], []
    for example in examples:
        words = list(example.texts[number][: settings.longest])
        place = list(range(len(words)))
        if segmented:
            words, place = words_of_characters(words, language)
        read.append(text.as_read(words, language))
        places.append(place)
    reader = settings.model.reader(language, settings.target)
    half = settings.half_features
    features = vectors.kept(settings.model, reader, read, "mean", maps, context.device, half)
    return [v if len(p) == len(v) else v[p] for v, p in zip(features, places, strict=True)]


def words_of_characters(characters: Sequence[str], language: str) -> tuple[list[str], list[int]]:
    """Return the words of a sentence and, of each of its tokens, the word it stands in.

    Chinese entities are annotated per character, and language models read words: each character
    takes the vector of its word.

    Args:
        characters: tokens of a character or more.
        language: one that writes words without spaces.
    """
    plain = [simplified(token, language) for token in characters]
    words = tokenise("".join(plain), language)
    if "".join(words) != "".join(plain):  # a token that no segmenter keeps, such as a space
        return plain, list(range(len(plain)))
    ends = [number for number, word in enumerate(words) for _ in word]
    places, at = [], 0
    for token in plain:
        places.append(ends[at])
        at += len(token)
    return words, places


def maps_of(settings: TransferSettings, system: str, context: TrialContext) -> Tensor | None:
    """Return W for a system whose name has ``+Proj``, which it shares all else with.

    The rows "ELMo" and "ELMo+Proj" have one head and the same language models: the name alone says
    which of them maps the target's vectors.
    """
    if "+Proj" not in system:
        return None
    return vectors.projection(
        settings.model, settings.target, settings.anchor_sentences, settings.map, context.device
    )


def _result(
    settings: TransferSettings,
    cells: list[Cell],
    signatures: dict[str, str],
    fits: Sequence[Fit],
    context: TrialContext,
) -> TrialResult:
    details: dict[str, Any] = {
        "dev_scores": [done.dev_scores for done in fits],
        "train_loss": [done.losses for done in fits],
        "best_epoch": [done.best_epoch for done in fits],
        "most_epochs": settings.head.epochs,
        "language_models": 1,  # seeds are of the heads: every cell rests on one pretraining
    }
    readers = {"source": SOURCE} | ({} if settings.model.joint else {"target": settings.target})
    contents = {}
    for name, language in readers.items():
        reader = settings.model.reader(language, settings.target)
        model = training.load(settings.model, reader, context.device)
        details[f"{name} model"] = model.curves
        contents[f"{name} language model"] = model.content
    return TrialResult(
        cells,
        details,
        signatures,
        training_tokens=sum(done.tokens for done in fits),
        training_seconds=sum(done.seconds for done in fits),
        artefacts=contents,
        stopped=all(done.stopped for done in fits),
    )
