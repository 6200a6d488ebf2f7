"""Bidirectional LSTM over padded batches."""

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BiLSTM(nn.Module):
    """Bidirectional LSTM encoder whose outputs do not depend on padding.

    Args:
        input_dim: width of the input vectors.
        hidden_dim: width of the state per direction.
        layers: number of layers.
        dropout: probability of zeroing an entry, before the first layer's output is passed on and
            at the output of the last.

    Example:
        >>> encoder = BiLSTM(input_dim=4, hidden_dim=3, layers=1, dropout=0.0)
        >>> encoder(torch.zeros(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)).shape
        torch.Size([2, 5, 6])
    """

    def __init__(self, input_dim: int, hidden_dim: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.output_dim = 2 * hidden_dim
        self.lstm = nn.LSTM(
            input_dim,
            hidden_dim,
            layers,
            batch_first=True,
            bidirectional=True,
            dropout=dropout if layers > 1 else 0.0,
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Encode a batch.

        Args:
            x: ``(batch, length, input_dim)``.
            mask: ``(batch, length)`` bool, True at tokens; padding only on the right.

        Returns:
            ``(batch, length, 2 * hidden_dim)``, zero at padding.
        """
        lengths = mask.sum(1).cpu()
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, _ = self.lstm(packed)
        padded, _ = pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])
        return self.dropout(padded)
