"""The recurrent unit with routed blocks (§2.1): shared blocks, a block per task, and a router.

Symbols are the paper's: x_t the input, h_t the unit's state, tau_t the router's output.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from xlrepro.papers.routing_nmt.gru_blocks import BlocksTape, GruBlocks, ResetGate, next_states
from xlrepro.papers.routing_nmt.loops import scan


class RoutedState(NamedTuple):
    """What a routed unit remembers.

    Attributes:
        blocks: the state of each block, the task's last, ``(blocks, batch, hidden)``.
        unit: h_t, ``(batch, 2 * hidden)``: the shared blocks' weighted sum, then the task's block.
    """

    blocks: Tensor
    unit: Tensor


class RoutedUnit(nn.Module):
    """Shared blocks, one block per task, and the router that all tasks share.

    Args:
        input_dim: width of x_t.
        hidden_dim: width of a block's state; h_t is twice as wide.
        shared_blocks: n, the number of shared blocks.
        tasks: names of the tasks; each gets a block of its own.
        router_dim: width of s_t.
        reset_gate: see `next_states`.
    """

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        shared_blocks: int,
        tasks: Sequence[str],
        router_dim: int,
        reset_gate: ResetGate = "before",
    ) -> None:
        super().__init__()
        self.output_dim = 2 * hidden_dim
        self.reset_gate: ResetGate = reset_gate
        self.shared = GruBlocks(shared_blocks, input_dim, hidden_dim)
        self.own = nn.ModuleDict({task: GruBlocks(1, input_dim, hidden_dim) for task in tasks})
        self.router_input = nn.Linear(input_dim, router_dim)
        self.router_state = nn.Linear(self.output_dim, router_dim, bias=False)
        self.router_output = nn.Linear(router_dim, shared_blocks)
        for layer in (self.router_input, self.router_state, self.router_output):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)

    def tied(self, task: str) -> "TiedRoutedUnit":
        """Return the unit as a task uses it, for one batch."""
        return TiedRoutedUnit(self, task)


class TiedRoutedUnit:
    """A routed unit with the weights that one task uses, for one batch.

    What an input gives to a step is one row: the gates of each block in turn, without biases, then
    the router's hidden layer. W (tau x) = tau (W x), so that the row is made before tau is known.
    """

    def __init__(self, unit: RoutedUnit, task: str) -> None:
        own = unit.own[task]
        assert isinstance(own, GruBlocks)
        parts = (unit.shared, own)
        self.output_dim, self.reset_gate = unit.output_dim, unit.reset_gate
        inputs = torch.cat([part.input_weight for part in parts])
        # shape: (input, blocks * 3 * hidden + router)
        self.input_weight = torch.cat(
            (inputs.transpose(0, 1).flatten(1), unit.router_input.weight.T), 1
        )
        self._router_bias = unit.router_input.bias
        # U, b of the blocks; W_h, W_tau, b_tau of the router
        self.weights = (
            torch.cat([part.recurrent_weight for part in parts]),
            torch.cat([part.bias for part in parts]),
            unit.router_state.weight.T,
            unit.router_output.weight.T,
            unit.router_output.bias,
        )

    def project(self, x: Tensor, first: int = 0) -> Tensor:
        """Return what x gives to each step, ``(length, batch, inputs)``.

        Args:
            x: ``(length, batch, width)``.
            first: x holds the columns ``first`` to ``first + width`` of x_t. The router's bias
                comes with column 0.
        """
        projected = x @ self.input_weight[first : first + x.shape[-1]]
        if first == 0:
            width = self.input_weight.shape[1] - len(self._router_bias)
            projected = projected + nn.functional.pad(self._router_bias, (width, 0))
        return projected

    def tape(self, weights: Sequence[Tensor], length: int, batch: int) -> "RoutedTape":
        """Return the tape of a batch."""
        return RoutedTape(weights, self.reset_gate, length, batch)

    def scan(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """Read a whole sequence.

        Args:
            x: ``(length, batch, input)``.

        Returns:
            h_t, ``(length, batch, 2 * hidden)``, and tau_t, ``(length, batch, shared)``.
        """
        return scan(self.tape, self.project(x), self.weights)

    def start(self, like: Tensor) -> RoutedState:
        """Return the zero state for a batch; ``like``: any ``(batch, …)`` tensor of its kind."""
        blocks, hidden = self.weights[0].shape[:2]
        batch = like.shape[0]
        return RoutedState(like.new_zeros(blocks, batch, hidden), like.new_zeros(batch, 2 * hidden))

    def step(self, given: Tensor, state: RoutedState) -> RoutedState:
        """Return the state after one step, written out; ``given``: a row of `project`."""
        recurrent, bias, to_router, to_tau, tau_bias = self.weights
        # s_t = tanh(W_x x_t + W_h h_{t-1} + b_s), shape: (batch, router)
        s = (given[:, -to_router.shape[1] :] + state.unit @ to_router).tanh()
        # tau_t = softmax(W_tau s_t + b_tau), shape: (batch, shared)
        tau = (s @ to_tau + tau_bias).softmax(-1)
        # row i: the weight of shared block i; the task's block takes x_t as it is
        # shape: (blocks, batch, 1)
        scale = nn.functional.pad(tau, (0, 1), value=1.0).T.unsqueeze(-1)
        inputs = torch.addcmul(bias, _of_blocks(given, recurrent), scale)
        blocks = next_states(inputs, state.blocks, recurrent, self.reset_gate)
        # h_t = [sum_i tau_t[i] h_t^(i) ; h_t^(n+1)]
        shared = (blocks[:-1] * scale[:-1]).sum(0)
        return RoutedState(blocks, torch.cat((shared, blocks[-1]), -1))

    def output(self, state: RoutedState) -> Tensor:
        """Return h_t, ``(batch, 2 * hidden)``."""
        return state.unit


class RoutedTape:
    """A `Tape` of a routed unit; `TiedRoutedUnit.step` says what a step is.

    Args:
        weights: those of `TiedRoutedUnit`.
        reset_gate: see `next_states`.
        length: number of steps.
        batch: number of sentences.
    """

    def __init__(
        self, weights: Sequence[Tensor], reset_gate: ResetGate, length: int, batch: int
    ) -> None:
        self._recurrent, self._bias, self._to_router, self._to_tau, self._tau_bias = weights
        blocks, hidden = self._recurrent.shape[:2]
        new = self._bias.new_empty
        self._blocks = BlocksTape(self._recurrent, reset_gate, length, batch)
        self._units = self._bias.new_zeros(length + 1, batch, 2 * hidden)
        self._hidden = new(length, batch, self._to_router.shape[1])  # s_t
        self.taus = new(length, batch, blocks - 1)
        self._scales = self._bias.new_ones(length, blocks, batch, 1)
        self._given: list[Tensor] = []
        self._of_given = self._of_logits = new(0)
        self._of_blocks = self._of_unit = new(0)

    def step(self, t: int, given: Tensor) -> Tensor:
        """Return h_t."""
        self._given.append(given)
        router = self._hidden.shape[-1]
        s = torch.addmm(given[:, -router:], self._units[t], self._to_router, out=self._hidden[t])
        logits = torch.addmm(self._tau_bias, s.tanh_(), self._to_tau)
        scale, tau = self._scales[t], torch.softmax(logits, -1, out=self.taus[t])
        scale[:-1, :, 0] = tau.T
        inputs = torch.addcmul(self._bias, _of_blocks(given, self._recurrent), scale)
        blocks = self._blocks.step(t, inputs)
        unit, hidden = self._units[t + 1], self._blocks.hidden
        torch.sum(blocks[:-1] * scale[:-1], 0, out=unit[:, :hidden])
        unit[:, hidden:] = blocks[-1]
        return unit

    def back(self, t: int, gradient: Tensor) -> Tensor:
        """Return the gradient of the step's row."""
        hidden, new = self._blocks.hidden, self._blocks.states[t + 1]
        if not self._of_given.numel():
            self._of_given = gradient.new_empty(len(self._given), *self._given[0].shape)
            self._of_logits = torch.empty_like(self.taus)
            self._of_blocks, self._of_unit = torch.zeros_like(new), torch.zeros_like(gradient)
        of_shared, of_own = (gradient + self._of_unit).split(hidden, -1)
        scale, of_given = self._scales[t], self._of_given[t]
        self._of_blocks[:-1].addcmul_(of_shared, scale[:-1])
        self._of_blocks[-1] += of_own
        # shape: (shared, batch)
        of_tau = (new[:-1] * of_shared).sum(-1)
        of_inputs, self._of_blocks = self._blocks.back(t, self._of_blocks)
        torch.mul(of_inputs, scale, out=_of_blocks(of_given, self._recurrent))
        of_tau += (of_inputs[:-1] * _of_blocks(self._given[t], self._recurrent)[:-1]).sum(-1)
        product = self.taus[t] * of_tau.T
        logits = torch.addcmul(
            product, self.taus[t], product.sum(-1, keepdim=True), value=-1, out=self._of_logits[t]
        )
        of_s = of_given[:, -self._hidden.shape[-1] :]
        torch.ops.aten.tanh_backward.grad_input(
            logits @ self._to_tau.T, self._hidden[t], grad_input=of_s
        )
        self._of_unit = of_s @ self._to_router.T
        return of_given

    def weight_gradients(self) -> list[Tensor]:
        """Return the gradient of each weight."""
        rows, logits = self._of_given.flatten(0, 1), self._of_logits.flatten(0, 1)
        return [
            self._blocks.recurrent_gradient(),
            self._blocks.inputs_gradient.sum((0, 2)).unsqueeze(1),
            self._units[:-1].flatten(0, 1).T @ rows[:, -self._hidden.shape[-1] :],
            self._hidden.flatten(0, 1).T @ logits,
            logits.sum(0),
        ]


def _of_blocks(given: Tensor, recurrent: Tensor) -> Tensor:
    """The blocks' part of a row, ``(blocks, batch, 3 * hidden)``."""
    blocks, width = recurrent.shape[0], recurrent.shape[2]
    return given[:, : blocks * width].view(-1, blocks, width).transpose(0, 1)
