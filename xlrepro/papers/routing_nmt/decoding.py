"""Greedy decoding of a batch: attention keys computed once, a sentence ends at its end or limit."""

from collections.abc import Sequence

import torch
from torch import Tensor

from xlrepro.papers.routing_nmt.model import END, PAD, START, MultiTaskModel


@torch.inference_mode()
def greedy(
    model: MultiTaskModel, task: str, source: Tensor, lengths: Tensor, limits: Sequence[int]
) -> list[list[int]]:
    """Return the likeliest next token after each other, until the end or the limit.

    Args:
        model: in evaluation mode.
        task: name of the task.
        source: ``(batch, length)``, padded on the right.
        lengths: tokens of each source sentence, ``(batch,)``.
        limits: the most tokens for each sentence.

    Returns:
        The tokens of each sentence, without start and end.
    """
    memory = model.encode(task, source, lengths)
    readout, decoder = model.readout(task), model.decoder.tied(task, memory)
    state = decoder.start()
    last = torch.full((len(source),), START, device=source.device)
    most = torch.tensor(list(limits), device=source.device)
    done = most <= 0
    tokens = []
    for step in range(max(limits, default=0)):
        # shape: (1, batch, embedding)
        words = readout.embedding(last).unsqueeze(0)
        state = decoder.step(decoder.project(words)[0], state)
        scores = readout(decoder.output(state), state.context, words[0])
        scores[:, PAD] = scores[:, START] = -torch.inf  # they are no output
        last = scores.argmax(-1).masked_fill(done, END)
        tokens.append(last)
        done = done | (last == END) | (most <= step + 1)
        if bool(done.all()):
            break
    rows = torch.stack(tokens, 1).tolist() if tokens else [[] for _ in limits]
    return [_until_end(row[:limit]) for row, limit in zip(rows, limits, strict=True)]


def _until_end(tokens: list[int]) -> list[int]:
    return tokens[: tokens.index(END)] if END in tokens else tokens
