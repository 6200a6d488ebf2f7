"""The taggers of "On the importance of word order in cross-lingual sequence labeling".

Liu et al., AAAI 2021, arXiv 2001.11164. Every system is the same stack,

    frozen word vectors → encoder → linear → CRF,

and differs in its encoder alone:

- BiLSTM: two layers, both directions;
- TRS: Transformer with sinusoidal positions;
- RPT: Transformer with relative positions, Ahmad et al. (2019);
- ORT: Transformer without positions, the paper's order-reduced Transformer: Eq. 1 is its attention,
  Eq. 2 the convolution of width h that stands in place of the first feed-forward layer and is all
  that still sees order.

All Transformers use the convolution (paper, "Our Models and Baselines").
"""

from functools import partial

import torch
from torch import Tensor, nn

from xlrepro.nn.crf import LinearChainCRF
from xlrepro.nn.recurrent import BiLSTM
from xlrepro.nn.transformer import (
    LearnedPositions,
    Positions,
    RelativePositions,
    SinusoidalPositions,
    TransformerEncoder,
)
from xlrepro.papers.word_order.settings import MAX_DISTANCE, EncoderSettings
from xlrepro.vectors.encoding import Batch


def build_encoder(settings: EncoderSettings, input_dim: int) -> tuple[nn.Module, int]:
    """Return the encoder and the dimension of its output.

    Args:
        settings: which encoder, and its sizes.
        input_dim: dimension of the word vectors.

    Returns:
        A module ``(x (batch, length, input_dim), mask (batch, length)) -> (batch, length, out)``
        and ``out``.
    """
    if settings.kind == "bilstm":
        lstm = BiLSTM(input_dim, settings.hidden_dim, settings.layers, settings.dropout)
        return lstm, 2 * settings.hidden_dim
    positions: dict[str, Positions | None] = {
        "sinusoidal": SinusoidalPositions,
        "learned": LearnedPositions,
        "relative": partial(RelativePositions, max_distance=MAX_DISTANCE),
        "none": None,
    }
    transformer = TransformerEncoder(
        input_dim=input_dim,
        dim=settings.dim,
        heads=settings.heads,
        layers=settings.layers,
        ff_dim=settings.ff_dim,
        kernel_size=settings.kernel_size,
        positions=positions[settings.positions],
        dropout=settings.dropout,
    )
    return transformer, settings.dim


class SequenceTagger(nn.Module):
    """Encoder, linear layer, and a CRF or a softmax per token.

    Args:
        settings: the encoder and its sizes.
        input_dim: dimension of the word vectors.
        n_tags: number of tags.
        head: ``"crf"``, or ``"linear"`` for a softmax per token (the paper's "+ Linear", Table 6).

    Example:
        >>> from xlrepro.papers.word_order.settings import MAX_DISTANCE, EncoderSettings
        >>> tagger = SequenceTagger(EncoderSettings(kind="bilstm", hidden_dim=4), 8, 3)
        >>> x, mask = torch.zeros(2, 5, 8), torch.ones(2, 5, dtype=torch.bool)
        >>> tagger.emissions(x, mask).shape
        torch.Size([2, 5, 3])
    """

    def __init__(
        self, settings: EncoderSettings, input_dim: int, n_tags: int, head: str = "crf"
    ) -> None:
        super().__init__()
        self.encoder, width = build_encoder(settings, input_dim)
        self.dropout = nn.Dropout(settings.dropout)
        self.linear = nn.Linear(width, n_tags)
        self.crf = LinearChainCRF(n_tags) if head == "crf" else None

    def emissions(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return a score per token and tag.

        Args:
            x: word vectors. (batch, length, input_dim)
            mask: True on tokens, right-padded. (batch, length)

        Returns:
            (batch, length, tags)
        """
        # shape: (batch, length, width) -> (batch, length, tags)
        return self.linear(self.dropout(self.encoder(x, mask)))

    def loss(self, batch: Batch, table: Tensor) -> Tensor:
        """Return the mean negative log-likelihood per sentence (CRF) or per token (softmax).

        Args:
            batch: rows of ``table`` and gold tags of each token.
            table: word vectors. (types + 1, input_dim)
        """
        # shape: (batch, length, tags)
        emissions = self.emissions(table[batch.rows], batch.mask)
        if self.crf is not None:
            loss: Tensor = self.crf(emissions, batch.tags, batch.mask)
            return loss
        # shape: (tokens, tags) and (tokens,)
        return nn.functional.cross_entropy(emissions[batch.mask], batch.tags[batch.mask])

    @torch.no_grad()
    def predict(self, batch: Batch, table: Tensor) -> Tensor:
        """Return the best tags (batch, length), -1 where padded; arguments as in :meth:`loss`."""
        # shape: (batch, length, tags)
        emissions = self.emissions(table[batch.rows], batch.mask)
        if self.crf is not None:
            return self.crf.decode(emissions, batch.mask)
        return emissions.argmax(-1).masked_fill(~batch.mask, -1)
