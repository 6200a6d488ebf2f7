"""Reading padded sentences from their ends."""

import torch
from torch import Tensor


def mirrored_steps(lengths: Tensor, length: int) -> Tensor:
    """Return where each token stands once every sentence is reversed at its own length.

    Indexing with the result and the batch reverses a time-major batch; padding stays where it is.
    Reversing twice gives the batch back.

    Args:
        lengths: ``(batch,)`` number of tokens.
        length: of the padded batch.

    Returns:
        ``(length, batch)``.

    Example:
        >>> mirrored_steps(torch.tensor([3, 2]), 3).T
        tensor([[2, 1, 0],
                [1, 0, 2]])
    """
    # shape: (length, 1), against (batch,)
    step = torch.arange(length, device=lengths.device).unsqueeze(1)
    return torch.where(step < lengths, lengths - 1 - step, step)
