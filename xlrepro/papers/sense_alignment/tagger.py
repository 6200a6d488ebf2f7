"""BiLSTM-CRF on frozen contextual vectors (Table 3), chosen on English dev."""

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from xlrepro import metrics
from xlrepro.nn.crf import LinearChainCRF
from xlrepro.nn.recurrent import BiLSTM
from xlrepro.papers.sense_alignment.settings import TaggerSettings
from xlrepro.tasks.classification import Fit
from xlrepro.training.repeatable import compute_repeatably

EVALUATION_TOKENS = 8192  # padded words of an evaluation batch


@dataclass(frozen=True)
class Tagged:
    """Sentences as features and tags.

    Attributes:
        vectors: per sentence ``(length, dim)``.
        tags: per sentence the names of its words' tags.
    """

    vectors: Sequence[Tensor]
    tags: Sequence[Sequence[str]]

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.vectors)


class FeatureTagger(nn.Module):
    """Dropout, BiLSTM, linear layer, CRF.

    Args:
        dim: width of the features.
        names: of the tags.
        settings: sizes and dropout.
    """

    def __init__(self, dim: int, names: Sequence[str], settings: TaggerSettings) -> None:
        super().__init__()
        self.names = tuple(names)
        self.before = nn.Dropout(settings.dropout)
        self.encoder = BiLSTM(dim, settings.hidden_dim, layers=1, dropout=settings.dropout)
        self.linear = nn.Linear(self.encoder.output_dim, len(self.names))
        self.crf = LinearChainCRF(len(self.names))

    def emissions(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return ``(batch, length, tags)`` for ``(batch, length, dim)``."""
        found: Tensor = self.linear(self.encoder(self.before(x), mask))
        return found


def tag_names(tags: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return ``O`` and each kind's ``B-`` and ``I-``, sorted.

    Example:
        >>> tag_names([["O", "I-PER"]])
        ('B-PER', 'I-PER', 'O')
    """
    kinds = {tag[2:] for sentence in tags for tag in sentence if tag != "O"}
    return tuple(sorted({"O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI")}))


def train(
    train_set: Tagged,
    dev_set: Tagged,
    settings: TaggerSettings,
    seed: int,
    device: str = "cpu",
    progress: Callable[[float, str], None] = lambda fraction, text: None,
) -> tuple[FeatureTagger, Fit]:
    """Train a tagger; return it with the weights of its best English dev epoch.

    Args:
        train_set: English sentences.
        dev_set: English sentences that the epoch is chosen on.
        settings: sizes and training.
        seed: of weights, dropout and batches.
        device: where to train.
        progress: called with the fraction done and a short text.
    """
    torch.manual_seed(seed)
    compute_repeatably(device)
    names = tag_names(train_set.tags)
    number = {name: i for i, name in enumerate(names)}
    gold = [torch.tensor([number[tag] for tag in tags]) for tags in train_set.tags]
    first = train_set.vectors[0]
    tagger = FeatureTagger(first.shape[1], names, settings).to(first.dtype).to(device)
    optimizer = torch.optim.Adam(tagger.parameters(), lr=settings.learning_rate)
    random = np.random.default_rng(seed)
    fit, best = Fit(), copy.deepcopy(tagger.state_dict())
    for epoch in range(settings.epochs):
        started, losses = time.perf_counter(), []
        tagger.train()
        for rows in _shuffled(train_set, settings.batch_size, random):
            x, mask = _padded([train_set.vectors[row] for row in rows], device)
            tags = nn.utils.rnn.pad_sequence([gold[row] for row in rows], batch_first=True)
            optimizer.zero_grad(set_to_none=True)
            loss = tagger.crf(tagger.emissions(x, mask), tags.to(device), mask, reduction="mean")
            loss.backward()
            nn.utils.clip_grad_norm_(tagger.parameters(), settings.clip_norm)
            optimizer.step()
            losses.append(loss.item())
        fit.seconds += time.perf_counter() - started
        fit.seen += sum(map(len, gold))
        fit.losses.append(round(sum(losses) / len(losses), 4))
        fit.dev_scores.append(f1(tagger, dev_set, device))
        if fit.best_epoch < 0 or fit.dev_scores[-1] > fit.dev_scores[fit.best_epoch]:
            fit.best_epoch, best = epoch, copy.deepcopy(tagger.state_dict())
        progress((epoch + 1) / (settings.epochs + 1), f"dev {fit.dev_scores[-1]:.2f}")
        if epoch - fit.best_epoch >= settings.patience:
            break
    tagger.load_state_dict(best)
    return tagger, fit


@torch.no_grad()
def predict(tagger: FeatureTagger, vectors: Sequence[Tensor], device: str) -> list[list[str]]:
    """Return the best tags of each sentence."""
    tagger.eval()
    found: list[list[str]] = [[]] * len(vectors)
    order = sorted(range(len(vectors)), key=lambda i: -len(vectors[i]))
    start = 0
    while start < len(order):
        rows = order[start : start + max(1, EVALUATION_TOKENS // len(vectors[order[start]]))]
        x, mask = _padded([vectors[row] for row in rows], device)
        tags = tagger.crf.decode(tagger.emissions(x, mask), mask).tolist()
        for row, numbers in zip(rows, tags, strict=True):
            found[row] = [tagger.names[n] for n in numbers[: len(vectors[row])]]
        start += len(rows)
    return found


def f1(tagger: FeatureTagger, examples: Tagged, device: str) -> float:
    """Return the F1 of spans, percent."""
    return metrics.span_f1(examples.tags, predict(tagger, examples.vectors, device))


def _padded(vectors: Sequence[Tensor], device: str) -> tuple[Tensor, Tensor]:
    lengths = torch.tensor([len(x) for x in vectors])
    x = nn.utils.rnn.pad_sequence(list(vectors), batch_first=True)
    return x.to(device), (torch.arange(x.shape[1]) < lengths[:, None]).to(device)


def _shuffled(examples: Tagged, size: int, random: np.random.Generator) -> Iterator[list[int]]:
    """Yield every sentence once, in batches of similar length, in random order."""
    lengths = np.array([len(x) for x in examples.vectors], dtype=np.float64)
    order = np.argsort(lengths + random.uniform(0.0, 2.0, len(lengths)), kind="stable")
    batches = [order[i : i + size].tolist() for i in range(0, len(order), size)]
    for b in random.permutation(len(batches)):
        yield batches[b]
