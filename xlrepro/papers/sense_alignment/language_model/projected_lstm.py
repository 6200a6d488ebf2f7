"""LSTM with a projected, clipped state (Sak et al. 2014, as in ELMo), both directions at once."""

import torch
from torch import Tensor, nn

State = tuple[Tensor, Tensor]


class ProjectedLSTM(nn.Module):
    """One layer; each direction has weights of its own and reads texts of its own.

    The cell is cut to ``[-cell_clip, cell_clip]`` before it is squashed, the projected state to
    ``[-projection_clip, projection_clip]``. The two directions do not meet: they are two rows of
    every product, so that a step costs one product for both.

    Args:
        input_dim: width of the input.
        cells: width of the cell.
        dim: width of the projected state.
        cell_clip, projection_clip: largest absolute values.

    Example:
        >>> layer = ProjectedLSTM(4, 8, 3)
        >>> states, _ = layer(torch.zeros(2, 5, 6, 4))
        >>> states.shape
        torch.Size([2, 5, 6, 3])
    """

    def __init__(
        self,
        input_dim: int,
        cells: int,
        dim: int,
        cell_clip: float = 3.0,
        projection_clip: float = 3.0,
    ) -> None:
        super().__init__()
        self.cells, self.dim = cells, dim
        self.cell_clip, self.projection_clip = cell_clip, projection_clip
        self.inputs = nn.Parameter(torch.empty(2, input_dim, 4 * cells))
        self.recurrent = nn.Parameter(torch.empty(2, dim, 4 * cells))
        self.bias = nn.Parameter(torch.zeros(2, 1, 4 * cells))
        self.project = nn.Parameter(torch.empty(2, cells, dim))
        for weight in (self.inputs, self.recurrent, self.project):
            for direction in weight.data:
                nn.init.xavier_uniform_(direction)
        # Gates in torch's order: input, forget, cell, output. Cells remember at first.
        self.bias.data[:, :, cells : 2 * cells] = 1.0

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Run over windows of running text.

        Args:
            x: ``(2, batch, length, input_dim)``, the backward direction's text mirrored.
            state: projected state ``(2, batch, dim)`` and cell ``(2, batch, cells)`` before the
                first token; None: zero.

        Returns:
            States ``(2, batch, length, dim)``, and the state after the last token.
        """
        batch, length = x.shape[1], x.shape[2]
        # shape: (2, length * batch, 4 * cells); all tokens' input products at once
        products = torch.baddbmm(self.bias, x.transpose(1, 2).flatten(1, 2), self.inputs)
        steps = products.view(2, length, batch, -1).unbind(1)
        h, c = state or (x.new_zeros(2, batch, self.dim), x.new_zeros(2, batch, self.cells))
        states = []
        for step in steps:
            gates = torch.baddbmm(step, h, self.recurrent)
            i, f, g, o = gates.chunk(4, -1)
            c = torch.addcmul(torch.sigmoid(f) * c, torch.sigmoid(i), torch.tanh(g))
            c = c.clamp(-self.cell_clip, self.cell_clip)
            h = torch.bmm(torch.sigmoid(o) * torch.tanh(c), self.project)
            h = h.clamp(-self.projection_clip, self.projection_clip)
            states.append(h)
        return torch.stack(states, 2), (h, c)
