"""The NLU model of Liu et al. (EMNLP 2019, D19-1129): intents and slots over latent variables.

    frozen word vectors + noise → encoder ┬→ attention pooling → z → linear → intent
                                          └→ z of every token  → linear → slot tag

The word-order paper puts TRS or ORT in place of its BiLSTM (Table 3); nothing else changes. What
the text leaves open follows the authors' code, zliucr/Crosslingual-NLU at 1c5123a.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.nn.crf import LinearChainCRF
from xlrepro.nn.pooling import AttentionPooling
from xlrepro.papers.word_order.model import build_encoder
from xlrepro.papers.word_order.nlu.settings import NLUSettings

POOLING_RANGE = 0.01  # of the attention vector's first values, the authors' code


class LatentVariable(nn.Module):
    """A Gaussian latent variable, sampled in training, its mean otherwise.

    ``z = μ + exp(v / 2) ε · scale`` with ``μ`` and ``v`` linear in the input and ε standard normal.
    There is no Kullback-Leibler term (the authors' code), so training may shrink the variance.

    Args:
        input_dim: width of the input.
        dim: width of z.
        scale: factor on the standard deviation.
    """

    def __init__(self, input_dim: int, dim: int, scale: float) -> None:
        super().__init__()
        self.mean = nn.Linear(input_dim, dim)
        self.log_variance = nn.Linear(input_dim, dim)
        self.scale = scale

    def forward(self, x: Tensor) -> Tensor:
        """Return z (..., dim) for ``x`` (..., input_dim)."""
        # shape: (..., dim)
        mean = self.mean(x)
        if not self.training:
            return mean
        deviation = torch.exp(self.log_variance(x) / 2)
        return mean + deviation * torch.randn_like(mean) * self.scale


class IntentHead(nn.Module):
    """Attention pooling, latent variable, linear layer.

    Args:
        input_dim: width of the encoder's output.
        n_intents: number of intents.
        settings: width and scale of the latent variable.
    """

    def __init__(self, input_dim: int, n_intents: int, settings: NLUSettings) -> None:
        super().__init__()
        self.pooling = AttentionPooling(input_dim)
        nn.init.uniform_(self.pooling.vector, -POOLING_RANGE, POOLING_RANGE)
        self.latent = LatentVariable(input_dim, settings.latent_dim, settings.latent_scale)
        self.linear = nn.Linear(settings.latent_dim, n_intents)

    def forward(self, encoded: Tensor, mask: Tensor) -> Tensor:
        """Return logits (batch, intents) for ``encoded`` (batch, length, input_dim)."""
        # shape: (batch, input_dim) -> (batch, latent_dim) -> (batch, intents)
        return self.linear(self.latent(self.pooling(encoded, mask)))


class SlotHead(nn.Module):
    """Latent variable of every token, linear layer, and a CRF where it is asked for.

    Args:
        input_dim: width of the encoder's output.
        n_tags: number of BIO tags.
        settings: width and scale of the latent variable, and the kind of head.
    """

    def __init__(self, input_dim: int, n_tags: int, settings: NLUSettings) -> None:
        super().__init__()
        self.latent = LatentVariable(input_dim, settings.latent_dim, settings.latent_scale)
        self.linear = nn.Linear(settings.latent_dim, n_tags)
        self.crf = LinearChainCRF(n_tags) if settings.slot_head == "crf" else None

    def forward(self, encoded: Tensor) -> Tensor:
        """Return scores (batch, length, tags) for ``encoded`` (batch, length, input_dim)."""
        # shape: (batch, length, latent_dim) -> (batch, length, tags)
        return self.linear(self.latent(encoded))

    def loss(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return the sum over sentences of the mean cross-entropy of their tokens.

        The sum over sentences, where the intent's loss is a mean, is the authors' code: the slots
        weigh ``batch_size`` times as much in Adam's moments of the encoder. With a CRF it is the
        sum of the sentences' negative log-likelihoods.

        Args:
            scores: of the slot head. ``(batch, length, tags)``
            tags: gold numbers. ``(batch, length)``
            mask: True on tokens, right-padded. ``(batch, length)``
        """
        if self.crf is not None:
            return self.crf(scores, tags, mask, reduction="sum")
        # shape: (tokens,); 1 / length of the token's sentence
        weights = (mask / mask.sum(1, keepdim=True))[mask]
        return (
            functional.cross_entropy(scores[mask], tags[mask], reduction="none") * weights
        ).sum()

    def decode(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Return the best tags (batch, length), -1 where padded."""
        if self.crf is not None:
            return self.crf.decode(scores, mask)
        return scores.argmax(-1).masked_fill(~mask, -1)


class NLUModel(nn.Module):
    """Encoder with an intent head and a slot head.

    Args:
        settings: the encoder, the noise, the latent variables.
        input_dim: dimension of the word vectors.
        n_intents: number of intents.
        n_tags: number of BIO tags.

    Example:
        >>> from xlrepro.papers.word_order.nlu.settings import nlu_settings
        >>> model = NLUModel(nlu_settings("smoke", {"kind": "bilstm"}, {}), 8, 3, 5).eval()
        >>> x, mask = torch.zeros(2, 4, 8), torch.ones(2, 4, dtype=torch.bool)
        >>> [tuple(predicted.shape) for predicted in model.predict(x, mask)]
        [(2,), (2, 4)]
    """

    def __init__(self, settings: NLUSettings, input_dim: int, n_intents: int, n_tags: int) -> None:
        super().__init__()
        self.noise = settings.noise
        self.dropout = nn.Dropout(settings.input_dropout)
        self.encoder, width = build_encoder(settings.encoder, input_dim)
        self.intent = IntentHead(width, n_intents, settings)
        self.slots = SlotHead(width, n_tags, settings)

    def encode(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the tokens' states; in training over word vectors with noise and dropout.

        Args:
            x: word vectors. (batch, length, input_dim)
            mask: True on tokens, right-padded. (batch, length)

        Returns:
            (batch, length, width)
        """
        if self.training:
            x = x + self.noise * torch.randn_like(x)
        return self.encoder(self.dropout(x), mask)

    def losses(
        self, x: Tensor, intents: Tensor, tags: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the intent loss and the slot loss of one forward pass.

        Args:
            x: word vectors. (batch, length, input_dim)
            intents: gold intent numbers. (batch,)
            tags: gold tag numbers. (batch, length)
            mask: True on tokens, right-padded. (batch, length)
        """
        # shape: (batch, length, width)
        encoded = self.encode(x, mask)
        intent_loss = functional.cross_entropy(self.intent(encoded, mask), intents)
        return intent_loss, self.slots.loss(self.slots(encoded), tags, mask)

    @torch.no_grad()
    def predict(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the best intents (batch,) and the best tags (batch, length), -1 where padded."""
        # shape: (batch, length, width)
        encoded = self.encode(x, mask)
        intents = self.intent(encoded, mask).argmax(-1)
        return intents, self.slots.decode(self.slots(encoded), mask)
