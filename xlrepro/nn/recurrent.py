"""Bidirectional LSTM over padded batches."""

import torch
from torch import Tensor, nn

from xlrepro.nn.reversal import mirrored_steps


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
