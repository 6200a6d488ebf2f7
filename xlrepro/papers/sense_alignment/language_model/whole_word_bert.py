"""BERT-Tiny over whole words, without next-sentence prediction, and its sense-aware training.

The state h that predicts a hidden word is the word's own (h* = h): the transformed top state.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.nn.bert import Bert, BertSizes
from xlrepro.papers.sense_alignment.language_model.senses import SenseOutput
from xlrepro.papers.sense_alignment.language_model.settings import BertTinySizes, SenseSettings


@dataclass
class MaskedWords:
    """A batch of sequences in which words are hidden.

    Attributes:
        ids: what the model sees. ``(sequences, length)``
        hidden: True where it must name the word. ``(sequences, length)``
        gold: the hidden words. ``(hidden,)``
        step: number of the step.
        seed: of the negatives.
    """

    ids: Tensor
    hidden: Tensor
    gold: Tensor
    step: int
    seed: int


class WholeWordBert(nn.Module):
    """A masked language model whose output is tied (BERT-Tiny) or sense-aware (SaBERT-Tiny).

    Args:
        sizes: of the network.
        senses: of the output layer; with one sense weights are tied, as BERT's.
        words: V, special ones included.
        translations: words that translate each word, -1 padded; None in one language. ``(V, T)``
        optimiser: of the sense vectors.
    """

    translations: Tensor | None

    def __init__(
        self,
        sizes: BertTinySizes,
        senses: SenseSettings,
        words: int,
        translations: Tensor | None = None,
        optimiser: str = "adamw",
    ) -> None:
        super().__init__()
        numbers = sizes.model_dump(exclude={"family"})
        self.encoder = Bert(BertSizes(words, **numbers))
        self.senses = senses
        self.transform = nn.Linear(sizes.dim, sizes.dim)
        self.norm = nn.LayerNorm(sizes.dim, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(words))
        nn.init.normal_(self.transform.weight, std=0.02)
        nn.init.zeros_(self.transform.bias)
        self.register_buffer("translations", translations, persistent=False)
        if senses.senses > 1:
            self.output = SenseOutput(words, sizes.dim, senses, optimiser)

    def tied(self, step: int) -> bool:
        """Tell whether word vectors serve as output vectors at a step."""
        senses = self.senses
        return senses.senses == 1 or (senses.warmup == "tied" and step < senses.warmup_steps)

    def states(self, ids: Tensor, where: Tensor) -> Tensor:
        """Return h at the positions ``where``, ``(positions, dim)``."""
        # shape: (positions, dim)
        top = self.encoder(ids)[where]
        states: Tensor = self.norm(functional.gelu(self.transform(top)))
        return states

    def loss(self, batch: MaskedWords) -> Tensor:
        """Return the mean loss over the hidden words."""
        states = self.states(batch.ids, batch.hidden)
        if self.tied(batch.step):
            if self.training and self.senses.senses > 1 and self.senses.begin == "states":
                self.output.centres.place(batch.gold, states.detach(), batch.step)
            # shape: (hidden, words)
            scores = states @ self.encoder.pieces.weight.T + self.bias
            return functional.cross_entropy(scores, batch.gold)
        there = None if self.translations is None else self.translations[batch.gold]
        seed = [batch.seed, batch.step]
        return self.output.loss(states, states, batch.gold, seed, batch.step, there)

    @torch.no_grad()
    def observe(self, batch: MaskedWords) -> None:
        """Let centres follow the states of a batch without training on it (SaBERT's code)."""
        states = self.states(batch.ids, batch.hidden)
        self.output.observe(batch.gold, self.output.choose(batch.gold, states), states, batch.step)

    def parts(self) -> list[SenseOutput]:
        """Return the output layers: one, or none where weights are tied throughout."""
        return [self.output] if self.senses.senses > 1 else []
