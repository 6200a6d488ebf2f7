"""The loops over time of encoder and decoder, with their ways back written out.

A unit hands over a `Tape`: it takes the steps of one batch and goes back through them. Only tensors
that cross a loop's border are autograd's.

What a decoder's step computes, for one sentence, with its source's tokens j, keys k_j = U_a m_j,
and r_j what the unit reads of a token:

    e_j = v · tanh(W_a h_{t−1} + k_j)       a = softmax(e)
    g_t = known_t + Σ_j a_j r_j             h_t = unit(g_t)

and its gradient from dh_t, that of all that comes after, from the last step to the first:

    dg_t = that of the unit (`Tape.back`)   da_j = r_j · dg_t, and what looks got from elsewhere
    de = a ∘ (da − a · da)                  du_j = de_j v ∘ (1 − tanh(W_a h_{t−1} + k_j)²)
    dh_{t−1} += W_a' Σ_j du_j               dk_j = Σ_t du_j
    dW_a = Σ_t (Σ_j du_j) h_{t−1}'          dv = Σ_t Σ_j de_j tanh(W_a h_{t−1} + k_j)

An encoder's step is the unit alone, g_t what its word gives.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class Tape(Protocol):
    """Steps of a recurrent part over one batch of sequences."""

    taus: Tensor  # the router's weights, (length, batch, shared); empty without a router

    def step(self, t: int, given: Tensor) -> Tensor:
        """Return h_t, ``(batch, output)``, given the input's part, ``(batch, inputs)``."""
        ...

    def back(self, t: int, gradient: Tensor) -> Tensor:
        """Return the gradient of ``given``, given that of h_t by what comes after the unit."""
        ...

    def weight_gradients(self) -> list[Tensor]:
        """Return the gradient of each weight, once gone back through all steps."""
        ...


MakeTape = Callable[[Sequence[Tensor], int, int], Tape]  # of weights, length and batch


def scan(make: MakeTape, given: Tensor, weights: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Run a recurrent part over whole sequences.

    Args:
        make: makes the tape.
        given: the input's part of each step, ``(length, batch, inputs)``.
        weights: of the recurrent part, in the tape's order.

    Returns:
        h_t of each step, ``(length, batch, output)``, and the tape's taus, without gradient.
    """
    states_and_taus: tuple[Tensor, Tensor] = _Scan.apply(make, given, *weights)
    return states_and_taus


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, make: MakeTape, given: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
        ctx.tape = tape = make(weights, given.shape[0], given.shape[1])
        # shape: (length, batch, output)
        outputs = torch.stack([tape.step(t, each) for t, each in enumerate(given)])
        taus = tape.taus.clone()
        ctx.mark_non_differentiable(taus)
        return outputs, taus

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        steps = reversed(range(len(gradient)))
        # shape: (batch, inputs) of each step, the last first
        of_given = [ctx.tape.back(t, gradient[t]) for t in steps]
        return None, torch.stack(of_given[::-1]), *ctx.tape.weight_gradients()


class AttentionTape:
    """Additive attention at each step of a decoder: e_j = v . tanh(W_a h_{t-1} + U_a m_j).

    Args:
        keys: U_a m_j, ``(batch, source length, attention)``.
        mask: True at tokens, ``(batch, source length)``.
        query: W_a, ``(output, attention)``.
        energy: v, ``(attention,)``.
        length: number of steps.
    """

    def __init__(
        self, keys: Tensor, mask: Tensor, query: Tensor, energy: Tensor, length: int
    ) -> None:
        self._keys, self._padding, self._query, self._energy = keys, ~mask, query, energy
        self._hidden = keys.new_empty(length, *keys.shape)
        # row i, column j of a step: how much sentence i looks at its token j
        self.weights = keys.new_empty(length, *mask.shape)
        self._states: list[Tensor] = []
        self._of_energies = self._of_queries = self._of_keys = keys.new_empty(0)

    def step(self, t: int, state: Tensor) -> Tensor:
        """Return where h_{t-1}, ``(batch, output)``, looks, ``(batch, source length)``."""
        self._states.append(state)
        hidden = self._hidden[t]
        # shape: (batch, source length, attention), then (batch, source length)
        torch.add(self._keys, (state @ self._query).unsqueeze(1), out=hidden).tanh_()
        energies = (hidden.flatten(0, 1) @ self._energy).view(self._padding.shape)
        energies.masked_fill_(self._padding, -math.inf)
        return torch.softmax(energies, -1, out=self.weights[t])

    def back(self, t: int, gradient: Tensor) -> Tensor:
        """Return the gradient of h_{t-1}, given that of the step's weights."""
        if not self._of_keys.numel():
            self._of_keys = torch.zeros_like(self._keys)
            self._of_energies = torch.empty_like(self.weights)
            self._of_queries = self._keys.new_empty(*self._hidden.shape[:2], len(self._energy))
        weights, hidden = self.weights[t], self._hidden[t]
        # shape: (batch, source length), then (batch, source length, 1)
        product = weights * gradient
        energies = torch.addcmul(
            product, weights, product.sum(-1, keepdim=True), value=-1, out=self._of_energies[t]
        ).unsqueeze(-1)
        # through tanh; v, the same everywhere, is multiplied in where sums are ready
        # shape: (batch, source length, attention)
        inside = torch.addcmul(energies, hidden.square(), energies, value=-1)
        self._of_keys += inside
        # shape: (batch, attention)
        queries = torch.mul(inside.sum(1), self._energy, out=self._of_queries[t])
        return queries @ self._query.T

    def gradients(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients of keys, query and energy, once gone back through all steps."""
        # shape: (length * batch, output), then (output, attention) and (attention,)
        states = torch.stack(self._states).flatten(0, 1)
        query = states.T @ self._of_queries.flatten(0, 1)
        energy = self._of_energies.flatten() @ self._hidden.flatten(0, 2)
        return self._of_keys * self._energy, query, energy


def decode(
    make: MakeTape,
    known: Tensor,
    read: Tensor | None,
    attention: tuple[Tensor, Tensor, Tensor, Tensor],
    output_dim: int,
    weights: Sequence[Tensor],
) -> tuple[Tensor, Tensor]:
    """Run a decoder over whole targets, teacher-forced.

    Args:
        make: makes the recurrent part's tape.
        known: what the words of the target give to each step, ``(length, batch, inputs)``.
        read: what each source token gives to a step that looks at it alone, ``(batch, source
            length, inputs)``; ``None`` where steps do not read the context.
        attention: keys, mask, query and energy, see `AttentionTape`.
        output_dim: width of h_t.
        weights: of the recurrent part, in the tape's order.

    Returns:
        h_t, ``(length, batch, output)``, and where each step looks, ``(length, batch, source
        length)``.
    """
    states_and_looks: tuple[Tensor, Tensor] = _Decode.apply(
        make, output_dim, known, read, *attention, *weights
    )
    return states_and_looks


class _Decode(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        make: MakeTape,
        output_dim: int,
        known: Tensor,
        read: Tensor | None,
        keys: Tensor,
        mask: Tensor,
        query: Tensor,
        energy: Tensor,
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor]:
        length, batch = known.shape[:2]
        ctx.read, ctx.tape = read, make(weights, length, batch)
        ctx.attention = AttentionTape(keys, mask, query, energy, length)
        state, outputs = known.new_zeros(batch, output_dim), []
        for t, given in enumerate(known):
            # shape: (batch, 1, source length), then (batch, inputs) and (batch, output)
            look = ctx.attention.step(t, state).unsqueeze(1)
            if read is not None:
                given = torch.baddbmm(given.unsqueeze(1), look, read).squeeze(1)
            state = ctx.tape.step(t, given)
            outputs.append(state)
        return torch.stack(outputs), ctx.attention.weights.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, of_looks: Tensor) -> tuple[Tensor | None, ...]:
        read, looks = ctx.read, ctx.attention.weights
        later, of_given = torch.zeros_like(gradient[0]), []
        for t in reversed(range(len(gradient))):
            of_given.append(ctx.tape.back(t, gradient[t] + later))
            # shape: (batch, source length)
            of_look = of_looks[t]
            if read is not None:
                of_look = of_look + torch.bmm(of_given[-1].unsqueeze(1), read.mT).squeeze(1)
            later = ctx.attention.back(t, of_look)
        known = torch.stack(of_given[::-1])
        of_read = None
        if read is not None:
            # shape: (batch, source length, inputs)
            of_read = torch.bmm(looks.permute(1, 2, 0), known.transpose(0, 1))
        keys, query, energy = ctx.attention.gradients()
        of_weights = ctx.tape.weight_gradients()
        return None, None, known, of_read, keys, None, query, energy, *of_weights
