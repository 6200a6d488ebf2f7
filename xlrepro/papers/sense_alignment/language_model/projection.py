"""Algorithm 2: the projection that senses are chosen in, from a queue of the latest states."""

import torch
from torch import Tensor, nn


class QueueProjection(nn.Module):
    """P, first random, then the leading principal components of the last Q states.

    Args:
        dim: d, width of a state.
        reduced: d', components; at most ``dim``.
        size: Q.
        centred: whether states and centres are projected as differences from the queue's mean.

    Attributes:
        matrix: P, ``(dim, reduced)``; no gradient reaches it.
        origin: what is subtracted before P; zero unless ``centred``. ``(dim,)``

    Example:
        >>> projection = QueueProjection(4, 2, 100)
        >>> projection.add(torch.randn(10, 4)); projection.update()
        >>> projection.matrix.shape
        torch.Size([4, 2])
    """

    matrix: Tensor
    origin: Tensor
    queue: Tensor
    seen: Tensor

    def __init__(self, dim: int, reduced: int, size: int, centred: bool = False) -> None:
        super().__init__()
        self.centred = centred
        self.register_buffer("origin", torch.zeros(dim))
        self.register_buffer("matrix", torch.randn(dim, min(dim, reduced)))
        self.register_buffer("queue", torch.zeros(size, dim))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def add(self, states: Tensor) -> None:
        """Let states, ``(n, dim)``, enter the queue; the oldest leave it."""
        size = len(self.queue)
        # shape: (n, dim), the latest Q at most; (n,)
        kept = states.detach()[-size:]
        first = int(self.seen) + len(states) - len(kept)
        places = (torch.arange(len(kept), device=kept.device) + first) % size
        self.queue[places] = kept.to(self.queue.dtype)
        self.seen += len(states)

    def update(self) -> None:
        """Make P the first components of the queue; nothing changes while it holds too few.

        The components are always those of the centred states.
        """
        # shape: (states, dim)
        states = self.queue[: min(int(self.seen), len(self.queue))]
        if len(states) <= self.matrix.shape[1]:
            return
        mean = states.mean(0)
        centred = states - mean
        if self.centred:
            self.origin.copy_(mean)
        # Columns in the order of rising variance; the sign of a column changes no cosine.
        # shape: (dim, dim)
        _, vectors = torch.linalg.eigh(centred.T @ centred)
        self.matrix.copy_(vectors[:, -self.matrix.shape[1] :].flip(1))

    def project(self, x: Tensor) -> Tensor:
        """Return states or centres ``(…, dim)`` after projection, ``(…, reduced)``."""
        return (x - self.origin) @ self.matrix if self.centred else x @ self.matrix
