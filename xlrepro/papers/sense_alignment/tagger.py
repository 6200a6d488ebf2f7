"""BiLSTM-CRF on frozen contextual vectors (Table 3), chosen on English dev."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.nn.crf import LinearChainCRF
from xlrepro.nn.recurrent import BiLSTM
from xlrepro.papers.sense_alignment.settings import TaggerSettings
from xlrepro.tasks.tagging import TaggedSplit, score, tagger_learner
from xlrepro.training.batches import predicted_tags
from xlrepro.training.loop import Fit, Progress, compute_repeatably, fit
from xlrepro.training.settings import FitSettings
from xlrepro.vectors.encoding import Batch, EncodedSplit, TagSet


class FeatureTagger(nn.Module):
    """Dropout, BiLSTM, linear layer, CRF.

    Args:
        dim: width of the features.
        tags: names of the tags.
        settings: sizes and dropout.
    """

    def __init__(self, dim: int, tags: TagSet, settings: TaggerSettings) -> None:
        super().__init__()
        self.tags = tags
        self.before = nn.Dropout(settings.dropout)
        self.encoder = BiLSTM(dim, settings.hidden_dim, layers=1, dropout=settings.dropout)
        self.linear = nn.Linear(self.encoder.output_dim, len(tags))
        self.crf = LinearChainCRF(len(tags))

    def emissions(self, batch: Batch, table: Tensor) -> Tensor:
        """Return ``(batch, length, tags)``.

        Args:
            batch: places of the features in the table.
            table: features of all words of all sentences. ``(words + 1, dim)``
        """
        # shape: (batch, length, dim)
        x = functional.embedding(batch.rows, table)
        emissions: Tensor = self.linear(self.encoder(self.before(x), batch.mask))
        return emissions

    def loss(self, batch: Batch, table: Tensor) -> Tensor:
        """Return the mean negative log-likelihood of the sentences' tags."""
        loss: Tensor = self.crf(self.emissions(batch, table), batch.tags, batch.mask)
        return loss

    def predict(self, batch: Batch, table: Tensor) -> Tensor:
        """Return the best tag numbers, ``(batch, length)``."""
        return self.crf.decode(self.emissions(batch, table), batch.mask)


def tag_set(gold: Sequence[Sequence[str]]) -> TagSet:
    """Return ``O`` and each kind's ``B-`` and ``I-``.

    Example:
        >>> tag_set([["O", "I-PER"]]).names
        ('B-PER', 'I-PER', 'O')
    """
    kinds = {tag[2:] for tags in gold for tag in tags if tag != "O"}
    return TagSet(["O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI")])


def tagged(vectors: Sequence[Tensor], gold: Sequence[Sequence[str]], tags: TagSet) -> TaggedSplit:
    """Return sentences as a table with a row per word, and their tags.

    Args:
        vectors: per sentence ``(length, dim)``.
        gold: per sentence the names of its words' tags.
        tags: those that a tagger knows.
    """
    # shape: (words + 1, dim); row 0 is padding
    table = torch.cat([vectors[0].new_zeros(1, vectors[0].shape[1]), *vectors])
    rows = torch.arange(1, len(table)).split([len(x) for x in vectors])
    numbers = [torch.tensor([tags.number(name) for name in names]) for names in gold]
    return TaggedSplit(EncodedSplit("", table, list(rows), numbers), [tuple(t) for t in gold])


def train(
    train_set: TaggedSplit,
    dev_set: TaggedSplit,
    tags: TagSet,
    settings: TaggerSettings,
    seed: int,
    device: str = "cpu",
    progress: Progress = lambda fraction, text: None,
) -> tuple[FeatureTagger, Fit]:
    """Train a tagger; return it with the weights of its best English dev epoch.

    Args:
        train_set: English sentences.
        dev_set: English sentences that the epoch is chosen on.
        tags: those of the training sentences.
        settings: sizes and training.
        seed: of weights, dropout and batches.
        device: where to train.
        progress: called with the fraction done and a short text.
    """
    torch.manual_seed(seed)
    compute_repeatably(device)
    table = train_set.encoded.table
    tagger = FeatureTagger(table.shape[1], tags, settings).to(table.dtype).to(device)
    values = settings.model_dump(exclude={"hidden_dim", "dropout"})
    fitting = FitSettings(**values, schedule="constant", warmup_steps=0)

    def dev_score() -> float:
        return f1(tagger, dev_set, device)

    learner = tagger_learner(tagger, train_set.encoded, dev_score, fitting, seed, device)
    return tagger, fit(learner, settings.epochs, settings.patience, progress)


def f1(tagger: FeatureTagger, split: TaggedSplit, device: str) -> float:
    """Return the F1 of spans, percent."""
    predicted = predicted_tags(tagger, split.encoded, device)
    return score("NER", split.gold, predicted, tagger.tags)
