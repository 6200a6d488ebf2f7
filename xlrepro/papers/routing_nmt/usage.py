"""How much each task uses each shared block (Figure 2): the mean of tau over source tokens."""

from collections.abc import Sequence

import torch

from xlrepro.papers.routing_nmt.batches import ordered_batches
from xlrepro.papers.routing_nmt.data.encoding import Example
from xlrepro.papers.routing_nmt.model import MultiTaskModel

BATCH = 64


def block_usage(
    model: MultiTaskModel, task: str, examples: Sequence[Example], device: str = "cpu"
) -> list[float]:
    """Return the mean of tau over all source tokens and the encoder's directions, per block.

    The task's tag at the sentence's start is a token like any other.
    """
    model.eval()
    total, tokens = torch.zeros(()), 0
    with torch.inference_mode():
        for batch in ordered_batches(examples, BATCH):
            moved = batch.to(device)
            memory = model.encode(task, moved.source, moved.lengths)
            assert memory.taus is not None
            # shape: (directions, length, batch, blocks), zero at padding
            taus = memory.taus.double() * memory.mask.T[None, :, :, None]
            total = total + taus.sum((1, 2)).mean(0).cpu()
            tokens += int(moved.lengths.sum())
        return [round(float(share), 6) for share in total / tokens]
