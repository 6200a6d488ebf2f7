"""What MUSE and UMWE share: the discriminator, the orthogonality update, the criterion."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from xlrepro.embeddings.mappings.csls import translate


@dataclass(frozen=True)
class AdversarialSettings:
    """Settings of adversarial training; the defaults are those of Conneau et al. (2018), §3.

    Attributes:
        hidden: units of the discriminator's two hidden layers.
        input_dropout: of the discriminator.
        smoothing: how far its labels are from 0 and 1.
        batch_size: words of each language per step.
        epochs: after each the criterion is taken.
        epoch_steps: updates of the maps per epoch. (The text gives no length of an epoch; a
            million words is our reading of its cost: 31,250 steps x 32 words.)
        discriminator_steps: updates of the discriminator per update of the maps.
        learning_rate: of plain SGD, on both sides.
        decay: of the learning rate, per epoch.
        shrink: factor of the learning rate when the criterion falls.
        beta: of the orthogonality update (Eq. 7).
        frequent: most frequent words that the discriminator sees.
        criterion_words: most frequent words that the criterion is taken over.
        refinements: rounds of refinement after it.
        refinement_words: most frequent words that the dictionary of a refinement comes from.
    """

    hidden: int = 2048
    input_dropout: float = 0.1
    smoothing: float = 0.2
    batch_size: int = 32
    epochs: int = 5
    epoch_steps: int = 31_250
    discriminator_steps: int = 1
    learning_rate: float = 0.1
    decay: float = 0.95
    shrink: float = 0.5
    beta: float = 0.01
    frequent: int = 50_000
    criterion_words: int = 10_000
    refinements: int = 5
    refinement_words: int = 15_000


class Discriminator(nn.Module):
    """Tells whether a vector is a language's own or was mapped into its space (§2.1).

    Args:
        dim: of the vectors.
        hidden: units of its two layers.
        dropout: on the input.
    """

    def __init__(self, dim: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(dim, hidden),
            nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.2),
            nn.Linear(hidden, 1),
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """Return a logit per row, ``(batch,)``: above 0 for the language's own."""
        # shape: (batch, dim) -> (batch,)
        return self.layers(vectors).squeeze(1)  # type: ignore[no-any-return]


def origin_loss(logits: Tensor, own: bool, smoothing: float) -> Tensor:
    """Return the mean cross-entropy of calling all vectors a language's own, or mapped.

    Args:
        logits: of the discriminator. ``(batch,)``
        own: whether the vectors are the language's own.
        smoothing: taken from the label 1, or added to 0.
    """
    label = 1 - smoothing if own else smoothing
    return binary_cross_entropy_with_logits(logits, torch.full_like(logits, label))


@torch.no_grad()
def orthogonalise(w: Tensor, beta: float) -> None:
    """Move W towards the orthogonal matrices, in place: W ← (1 + β) W − β (W Wᵀ) W (Eq. 7).

    Args:
        w: W, changed. ``(dim, dim)``
        beta: β, the size of the step.
    """
    w.copy_((1 + beta) * w - beta * (w @ w.T) @ w)


def nearest_orthogonal(w: Tensor) -> Tensor:
    """Return the orthogonal matrix nearest to W, both ``(dim, dim)``."""
    u, _, vh = torch.linalg.svd(w)
    return u @ vh


def frequent_words(words: int, batch: int, device: torch.device | str) -> Tensor:
    """Draw rows evenly from the most frequent words, int64 ``(batch,)``; from the global chance."""
    return torch.randint(words, (batch,), device=device)


@torch.no_grad()
def mean_cosine(x: Tensor, y: Tensor, words: int) -> float:
    """Return the unsupervised criterion of a map (§3.4).

    It is the mean cosine of the most frequent words of x and their best translations by CSLS.

    Args:
        x: mapped vectors, rows of length 1, ``(n, dim)``.
        y: rows of length 1, ``(m, dim)``.
        words: most frequent words of either.
    """
    return float(translate(x[:words], y[:words]).forward_cosine.mean())
