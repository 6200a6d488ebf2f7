"""What the model reads of a word: its fixed vector, and its spelling (§3.1, Appendix B)."""

import torch
from torch import Tensor, nn

from xlrepro.nn.char_cnn import CharCNN
from xlrepro.papers.man_moe.settings import ModelSettings
from xlrepro.papers.man_moe.texts.encoding import WordTable


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
                settings.kernel_sizes,
                settings.character_dim,
                settings.train_character_vectors,
                settings.dropout_on("characters"),
            )
            self.output_dim += settings.character_dim
        self.padded_batches = settings.character_windows == "batch"

    def forward(self, rows: Tensor, table: WordTable, batches: Tensor | None = None) -> Tensor:
        """Represent some words; the CharCNN reads each distinct spelling once.

        Args:
            rows: of the word table, of the tokens of one or several batches. ``(tokens,)``
            table: the words.
            batches: number of the batch that each token is padded with; ``None``: the same.
                ``(tokens,)``

        Returns:
            ``(tokens, output_dim)``, the fixed vector first.
        """
        # shape: (tokens, vector_dim)
        vectors = table.vectors.index_select(0, rows)
        if self.char_cnn is None:
            return vectors
        # shape: (tokens,)
        spellings, padded_to = table.spellings[rows], None
        if self.padded_batches:
            widths = self._padded_widths(table, spellings, batches)
            pairs = torch.stack((spellings, widths), 1)
            # shape: (words, 2) and (tokens,); a word is a spelling with its padding
            words, tokens = torch.unique(pairs, dim=0, return_inverse=True)
            distinct, padded_to = words.unbind(1)
        else:
            distinct, tokens = torch.unique(spellings, return_inverse=True)
        # shape: (words, characters of the longest)
        characters = table.characters[distinct]
        width = int((characters > 0).sum(1).max())
        # shape: (tokens, character_dim)
        spelled = self.char_cnn(characters[:, : max(1, width)], tokens, padded_to)
        return torch.cat((vectors, spelled), -1)

    def _padded_widths(self, table: WordTable, spellings: Tensor, batches: Tensor | None) -> Tensor:
        """Return how many characters each token has with its padding, ``(tokens,)``.

        As many as the longest word of its batch, and at least the widest window.
        """
        assert self.char_cnn is not None
        # shape: (tokens,)
        lengths = (table.characters > 0).sum(1)[spellings]
        batches = torch.zeros_like(spellings) if batches is None else batches
        return longest_of_group(lengths, batches).clamp(min=max(self.char_cnn.kernel_sizes))


def longest_of_group(lengths: Tensor, groups: Tensor) -> Tensor:
    """Return for each item the largest length in its group.

    Args:
        lengths: ``(items,)``.
        groups: number of each item's group, ``(items,)``.

    Example:
        >>> longest_of_group(torch.tensor([2, 5, 3]), torch.tensor([0, 1, 0])).tolist()
        [3, 5, 3]
    """
    # shape: (groups,)
    longest = lengths.new_zeros(int(groups.max()) + 1).scatter_reduce(0, groups, lengths, "amax")
    return longest[groups]
