"""Table 3: the NLU model of Liu et al. (EMNLP 2019, D19-1129), intents and slots zero-shot.

    frozen word vectors + noise → encoder ┬→ attention pooling → z → linear → intent
                                          └→ z of every token  → linear → slot tag

The word-order paper puts TRS or ORT in place of its BiLSTM; nothing else changes. What the text
leaves open follows the authors' code, zliucr/Crosslingual-NLU at 1c5123a with the options of its
README. A trial trains once on the source language and scores every target; no sentence of a target
language is read before training and model selection are over.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro import metrics
from xlrepro.data.sentences import Sentence
from xlrepro.nn.pooling import AttentionPooling
from xlrepro.papers.word_order.model import build_encoder
from xlrepro.papers.word_order.run import learning
from xlrepro.papers.word_order.settings import EncoderSettings, NLUSettings
from xlrepro.precision import working_dtype
from xlrepro.tasks.source import Source
from xlrepro.tasks.tagging import labels, span_tags
from xlrepro.training.batches import in_order, ordered_batches, shuffled_batches
from xlrepro.training.loop import BatchLearner, Fit, Step, fit
from xlrepro.training.settings import in_its_precision
from xlrepro.trials import Cell, Trial, TrialContext, TrialResult
from xlrepro.vectors.encoding import Batch, EncodedSplit, TagSet, encode
from xlrepro.vectors.tables import EXACT, UNKNOWN, WordVectors

INTENT, SLOTS = "intent accuracy", "slot F1"
# The authors' code, in every profile:
LATENT_DIM = 100  # width of both latent variables
LATENT_SCALE = 0.5  # factor on their standard deviation in training
NOISE = 0.05  # standard deviation of the noise on the word vectors in training
INPUT_DROPOUT = 0.1  # share of entries of the word vectors that are dropped in training
POOLING_RANGE = 0.01  # of the attention vector's first values
MARK_SEED, MARK_STD = 0, 0.1  # of each entry of a mark's vector

# ---- model


class LatentVariable(nn.Module):
    """A Gaussian latent variable, sampled in training, its mean otherwise.

    ``z = μ + exp(v / 2) ε · scale`` with ``μ`` and ``v`` linear in the input and ε standard normal.
    There is no Kullback-Leibler term (the authors' code), so training may shrink the variance.

    Args:
        input_dim: width of the input.
    """

    def __init__(self, input_dim: int) -> None:
        super().__init__()
        self.mean = nn.Linear(input_dim, LATENT_DIM)
        self.log_variance = nn.Linear(input_dim, LATENT_DIM)

    def forward(self, x: Tensor) -> Tensor:
        """Return z (..., dim) for ``x`` (..., input_dim)."""
        # shape: (..., dim)
        mean = self.mean(x)
        if not self.training:
            return mean
        deviation = torch.exp(self.log_variance(x) / 2)
        return mean + deviation * torch.randn_like(mean) * LATENT_SCALE


def slot_loss(scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
    """Return the sum over sentences of the mean cross-entropy of their tokens.

    The sum over sentences, where the intent's loss is a mean, is the authors' code: the slots
    weigh ``batch_size`` times as much in Adam's moments of the encoder.

    Args:
        scores: of the slot head. ``(batch, length, tags)``
        tags: gold numbers. ``(batch, length)``
        mask: True on tokens, right-padded. ``(batch, length)``
    """
    # shape: (tokens,); 1 / length of the token's sentence
    weights = (mask / mask.sum(1, keepdim=True))[mask]
    return (functional.cross_entropy(scores[mask], tags[mask], reduction="none") * weights).sum()


class NLUModel(nn.Module):
    """Encoder with an intent head and a slot head, both a latent variable and a linear layer.

    Slots have no CRF (the authors' code, its README).

    Args:
        encoder: the encoder and its sizes: all that differs between the rows of Table 3.
        input_dim: dimension of the word vectors.
        n_intents: number of intents.
        n_tags: number of BIO tags.

    Example:
        >>> model = NLUModel(EncoderSettings(kind="bilstm", hidden_dim=4), 8, 3, 5).eval()
        >>> x, mask = torch.zeros(2, 4, 8), torch.ones(2, 4, dtype=torch.bool)
        >>> [tuple(scores.shape) for scores in model(x, mask)]
        [(2, 3), (2, 4, 5)]
    """

    def __init__(
        self, encoder: EncoderSettings, input_dim: int, n_intents: int, n_tags: int
    ) -> None:
        super().__init__()
        self.dropout = nn.Dropout(INPUT_DROPOUT)
        self.encoder = build_encoder(encoder, input_dim)
        width = self.encoder.output_dim
        self.pooling = AttentionPooling(width)
        nn.init.uniform_(self.pooling.vector, -POOLING_RANGE, POOLING_RANGE)
        self.intent = nn.Sequential(LatentVariable(width), nn.Linear(LATENT_DIM, n_intents))
        self.slots = nn.Sequential(LatentVariable(width), nn.Linear(LATENT_DIM, n_tags))

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores of intents and of slots; in training with noise and dropout.

        Args:
            x: word vectors. (batch, length, input_dim)
            mask: True on tokens, right-padded. (batch, length)

        Returns:
            (batch, intents) and (batch, length, tags)
        """
        if self.training:
            x = x + NOISE * torch.randn_like(x)
        # shape: (batch, length, width)
        states = self.encoder(self.dropout(x), mask)
        return self.intent(self.pooling(states, mask)), self.slots(states)

    def losses(
        self, x: Tensor, intents: Tensor, tags: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the intent loss and the slot loss of one forward pass.

        Args:
            x: word vectors. (batch, length, input_dim)
            intents: gold intent numbers. (batch,)
            tags: gold tag numbers. (batch, length)
            mask: True on tokens, right-padded. (batch, length)
        """
        of_intents, of_slots = self(x, mask)
        return functional.cross_entropy(of_intents, intents), slot_loss(of_slots, tags, mask)


# ---- delexicalisation: times, dates and numbers become marks
#
# A mark has the same vector in all languages, so what it stands for transfers whole. The rules are
# those of the authors' code (``clean_text``), in its order; the first that fits decides. A rule
# looks at the beginning of a token unless it ends in ``$``.

MARKS = ("<TIME>", "<LAST>", "<DATE>", "<LOCATION>", "<NUMBER>")
_THAI = "[\u0e00-\u0e7f]"

Rule = tuple[re.Pattern[str], str]


def _rules(*pairs: tuple[str, str]) -> tuple[Rule, ...]:
    return tuple((re.compile(pattern), mark) for pattern, mark in pairs)


_THAI_TIMES = _rules((rf"{_THAI}+\d+|\d+\.*\d*{_THAI}+|\d+\.\d+", "<TIME>"))
_TIMES = _rules((r"\d+[ap]|\d+[;.h]\d+|[ap]\.[am]|\d{3}$", "<TIME>"))
_ENGLISH = _rules((r"\d+(min|h|sec)", "<LAST>"), (r"\d+(st|nd|rd|th)", "<DATE>"))
_CODES = _rules((r"\d{5}$", "<LOCATION>"))
_NUMBERS = _rules((r"\d+$", "<NUMBER>"))
_CLITICS = ("'s", "'ll", "'ve", "'d", "'m")


def delexicalised(tokens: Sequence[str], language: str) -> tuple[str, ...]:
    """Return the tokens with marks in place of times, durations, dates, codes and numbers.

    Args:
        tokens: words of one utterance.
        language: its code: English has rules for durations, dates and clitics besides, Thai its
            own for times.

    Example:
        >>> delexicalised(["zorp", "7pm", "3rd", "20min", "12", "zorp's"], "en")
        ('zorp', '<TIME>', '<DATE>', '<LAST>', '<NUMBER>', 'zorp')
    """
    english = language == "en"
    if language == "th":
        rules = _THAI_TIMES + _NUMBERS
    else:
        rules = _TIMES + (_ENGLISH if english else ()) + _CODES + _NUMBERS
    return tuple(_replaced(token, rules, english) for token in tokens)


def _replaced(token: str, rules: Sequence[Rule], english: bool) -> str:
    mark = next((mark for pattern, mark in rules if pattern.match(token)), None)
    if mark or not english:
        return mark or token
    clitic = next((clitic for clitic in _CLITICS if clitic in token), "")
    return "not" if "n't" in token else token.replace(clitic, "")


class WithMarks(WordVectors):
    """Word vectors, and one vector per mark for all languages; nothing is left of ``""``: zero.

    Args:
        others: vectors of all that is no mark.
    """

    def __init__(self, others: WordVectors) -> None:
        super().__init__()
        self.others, self.dim = others, others.dim
        draw = np.random.default_rng(MARK_SEED)
        drawn = draw.normal(0.0, MARK_STD, (len(MARKS), self.dim)).astype(working_dtype())
        self.marks = dict(zip(MARKS, drawn, strict=True))

    def find(self, language: str, words: Sequence[str]) -> list[tuple[np.ndarray, int]]:
        """Return each word's vector and how it was found: 0 unknown, 1 exact, 2 back-off."""
        plain = [word for word in words if word and word not in self.marks]
        known = dict(zip(plain, zip(*self.others.lookup(language, plain), strict=True)))
        known |= {mark: (vector, EXACT) for mark, vector in self.marks.items()}
        none = np.zeros(self.dim, dtype=working_dtype()), UNKNOWN
        return [known.get(word, none) for word in words]


# ---- data


Labels = tuple[TagSet, TagSet]  # that the source language teaches: intents, tags of slots


@dataclass(frozen=True)
class NLUSplit:
    """One split of one language, ready to batch, with its labels as the corpus has them.

    Attributes:
        encoded: rows of vectors and tag numbers.
        intents: numbers of the intents, -1 for one that the source does not have. (sentences,)
        gold_intents: names of the intents.
        gold_slots: BIO tags of each sentence.
    """

    encoded: EncodedSplit
    intents: torch.Tensor
    gold_intents: list[str]
    gold_slots: list[tuple[str, ...]]


def known_labels(sentences: Sequence[Sentence]) -> Labels:
    """Return the intents and slots of the source training sentences, each B- with its I-."""
    tags = span_tags(labels(s, "SF") for s in sentences)
    return TagSet([str(s.intent) for s in sentences]), tags


def encoded(
    source: Source, language: str, sentences: Sequence[Sentence], known: Labels
) -> NLUSplit:
    """Return delexicalised sentences as rows of vectors, tag numbers and intent numbers.

    Args:
        source: whose vectors they get.
        language: code of the sentences' language.
        sentences: the sentences.
        known: labels of the source language.
    """
    (intents, tags), vectors = known, WithMarks(source.vectors)
    tokens = [delexicalised(s.tokens, language) for s in sentences]
    gold, names = [labels(s, "SF") for s in sentences], [str(s.intent) for s in sentences]
    # shape: (sentences,)
    numbers = torch.tensor([intents.number(name) for name in names])
    return NLUSplit(encode(language, tokens, gold, tags, vectors), numbers, names, gold)


# ---- training and evaluation


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial.

    Cells: ``"es/intent accuracy"`` and ``"es/slot F1"`` (percent) per target; ``details`` holds
    the source's test scores too, the learning curve and the full settings.
    """
    settings: NLUSettings = trial.typed(NLUSettings)
    (system,) = trial.systems
    source = Source.of(settings, "SF")
    model, known, curve = trained(settings, source, trial.seed, context)
    scores = {}
    for language in (settings.source, *settings.targets):
        test = encoded(source, language, source.sentences(language, "test"), known)
        scores[language] = evaluated(model, test, known, context.device)
    of_intents, of_slots = metrics.accuracy_signature("sentence"), metrics.span_f1_signature()
    named = {column: column.split("/", 1) for column in trial.columns}
    cells = [Cell(system, c, scores[code][what], what) for c, (code, what) in named.items()]
    return TrialResult(
        cells=cells,
        details={**learning(settings, model, curve, "dev_f1"), "scores": scores},
        signatures={INTENT: of_intents, SLOTS: of_slots},
        training_tokens=curve.tokens,
        training_seconds=curve.seconds,
        stopped=curve.stopped,
    )


def trained(
    settings: NLUSettings, source: Source, seed: int, context: TrialContext
) -> tuple[NLUModel, Labels, Fit]:
    """Train on the source language and keep the epoch of the best source dev slot F1."""
    language = settings.source
    sentences = source.sentences(language, "train")
    known = known_labels(sentences)
    train = encoded(source, language, sentences, known)
    dev = encoded(source, language, source.sentences(language, "dev"), known)
    device = context.device
    torch.manual_seed(seed)
    table = train.encoded.table.to(device)
    model = NLUModel(settings.encoder, table.shape[1], *map(len, known)).to(device)
    adam = torch.optim.Adam(model.parameters(), lr=settings.learning_rate, fused=True)
    generator = np.random.default_rng(seed)

    def batches(round_: int) -> Iterator[Batch]:
        return shuffled_batches(train.encoded, settings.batch_size, generator)

    def step(batch: Batch) -> Step:
        """Take the batch's two steps; its loss is intent loss plus slot loss, per sentence."""
        intents, on_device = train.intents[batch.indices].to(device), batch.to(device)
        # shape: (batch, length, dim)
        x = table[on_device.rows]
        losses = model.losses(x, intents, on_device.tags, on_device.mask)
        two_steps(model, losses, adam)
        sentences = len(batch.indices)
        intent_loss, slot_loss = (float(loss.detach()) for loss in losses)
        # a mean over sentences and a sum over them
        total = intent_loss * sentences + slot_loss
        return Step(total, count=sentences, tokens=int(batch.mask.sum()))

    def dev_score() -> float:
        return evaluated(model, dev, known, device)[SLOTS]

    learner = BatchLearner(model, batches, step, dev_score)
    return model, known, fit(learner, settings.epochs, settings.patience, context.progress)


def two_steps(
    model: NLUModel, losses: tuple[Tensor, Tensor], optimizer: torch.optim.Optimizer
) -> None:
    """Take one optimiser step on the intent loss, then one on the slot loss.

    Both gradients are those of the same forward pass, as in the authors' code. A head whose loss
    it is not stays where it is; the encoder moves twice.

    Args:
        model: whose parameters move.
        losses: intent loss and slot loss of one forward pass.
        optimizer: over all parameters of ``model``.
    """
    parameters = list(model.parameters())
    intent_loss, slot_loss = losses
    both = [
        torch.autograd.grad(intent_loss, parameters, retain_graph=True, allow_unused=True),
        torch.autograd.grad(slot_loss, parameters, allow_unused=True),
    ]
    for gradients in both:
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def evaluated(model: NLUModel, split: NLUSplit, known: Labels, device: str) -> dict[str, float]:
    """Return intent accuracy and slot F1 (percent, conlleval's rules).

    An intent or slot that the source language does not have counts as missed.
    """
    table, rows = split.encoded.table.to(device), split.encoded.rows

    def predict(batch: Batch) -> list[tuple[int, list[int]]]:
        on_device = batch.to(device)
        # shape: (batch, intents) and (batch, length, tags)
        of_intents, of_slots = model(table[on_device.rows], on_device.mask)
        best = of_slots.argmax(-1)[on_device.mask].split([len(rows[i]) for i in batch.indices])
        slots = [row.tolist() for row in best]
        return list(zip(of_intents.argmax(-1).tolist(), slots, strict=True))

    predicted = in_order(model, ordered_batches(split.encoded), predict)
    intents, tags = (kind.names for kind in known)
    return {
        INTENT: metrics.accuracy(split.gold_intents, [intents[number] for number, _ in predicted]),
        SLOTS: metrics.span_f1(split.gold_slots, [[tags[n] for n in row] for _, row in predicted]),
    }
