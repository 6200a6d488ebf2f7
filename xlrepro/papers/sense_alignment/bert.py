"""BERT-Tiny over whole words, without next-sentence prediction, and its sense-aware training.

Devlin et al. 2019 without segments. The state h that predicts a hidden word is the word's own
(h* = h): the transformed top state.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.papers.sense_alignment.senses import SenseOutput
from xlrepro.papers.sense_alignment.settings import BertTinySizes, SenseSettings

EPSILON = 1e-12  # of layer normalisation


class BertLayer(nn.Module):
    """Self-attention and feed-forward, each with residual and layer normalisation after it."""

    def __init__(self, sizes: BertTinySizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.project = nn.Linear(sizes.dim, 3 * sizes.dim)
        self.output = nn.Linear(sizes.dim, sizes.dim)
        self.attention_norm = nn.LayerNorm(sizes.dim, eps=EPSILON)
        self.widen = nn.Linear(sizes.dim, sizes.ff_dim)
        self.narrow = nn.Linear(sizes.ff_dim, sizes.dim)
        self.feed_forward_norm = nn.LayerNorm(sizes.dim, eps=EPSILON)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return ``(batch, length, dim)`` for ``x`` of that shape; there is no padding."""
        batch, length, dim = x.shape
        # shape of each: (batch, heads, length, dim / heads)
        q, k, v = self.project(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        drop = self.dropout.p if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(q, k, v, dropout_p=drop)
        # shape from here on: (batch, length, dim)
        mixed = self.output(mixed.transpose(1, 2).reshape(batch, length, dim))
        x = self.attention_norm(x + self.dropout(mixed))
        inner = self.narrow(functional.gelu(self.widen(x)))
        return self.feed_forward_norm(x + self.dropout(inner))


class WordBert(nn.Module):
    """Numbers of words to one vector each: what is kept after the pretraining.

    Example:
        >>> sizes = BertTinySizes(family="bert", dim=8, layers=1, heads=2, ff_dim=16, positions=6)
        >>> WordBert(11, sizes)(torch.ones(2, 5, dtype=torch.long)).shape
        torch.Size([2, 5, 8])
    """

    def __init__(self, words: int, sizes: BertTinySizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.words = nn.Embedding(words, sizes.dim)
        self.positions = nn.Embedding(sizes.positions, sizes.dim)
        self.norm = nn.LayerNorm(sizes.dim, eps=EPSILON)
        self.dropout = nn.Dropout(sizes.dropout)
        self.layers = nn.ModuleList(BertLayer(sizes) for _ in range(sizes.layers))
        self.apply(_initialise)

    def forward(self, ids: Tensor) -> Tensor:
        """Return ``(batch, length, dim)`` for ``(batch, length)``, at most ``positions`` long."""
        # shape from here on: (batch, length, dim)
        x = self.words(ids) + self.positions.weight[: ids.shape[1]]
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x)
        return x


def _initialise(module: nn.Module) -> None:
    """Draw weights from N(0, 0.02), as BERT does; biases are zero."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)


class WholeWordBert(nn.Module):
    """A masked language model whose output is tied (BERT-Tiny) or sense-aware (SaBERT-Tiny).

    Args:
        sizes: of the network.
        senses: of the output layer; with one sense weights are tied, as BERT's.
        words: V, special ones included.
        translations: words that translate each word, -1 padded; None in one language. ``(V, T)``
    """

    translations: Tensor | None

    def __init__(
        self, sizes: BertTinySizes, senses: SenseSettings, words: int, translations: Tensor | None
    ) -> None:
        super().__init__()
        self.encoder = WordBert(words, sizes)
        self.senses = senses
        dense, norm = nn.Linear(sizes.dim, sizes.dim), nn.LayerNorm(sizes.dim, eps=EPSILON)
        self.transform = nn.Sequential(dense, nn.GELU(), norm)  # to the state that predicts
        _initialise(dense)
        self.bias = nn.Parameter(torch.zeros(words))
        self.register_buffer("translations", translations, persistent=False)
        if senses.senses > 1:
            self.output = SenseOutput(words, sizes.dim, senses, "adamw")

    def tied(self, step: int) -> bool:
        """Tell whether word vectors serve as output vectors at a step."""
        senses = self.senses
        return senses.senses == 1 or (senses.warmup == "tied" and step < senses.warmup_steps)

    def loss(self, ids: Tensor, hidden: Tensor, gold: Tensor, step: int, seed: int) -> Tensor:
        """Return the mean loss over the hidden words.

        Args:
            ids: what the model sees. ``(sequences, length)``
            hidden: True where it must name the word. ``(sequences, length)``
            gold: the hidden words. ``(hidden,)``
            step: number of the step.
            seed: of the negatives.
        """
        # shape: (hidden, dim)
        states = self.transform(self.encoder(ids)[hidden])
        if self.tied(step):
            if self.training and self.senses.senses > 1 and self.senses.begin == "states":
                self.output.centres.place(gold, states.detach(), step)
            # shape: (hidden, words)
            scores = states @ self.encoder.words.weight.T + self.bias
            return functional.cross_entropy(scores, gold)
        there = None if self.translations is None else self.translations[gold]
        return self.output.loss(states, states, gold, [seed, step], step, there)

    def parts(self) -> list[SenseOutput]:
        """Return the output layers: one, or none where weights are tied throughout."""
        return [self.output] if self.senses.senses > 1 else []
