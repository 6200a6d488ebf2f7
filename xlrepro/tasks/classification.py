"""Classify texts, or pairs of them, from states of an encoder."""

from torch import Tensor, nn


class StateClassifier(nn.Module):
    """A hidden layer and a linear one over a vector per example.

    Args:
        dim: width of the vectors.
        hidden: width of the hidden layer.
        n_labels: number of labels.
        dropout: before either layer.

    Example:
        >>> import torch
        >>> StateClassifier(dim=6, hidden=4, n_labels=3, dropout=0.1)(torch.zeros(5, 6)).shape
        torch.Size([5, 3])
    """

    def __init__(self, dim: int, hidden: int, n_labels: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(dim, hidden),
            nn.Tanh(),
            nn.Dropout(dropout),
            nn.Linear(hidden, n_labels),
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """Return a score per label, ``(examples, labels)``, for vectors ``(examples, dim)``."""
        scores: Tensor = self.layers(vectors)
        return scores
