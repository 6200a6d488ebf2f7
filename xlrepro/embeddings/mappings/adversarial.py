"""What MUSE and UMWE share: the discriminator, the orthogonality update, the criterion."""

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from xlrepro.embeddings.mappings.csls import translate


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
