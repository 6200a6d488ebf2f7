"""Stacked GRU layers, each shared by all tasks or owned by one: the baselines' recurrent part.

It has the interface of the routed unit, so that encoder and decoder are the same for every system.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from xlrepro.nn.dropout import Dropout
from xlrepro.papers.routing_nmt.gru_blocks import BlocksTape, GruBlocks, ResetGate, next_states
from xlrepro.papers.routing_nmt.loops import scan

EVERY = "every_task"


class StackedUnit(nn.Module):
    """GRU layers on top of each other.

    Args:
        input_dim: width of x_t.
        hidden_dim: width of each layer.
        shared: for each layer, from the lowest, whether all tasks share it.
        tasks: names of the tasks.
        dropout: between the layers.
        reset_gate: see `next_states`.
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
        self.output_dim, self.reset_gate = unit.output_dim, unit.reset_gate
        self._dropout = unit.dropout
        self._layers: list[GruBlocks] = []
        for owners in unit.layers:
            assert isinstance(owners, nn.ModuleDict)
            layer = owners[EVERY if EVERY in owners else task]
            assert isinstance(layer, GruBlocks)
            self._layers.append(layer)
        # shape: (input, 3 * hidden)
        self.input_weight = self._layers[0].input_weight[0]
        # U of the lowest layer; W, b and U of each one above
        self.weights: list[Tensor] = [self._layers[0].recurrent_weight]
        for layer in self._layers[1:]:
            self.weights += [layer.input_weight[0], layer.bias[0, 0], layer.recurrent_weight]

    def project(self, x: Tensor, first: int = 0) -> Tensor:
        """Return what x gives to each step, ``(length, batch, 3 * hidden)``.

        Args:
            x: ``(length, batch, width)``.
            first: x holds the columns ``first`` to ``first + width`` of x_t; biases come with 0.
        """
        projected = x @ self.input_weight[first : first + x.shape[-1]]
        return projected + self._layers[0].bias[0] if first == 0 else projected

    def tape(self, weights: Sequence[Tensor], length: int, batch: int) -> "StackedTape":
        """Return the tape of a batch, its dropout between layers drawn."""
        hidden = weights[0].shape[1]
        ones = weights[0].new_ones(len(self._layers) - 1, length, batch, hidden)
        return StackedTape(weights, self._dropout(ones), self.reset_gate)

    def scan(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """Read a whole sequence layer by layer, each layer's input projected at once.

        Args:
            x: ``(length, batch, input)``.

        Returns:
            The highest layer's states, ``(length, batch, hidden)``, and ``None``: no router.
        """
        for number, layer in enumerate(self._layers):
            below = self._dropout(x) if number else x
            given = below @ layer.input_weight[0] + layer.bias[0]
            x, _ = scan(self._one_layer, given, [layer.recurrent_weight])
        return x, None

    def _one_layer(self, weights: Sequence[Tensor], length: int, batch: int) -> "StackedTape":
        hidden = weights[0].shape[1]
        return StackedTape(weights, weights[0].new_ones(0, length, batch, hidden), self.reset_gate)

    def start(self, like: Tensor) -> list[Tensor]:
        """Return the zero states, each ``(1, batch, hidden)``."""
        return [like.new_zeros(1, like.shape[0], self.output_dim) for _ in self._layers]

    def step(self, given: Tensor, state: list[Tensor]) -> list[Tensor]:
        """Return the states after one step, written out; ``given``: a row of `project`."""
        states: list[Tensor] = []
        for number, (layer, last) in enumerate(zip(self._layers, state, strict=True)):
            if number:
                given = self._dropout(states[-1][0]) @ layer.input_weight[0] + layer.bias[0]
            gates = given.unsqueeze(0)
            states.append(next_states(gates, last, layer.recurrent_weight, self.reset_gate))
        return states

    def output(self, state: list[Tensor]) -> Tensor:
        """Return the highest layer's state, ``(batch, hidden)``."""
        return state[-1][0]


class StackedTape:
    """A `Tape` of stacked layers; `TiedStackedUnit.step` says what a step is.

    Args:
        weights: those of `TiedStackedUnit`, or of its lowest layer alone.
        kept: by how much the state of each layer but the highest is multiplied before the next
            layer reads it: dropout, ``(layers - 1, length, batch, hidden)``.
        reset_gate: see `next_states`.
    """

    def __init__(self, weights: Sequence[Tensor], kept: Tensor, reset_gate: ResetGate) -> None:
        length, batch = kept.shape[1:3]
        self._upwards, self._biases = weights[1::3], weights[2::3]
        self._layers = [BlocksTape(u, reset_gate, length, batch) for u in weights[::3]]
        self._kept, self._below = kept, torch.empty_like(kept)
        self.taus = kept.new_empty(0)
        self._of_states: list[Tensor] = []

    def step(self, t: int, given: Tensor) -> Tensor:
        """Return the highest layer's state."""
        states = given
        for number, layer in enumerate(self._layers):
            if number:
                below = torch.mul(states, self._kept[number - 1, t], out=self._below[number - 1, t])
                given = torch.addmm(self._biases[number - 1], below, self._upwards[number - 1])
            states = layer.step(t, given.unsqueeze(0))[0]
        return states

    def back(self, t: int, gradient: Tensor) -> Tensor:
        """Return the gradient of the step's row."""
        if not self._of_states:
            self._of_states = [torch.zeros_like(layer.states[0]) for layer in self._layers]
        of_given = gradient
        for number in reversed(range(len(self._layers))):
            total = self._of_states[number].add_(gradient)
            of_inputs, self._of_states[number] = self._layers[number].back(t, total)
            of_given = of_inputs[0]
            if number:
                gradient = (of_given @ self._upwards[number - 1].T).mul_(self._kept[number - 1, t])
        return of_given

    def weight_gradients(self) -> list[Tensor]:
        """Return the gradient of each weight."""
        gradients = [self._layers[0].recurrent_gradient()]
        for below, layer in zip(self._below, self._layers[1:], strict=True):
            rows = layer.inputs_gradient[:, 0].flatten(0, 1)
            upward = below.flatten(0, 1).T @ rows
            gradients += [upward, rows.sum(0), layer.recurrent_gradient()]
        return gradients
