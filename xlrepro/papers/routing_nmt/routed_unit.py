"""The recurrent unit with routed blocks (§2.1): shared blocks, a block per task, and a router.

Symbols are the paper's: x_t the input, h_t the unit's state, tau_t the router's output.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from xlrepro.papers.routing_nmt.gru_blocks import GruBlocks, ResetGate, TiedBlocks
from xlrepro.papers.routing_nmt.products import LoopProduct


class RoutedState(NamedTuple):
    """What a routed unit remembers.

    Attributes:
        blocks: the state of each block, the task's last, ``(blocks, batch, hidden)``.
        unit: h_t, ``(batch, 2 * hidden)``: the shared blocks' weighted sum, then the task's block.
        tau: weight of each shared block, ``(batch, shared)``.
    """

    blocks: Tensor
    unit: Tensor
    tau: Tensor


class RoutedInputs(NamedTuple):
    """The input's part of router and gates, without biases of the gates.

    Attributes:
        router: ``(length, batch, router)``; a step's lacks the length.
        blocks: ``(blocks, length, batch, 3 * hidden)``; likewise.
    """

    router: Tensor
    blocks: Tensor

    def steps(self) -> list["RoutedInputs"]:
        """Return those of each step."""
        return list(map(RoutedInputs, self.router.unbind(0), self.blocks.unbind(1)))


class RoutedUnit(nn.Module):
    """Shared blocks, one block per task, and the router that all tasks share.

    Args:
        input_dim: width of x_t.
        hidden_dim: width of a block's state; h_t is twice as wide.
        shared_blocks: n, the number of shared blocks.
        tasks: names of the tasks; each gets a block of its own.
        router_dim: width of s_t.
        reset_gate: see `TiedBlocks`.
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
    """A routed unit with the weights that one task uses, for one batch."""

    def __init__(self, unit: RoutedUnit, task: str) -> None:
        own = unit.own[task]
        assert isinstance(own, GruBlocks)
        self._blocks = TiedBlocks([unit.shared, own], unit.reset_gate)
        self._router_input = unit.router_input.weight.T
        self._router_bias = unit.router_input.bias
        self._state_to_router = LoopProduct(unit.router_state.weight.T)
        self._to_tau = LoopProduct(unit.router_output.weight.T)
        self._tau_bias = unit.router_output.bias
        self._shared = self._blocks.count - 1

    def project(self, x: Tensor, first: int = 0) -> RoutedInputs:
        """Return what x adds to router and gates, for a whole sequence at once.

        Args:
            x: ``(length, batch, width)``.
            first: x holds the columns ``first`` to ``first + width`` of x_t. The router's bias
                comes with column 0.
        """
        router = x @ self._router_input[first : first + x.shape[-1]]
        if first == 0:
            router = router + self._router_bias
        return RoutedInputs(router, self._blocks.project(x, first))

    def stepwise(self, first: int) -> "StepwiseInputs":
        """Return what projects the columns from ``first`` on, one step at a time."""
        blocks = self._blocks.input_weight[:, first:]
        return StepwiseInputs(self._router_input[first:], blocks)

    def start(self, like: Tensor) -> RoutedState:
        """Return the zero state for a batch; ``like``: any ``(batch, …)`` tensor of its kind."""
        batch = like.shape[0]
        blocks = like.new_zeros(self._shared + 1, batch, self._blocks.hidden_dim)
        unit = like.new_zeros(batch, 2 * self._blocks.hidden_dim)
        return RoutedState(blocks, unit, like.new_zeros(batch, self._shared))

    def step(self, inputs: RoutedInputs, state: RoutedState) -> RoutedState:
        """Return the state after one step."""
        # s_t = tanh(W_x x_t + W_h h_{t-1} + b_s), shape: (batch, router)
        s = self._state_to_router(state.unit, inputs.router).tanh()
        # tau_t = softmax(W_tau s_t + b_tau), shape: (batch, shared)
        tau = self._to_tau(s, self._tau_bias).softmax(-1)
        # row i: the weight of shared block i; the task's block takes x_t as it is
        # shape: (blocks, batch, 1)
        scale = torch.nn.functional.pad(tau, (0, 1), value=1.0).T.unsqueeze(-1)
        # W (tau x) = tau (W x): projected once, scaled here
        scaled = torch.addcmul(self._blocks.bias, inputs.blocks, scale)
        blocks = self._blocks.step(scaled, state.blocks)
        # h_t = [sum_i tau_t[i] h_t^(i) ; h_t^(n+1)]
        shared = (blocks[:-1] * scale[:-1]).sum(0)
        return RoutedState(blocks, torch.cat((shared, blocks[-1]), -1), tau)

    def output(self, state: RoutedState) -> Tensor:
        """Return h_t, ``(batch, 2 * hidden)``."""
        return state.unit

    def scan(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """Read a whole sequence.

        Args:
            x: ``(length, batch, input)``.

        Returns:
            h_t, ``(length, batch, 2 * hidden)``, and tau_t, ``(length, batch, shared)``.
        """
        inputs, state = self.project(x), self.start(x[0])
        units, taus = [], []
        for given in inputs.steps():
            state = self.step(given, state)
            units.append(state.unit)
            taus.append(state.tau)
        return torch.stack(units), torch.stack(taus)


class StepwiseInputs:
    """Projects columns of the input that are known one step at a time, such as the context."""

    def __init__(self, router: Tensor, blocks: Tensor) -> None:
        self._router, self._blocks = LoopProduct(router), LoopProduct(blocks)
        self._count = blocks.shape[0]

    def __call__(self, x: Tensor, known: RoutedInputs) -> RoutedInputs:
        """Return the inputs of a step: what is known, plus ``x``, ``(batch, width)``, projected."""
        spread = x.expand(self._count, -1, -1)
        return RoutedInputs(self._router(x, known.router), self._blocks(spread, known.blocks))
