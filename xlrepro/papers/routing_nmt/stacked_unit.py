"""Stacked GRU layers, each shared by all tasks or owned by one: the baselines' recurrent part.

It has the interface of the routed unit, so that encoder and decoder are the same for every system.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from xlrepro.nn.dropout import Dropout
from xlrepro.papers.routing_nmt.gru_blocks import GruBlocks, ResetGate, TiedBlocks
from xlrepro.papers.routing_nmt.products import LoopProduct

EVERY = "every_task"


class StackedUnit(nn.Module):
    """GRU layers on top of each other.

    Args:
        input_dim: width of x_t.
        hidden_dim: width of each layer.
        shared: for each layer, from the lowest, whether all tasks share it.
        tasks: names of the tasks.
        dropout: between the layers.
        reset_gate: see `TiedBlocks`.
    """

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        shared: Sequence[bool],
        tasks: Sequence[str],
        dropout: float,
        reset_gate: ResetGate = "before",
    ) -> None:
        super().__init__()
        self.output_dim = hidden_dim
        self.reset_gate: ResetGate = reset_gate
        self.dropout = Dropout(dropout)
        widths = [input_dim] + [hidden_dim] * (len(shared) - 1)
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    owner: GruBlocks(1, width, hidden_dim)
                    for owner in ([EVERY] if is_shared else tasks)
                }
            )
            for width, is_shared in zip(widths, shared, strict=True)
        )

    def tied(self, task: str) -> "TiedStackedUnit":
        """Return the unit as a task uses it, for one batch."""
        return TiedStackedUnit(self, task)


class TiedStackedUnit:
    """A stacked unit with the weights that one task uses, for one batch."""

    def __init__(self, unit: StackedUnit, task: str) -> None:
        self._layers = []
        for owners in unit.layers:
            assert isinstance(owners, nn.ModuleDict)
            layer = owners[EVERY if EVERY in owners else task]
            assert isinstance(layer, GruBlocks)
            self._layers.append(TiedBlocks([layer], unit.reset_gate))
        self._dropout = unit.dropout
        self._upwards = [LoopProduct(layer.input_weight[0]) for layer in self._layers[1:]]

    def project(self, x: Tensor, first: int = 0) -> "StackedInputs":
        """Return what x adds to the lowest layer's gates; its bias comes with column 0."""
        (projected,) = self._layers[0].project(x, first)
        return StackedInputs(projected + self._layers[0].bias[0] if first == 0 else projected)

    def stepwise(self, first: int) -> "StepwiseStackedInputs":
        """Return what projects the columns from ``first`` on, one step at a time."""
        return StepwiseStackedInputs(self._layers[0].input_weight[0, first:])

    def start(self, like: Tensor) -> list[Tensor]:
        """Return the zero states, each ``(1, batch, hidden)``."""
        return [like.new_zeros(1, like.shape[0], layer.hidden_dim) for layer in self._layers]

    def step(self, inputs: "StackedInputs", state: list[Tensor]) -> list[Tensor]:
        """Return the states after one step."""
        # shape: (1, batch, 3 * hidden)
        gates = inputs.gates.unsqueeze(0)
        states: list[Tensor] = []
        for number, (layer, last) in enumerate(zip(self._layers, state, strict=True)):
            if number:
                below = self._dropout(states[-1][0])
                bias = layer.bias[0].expand(below.shape[0], -1)
                gates = self._upwards[number - 1](below, bias).unsqueeze(0)
            states.append(layer.step(gates, last))
        return states

    def output(self, state: list[Tensor]) -> Tensor:
        """Return the highest layer's state, ``(batch, hidden)``."""
        return state[-1][0]

    def scan(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """Read a whole sequence layer by layer, each layer's input projected at once.

        Args:
            x: ``(length, batch, input)``.

        Returns:
            The highest layer's states, ``(length, batch, hidden)``, and ``None``: no router.
        """
        for number, layer in enumerate(self._layers):
            below = self._dropout(x) if number else x
            gates = layer.project(below) + layer.bias.unsqueeze(1)
            state = x.new_zeros(1, x.shape[1], layer.hidden_dim)
            states = []
            for given in gates.unbind(1):
                state = layer.step(given, state)
                states.append(state[0])
            x = torch.stack(states)
        return x, None


class StackedInputs:
    """The input's part of the lowest layer's gates, ``(length, batch, 3 * hidden)``."""

    def __init__(self, gates: Tensor) -> None:
        self.gates = gates

    def steps(self) -> list["StackedInputs"]:
        """Return those of each step, ``(batch, 3 * hidden)``."""
        return [StackedInputs(gates) for gates in self.gates.unbind(0)]


class StepwiseStackedInputs:
    """Projects columns of the input that are known one step at a time, such as the context."""

    def __init__(self, weight: Tensor) -> None:
        self._product = LoopProduct(weight)

    def __call__(self, x: Tensor, known: StackedInputs) -> StackedInputs:
        """Return the inputs of a step: what is known, plus ``x``, ``(batch, width)``, projected."""
        return StackedInputs(self._product(x, known.gates))
