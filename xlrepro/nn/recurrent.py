"""Bidirectional LSTMs: over padded batches, and over flat tokens where no step meets padding.

A padded batch is mostly padding where lengths differ, and padding costs as much as tokens.
`Packing` describes batches of *flat* tokens, ``(tokens, dim)``: the tokens of the first text, then
of the second, and so on, as ``x[mask]`` of a padded batch gives them. What the packed LSTM computes
(Hochreiter & Schmidhuber 1997, as torch's ``nn.LSTM`` has the cell), for each text and direction,
with σ the sigmoid, ∘ the product of entries, x_t a token's input, and h, c zero before the first:

    o, i, f = σ(W x_t + U h + b)      g = tanh(W x_t + U h + b), each with its own W, U, b
    c ← f ∘ c + i ∘ g
    h ← o ∘ tanh(c)

and its gradient from dh_t, that of the loss by each h_t, from the last step to the first:

    dc ← dh_t ∘ o ∘ (1 − tanh(c_t)²) + dc ∘ f_{t+1}
    do = dh_t ∘ tanh(c_t) ∘ o (1 − o)         di = dc ∘ g ∘ i (1 − i)
    df = dc ∘ c_{t−1} ∘ f (1 − f)             dg = dc ∘ i ∘ (1 − g²)
    dh_{t−1} += U' (do, di, df, dg)           dU = Σ_t (do, di, df, dg) h_{t−1}'

It is written out so that a step is five operations on all running texts of both directions and
leaves no graph behind. What does not depend on the step before - input products W x + b, the
factors beside dh and dc (`_slopes`), gradients of weights - is done for all tokens at once. A test
compares it with torch's own, :meth:`PackedBiLSTM.reference`.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence


def mirrored_steps(lengths: Tensor, length: int) -> Tensor:
    """Return where each token stands once every sentence is reversed at its own length.

    Indexing with the result and the batch reverses a time-major batch; padding stays where it is.
    Reversing twice gives the batch back.

    Args:
        lengths: ``(batch,)`` number of tokens.
        length: of the padded batch.

    Returns:
        ``(length, batch)``.

    Example:
        >>> mirrored_steps(torch.tensor([3, 2]), 3).T
        tensor([[2, 1, 0],
                [1, 0, 2]])
    """
    # shape: (length, 1), against (batch,)
    step = torch.arange(length, device=lengths.device).unsqueeze(1)
    return torch.where(step < lengths, lengths - 1 - step, step)


class BiLSTM(nn.Module):
    """Bidirectional LSTM encoder whose outputs do not depend on padding.

    Padding stands on the right, so the forward direction meets it last; the backward direction
    reads each sentence mirrored at its own length and meets it last too. No packing is needed,
    and every step multiplies full matrices.

    Args:
        input_dim: width of the input vectors.
        hidden_dim: width of the state per direction.
        layers: number of layers.
        dropout: probability of zeroing an entry of each layer's output.

    Example:
        >>> encoder = BiLSTM(input_dim=4, hidden_dim=3, layers=1, dropout=0.0)
        >>> encoder(torch.zeros(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)).shape
        torch.Size([2, 5, 6])
    """

    def __init__(self, input_dim: int, hidden_dim: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.output_dim = 2 * hidden_dim
        widths = [input_dim] + [self.output_dim] * (layers - 1)
        self.forwards = nn.ModuleList(nn.LSTM(w, hidden_dim) for w in widths)
        self.backwards = nn.ModuleList(nn.LSTM(w, hidden_dim) for w in widths)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Encode a batch.

        Args:
            x: ``(batch, length, input_dim)``.
            mask: ``(batch, length)`` bool, True at tokens; padding only on the right.

        Returns:
            ``(batch, length, 2 * hidden_dim)``, zero at padding.
        """
        # shape: (length, batch), (batch,) and (length, batch, 1)
        mirrored = mirrored_steps(mask.sum(1), x.shape[1])
        column = torch.arange(x.shape[0], device=x.device)
        padding = ~mask.T.unsqueeze(-1)
        # shape: (length, batch, width); steps first
        states = x.transpose(0, 1).masked_fill(padding, 0)
        for forwards, backwards in zip(self.forwards, self.backwards, strict=True):
            ahead, _ = forwards(states)
            behind, _ = backwards(states[mirrored, column])
            states = self.dropout(torch.cat((ahead, behind[mirrored, column]), -1))
        return states.masked_fill(padding, 0).transpose(0, 1)


class Packing:
    """The lengths of some texts, and what follows from them.

    Lengths are kept on the CPU: asking a GPU for them would mean waiting for it.

    Args:
        lengths: tokens of each text, at least one. ``(batch,)``
        device: where tensors of places are; default: where the lengths are.

    Example:
        >>> packing = Packing(torch.tensor([2, 3]))
        >>> packing.batch_sizes, packing.ahead.tolist(), packing.behind.tolist()
        ([2, 2, 1], [2, 0, 3, 1, 4], [4, 1, 3, 0, 2])
    """

    def __init__(self, lengths: Tensor, device: torch.device | str | None = None) -> None:
        self._lengths = lengths.cpu()
        self.device = lengths.device if device is None else device

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._lengths)

    @classmethod
    def joined(cls, packings: Sequence["Packing"]) -> "Packing":
        """Return the packing of the texts of several batches, one batch after the other."""
        return cls(torch.cat([p._lengths for p in packings]), packings[0].device)

    def to(self, device: str) -> "Packing":
        """Return the packing with its tensors on ``device``."""
        return Packing(self._lengths, device)

    @cached_property
    def sizes(self) -> list[int]:
        """Return the number of tokens of each text."""
        return self._lengths.tolist()

    @cached_property
    def starts(self) -> Tensor:
        """Return where each text begins, ``(batch,)``, on the CPU."""
        return self._lengths.cumsum(0) - self._lengths

    @cached_property
    def texts(self) -> Tensor:
        """Return the number of each token's text, ``(tokens,)``."""
        return torch.arange(len(self)).repeat_interleave(self._lengths).to(self.device)

    @cached_property
    def mask(self) -> Tensor:
        """Return the mask of the padded batch, ``(batch, length)``, True at tokens."""
        return (torch.arange(max(self.sizes)) < self._lengths[:, None]).to(self.device)

    def padded(self, x: Tensor) -> Tensor:
        """Return ``(batch, length, dim)`` for flat tokens ``(tokens, dim)``, zero at padding."""
        # shape: (batch, length, dim)
        padded = x.new_zeros(*self.mask.shape, x.shape[-1])
        padded[self.mask] = x
        return padded

    def similar(self) -> list[tuple[Tensor, "Packing"]]:
        """Return the texts in groups of similar length, for layers that need a padded batch.

        The shortest of a group has at least 0.7 times the length of its longest.

        Returns:
            Per group the flat places of its tokens, ``(tokens,)``, and their packing.
        """
        groups: list[list[int]] = []
        for text in self._order.tolist():
            if not groups or self.sizes[text] < 0.7 * self.sizes[groups[-1][0]]:
                groups.append([])
            groups[-1].append(text)
        places = torch.arange(sum(self.sizes), device=self.device).split(self.sizes)
        joined = [torch.cat([places[text] for text in group]) for group in groups]
        return [(at, Packing(self._lengths[of], self.device)) for at, of in zip(joined, groups)]

    # The order of a recurrence: the first token of all texts, the second of those that have one, …;
    # longer texts first, so that those still running are always the first of the step before.

    @cached_property
    def _order(self) -> Tensor:
        return self._lengths.argsort(descending=True, stable=True)

    @cached_property
    def batch_sizes(self) -> list[int]:
        """Return how many texts have a t-th token, for each t."""
        return (torch.arange(max(self.sizes))[:, None] < self._lengths).sum(1).tolist()

    @cached_property
    def _steps(self) -> tuple[Tensor, Tensor]:
        """Return step and text of each token in the recurrence's order."""
        ordered = self._lengths[self._order]
        # shape: (longest, batch); True while a text runs
        running = torch.arange(int(ordered[0]))[:, None] < ordered
        step, rank = running.nonzero(as_tuple=True)
        return step, self._order[rank]

    @cached_property
    def ahead(self) -> Tensor:
        """Return the flat place of each token in a recurrence from left to right, ``(tokens,)``."""
        step, text = self._steps
        return (self.starts[text] + step).to(self.device)

    @cached_property
    def behind(self) -> Tensor:
        """Return the same from right to left, ``(tokens,)``: each text begins with its last."""
        step, text = self._steps
        return (self.starts[text] + self._lengths[text] - 1 - step).to(self.device)

    @cached_property
    def previous(self) -> Tensor:
        """Return where a token's text stood a step before, in that order, ``(tokens,)``.

        Rows 0 to texts − 1 are the zero states; row texts + i is the state after token i.
        """
        counts = torch.tensor(self.batch_sizes)
        back = torch.cat((counts[:1], counts[:-1])).repeat_interleave(counts)
        return (torch.arange(len(back)) + counts[0] - back).to(self.device)

    def windows(self, width: int) -> Tensor:
        """Return the flat places of the ``width`` tokens from each token on, ``(tokens, width)``.

        Behind a text's end stands the number of tokens, one more than the last place.
        """
        places = torch.arange(sum(self.sizes))
        ends = (self.starts + self._lengths).repeat_interleave(self._lengths)
        # shape: (tokens, width)
        windows = places[:, None] + torch.arange(width)
        return windows.masked_fill(windows >= ends[:, None], len(places)).to(self.device)


def inverse(order: Tensor) -> Tensor:
    """Return the permutation that undoes ``order``, both ``(n,)``."""
    places = torch.empty_like(order)
    places[order] = torch.arange(len(order), device=order.device)
    return places


class PackedBiLSTM(nn.Module):
    """One layer of LSTM in both directions; the numbers of ``nn.LSTM`` on packed sequences.

    Args:
        input_dim: width of the input vectors.
        hidden_dim: width of the state per direction.
        fixed_dim: the first so many input entries get no gradient: they are word vectors that
            nobody trains.

    Example:
        >>> layer = PackedBiLSTM(4, 3)
        >>> layer(torch.zeros(5, 4), Packing(torch.tensor([2, 3]))).shape
        torch.Size([5, 6])
    """

    def __init__(self, input_dim: int, hidden_dim: int, fixed_dim: int = 0) -> None:
        super().__init__()
        self.output_dim = 2 * hidden_dim
        self.fixed_dim = fixed_dim
        self.lstm = nn.LSTM(input_dim, hidden_dim, bidirectional=True)

    def forward(self, x: Tensor, packing: Packing) -> Tensor:
        """Return ``(tokens, 2 * hidden_dim)`` for flat tokens ``(tokens, input_dim)``."""
        if x.device.type != "cpu":  # cuDNN's own packed recurrence
            return self.reference(x, packing)
        by_name = {name: _ordered(parameter) for name, parameter in self.lstm.named_parameters()}
        # shape: (2 * 4 * hidden, input_dim), (2, 4 * hidden, hidden) and (2 * 4 * hidden,)
        ways = ("l0", "l0_reverse")
        weight = torch.cat([by_name[f"weight_ih_{way}"] for way in ways])
        recurrent = torch.stack([by_name[f"weight_hh_{way}"] for way in ways])
        bias = torch.cat([by_name[f"bias_ih_{way}"] + by_name[f"bias_hh_{way}"] for way in ways])
        columns = [self.fixed_dim, x.shape[1] - self.fixed_dim]
        fixed, trained = x.split(columns, 1)
        of_fixed, of_trained = weight.split(columns, 1)
        # shape: (tokens, 2 * 4 * hidden)
        projected = functional.linear(fixed.detach(), of_fixed, bias)
        if columns[1]:
            projected = torch.addmm(projected, trained, of_trained.T)
        return _Recurrence.apply(projected, recurrent, packing)  # type: ignore[no-untyped-call]

    def reference(self, x: Tensor, packing: Packing) -> Tensor:
        """Return the same, ``(tokens, 2 * hidden)`` for ``(tokens, dim)``, by torch's own LSTM."""
        packed = PackedSequence(x[packing.ahead], torch.tensor(packing.batch_sizes))
        states, _ = self.lstm(packed)
        return states.data[inverse(packing.ahead)]


def _ordered(weight: Tensor) -> Tensor:
    """Return torch's rows (input, forget, cell, output) as output, input, forget, cell.

    The three gates with a sigmoid stand side by side, and so do the three whose gradient is that
    of the cell.
    """
    i, f, g, o = weight.chunk(4)
    return torch.cat((o, i, f, g))


class _Recurrence(torch.autograd.Function):
    """States of both directions from the products of the inputs."""

    @staticmethod
    def forward(ctx: Any, projected: Tensor, weight: Tensor, packing: Packing) -> Tensor:
        """Run both directions.

        Args:
            ctx: what the gradient needs.
            projected: input products and biases, forward direction first.
                ``(tokens, 2 * 4 * hidden)``
            weight: recurrent weights of both. ``(2, 4 * hidden, hidden)``
            packing: of the tokens.

        Returns:
            ``(tokens, 2 * hidden)``.
        """
        hidden, tokens, width = weight.shape[2], len(projected), weight.shape[1]
        sizes = packing.batch_sizes
        # shape: (2, tokens, 4 * hidden); both directions in the order of the recurrence
        gates = projected.new_empty(2, tokens, width)
        torch.index_select(projected[:, :width], 0, packing.ahead, out=gates[0])
        torch.index_select(projected[:, width:], 0, packing.behind, out=gates[1])
        # shape: (2, texts + tokens, hidden); before each text's first token, then of each token
        states = projected.new_zeros(2, sizes[0] + tokens, hidden)
        cells, squashed = torch.zeros_like(states), projected.new_empty(2, tokens, hidden)
        transposed = weight.transpose(1, 2).contiguous()
        rows = [sizes[0], *sizes]
        before = states.split(rows, 1), cells.split(rows, 1)
        now = gates.split(sizes, 1), squashed.split(sizes, 1)
        for t, size in enumerate(sizes):
            # shape: (2, running texts, 4 * hidden) and (2, running texts, hidden)
            gate, last = now[0][t], before[1][t][:, :size]
            gate.baddbmm_(before[0][t][:, :size], transposed)
            gate[..., : 3 * hidden].sigmoid_()
            gate[..., 3 * hidden :].tanh_()
            o, i, f, g = gate.split(hidden, -1)
            cell = torch.mul(f, last, out=before[1][t + 1]).addcmul_(i, g)
            torch.mul(o, torch.tanh(cell, out=now[1][t]), out=before[0][t + 1])
        ctx.save_for_backward(weight, gates, states, cells, squashed)
        ctx.packing = packing
        # shape: (tokens, 2 * hidden); back in the order of the texts
        outputs = projected.new_empty(tokens, 2 * hidden)
        outputs[:, :hidden] = states[0, sizes[0] :].index_select(0, inverse(packing.ahead))
        outputs[:, hidden:] = states[1, sizes[0] :].index_select(0, inverse(packing.behind))
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the products and of the weights."""
        weight, gates, states, cells, squashed = ctx.saved_tensors
        packing, hidden, sizes = ctx.packing, weight.shape[2], ctx.packing.batch_sizes
        # shape: (2, tokens, hidden); dh, the gradient of the states
        flow = grad.new_empty(2, len(grad), hidden)
        torch.index_select(grad[:, :hidden], 0, packing.ahead, out=flow[0])
        torch.index_select(grad[:, hidden:], 0, packing.behind, out=flow[1])
        change, inner = _slopes(gates, cells[:, packing.previous], squashed)
        forget = gates[..., 2 * hidden : 3 * hidden]
        flows, changes, inners, forgets = (x.split(sizes, 1) for x in (flow, change, inner, forget))
        for t in range(len(sizes) - 1, -1, -1):
            # shape: (2, texts, hidden); the gradient of the cell, in the place of its slope
            cell = inners[t].mul_(flows[t])
            if t + 1 < len(sizes):
                cell[:, : sizes[t + 1]].addcmul_(inners[t + 1], forgets[t + 1])
            changes[t][..., :hidden].mul_(flows[t])
            rest = changes[t][..., hidden:].unflatten(-1, (3, hidden))
            rest.mul_(cell.unsqueeze(2))
            if t > 0:
                flows[t - 1][:, : sizes[t]].baddbmm_(changes[t], weight)
        # shape: (tokens, 2 * 4 * hidden)
        products = grad.new_empty(len(grad), 2 * change.shape[2])
        width = change.shape[2]
        products[:, :width] = change[0].index_select(0, inverse(packing.ahead))
        products[:, width:] = change[1].index_select(0, inverse(packing.behind))
        # shape: (2, 4 * hidden, hidden); dU
        weights = change.transpose(1, 2) @ states[:, packing.previous]
        return products, weights, None


def _slopes(gates: Tensor, last: Tensor, squashed: Tensor) -> tuple[Tensor, Tensor]:
    """Return the derivatives that no gradient enters yet.

    Args:
        gates: ``(2, tokens, 4 * hidden)``, output, input, forget, cell.
        last: the cell a step before. ``(2, tokens, hidden)``
        squashed: tanh of the cell, likewise.

    Returns:
        Of the state (output gate) or the cell (the others) by each gate's product,
        ``(2, tokens, 4 * hidden)``; of the state by the cell, ``(2, tokens, hidden)``.
    """
    hidden = last.shape[2]
    o, i, _, g = gates.split(hidden, -1)
    sigmoids = gates[..., : 3 * hidden]
    slopes = torch.empty_like(gates)
    torch.addcmul(sigmoids, sigmoids, sigmoids, value=-1, out=slopes[..., : 3 * hidden])
    output, inp, forget, cell = slopes.split(hidden, -1)
    output.mul_(squashed)
    inp.mul_(g)
    forget.mul_(last)
    torch.mul(i, 1 - g * g, out=cell)
    return slopes, o - o * squashed * squashed
