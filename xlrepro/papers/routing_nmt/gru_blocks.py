"""GRU cells side by side: the blocks of a unit (§2.2; Cho et al. 2014, Eq. 5 to 8)."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from xlrepro.papers.routing_nmt.products import LoopProduct

ResetGate = Literal["before", "after", "unused"]


class GruBlocks(nn.Module):
    """The weights of some blocks of the same sizes; `TiedBlocks` computes with them.

    Gates stand in the order reset, update, candidate, as in `torch.nn.GRUCell`. Matrices start
    from Glorot's uniform distribution, each gate by itself, and biases at zero, as DyNet does it.

    Args:
        count: number of blocks.
        input_dim: width of the input.
        hidden_dim: width of each block's state.
    """

    def __init__(self, count: int, input_dim: int, hidden_dim: int) -> None:
        super().__init__()
        # shape: (blocks, input, 3 * hidden), (blocks, hidden, 3 * hidden), (blocks, 1, 3 * hidden)
        self.input_weight = nn.Parameter(torch.empty(count, input_dim, 3 * hidden_dim))
        self.recurrent_weight = nn.Parameter(torch.empty(count, hidden_dim, 3 * hidden_dim))
        self.bias = nn.Parameter(torch.zeros(count, 1, 3 * hidden_dim))
        for weight in (self.input_weight, self.recurrent_weight):
            for block in weight.detach():
                for gate in block.split(hidden_dim, dim=1):
                    nn.init.xavier_uniform_(gate)


class TiedBlocks:
    """The blocks that one task uses, their weights brought together for one batch.

    Args:
        parts: blocks, the shared ones first.
        reset_gate: ``"before"``: tanh(Wx + U(r * h) + b), as Cho et al. (2014) print it and DyNet
            computes it; ``"after"``: tanh(Wx + r * (Uh) + b), as torch and cuDNN compute it;
            ``"unused"``: tanh(Wx + Uh + b), the paper's formula to the letter.
    """

    def __init__(self, parts: Sequence[GruBlocks], reset_gate: ResetGate) -> None:
        self.reset_gate = reset_gate
        self.input_weight = _joined([part.input_weight for part in parts])
        self.bias = _joined([part.bias for part in parts])
        recurrent = _joined([part.recurrent_weight for part in parts])
        self.count, self.hidden_dim = recurrent.shape[:2]
        if reset_gate == "before":
            gates = 2 * self.hidden_dim
            self._to_gates = LoopProduct(recurrent[..., :gates])
            self._to_candidate = LoopProduct(recurrent[..., gates:])
        else:
            self._to_all = LoopProduct(recurrent)

    def project(self, x: Tensor, first: int = 0) -> Tensor:
        """Return the input's part of all gates without biases, for a whole sequence at once.

        Args:
            x: ``(length, batch, width)``.
            first: x holds the columns ``first`` to ``first + width`` of the input.

        Returns:
            ``(blocks, length, batch, 3 * hidden)``.
        """
        length, batch, width = x.shape
        rows = x.reshape(1, length * batch, width).expand(self.count, -1, -1)
        projected = torch.bmm(rows, self.input_weight[:, first : first + width])
        return projected.view(self.count, length, batch, -1)

    def step(self, inputs: Tensor, states: Tensor) -> Tensor:
        """Return the next states.

        Args:
            inputs: the input's part of the gates with biases, ``(blocks, batch, 3 * hidden)``.
            states: ``(blocks, batch, hidden)``.
        """
        # shape: (blocks, batch, 2 * hidden) and (blocks, batch, hidden)
        gates, candidate = inputs.split((2 * self.hidden_dim, self.hidden_dim), -1)
        if self.reset_gate == "before":
            reset, update = self._to_gates(states, gates).sigmoid().chunk(2, -1)
            candidate = self._to_candidate(reset * states, candidate).tanh()
        elif self.reset_gate == "after":
            to_gates, to_candidate = self._to_all(states).split(
                (2 * self.hidden_dim, self.hidden_dim), -1
            )
            reset, update = (gates + to_gates).sigmoid().chunk(2, -1)
            candidate = torch.addcmul(candidate, reset, to_candidate).tanh()
        else:
            _, update, candidate = self._to_all(states, inputs).chunk(3, -1)
            update, candidate = update.sigmoid(), candidate.tanh()
        # z * h + (1 - z) * candidate
        return torch.lerp(candidate, states, update)


def _joined(weights: Sequence[Tensor]) -> Tensor:
    return weights[0] if len(weights) == 1 else torch.cat(list(weights))
