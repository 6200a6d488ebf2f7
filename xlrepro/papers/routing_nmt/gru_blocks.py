"""GRU cells side by side: the blocks of a unit (§2.2; Cho et al. 2014, Eq. 5 to 8)."""

from typing import Literal

import torch
from torch import Tensor, nn

ResetGate = Literal["before", "after", "unused"]


class GruBlocks(nn.Module):
    """The weights of some blocks of the same sizes; `BlocksTape` and `next_states` compute.

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


def next_states(inputs: Tensor, states: Tensor, recurrent: Tensor, reset_gate: ResetGate) -> Tensor:
    """Return the next states of blocks: one step, written out.

    Args:
        inputs: the input's part of the gates with biases, ``(blocks, batch, 3 * hidden)``.
        states: ``(blocks, batch, hidden)``.
        recurrent: U of all gates, ``(blocks, hidden, 3 * hidden)``.
        reset_gate: ``"before"``: tanh(Wx + U(r * h) + b), as Cho et al. (2014) print it and DyNet
            computes it; ``"after"``: tanh(Wx + r * (Uh) + b), as torch and cuDNN compute it;
            ``"unused"``: tanh(Wx + Uh + b), the paper's formula to the letter.
    """
    hidden = states.shape[-1]
    # shape: (blocks, batch, 2 * hidden) and (blocks, batch, hidden)
    gates, candidate = inputs.split((2 * hidden, hidden), -1)
    to_gates, to_candidate = recurrent.split((2 * hidden, hidden), -1)
    reset, update = torch.baddbmm(gates, states, to_gates).sigmoid().chunk(2, -1)
    if reset_gate == "before":
        candidate = torch.baddbmm(candidate, reset * states, to_candidate)
    elif reset_gate == "after":
        candidate = torch.addcmul(candidate, reset, states @ to_candidate)
    else:
        candidate = torch.baddbmm(candidate, states, to_candidate)
    # z * h + (1 - z) * candidate
    return torch.lerp(candidate.tanh(), states, update)


class BlocksTape:
    """Steps of blocks over a sequence, kept so that one can go back through them by hand.

    Autograd would note a dozen operations a step, and add a gradient as large as the weights at
    each. Here a step writes into buffers of the whole sequence, the way back is written out, and
    each weight's gradient is one product over all steps.

    Args:
        recurrent: U of all gates, ``(blocks, hidden, 3 * hidden)``.
        reset_gate: see `next_states`.
        length: number of steps.
        batch: number of sentences.

    Attributes:
        states: the states before the first step and after each, ``(length + 1, blocks, batch,
            hidden)``.
        inputs_gradient: once gone back, of the input's part of the gates, ``(length, blocks,
            batch, 3 * hidden)``.
    """

    def __init__(self, recurrent: Tensor, reset_gate: ResetGate, length: int, batch: int) -> None:
        blocks, hidden = recurrent.shape[:2]
        self.reset_gate, self.hidden = reset_gate, hidden
        self._to_gates, self._to_candidate = recurrent.split((2 * hidden, hidden), -1)
        shape = (length, blocks, batch)
        self.states = recurrent.new_empty(length + 1, blocks, batch, hidden)
        self.states[0] = 0
        self._gates = recurrent.new_empty(*shape, 2 * hidden)
        self._candidates = recurrent.new_empty(*shape, hidden)
        # r * h where the gate acts before the product, else U h
        self._inner = recurrent.new_empty(*shape, hidden)
        self.inputs_gradient = recurrent.new_empty(0)

    def step(self, t: int, inputs: Tensor) -> Tensor:
        """Return the states after step ``t``; ``inputs`` as in `next_states`."""
        width, last = 2 * self.hidden, self.states[t]
        gates, candidate, inner = self._gates[t], self._candidates[t], self._inner[t]
        torch.baddbmm(inputs[..., :width], last, self._to_gates, out=gates).sigmoid_()
        reset, update = gates.chunk(2, -1)
        if self.reset_gate == "before":
            torch.mul(reset, last, out=inner)
            torch.baddbmm(inputs[..., width:], inner, self._to_candidate, out=candidate)
        elif self.reset_gate == "after":
            torch.bmm(last, self._to_candidate, out=inner)
            torch.addcmul(inputs[..., width:], reset, inner, out=candidate)
        else:
            torch.baddbmm(inputs[..., width:], last, self._to_candidate, out=candidate)
        return torch.lerp(candidate.tanh_(), last, update, out=self.states[t + 1])

    def back(self, t: int, gradient: Tensor) -> tuple[Tensor, Tensor]:
        """Go back through step ``t``.

        Args:
            t: the step; the last one first.
            gradient: of the states after it, ``(blocks, batch, hidden)``.

        Returns:
            Gradients of its ``inputs`` and of the states before it.
        """
        if not self.inputs_gradient.numel():
            shape = (*self._gates.shape[:3], 3 * self.hidden)
            self.inputs_gradient = self._gates.new_empty(shape)
        last, candidate = self.states[t], self._candidates[t]
        reset, update = self._gates[t].chunk(2, -1)
        of_inputs = self.inputs_gradient[t]
        of_gates, of_candidate = of_inputs.split((2 * self.hidden, self.hidden), -1)
        of_reset, of_update = of_gates.chunk(2, -1)
        kept = gradient * update
        torch.sub(last, candidate, out=of_update).mul_(gradient)
        torch.ops.aten.tanh_backward.grad_input(gradient - kept, candidate, grad_input=of_candidate)
        self._through_reset(t, reset, of_reset, of_candidate, kept)
        torch.ops.aten.sigmoid_backward.grad_input(of_gates, self._gates[t], grad_input=of_gates)
        return of_inputs, kept.baddbmm_(of_gates, self._to_gates.mT)

    def _through_reset(
        self, t: int, reset: Tensor, of_reset: Tensor, of_candidate: Tensor, kept: Tensor
    ) -> None:
        """Fill the reset gate's gradient; add to that of the states what the candidate's read."""
        if self.reset_gate == "before":
            of_inner = torch.bmm(of_candidate, self._to_candidate.mT)
            torch.mul(of_inner, self.states[t], out=of_reset)
            kept.addcmul_(of_inner, reset)
        elif self.reset_gate == "after":
            torch.mul(of_candidate, self._inner[t], out=of_reset)
            # from here on the gradient of U h stands where U h stood
            torch.mul(of_candidate, reset, out=self._inner[t])
            kept.baddbmm_(self._inner[t], self._to_candidate.mT)
        else:
            of_reset.zero_()
            kept.baddbmm_(of_candidate, self._to_candidate.mT)

    def recurrent_gradient(self) -> Tensor:
        """Return U's gradient, once gone back through all steps."""
        of_gates, of_candidate = self.inputs_gradient.split((2 * self.hidden, self.hidden), -1)
        read, states = self.states[:-1], self.states[:-1]
        if self.reset_gate == "before":
            read = self._inner
        elif self.reset_gate == "after":
            of_candidate = self._inner
        return torch.cat((_outer(states, of_gates), _outer(read, of_candidate)), -1)


def _outer(inputs: Tensor, gradients: Tensor) -> Tensor:
    """Sum ``x^T g`` over steps and batch, ``(blocks, x, g)``."""
    x, g = (each.transpose(0, 1).flatten(1, 2) for each in (inputs, gradients))
    return torch.bmm(x.mT, g)
