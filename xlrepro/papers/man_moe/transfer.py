"""Zero-resource transfer: the trials of Tables 2 to 5, and the gates that Figure 4 shows.

A trial trains one model per target language and domain and tests it on the target. Under
``select_on="source_dev"`` no label of the target is read before training and selection are over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from xlrepro import metrics
from xlrepro.papers.man_moe import data
from xlrepro.papers.man_moe.encoding import (
    CharacterIds,
    EncodedTexts,
    WordTable,
    collate,
    encode,
    ordered_batches,
    with_labels,
    word_table,
)
from xlrepro.papers.man_moe.examples import Example
from xlrepro.papers.man_moe.model import ManMoe
from xlrepro.papers.man_moe.settings import TransferSettings, validated
from xlrepro.papers.man_moe.training import TrainingTexts, TransferLearner
from xlrepro.training.loop import Fit, fit
from xlrepro.training.precision import in_its_precision
from xlrepro.training.repeatable import compute_repeatably
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

EVALUATION_TOKENS = 8192  # padded tokens of an evaluation batch


@dataclass(frozen=True)
class Transfer:
    """One experiment of a trial: from which languages to which, in which domain.

    Attributes:
        settings: of the trial.
        target: the target language.
        domain: the domain, or ``None``.
    """

    settings: TransferSettings
    target: str
    domain: str | None

    @property
    def sources(self) -> tuple[str, ...]:
        """The source languages, in the order of their numbers."""
        return self.settings.sources(self.target)

    @property
    def languages(self) -> tuple[str, ...]:
        """The source languages, then the target."""
        return (*self.sources, self.target)

    def labelled(self, language: str, split: str) -> list[Example]:
        """Return labelled texts of the domain."""
        return data.labelled(self.settings, language, self.domain, split)

    def text(self, language: str, split: str = "train") -> list[tuple[str, ...]]:
        """Return texts of the domain without labels."""
        return data.text(self.settings, language, self.domain, split)

    def selection_languages(self) -> tuple[str, ...]:
        """Return the languages whose dev sets choose the epoch."""
        return self.sources if self.settings.select_on == "source_dev" else (self.target,)


@dataclass(frozen=True)
class Trained:
    """A trained model and what it needs to read text.

    Attributes:
        model: in evaluation mode, on ``device``.
        characters: its character ids.
        labels: its labels' names.
        fit: how training went.
        device: where it is.
    """

    model: ManMoe
    characters: CharacterIds
    labels: tuple[str, ...]
    fit: Fit
    device: str


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial.

    Cells: F1 or accuracy (percent) per target, or per target and domain; and the average over
    targets (``avg``), or over a target's domains (``de/avg``). Details: per experiment the
    learning curve, the losses, and the average weight of each expert on the target's dev text.
    """
    settings = validated(trial.settings, trial.label)
    (system,) = trial.systems
    metric = "accuracy" if settings.task == "reviews" else "F1"
    scores: dict[str, float] = {}
    details: dict[str, Any] = {"settings": settings.model_dump(mode="json"), "experiments": {}}
    tokens, seconds = 0, 0.0
    for transfer in transfers(settings):
        trained = train_transfer(transfer, trial.seed, context)
        column = "/".join(filter(None, (transfer.target, transfer.domain)))
        scores[column] = evaluate(trained, transfer)
        details["experiments"][column] = _report(trained, transfer)
        tokens += trained.fit.tokens
        seconds += trained.fit.seconds
    scores |= averages(scores, settings)
    return TrialResult(
        cells=[Cell(system, column, scores[column], metric) for column in trial.columns],
        details=details,
        signatures={metric: _signature(settings)},
        training_tokens=tokens,
        training_seconds=seconds,
    )


def transfers(settings: TransferSettings) -> list[Transfer]:
    """Return the experiments of a trial: each target, in each domain."""
    domains: Sequence[str | None] = settings.domains or (None,)
    return [Transfer(settings, target, d) for target in settings.targets for d in domains]


def averages(scores: dict[str, float], settings: TransferSettings) -> dict[str, float]:
    """Return plain means: ``avg`` over targets, or with domains ``de/avg`` over the domains."""
    if not settings.domains:
        return {"avg": sum(scores[t] for t in settings.targets) / len(settings.targets)}
    return {
        f"{target}/avg": sum(scores[f"{target}/{d}"] for d in settings.domains)
        / len(settings.domains)
        for target in settings.targets
    }


def _signature(settings: TransferSettings) -> str:
    if settings.task == "reviews":
        return metrics.accuracy_signature().replace("level:token", "level:text")
    return metrics.span_f1_signature()


def train_transfer(transfer: Transfer, seed: int, context: TrialContext | None = None) -> Trained:
    """Train a model on the sources' labels and on everybody's text."""
    context = context or TrialContext()
    settings = transfer.settings
    torch.manual_seed(seed)
    compute_repeatably(context.device)
    labelled = {code: transfer.labelled(code, "train") for code in transfer.sources}
    names = data.label_names(settings.task, [e.gold for found in labelled.values() for e in found])
    texts, characters = training_texts(transfer, labelled, names)
    model = ManMoe(
        settings.model,
        texts.table.vectors.shape[1],
        len(characters),
        len(transfer.sources),
        len(names),
        pooled=settings.task == "reviews",
    ).to(context.device)
    dev = [
        prepared(transfer, code, transfer.labelled(code, "dev"), characters)
        for code in transfer.selection_languages()
    ]

    def dev_score() -> float:
        scores = [d.score(model, names, context.device) for d in dev]
        return sum(scores) / len(scores)

    learner = TransferLearner(model, texts, settings, seed, dev_score, context.device)
    curve = fit(learner, learner.rounds, settings.patience, context.progress)
    return Trained(model.eval(), characters, names, curve, context.device)


def training_texts(
    transfer: Transfer, labelled: dict[str, list[Example]], names: Sequence[str]
) -> tuple[TrainingTexts, CharacterIds]:
    """Return the sources' labelled texts and everybody's text, over one table of words.

    Args:
        transfer: the languages.
        labelled: of each source language.
        names: of the labels.

    Returns:
        The texts; those without labels are there only if there is a discriminator, which alone
        reads them. And the ids of all their characters.
    """
    settings = transfer.settings
    own = {code: [e.tokens for e in found] for code, found in labelled.items()}
    readers = transfer.languages if settings.model.adversarial else ()
    plain = {code: transfer.text(code) for code in readers}
    words = (
        (code, word)
        for texts in (own, plain)
        for code, found in texts.items()
        for tokens in found
        for word in tokens
    )
    known = list(dict.fromkeys(words))
    characters = CharacterIds(word for _, word in known)
    vectors = data.vectors(settings.corpus, settings.vectors, settings.languages)
    table = word_table(known, vectors, characters, transfer.target, settings)
    with_gold = [
        with_labels(encode(code, i, own[code], table), [e.gold for e in labelled[code]], names)
        for i, code in enumerate(labelled)
    ]
    without = [encode(code, i, found, table) for i, (code, found) in enumerate(plain.items())]
    return TrainingTexts(table, with_gold, without), characters


@dataclass(frozen=True)
class Prepared:
    """A split ready to be predicted again and again.

    Attributes:
        table: its words.
        texts: its texts.
        examples: the same with their labels' names.
        task: what is predicted.
    """

    table: WordTable
    texts: EncodedTexts
    examples: list[Example]
    task: str

    def score(self, model: ManMoe, names: Sequence[str], device: str) -> float:
        """Return F1 or accuracy of a model, percent."""
        predicted = [
            [names[n] for n in row] for row in predictions(model, self.table, self.texts, device)
        ]
        gold = [example.gold for example in self.examples]
        if self.task == "reviews":
            return metrics.accuracy([c for (c,) in gold], [c for (c,) in predicted])
        return metrics.span_f1(gold, predicted)


def prepared(
    transfer: Transfer, language: str, examples: list[Example], characters: CharacterIds
) -> Prepared:
    """Look up the words of a split."""
    settings = transfer.settings
    texts = [example.tokens for example in examples]
    vectors = data.vectors(settings.corpus, settings.vectors, settings.languages)
    words = ((language, word) for tokens in texts for word in tokens)
    table = word_table(words, vectors, characters, transfer.target, settings)
    number = transfer.languages.index(language)
    return Prepared(table, encode(language, number, texts, table), examples, settings.task)


def predictions(
    model: ManMoe, table: WordTable, texts: EncodedTexts, device: str
) -> list[list[int]]:
    """Return the predicted label numbers of each text: one per token, or a single one."""
    model.eval()
    moved = table.to(device)
    found: dict[int, list[int]] = {}
    for indices in ordered_batches(texts, EVALUATION_TOKENS):
        batch = collate([(texts, indices)]).to(device)
        with torch.inference_mode():
            words = model.words(batch.flat, moved)
            best = model.predict(words, batch.packing).log_probabilities.argmax(-1).cpu()
        pooled = len(best) == len(indices) and model.predictor.pool is not None
        sizes = [1] * len(indices) if pooled else [len(texts.rows[i]) for i in indices]
        for index, row in zip(indices, best.split(sizes), strict=True):
            found[index] = row.tolist()
    return [found[i] for i in range(len(texts.rows))]


def evaluate(trained: Trained, transfer: Transfer) -> float:
    """Return the score on the target's test set, percent."""
    examples = transfer.labelled(transfer.target, "test")
    test = prepared(transfer, transfer.target, examples, trained.characters)
    return test.score(trained.model, trained.labels, trained.device)


def gate_weights(trained: Trained, transfer: Transfer) -> dict[str, float]:
    """Return the average weight of each source's private expert on the target's dev text.

    The mean over a text's tokens, then over texts (§4.4). Empty without private experts.
    """
    if trained.model.private is None:
        return {}
    texts = transfer.text(transfer.target, "dev")
    unlabelled = [Example(tokens, ()) for tokens in texts]
    dev = prepared(transfer, transfer.target, unlabelled, trained.characters)
    table = dev.table.to(trained.device)
    total = torch.zeros(len(transfer.sources), dtype=torch.float64)
    for indices in ordered_batches(dev.texts, EVALUATION_TOKENS):
        batch = collate([(dev.texts, indices)]).to(trained.device)
        with torch.inference_mode():
            words = trained.model.words(batch.flat, table)
            logits = trained.model.predict(words, batch.packing).private_gate
        assert logits is not None
        weights = logits.softmax(-1).double().cpu()
        for of_text in weights.split([len(dev.texts.rows[i]) for i in indices]):
            total += of_text.mean(0)
    means = (total / len(texts)).tolist()
    return dict(zip(transfer.sources, means, strict=True))


def _report(trained: Trained, transfer: Transfer) -> dict[str, Any]:
    fit = trained.fit
    return {
        "sources": list(transfer.sources),
        "dev_scores": [round(score, 3) for score in fit.dev_scores],
        "losses": fit.losses,
        "best_epoch": fit.best_epoch,
        "iterations": fit.iterations,
        "gates": {code: round(w, 5) for code, w in gate_weights(trained, transfer).items()},
        "parameters": sum(p.numel() for p in trained.model.parameters() if p.requires_grad),
    }
