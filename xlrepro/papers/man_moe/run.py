"""Zero-resource transfer: the trials of Tables 2 to 6, gates for Figure 4, sizes of corpora.

A trial trains one model per target language and domain and tests it on the target. No label of the
target is read before training and selection are over; the authors' code selects on its dev set.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from xlrepro import metrics
from xlrepro.papers.man_moe import data
from xlrepro.papers.man_moe.data import Example
from xlrepro.papers.man_moe.encoding import (
    CharacterIds,
    EncodedTexts,
    WordTable,
    collate,
    encode,
    with_labels,
    word_table,
)
from xlrepro.papers.man_moe.model import ManMoe, Prediction
from xlrepro.papers.man_moe.settings import TransferSettings
from xlrepro.papers.man_moe.training import TrainingTexts, TransferLearner
from xlrepro.training.batches import EVALUATION_TOKENS, ordered
from xlrepro.training.loop import Fit, fit
from xlrepro.training.settings import in_its_precision
from xlrepro.trials import Cell, Trial, TrialContext, TrialResult

Split = tuple[WordTable, EncodedTexts]  # texts, and their words


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
def transfer(trial: Trial, context: TrialContext) -> TrialResult:
    """Train a model per target and domain, and test it on the target.

    Cells: F1 or accuracy (percent) per target, or per target and domain; and the average over
    targets (``avg``), or over a target's domains (``de/avg``). Details: per experiment the
    learning curve, the losses, and the average weight of each expert on the target's dev text.
    """
    settings: TransferSettings = trial.typed(TransferSettings)
    (system,) = trial.systems
    metric, signature = "F1", metrics.span_f1_signature()
    if settings.task == "reviews":
        metric, signature = "accuracy", metrics.accuracy_signature("text")
    scores: dict[str, float] = {}
    details: dict[str, Any] = {"settings": settings.model_dump(mode="json"), "experiments": {}}
    fits: list[Fit] = []
    for one in (every := transfers(settings)):
        trained = train_transfer(one, trial.seed, context.part(len(fits), len(every)))
        column = "/".join(filter(None, (one.target, one.domain)))
        scores[column], without = evaluate(trained, one)
        details["experiments"][column] = _report(trained, one, without)
        fits.append(trained.fit)
    scores |= averages(scores, settings)
    cells = [Cell(system, column, scores[column], metric) for column in trial.columns]
    return TrialResult(
        cells, details, {metric: signature},
        training_tokens=sum(fit.tokens for fit in fits),
        training_seconds=sum(fit.seconds for fit in fits),
        stopped=all(fit.stopped for fit in fits) if settings.patience else None,
    )  # fmt: skip


def transfers(settings: TransferSettings) -> list[Transfer]:
    """Return the experiments of a trial: each target, in each domain."""
    domains: Sequence[str | None] = settings.domains or (None,)
    return [Transfer(settings, target, d) for target in settings.targets for d in domains]


def averages(scores: dict[str, float], settings: TransferSettings) -> dict[str, float]:
    """Return plain means: ``avg`` over targets, or with domains ``de/avg`` over the domains."""
    if not settings.domains:
        return {"avg": fmean(scores[t] for t in settings.targets)}
    return {
        f"{target}/avg": fmean(scores[f"{target}/{d}"] for d in settings.domains)
        for target in settings.targets
    }


def train_transfer(transfer: Transfer, seed: int, context: TrialContext) -> Trained:
    """Train a model on the sources' labels and on everybody's text."""
    settings = transfer.settings
    torch.manual_seed(seed)
    labelled = {code: transfer.labelled(code, "train") for code in transfer.sources}
    names = data.label_names(settings.task, [e.gold for texts in labelled.values() for e in texts])
    texts, characters = training_texts(transfer, labelled, names)
    sizes = texts.table.vectors.shape[1], len(characters), len(transfer.sources), len(names)
    model = ManMoe(settings.model, *sizes, pooled=settings.task == "reviews").to(context.device)
    gold = {code: transfer.labelled(code, "dev") for code in transfer.sources}
    tokens = {code: [e.tokens for e in examples] for code, examples in gold.items()}
    dev = {code: prepared(transfer, code, of, characters) for code, of in tokens.items()}

    def dev_score() -> float:
        found = {code: predictions(model, split, context.device) for code, split in dev.items()}
        return sum(score(settings.task, gold[c], found[c], names) for c in gold) / len(gold)

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
    read = {code: [e.tokens for e in examples] for code, examples in labelled.items()}
    readers = transfer.languages if settings.model.adversarial else ()
    plain = {code: transfer.text(code) for code in readers}
    every = [*read.items(), *plain.items()]
    words = ((code, word) for code, texts in every for tokens in texts for word in tokens)
    known = list(dict.fromkeys(words))
    characters = CharacterIds(word for _, word in known)
    table = word_table(known, data.lookup(settings), characters, transfer.target, settings)
    with_gold = [
        with_labels(encode(code, i, read[code], table), [e.gold for e in labelled[code]], names)
        for i, code in enumerate(labelled)
    ]
    without = [encode(code, i, texts, table) for i, (code, texts) in enumerate(plain.items())]
    return TrainingTexts(table, with_gold, without), characters


def score(
    task: str, examples: Sequence[Example], predicted: Sequence[Sequence[int]], names: Sequence[str]
) -> float:
    """Return F1, or accuracy of reviews, of predicted label numbers, percent."""
    gold = [example.gold for example in examples]
    guesses = [[names[n] for n in row] for row in predicted]
    if task == "reviews":
        return metrics.accuracy([c for (c,) in gold], [c for (c,) in guesses])
    return metrics.span_f1(gold, guesses)


def prepared(
    transfer: Transfer, language: str, texts: list[tuple[str, ...]], characters: CharacterIds
) -> Split:
    """Look up the words of a split."""
    words = ((language, word) for tokens in texts for word in tokens)
    lookup = data.lookup(transfer.settings)
    table = word_table(words, lookup, characters, transfer.target, transfer.settings)
    return table, encode(language, transfer.languages.index(language), texts, table)


def outputs(
    model: ManMoe, split: Split, device: str, told: Callable[[Prediction], Tensor]
) -> list[Tensor]:
    """Return what ``told`` takes of predictions, by text: ``(tokens, …)``, or pooled ``(1, …)``."""
    model.eval()
    table, texts = split[0].to(device), split[1]
    by_text: dict[int, Tensor] = {}
    for indices in ordered([len(rows) for rows in texts.rows], EVALUATION_TOKENS):
        batch = collate([(texts, indices)]).to(device)
        with torch.inference_mode():
            words = model.words(batch.flat, table)  # shape: (tokens, dim)
            values = told(model.predict(words, batch.packing)).cpu()
        lengths = [1 if len(values) == len(indices) else len(texts.rows[i]) for i in indices]
        by_text |= zip(indices, values.split(lengths), strict=True)
    return [by_text[i] for i in range(len(texts.rows))]


def predictions(model: ManMoe, split: Split, device: str) -> list[list[int]]:
    """Return the predicted label numbers of each text: one per token, or a single one."""
    best = outputs(model, split, device, lambda said: said.log_probabilities.argmax(-1))
    return [numbers.tolist() for numbers in best]


def evaluate(trained: Trained, transfer: Transfer) -> tuple[float, dict[str, float]]:
    """Return the score on the target's test set, percent.

    Returns:
        The score; and where the settings leave sentences out, the ``score`` without them and how
        many ``sentences`` were left out.
    """
    examples = transfer.labelled(transfer.target, "test")
    tokens = [e.tokens for e in examples]
    test = prepared(transfer, transfer.target, tokens, trained.characters)
    predicted = predictions(trained.model, test, trained.device)
    task, names = transfer.settings.task, trained.labels
    whole = score(task, examples, predicted, names)
    pairs = zip(examples, predicted, strict=True)
    kept = [p for p in pairs if p[0].tokens[0] not in transfer.settings.left_out]
    if len(kept) == len(examples):
        return whole, {}
    without = score(task, [e for e, _ in kept], [p for _, p in kept], names)
    return whole, {"score": without, "sentences": len(examples) - len(kept)}


def gates(trained: Trained, transfer: Transfer, language: str) -> list[Tensor]:
    """Return the weights of F_p's gate on each dev text, ``(tokens, sources)``.

    None without private experts.
    """
    if trained.model.private is None:
        return []

    def weights(said: Prediction) -> Tensor:
        assert said.private_gate is not None
        return said.private_gate.softmax(-1).double()

    dev = prepared(transfer, language, transfer.text(language, "dev"), trained.characters)
    return outputs(trained.model, dev, trained.device, weights)


def gate_weights(trained: Trained, transfer: Transfer) -> dict[str, float]:
    """Return the average weight of each source's private expert on the target's dev text.

    The mean over a text's tokens, then over texts (§4.4). Empty without private experts.
    """
    means = [weights.mean(0) for weights in gates(trained, transfer, transfer.target)]
    return dict(zip(transfer.sources, torch.stack(means).mean(0).tolist())) if means else {}


def gate_accuracy(trained: Trained, transfer: Transfer) -> dict[str, float]:
    """Return how often F_p's gate gives the most weight to the expert of a token's own language.

    Per source language the share of the tokens of its dev text, percent; chance is 100 over the
    number of sources. Empty without private experts.
    """
    shares = {}
    for number, language in enumerate(transfer.sources):
        if weights := gates(trained, transfer, language):
            right = torch.cat(weights).argmax(-1) == number
            shares[language] = round(100 * float(right.double().mean()), 3)
    return shares


def _report(trained: Trained, transfer: Transfer, without: Mapping[str, float]) -> dict[str, Any]:
    curve, settings = trained.fit, transfer.settings
    report = {
        "sources": list(transfer.sources),
        "dev_scores": [round(score, 3) for score in curve.dev_scores],
        "losses": curve.losses,
        "best_epoch": curve.best_epoch,
        "iterations": curve.iterations,
        "gates": {code: round(w, 5) for code, w in gate_weights(trained, transfer).items()},
        "parameters": sum(p.numel() for p in trained.model.parameters() if p.requires_grad),
    }
    # What only some settings ask for: the details of older records stay as they are.
    if settings.gate_accuracy:
        report["gate_accuracy"] = gate_accuracy(trained, transfer)
    if without:
        report["without_left_out"] = dict(without)
    return report


def sweep(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial of the sweep beside Table 6: the mean F1 over the target's domains.

    It stands under the column of the value that is swept.
    """
    (of_value,), (target,) = trial.columns, trial.settings["targets"]
    result = transfer(replace(trial, columns=(f"{target}/avg",)), context)
    result.cells = [replace(result.cells[0], column=of_value)]
    return result


def statistics(trial: Trial, context: TrialContext) -> TrialResult:
    """Count utterances per domain and split, and slot types per domain, of one language.

    What is counted is cut to the settings' limits, if they have any.
    """
    settings: TransferSettings = trial.typed(TransferSettings)
    (system,), (language,) = trial.systems, settings.targets
    counts: dict[str, float] = {}
    for domain in settings.domains:
        kinds: set[str] = set()
        for split in settings.splits:
            examples = data.labelled(settings, language, domain, split)
            counts[f"{domain}/{split}"] = len(examples)
            kinds |= {tag[2:] for example in examples for tag in example.gold if tag != "O"}
        counts[f"{domain}/slot types"] = len(kinds)
    return TrialResult(
        cells=[Cell(system, c, counts[c], "samples", "count") for c in trial.columns],
        details={"settings": settings.model_dump(mode="json")},
        signatures={"samples": "count|of:utterances or slot types|v:1"},
    )
