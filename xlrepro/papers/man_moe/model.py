"""MAN-MoE: shared and private features of words, and what is predicted from them (§3.1).

Components carry the paper's letters: F_s (shared extractor), D (language discriminator), F_p
(private extractor with its experts), C (predictor). Baselines and ablations leave parts out.
Texts of all languages go through each part as one batch of flat tokens, without padding.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.nn.char_cnn import CharCNN
from xlrepro.nn.dropout import Dropout
from xlrepro.nn.mixture_of_experts import ExpertGate, Experts, mix, mix_log_probabilities
from xlrepro.nn.pooling import AttentionPooling, ConvolutionPooling
from xlrepro.nn.recurrent import PackedBiLSTM, Packing, inverse
from xlrepro.nn.transformer import SinusoidalPositions, TransformerEncoder
from xlrepro.papers.man_moe.encoding import WordTable
from xlrepro.papers.man_moe.settings import ModelSettings

KERNEL_SIZES = (3, 4, 5)  # of both convolutions [paper]
TRANSFORMER_HEADS = 4  # of a Transformer as F_s, and dropout within its layers
TRANSFORMER_DROPOUT = 0.1


@dataclass(frozen=True)
class Prediction:
    """What the predictor says of a batch.

    Attributes:
        log_probabilities: of each token, or of each text. ``(items, labels)``
        private_gate: logits of F_p's gate, of each token; ``None`` without F_p. ``(tokens, N)``
        predictor_gate: logits of C's gate; ``None`` without experts in C. ``(items, N)``
    """

    log_probabilities: Tensor
    private_gate: Tensor | None
    predictor_gate: Tensor | None


class WordRepresentation(nn.Module):
    """Fixed cross-lingual vectors, and beside them what the CharCNN makes of the spelling.

    Args:
        vector_dim: width of the fixed vectors.
        characters: number of character ids.
        settings: whether there is a CharCNN, and its sizes.
    """

    def __init__(self, vector_dim: int, characters: int, settings: ModelSettings) -> None:
        super().__init__()
        self.char_cnn: CharCNN | None = None
        self.output_dim = vector_dim
        if settings.characters:
            self.char_cnn = CharCNN(
                characters,
                settings.character_embedding,
                settings.character_filters,
                KERNEL_SIZES,
                settings.character_dim,
                dropout=settings.dropout,
            )
            self.output_dim += settings.character_dim

    def forward(self, rows: Tensor, table: WordTable) -> Tensor:
        """Represent some words; the CharCNN reads each distinct spelling once.

        A window of the CharCNN begins at each character. In the code they are those of a valid
        convolution over the padded words of a batch, which lie in padding too.

        Args:
            rows: of the word table. ``(tokens,)``
            table: the words.

        Returns:
            ``(tokens, output_dim)``, the fixed vector first.
        """
        # shape: (tokens, vector_dim)
        vectors = table.vectors.index_select(0, rows)
        if self.char_cnn is None:
            return vectors
        # shape: (spellings,) and (tokens,)
        distinct, tokens = torch.unique(table.spellings[rows], return_inverse=True)
        # shape: (words, characters of the longest)
        characters = table.characters[distinct]
        width = int((characters > 0).sum(1).max())
        # shape: (tokens, character_dim)
        spelled = self.char_cnn(characters[:, : max(1, width)], tokens)
        return torch.cat((vectors, spelled), -1)


class FeatureExtractor(nn.Module):
    """Dropout on the word representations, then a BiLSTM with dropout between its layers.

    Args:
        input_dim: width of a word representation.
        settings: sizes and dropout.
        fixed_dim: how much of it is a fixed vector.
    """

    def __init__(self, input_dim: int, settings: ModelSettings, fixed_dim: int = 0) -> None:
        super().__init__()
        hidden = settings.extractor_dim
        self.output_dim = 2 * hidden
        widths = [input_dim] + [self.output_dim] * (settings.extractor_layers - 1)
        fixed = [fixed_dim] + [0] * (settings.extractor_layers - 1)
        self.layers = nn.ModuleList(
            PackedBiLSTM(width, hidden, part) for width, part in zip(widths, fixed, strict=True)
        )
        self.dropout = Dropout(settings.dropout)

    def forward(self, x: Tensor, packing: Packing) -> Tensor:
        """Return ``(tokens, output_dim)`` for flat tokens ``(tokens, input_dim)``."""
        for layer in self.layers:
            # shape: (tokens, 2 * extractor_dim)
            x = layer(self.dropout(x), packing)
        return x


class TransformerExtractor(nn.Module):
    """F_s with a Transformer in the BiLSTM's place (word order paper, Table 4).

    Args:
        input_dim: width of a word representation.
        settings: which Transformer, sizes and dropout; as wide as the BiLSTM, as many layers.
    """

    def __init__(self, input_dim: int, settings: ModelSettings) -> None:
        super().__init__()
        self.output_dim = 2 * settings.extractor_dim
        self.dropout = Dropout(settings.dropout)
        self.encoder = TransformerEncoder(
            input_dim=input_dim,
            dim=self.output_dim,
            heads=TRANSFORMER_HEADS,
            layers=settings.extractor_layers,
            ff_dim=4 * self.output_dim,  # Vaswani et al. 2017: 2048 for 512
            kernel_size=3,
            positions=SinusoidalPositions if settings.extractor == "TRS" else None,
            dropout=TRANSFORMER_DROPOUT,
        )

    def forward(self, x: Tensor, packing: Packing) -> Tensor:
        """Return ``(tokens, output_dim)`` for flat tokens ``(tokens, input_dim)``.

        Texts of similar length go through the encoder together, so that little is padding.
        """
        x = self.dropout(x)
        groups = packing.similar()
        # shape of each: (tokens of the group, output_dim)
        states = [
            self.encoder(group.padded(x.index_select(0, places)), group.mask)[group.mask]
            for places, group in groups
        ]
        # shape: (tokens,); where each row of the states stood
        order = torch.cat([places for places, _ in groups])
        return torch.cat(states).index_select(0, inverse(order))


class Discriminator(nn.Module):
    """D: which language a text's shared features come from, by a CNN over its tokens.

    Args:
        input_dim: width of the shared features.
        languages: number of languages, the target's included.
        settings: sizes and dropout.
    """

    def __init__(self, input_dim: int, languages: int, settings: ModelSettings) -> None:
        super().__init__()
        self.pool = ConvolutionPooling(input_dim, settings.discriminator_filters, KERNEL_SIZES)
        self.dropout = Dropout(settings.dropout)
        width = settings.discriminator_dim
        self.classify = nn.Sequential(
            nn.Linear(self.pool.output_dim, width),
            nn.ReLU(),
            Dropout(settings.dropout),
            nn.Linear(width, width),
            nn.ReLU(),
            # none before the last layer, here and in C (the code; the text: in all components)
            nn.Linear(width, languages),
        )

    def forward(self, features: Tensor, packing: Packing) -> Tensor:
        """Return log-probabilities of the languages, ``(batch, languages)``.

        Args:
            features: flat. ``(tokens, input_dim)``
            packing: of the texts.
        """
        # shape: (batch, 3 * filters)
        pooled = self.dropout(self.pool(features, packing))
        return self.classify(pooled).log_softmax(-1)


class PrivateExtractor(nn.Module):
    """F_p: a BiLSTM, and a mixture of one expert per source language on each token (Figure 2).

    Args:
        input_dim: width of a word representation.
        sources: number of source languages N.
        settings: sizes, dropout, and how the gate is trained.
        fixed_dim: how much of a word representation is a fixed vector.
    """

    def __init__(
        self, input_dim: int, sources: int, settings: ModelSettings, fixed_dim: int = 0
    ) -> None:
        super().__init__()
        self.extract = FeatureExtractor(input_dim, settings, fixed_dim)
        hidden, width = self.extract.output_dim, settings.expert_dim
        self.experts = Experts(sources, hidden, width, width, settings.dropout)
        self.gate = ExpertGate(hidden, sources, settings.detach_gate)
        self.output_dim = width

    def forward(self, x: Tensor, packing: Packing) -> tuple[Tensor, Tensor]:
        """Return private features ``(tokens, output_dim)`` and gate logits ``(tokens, N)``."""
        # shape: (tokens, 2 * extractor_dim), then (tokens, N)
        hidden = self.extract(x, packing)
        logits = self.gate(hidden)
        # shape: (tokens, N, expert_dim) mixed to (tokens, expert_dim);
        # tanh, as the LSTM's outputs beside which these features stand (Appendix B)
        return mix(self.experts(hidden).tanh(), logits), logits


class Predictor(nn.Module):
    """C: labels of tokens, or of whole texts, from their features (Figure 3).

    Args:
        input_dim: width of the features of a token.
        labels: number of labels.
        sources: number of source languages N.
        pooled: whether texts are labelled and not tokens.
        settings: sizes, dropout, and how experts are mixed.
    """

    def __init__(
        self, input_dim: int, labels: int, sources: int, pooled: bool, settings: ModelSettings
    ) -> None:
        super().__init__()
        self.mixture = settings.mixture
        self.pool = AttentionPooling(input_dim) if pooled else None
        count = sources if settings.tagger_experts else 1
        self.experts = Experts(count, input_dim, input_dim, labels, settings.dropout, 0.0)
        self.gate: ExpertGate | None = None
        if settings.tagger_experts:
            self.gate = ExpertGate(input_dim, count, settings.detach_gate)

    def forward(self, features: Tensor, packing: Packing) -> tuple[Tensor, Tensor | None]:
        """Predict from the features of the tokens.

        Args:
            features: ``(tokens, input_dim)``, the tokens of the batch one after the other.
            packing: of the texts.

        Returns:
            Log-probabilities ``(items, labels)``, and gate logits ``(items, N)`` if there is one.
        """
        if self.pool is not None:
            # shape: (batch, input_dim), from (batch, length, input_dim)
            features = self.pool(packing.padded(features), packing.mask)
        # shape: (items, N, labels); N is 1 for a perceptron
        logits = self.experts(features)
        if self.gate is None:
            return logits.squeeze(1).log_softmax(-1), None
        # shape: (items, N)
        gate_logits = self.gate(features)
        return mix_log_probabilities(logits, gate_logits, self.mixture), gate_logits


class ManMoe(nn.Module):
    """The whole model.

    Args:
        settings: which parts there are, and their sizes.
        vector_dim: width of the fixed word vectors.
        characters: number of character ids.
        sources: number of source languages N; the discriminator also knows the target.
        labels: number of labels.
        pooled: whether texts are labelled and not tokens.
    """

    def __init__(
        self,
        settings: ModelSettings,
        vector_dim: int,
        characters: int,
        sources: int,
        labels: int,
        pooled: bool = False,
    ) -> None:
        super().__init__()
        self.words = WordRepresentation(vector_dim, characters, settings)
        self.shared: FeatureExtractor | TransformerExtractor
        if settings.extractor == "BiLSTM":
            self.shared = FeatureExtractor(self.words.output_dim, settings, vector_dim)
        else:
            self.shared = TransformerExtractor(self.words.output_dim, settings)
        self.private: PrivateExtractor | None = None
        self.discriminator: Discriminator | None = None
        width = self.shared.output_dim
        if settings.private_experts:
            self.private = PrivateExtractor(self.words.output_dim, sources, settings, vector_dim)
            width += self.private.output_dim
        if settings.adversarial:
            self.discriminator = Discriminator(self.shared.output_dim, sources + 1, settings)
        self.predictor = Predictor(width, labels, sources, pooled, settings)

    def predict(self, words: Tensor, packing: Packing, shared: Tensor | None = None) -> Prediction:
        """Predict the labels of a batch.

        Args:
            words: word representations, flat. ``(tokens, dim)``
            packing: of the texts.
            shared: F_s's features of the batch if they are known. ``(tokens, dim)``
        """
        # shape: (tokens, 2 * extractor_dim)
        features = self.shared(words, packing) if shared is None else shared
        private_gate = None
        if self.private is not None:
            # shape: (tokens, expert_dim) and (tokens, N)
            private, private_gate = self.private(words, packing)
            # shape: (tokens, 2 * extractor_dim + expert_dim)
            features = torch.cat((features, private), -1)  # c = [f_s; f_p]
        # shape: (items, labels) and (items, N); an item is a token, or a text
        log_probabilities, predictor_gate = self.predictor(features, packing)
        return Prediction(log_probabilities, private_gate, predictor_gate)

    def main_parameters(self) -> list[nn.Parameter]:
        """Return the parameters of F_s, F_p, C and the CharCNN: the main optimiser's."""
        named = self.named_parameters()
        return [p for name, p in named if p.requires_grad and not name.startswith("discriminator.")]


def language_mean(losses: Tensor, languages: Tensor, count: int) -> Tensor:
    """Return the sum over languages of the mean loss of each language's items.

    Args:
        losses: ``(items,)``.
        languages: language number of each item, ``(items,)``.
        count: number of languages.
    """
    # shape: (items, count); 1 in the column of an item's language
    members = functional.one_hot(languages, count).to(losses.dtype)
    # shape: (count,), summed
    return (losses @ members / members.sum(0).clamp(min=1)).sum()
