"""ELMo's network and its sense-aware training: two language models, one per reading direction.

The forward model reads a text, the backward model the same sentences mirrored. Both predict the
next word of what they read: Eq. 1 and 3 with h* the state before the word.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.papers.sense_alignment.language_model.projected_lstm import ProjectedLSTM, State
from xlrepro.papers.sense_alignment.language_model.senses import SenseOutput
from xlrepro.papers.sense_alignment.language_model.settings import BiLMSizes, SenseSettings
from xlrepro.papers.sense_alignment.language_model.word_encoder import WordEncoder


class BiLM(nn.Module):
    """Characters to states: what is kept after the pretraining.

    Args:
        sizes: of the network.
    """

    def __init__(self, sizes: BiLMSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.words = WordEncoder(sizes)
        self.layers = nn.ModuleList(
            ProjectedLSTM(sizes.dim, sizes.cells, sizes.dim, sizes.cell_clip, sizes.projection_clip)
            for _ in range(sizes.layers)
        )
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(
        self, x: Tensor, state: list[State] | None = None
    ) -> tuple[list[Tensor], list[State]]:
        """Run both directions over word vectors.

        Args:
            x: ``(2, batch, length, dim)``, the second row mirrored text.
            state: of each layer before the first word; None: zero.

        Returns:
            States of each layer, ``(2, batch, length, dim)``, and the state after the last word.
        """
        outputs, after = [], []
        for number, layer in enumerate(self.layers):
            # shape: (2, batch, length, dim)
            states, last = layer(self.dropout(x), None if state is None else state[number])
            x = states + x if number else states
            outputs.append(x)
            after.append(last)
        return outputs, after

    def vectors(self, ids: Tensor, characters: Tensor) -> Tensor:
        """Return the vectors of words, each distinct word encoded once.

        Args:
            ids: numbers of words, any shape.
            characters: of all words. ``(words, width)``
        """
        # shape: (distinct words,), and that of ids
        kinds, place = ids.unique(return_inverse=True)
        return functional.embedding(place, self.words(characters[kinds]))


@dataclass
class Window:
    """A batch of running text.

    Attributes:
        words: numbers of words; the last column is only predicted. ``(2, streams, unroll + 1)``
        targets: their numbers in the vocabulary that is predicted, of the same shape.
        state: of the network before it; None at the beginning.
        step: number of the step.
        seed: of the negatives.
    """

    words: Tensor
    targets: Tensor
    state: list[State] | None
    step: int
    seed: int


class BiLanguageModel(nn.Module):
    """A biLM with a sense-aware output layer per direction (not shared, §4.2).

    Args:
        sizes: of the network.
        senses: of the output layers.
        characters: of all words that are read. ``(words, width)``
        known: V, the words that are predicted: the first ones.
        translations: words that translate each word, -1 padded; None in one language. ``(V, T)``
        accumulator: Adagrad's first sum of squares.
        optimiser: of the sense vectors.
    """

    characters: Tensor
    translations: Tensor | None

    def __init__(
        self,
        sizes: BiLMSizes,
        senses: SenseSettings,
        characters: Tensor,
        known: int,
        translations: Tensor | None = None,
        accumulator: float = 1.0,
        optimiser: str = "adagrad",
    ) -> None:
        super().__init__()
        self.encoder = BiLM(sizes)
        self.senses = senses
        self.outputs = nn.ModuleList(
            SenseOutput(known, sizes.dim, senses, optimiser, accumulator) for _ in range(2)
        )
        self.register_buffer("characters", characters, persistent=False)
        self.register_buffer("translations", translations, persistent=False)
        self.dropout = nn.Dropout(sizes.dropout)

    def loss(self, window: Window) -> tuple[Tensor, list[State]]:
        """Return the mean loss of both directions, and the state after the window."""
        # shape: (2, streams, unroll + 1, dim), then (2, streams, unroll, dim)
        x = self.encoder.vectors(window.words, self.characters)
        layers, state = self.encoder(x[:, :, :-1], window.state)
        top = layers[-1]
        predicting = self.dropout(top)
        choosing = predicting if self.senses.choose_after_dropout else top
        choosing = self._own_states(choosing.detach(), x[:, :, -1:].detach(), state)
        losses = []
        for d, output in enumerate(self.outputs):
            assert isinstance(output, SenseOutput)
            # shape: (streams * unroll,)
            target = window.targets[d, :, 1:].flatten()
            there = None if self.translations is None else self.translations[target]
            losses.append(
                output.loss(
                    predicting[d].flatten(0, 1),
                    choosing[d].flatten(0, 1),
                    target,
                    [window.seed, window.step, d],
                    window.step,
                    there,
                )
            )
        return torch.stack(losses).mean(), [(h.detach(), c.detach()) for h, c in state]

    @torch.no_grad()
    def _own_states(self, states: Tensor, last: Tensor, after: list[State]) -> Tensor:
        """Return the state of each predicted word itself: one further than what predicts it.

        For the last word one more step is run, or the code's shift leaves what predicts it.
        """
        if self.senses.senses == 1:
            return states
        # shape: (2, streams, 1, dim)
        end = states[:, :, -1:]
        if self.senses.last_state == "own":
            end = self.encoder(last, after)[0][-1]
        return torch.cat((states[:, :, 1:], end), 2)

    def parts(self) -> list[SenseOutput]:
        """Return the output layers, forward first."""
        return [output for output in self.outputs if isinstance(output, SenseOutput)]
