"""Words as what their characters look like: convolutions, maximum, highway layers (ELMo)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.papers.sense_alignment.language_model.settings import BiLMSizes

# 256 bytes of UTF-8, begin and end of a word, begin and end of a sentence, padding: 261.
WORD_BEGINS, WORD_ENDS, SENTENCE_BEGINS, SENTENCE_ENDS, PADDING = range(256, 261)
CHARACTERS = 261
SENTENCE = {"<S>": SENTENCE_BEGINS, "</S>": SENTENCE_ENDS}


def character_ids(words: Sequence[str], longest: int) -> Tensor:
    """Return the bytes of words between begin and end, ``(words, width)``, padded.

    Args:
        words: ``<S>`` and ``</S>`` have a character of their own.
        longest: longer words are cut to so many characters, begin and end included.

    Example:
        >>> character_ids(["a"], 50).tolist()
        [[256, 97, 257]]
    """
    rows = []
    for word in words:
        inside = [SENTENCE[word]] if word in SENTENCE else list(word.encode("utf-8"))
        rows.append([WORD_BEGINS, *inside[: longest - 2], WORD_ENDS])
    ids = torch.full((len(rows), max(map(len, rows), default=1)), PADDING)
    for row, numbers in zip(ids, rows, strict=True):
        row[: len(numbers)] = torch.tensor(numbers)
    return ids


class WordEncoder(nn.Module):
    """Character CNN with highway layers; called once per step with the step's distinct words.

    Args:
        sizes: of the network.

    Example:
        >>> sizes = BiLMSizes(family="bilm", filters=((1, 4), (2, 4)), dim=6, character_dim=3)
        >>> encoder = WordEncoder(sizes)
        >>> encoder(character_ids(["ab", "c"], 50)).shape
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
        characters = characters[:, :longest]
        weight, bias, widest = self._filters()
        padded = functional.pad(characters, (0, widest - 1), value=PADDING)
        # shape: (words, longest, character_dim * widest); a window begins at each character
        windows = self.embedding(padded).unfold(1, widest, 1).flatten(2)
        scores = torch.addmm(bias, windows.flatten(0, 1), weight).view(len(windows), longest, -1)
        # No window begins behind the word's end.
        behind = torch.arange(longest, device=lengths.device) >= lengths[:, None]
        features = functional.relu(scores.masked_fill(behind.unsqueeze(2), -torch.inf).amax(1))
        for layer in self.highways:
            gate, new = layer(features).chunk(2, 1)
            carry = torch.sigmoid(gate)
            features = carry * features + (1 - carry) * functional.relu(new)
        return self.output(features)

    def _filters(self) -> tuple[Tensor, Tensor, int]:
        """Return all filters as one matrix: on few channels one product is faster than convolving.

        Returns:
            ``(character_dim * widest, filters)``, narrow filters padded with zeros; their biases;
            and the widest filter's width.
        """
        convolutions = [c for c in self.convolutions if isinstance(c, nn.Conv1d)]
        widest = max(c.kernel_size[0] for c in convolutions)
        wide = [functional.pad(c.weight, (0, widest - c.kernel_size[0])) for c in convolutions]
        biases = [c.bias for c in convolutions if c.bias is not None]
        return torch.cat(wide).flatten(1).T, torch.cat(biases), widest
