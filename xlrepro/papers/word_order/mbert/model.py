"""The two kinds of M-BERT rows: an encoder on its frozen outputs, and M-BERT fine-tuned.

    frozen M-BERT → outputs at first pieces → TRS, RPT or ORT → linear → CRF
    M-BERT → outputs at first pieces → linear → softmax

"TRS w/ M-BERT PE" takes M-BERT's own position table and leaves it as it is; "w/ frozen PE" leaves
that table out of fine-tuning (paper, "Our Models and Baselines").
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.nn.bert import Bert
from xlrepro.nn.transformer import LearnedPositions, TransformerEncoder
from xlrepro.papers.word_order.mbert.encoders import MultilingualBert
from xlrepro.papers.word_order.model import SequenceTagger
from xlrepro.papers.word_order.settings import EncoderSettings
from xlrepro.tasks.tagging import NO_LABEL
from xlrepro.vectors.encoding import Batch


def frozen_tagger(
    settings: EncoderSettings, bert: MultilingualBert, n_tags: int, head: str
) -> SequenceTagger:
    """Return an encoder with CRF or softmax on frozen outputs of M-BERT.

    Args:
        settings: the encoder; ``positions: learned`` means M-BERT's table, frozen, added to its
            outputs before anything else.
        bert: whose outputs and position table.
        n_tags: number of tags.
        head: ``"crf"`` or ``"linear"``.
    """
    tagger = SequenceTagger(settings, bert.dim, n_tags, head)
    if settings.positions == "learned":
        assert isinstance(tagger.encoder, TransformerEncoder)
        # shape: (positions - 1, dim); row 0 belongs to [CLS]: the first word has row 1
        table = bert.position_table.detach()[1:]
        positions = LearnedPositions(bert.dim, table=table, frozen=True)
        # shape: (batch, length, bert.dim) -> (batch, length, dim)
        tagger.encoder.project = nn.Sequential(positions, tagger.encoder.project)
        tagger.encoder.positions = nn.Identity()
    return tagger


class FineTunedBert(nn.Module):
    """M-BERT with a linear layer and a softmax per word.

    Args:
        bert: trained further; its network is changed in place.
        n_tags: number of tags.
        dropout: before the linear layer, and inside a BERT of ours.
        freeze_positions: leave the position table as it is.
    """

    def __init__(
        self, bert: MultilingualBert, n_tags: int, dropout: float, freeze_positions: bool
    ) -> None:
        super().__init__()
        self.network = bert.network
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(bert.dim, n_tags)
        bert.position_table.requires_grad_(not freeze_positions)
        if isinstance(bert.network, Bert):  # pretrained without, on little text
            for module in bert.network.modules():
                if isinstance(module, nn.Dropout):
                    module.p = dropout

    def emissions(self, batch: Batch) -> Tensor:
        """Return a score per piece and tag: (batch, pieces, tags)."""
        # shape: (batch, pieces, dim) -> (batch, pieces, tags)
        return self.linear(self.dropout(self.network(batch.rows, batch.mask)))

    def loss(self, batch: Batch, table: Tensor) -> Tensor:
        """Return the mean negative log-likelihood per word.

        Args:
            batch: pieces, with tags at first pieces alone.
            table: not used.
        """
        # shape: (batch, pieces); True at the first pieces of words
        labelled = batch.mask & (batch.tags != NO_LABEL)
        # shape: (words, tags) and (words,)
        return functional.cross_entropy(self.emissions(batch)[labelled], batch.tags[labelled])

    @torch.no_grad()
    def predict(self, batch: Batch, table: Tensor) -> Tensor:
        """Return the best tag of each piece (batch, pieces); those of first pieces count."""
        return self.emissions(batch).argmax(-1)
