"""The recurrent parts: routed units (§2.1), and the baselines' stacked layers (§2.2, §3.3).

Both are used the same way: `tied` gives the unit with one task's weights for one batch, which
projects what is known of its input beforehand and then goes step by step. Gradients are autograd's:
a way back written out by hand, which this file once had, was 1.1 to 1.3 times as fast at widths of
128 and 400 on one CPU core, for three times the code.

Symbols are the paper's: x_t the input, h_t the unit's state, tau_t the router's output.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from xlrepro.nn.dropout import Dropout

EVERY = "every_task"


class GruBlocks(nn.Module):
    """The weights of GRU cells of the same sizes, side by side (Cho et al. 2014, Eq. 5 to 8).

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


def next_states(inputs: Tensor, states: Tensor, recurrent: Tensor) -> Tensor:
    """Return the next states of blocks.

    The reset gate acts before the product, tanh(Wx + U(r * h) + b), as Cho et al. (2014) print it
    and DyNet computes it. The paper's formula, tanh(Wx + Uh + b), has no use for its reset gate;
    torch and cuDNN compute tanh(Wx + r * (Uh) + b).

    Args:
        inputs: the input's part of the gates with biases, ``(blocks, batch, 3 * hidden)``.
        states: ``(blocks, batch, hidden)``.
        recurrent: U of all gates, ``(blocks, hidden, 3 * hidden)``.
    """
    hidden = states.shape[-1]
    # shape: (blocks, batch, 2 * hidden) and (blocks, batch, hidden)
    gates, candidate = inputs.split((2 * hidden, hidden), -1)
    to_gates, to_candidate = recurrent.split((2 * hidden, hidden), -1)
    reset, update = torch.baddbmm(gates, states, to_gates).sigmoid().chunk(2, -1)
    candidate = torch.baddbmm(candidate, reset * states, to_candidate).tanh()
    # z * h + (1 - z) * candidate
    return torch.lerp(candidate, states, update)


class RoutedUnit(nn.Module):
    """Shared blocks, one block per task, and the router that all tasks share.

    Args:
        input_dim: width of x_t.
        hidden_dim: width of a block's state; h_t is twice as wide.
        shared_blocks: n, the number of shared blocks.
        tasks: names of the tasks; each gets a block of its own.
    """

    def __init__(
        self, input_dim: int, hidden_dim: int, shared_blocks: int, tasks: Sequence[str]
    ) -> None:
        super().__init__()
        self.output_dim = 2 * hidden_dim
        self.shared = GruBlocks(shared_blocks, input_dim, hidden_dim)
        self.own = nn.ModuleDict({task: GruBlocks(1, input_dim, hidden_dim) for task in tasks})
        self.router_input = nn.Linear(input_dim, hidden_dim)
        self.router_state = nn.Linear(self.output_dim, hidden_dim, bias=False)
        self.router_output = nn.Linear(hidden_dim, shared_blocks)
        for layer in (self.router_input, self.router_state, self.router_output):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)

    def tied(self, task: str) -> "TiedRouted":
        """Return the unit as a task uses it, for one batch."""
        return TiedRouted(self, task)


class RoutedState(NamedTuple):
    """What a routed unit remembers.

    Attributes:
        blocks: the state of each block, the task's last, ``(blocks, batch, hidden)``.
        output: h_t, ``(batch, 2 * hidden)``: the shared blocks' weighted sum, then the task's.
        tau: the weight of each shared block in this step, ``(batch, shared)``.
    """

    blocks: Tensor
    output: Tensor
    tau: Tensor


class TiedRouted:
    """A routed unit with the weights that one task uses, for one batch.

    What an input gives to a step is one row: the gates of each block in turn, without biases, then
    the router's hidden layer. W (tau x) = tau (W x), so that the row is made before tau is known.
    """

    def __init__(self, unit: RoutedUnit, task: str) -> None:
        parts: tuple[GruBlocks, GruBlocks] = (unit.shared, unit.own[task])  # type: ignore[assignment]
        self._unit = unit
        inputs = torch.cat([part.input_weight for part in parts])
        # shape: (input, blocks * 3 * hidden + router)
        self._input_weight = torch.cat(
            (inputs.transpose(0, 1).flatten(1), unit.router_input.weight.T), 1
        )
        self._recurrent = torch.cat([part.recurrent_weight for part in parts])
        self._bias = torch.cat([part.bias for part in parts])

    def project(self, x: Tensor, first: int = 0) -> Tensor:
        """Return what x gives to each step, ``(length, batch, inputs)``.

        Args:
            x: ``(length, batch, width)``.
            first: x holds the columns ``first`` to ``first + width`` of x_t. The router's bias
                comes with column 0.
        """
        projected = x @ self._input_weight[first : first + x.shape[-1]]
        if first == 0:
            bias = self._unit.router_input.bias
            width = projected.shape[-1] - len(bias)
            projected = projected + nn.functional.pad(bias, (width, 0))
        return projected

    def start(self, like: Tensor, length: int) -> RoutedState:
        """Return the zero state for a batch; ``like``: any ``(batch, …)`` tensor of its kind."""
        (blocks, hidden, _), batch = self._recurrent.shape, like.shape[0]
        shapes = (blocks, batch, hidden), (batch, 2 * hidden), (batch, blocks - 1)
        return RoutedState(*map(like.new_zeros, shapes))

    def step(self, given: Tensor, state: RoutedState) -> RoutedState:
        """Return the state after one step; ``given``: a row of `project`."""
        unit, blocks, width = self._unit, self._recurrent.shape[0], self._recurrent.shape[2]
        of_blocks, of_router = given.split((blocks * width, given.shape[-1] - blocks * width), -1)
        # s_t = tanh(W_x x_t + W_h h_{t-1} + b_s), shape: (batch, router)
        s = (of_router + unit.router_state(state.output)).tanh()
        # tau_t = softmax(W_tau s_t + b_tau), shape: (batch, shared)
        tau = unit.router_output(s).softmax(-1)
        # row i: the weight of shared block i; the task's block takes x_t as it is
        # shape: (blocks, batch, 1)
        scale = nn.functional.pad(tau, (0, 1), value=1.0).T.unsqueeze(-1)
        # shape: (blocks, batch, 3 * hidden)
        rows = of_blocks.view(-1, blocks, width).transpose(0, 1)
        states = next_states(torch.addcmul(self._bias, rows, scale), state.blocks, self._recurrent)
        # h_t = [sum_i tau_t[i] h_t^(i) ; h_t^(n+1)]
        shared = (states[:-1] * scale[:-1]).sum(0)
        return RoutedState(states, torch.cat((shared, states[-1]), -1), tau)


class StackedUnit(nn.Module):
    """GRU layers on top of each other, each shared by all tasks or owned by one.

    Args:
        input_dim: width of x_t.
        hidden_dim: width of each layer.
        shared: for each layer, from the lowest, whether all tasks share it.
        tasks: names of the tasks.
        dropout: between the layers.
    """

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        shared: Sequence[bool],
        tasks: Sequence[str],
        dropout: float,
    ) -> None:
        super().__init__()
        self.output_dim = hidden_dim
        self.dropout = Dropout(dropout)
        widths = [input_dim] + [hidden_dim] * (len(shared) - 1)
        self.layers = nn.ModuleList()
        for width, is_shared in zip(widths, shared, strict=True):
            owners = [EVERY] if is_shared else tasks
            blocks = {owner: GruBlocks(1, width, hidden_dim) for owner in owners}
            self.layers.append(nn.ModuleDict(blocks))

    def tied(self, task: str) -> "TiedStacked":
        """Return the unit as a task uses it, for one batch."""
        return TiedStacked(self, task)


class StackedState(NamedTuple):
    """What stacked layers remember.

    Attributes:
        layers: the state of each, ``(1, batch, hidden)``.
        output: h_t, the highest layer's, ``(batch, hidden)``.
        step: number of steps done.
        tau: there is no router.
    """

    layers: tuple[Tensor, ...]
    output: Tensor
    step: int = 0
    tau: None = None


class TiedStacked:
    """A stacked unit with the weights that one task uses, for one batch."""

    def __init__(self, unit: StackedUnit, task: str) -> None:
        self._unit = unit
        self._layers: list[GruBlocks] = [
            owners[EVERY if EVERY in owners else task]  # type: ignore[index,operator]
            for owners in unit.layers
        ]
        self._kept: list[Tensor] = []

    def project(self, x: Tensor, first: int = 0) -> Tensor:
        """Return what x gives to each step, ``(length, batch, 3 * hidden)``.

        Args:
            x: ``(length, batch, width)``.
            first: x holds the columns ``first`` to ``first + width`` of x_t; biases come with 0.
        """
        lowest = self._layers[0]
        projected = x @ lowest.input_weight[0, first : first + x.shape[-1]]
        return projected + lowest.bias[0] if first == 0 else projected

    def start(self, like: Tensor, length: int) -> StackedState:
        """Return the zero state for a batch; ``like``: any ``(batch, …)`` tensor of its kind.

        Dropout between layers is drawn here, in training, for all ``length`` steps at once.
        """
        zeros = like.new_zeros(1, like.shape[0], self._unit.output_dim)
        self._kept = []
        if self._unit.training:
            ones = like.new_ones(length, *zeros.shape[1:])
            self._kept = [self._unit.dropout(ones) for _ in self._layers[1:]]
        return StackedState((zeros,) * len(self._layers), zeros[0])

    def step(self, given: Tensor, state: StackedState) -> StackedState:
        """Return the state after one step; ``given``: a row of `project`."""
        states: list[Tensor] = []
        for number, (layer, last) in enumerate(zip(self._layers, state.layers, strict=True)):
            if number:
                below = states[-1][0]
                if self._kept:
                    below = below * self._kept[number - 1][state.step]
                given = torch.addmm(layer.bias[0], below, layer.input_weight[0])
            states.append(next_states(given.unsqueeze(0), last, layer.recurrent_weight))
        return StackedState(tuple(states), states[-1][0], state.step + 1)


def scan(tied: TiedRouted | TiedStacked, x: Tensor) -> tuple[Tensor, Tensor | None]:
    """Read a whole sequence.

    Args:
        tied: a unit as a task uses it.
        x: ``(length, batch, input)``.

    Returns:
        h_t of each step, ``(length, batch, output)``, and tau_t, ``(length, batch, shared)``;
        without a router ``None``.
    """
    state, outputs, taus = tied.start(x[0], len(x)), [], []
    for given in tied.project(x):
        state = tied.step(given, state)  # type: ignore[arg-type]
        outputs.append(state.output)
        if state.tau is not None:
            taus.append(state.tau)
    return torch.stack(outputs), torch.stack(taus) if taus else None
