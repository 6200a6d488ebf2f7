"""ELMo's network and its sense-aware training: two language models, one per reading direction.

The forward model reads a text, the backward model the same sentences mirrored. Both predict the
next word of what they read: Eq. 1 and 3 with h* the state before the word. Words are read by their
characters; the LSTM has a projected, clipped state (Sak et al. 2014, as in ELMo).
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.papers.sense_alignment.senses import SenseOutput
from xlrepro.papers.sense_alignment.settings import BiLMSizes, SenseSettings

LAYERS = 2  # of the LSTM [paper, Table 6]
CLIP = 3.0  # largest absolute value of a cell and of a projected state [paper, Table 6]
LONGEST_WORD = 50  # characters, begin and end included; longer words are cut [paper, Table 6]
# 256 bytes of UTF-8, begin and end of a word, begin and end of a sentence, padding: 261.
WORD_BEGINS, WORD_ENDS, SENTENCE_BEGINS, SENTENCE_ENDS, PADDING = range(256, 261)
CHARACTERS = 261
SENTENCE = {"<S>": SENTENCE_BEGINS, "</S>": SENTENCE_ENDS}

State = tuple[Tensor, Tensor]


def character_ids(words: Sequence[str], longest: int = LONGEST_WORD) -> Tensor:
    """Return the bytes of words between begin and end, ``(words, width)`` of 16 bits, padded.

    Args:
        words: ``<S>`` and ``</S>`` have a character of their own.
        longest: longer words are cut to so many characters, begin and end included.

    Example:
        >>> character_ids(["a"]).tolist()
        [[256, 97, 257]]
    """
    rows = []
    for word in words:
        inside = [SENTENCE[word]] if word in SENTENCE else list(word.encode("utf-8"))
        rows.append([WORD_BEGINS, *inside[: longest - 2], WORD_ENDS])
    ids = [torch.tensor(numbers, dtype=torch.int16) for numbers in rows]
    return nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=PADDING)


class WordEncoder(nn.Module):
    """Character CNN with highway layers; called once per step with the step's distinct words.

    Example:
        >>> sizes = BiLMSizes(family="bilm", filters=((1, 4), (2, 4)), dim=6, character_dim=3)
        >>> encoder = WordEncoder(sizes)
        >>> encoder(character_ids(["ab", "c"])).shape
        torch.Size([2, 6])
    """

    def __init__(self, sizes: BiLMSizes) -> None:
        super().__init__()
        self.embedding = nn.Embedding(CHARACTERS, sizes.character_dim)
        nn.init.uniform_(self.embedding.weight, -1, 1)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(sizes.character_dim, filters, width) for width, filters in sizes.filters
        )
        width = sum(filters for _, filters in sizes.filters)
        self.highways = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(sizes.highways))
        for layer in self.highways:
            assert isinstance(layer, nn.Linear)
            # The gate's first half decides how much of the input is carried on: most of it.
            nn.init.normal_(layer.weight, std=width**-0.5)
            nn.init.constant_(layer.bias[:width], 2.0)
            nn.init.zeros_(layer.bias[width:])
        self.output = nn.Linear(width, sizes.dim)

    def forward(self, characters: Tensor) -> Tensor:
        """Return ``(words, dim)`` for ``(words, width)`` of :func:`character_ids`."""
        lengths = (characters != PADDING).sum(1)
        longest = int(lengths.max())  # of these words; the table's own is wider
        # All filters as one matrix, narrow ones padded: on few channels one product is faster.
        convolutions = [c for c in self.convolutions if isinstance(c, nn.Conv1d)]
        widest = max(c.kernel_size[0] for c in convolutions)
        wide = [functional.pad(c.weight, (0, widest - c.kernel_size[0])) for c in convolutions]
        bias = torch.cat([c.bias for c in convolutions if c.bias is not None])
        # shape: (character_dim * widest, filters)
        weight = torch.cat(wide).flatten(1).T
        padded = functional.pad(characters[:, :longest].long(), (0, widest - 1), value=PADDING)
        # shape: (words, longest, character_dim * widest); a window begins at each character
        windows = self.embedding(padded).unfold(1, widest, 1).flatten(2)
        scores = torch.addmm(bias, windows.flatten(0, 1), weight).view(len(windows), longest, -1)
        # No window begins behind the word's end; ELMo's own look at the padding too.
        behind = torch.arange(longest, device=lengths.device) >= lengths[:, None]
        features = functional.relu(scores.masked_fill(behind.unsqueeze(2), -torch.inf).amax(1))
        for layer in self.highways:
            gate, new = layer(features).chunk(2, 1)
            carry = torch.sigmoid(gate)
            features = carry * features + (1 - carry) * functional.relu(new)
        return self.output(features)


class ProjectedLSTM(nn.Module):
    """One layer; each direction has weights of its own and reads texts of its own.

    The cell is cut to ``[-clip, clip]`` before it is squashed, the projected state likewise. The
    two directions do not meet: they are two rows of every product, so that a step costs one product
    for both.

    Args:
        input_dim: width of the input.
        cells: width of the cell.
        dim: width of the projected state.
        clip: largest absolute value of cell and state.

    Example:
        >>> layer = ProjectedLSTM(4, 8, 3)
        >>> states, _ = layer(torch.zeros(2, 5, 6, 4))
        >>> states.shape
        torch.Size([2, 5, 6, 3])
    """

    def __init__(self, input_dim: int, cells: int, dim: int, clip: float = CLIP) -> None:
        super().__init__()
        self.cells, self.dim, self.clip = cells, dim, clip
        self.inputs = nn.Parameter(torch.empty(2, input_dim, 4 * cells))
        self.recurrent = nn.Parameter(torch.empty(2, dim, 4 * cells))
        self.bias = nn.Parameter(torch.zeros(2, 1, 4 * cells))
        self.project = nn.Parameter(torch.empty(2, cells, dim))
        for weight in (self.inputs, self.recurrent, self.project):
            for direction in weight.data:
                nn.init.xavier_uniform_(direction)
        # Gates in torch's order: input, forget, cell, output. Cells remember at first.
        self.bias.data[:, :, cells : 2 * cells] = 1.0

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Run over windows of running text.

        Args:
            x: ``(2, batch, length, input_dim)``, the backward direction's text mirrored.
            state: projected state ``(2, batch, dim)`` and cell ``(2, batch, cells)`` before the
                first token; None: zero.

        Returns:
            States ``(2, batch, length, dim)``, and the state after the last token.
        """
        batch, length = x.shape[1], x.shape[2]
        # shape: (2, length * batch, 4 * cells); all tokens' input products at once
        products = torch.baddbmm(self.bias, x.transpose(1, 2).flatten(1, 2), self.inputs)
        steps = products.view(2, length, batch, -1).unbind(1)
        # in mixed precision products alone are halved: cells are as precise as weights
        h, c = state or (x.new_zeros(2, batch, self.dim), self.bias.new_zeros(2, batch, self.cells))
        states = []
        for step in steps:
            i, f, g, o = torch.baddbmm(step, h, self.recurrent).chunk(4, -1)
            c = torch.addcmul(torch.sigmoid(f) * c, torch.sigmoid(i), torch.tanh(g))
            c = c.clamp(-self.clip, self.clip)
            h = torch.bmm(torch.sigmoid(o) * torch.tanh(c), self.project)
            h = h.clamp(-self.clip, self.clip)
            states.append(h)
        return torch.stack(states, 2), (h, c)


class BiLM(nn.Module):
    """Characters to states: what is kept after the pretraining."""

    def __init__(self, sizes: BiLMSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.words = WordEncoder(sizes)
        self.layers = nn.ModuleList(
            ProjectedLSTM(sizes.dim, sizes.cells, sizes.dim) for _ in range(LAYERS)
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
            # The residual is added undropped; the authors' code drops it too.
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
        words = self.words(characters[kinds])
        # a frequent word's gradient is the sum of many: not in half precision
        return functional.embedding(place, words.to(self.words.output.weight.dtype))


class BiLanguageModel(nn.Module):
    """A biLM with a sense-aware output layer per direction (not shared, §4.2).

    Args:
        sizes: of the network.
        senses: of the output layers.
        characters: of all words that are read. ``(words, width)``
        known: V, the words that are predicted: the first ones.
        translations: words that translate each word, -1 padded; None in one language. ``(V, T)``
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
    ) -> None:
        super().__init__()
        self.encoder = BiLM(sizes)
        self.senses = senses
        self.outputs = nn.ModuleList(
            SenseOutput(known, sizes.dim, senses, "adagrad") for _ in range(2)
        )
        self.register_buffer("characters", characters, persistent=False)
        self.register_buffer("translations", translations, persistent=False)
        self.dropout = nn.Dropout(sizes.dropout)

    def loss(
        self, words: Tensor, targets: Tensor, before: list[State] | None, step: int, seed: int
    ) -> tuple[Tensor, list[State]]:
        """Return the mean loss of both directions, and the state after a window of running text.

        Args:
            words: numbers of words; the last column is only predicted.
                ``(2, streams, unroll + 1)``
            targets: their numbers in the vocabulary that is predicted, of the same shape.
            before: state of the network; None at the beginning.
            step: number of the step.
            seed: of the negatives.
        """
        # shape: (2, streams, unroll + 1, dim), then (2, streams, unroll, dim)
        x = self.encoder.vectors(words, self.characters)
        layers, state = self.encoder(x[:, :, :-1], before)
        predicting = self.dropout(layers[-1])
        # Dropout does not hit the states that choose; in the code it does.
        choosing = self._own_states(layers[-1].detach(), x[:, :, -1:].detach(), state)
        losses = []
        for d, output in enumerate(self.parts()):
            # shape: (streams * unroll,); <S> is predicted too, which the authors' code never does
            target = targets[d, :, 1:].flatten()
            there = None if self.translations is None else self.translations[target]
            states = predicting[d].flatten(0, 1), choosing[d].flatten(0, 1)
            losses.append(output.loss(*states, target, [seed, step, d], step, there))
        return torch.stack(losses).mean(), [(h.detach(), c.detach()) for h, c in state]

    @torch.no_grad()
    def _own_states(self, states: Tensor, last: Tensor, after: list[State]) -> Tensor:
        """Return the state of each predicted word itself: one further than what predicts it.

        For the last word one more step is run; the code's shift leaves what predicts it there.
        """
        if self.senses.senses == 1:
            return states
        # shape: (2, streams, 1, dim)
        end = self.encoder(last, after)[0][-1]
        return torch.cat((states[:, :, 1:], end), 2)

    def parts(self) -> list[SenseOutput]:
        """Return the output layers, forward first."""
        return [output for output in self.outputs if isinstance(output, SenseOutput)]
