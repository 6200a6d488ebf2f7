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

from xlrepro.nn.recurrent import BiLSTM
from xlrepro.nn.transformer import LearnedPositions, SinusoidalPositions, TransformerEncoder
from xlrepro.papers.word_order.settings import MAX_DISTANCE, EncoderSettings
from xlrepro.tasks.tagging import SequenceTagger


def build_encoder(settings: EncoderSettings, input_dim: int) -> BiLSTM | TransformerEncoder:
    """Return the encoder.

    Args:
        settings: which encoder, and its sizes.
        input_dim: dimension of the word vectors.

    Returns:
        A module ``(x (batch, length, input_dim), mask (batch, length)) -> (batch, length,
        output_dim)``.
    """
    if settings.kind == "bilstm":
        return BiLSTM(input_dim, settings.hidden_dim, settings.layers, settings.dropout)
    absolute = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
    return TransformerEncoder(
        input_dim=input_dim,
        dim=settings.dim,
        heads=settings.heads,
        layers=settings.layers,
        ff_dim=settings.ff_dim,
        kernel_size=settings.kernel_size,
        positions=absolute.get(settings.positions),
        dropout=settings.dropout,
        max_distance=MAX_DISTANCE if settings.positions == "relative" else None,
    )


def make_tagger(
    settings: EncoderSettings, input_dim: int, n_tags: int, head: str = "crf"
) -> SequenceTagger:
    """Return a tagger on word vectors.

    Args:
        settings: the encoder and its sizes.
        input_dim: dimension of the word vectors.
        n_tags: number of tags.
        head: ``"crf"``, or ``"linear"`` for a softmax per token (the paper's "+ Linear", Table 6).
    """
    encoder = build_encoder(settings, input_dim)
    return SequenceTagger(encoder, n_tags, head, settings.dropout)
