"""The multilingual BERT behind the M-BERT rows: released weights, or pretrained here.

A checkpoint is named ``"self:cpu"`` (pretrained by this project, see ``xlrepro/pretraining``),
``"released:multilingual-e5-small@8"`` (registered weights, the states of layer 8), or as
transformers names it: ``"bert-base-multilingual-cased"``, or a local folder.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.word_order.hashes import RELEASED, SELF, name_and_layer


@dataclass(frozen=True)
class MultilingualBert:
    """A BERT that reads many languages.

    Attributes:
        network: ``(ids (batch, length), mask (batch, length)) -> (batch, length, dim)``.
        position_table: its table of positions, a parameter of ``network``. (limit, dim)
        pieces: ``(words, language) ->`` the numbers of each word's pieces, at least one a word.
        cls: number of ``[CLS]``.
        sep: number of ``[SEP]``. Padding is 0.
        first: the place, among a word's pieces, of the one that it is read from.
        weights: what identifies weights whose frozen outputs are kept on the disk; else None.
    """

    network: nn.Module
    position_table: torch.Tensor
    pieces: Callable[[Sequence[str], str], list[list[int]]]
    cls: int
    sep: int
    first: Callable[[Sequence[int]], int] = lambda numbers: 0
    weights: str | None = None

    @property
    def dim(self) -> int:
        """Width of its outputs."""
        return int(self.position_table.shape[1])

    @property
    def limit(self) -> int:
        """Longest sequence of pieces, ``[CLS]`` and ``[SEP]`` among them."""
        return int(self.position_table.shape[0])


def load_bert(checkpoint: str) -> MultilingualBert:
    """Return a checkpoint, fresh: what is trained further is no one else's.

    Raises:
        SettingsError: for an unknown model of ours, or if transformers is not installed.
        DataError: if the checkpoint cannot be had.
    """
    if checkpoint.startswith(SELF):
        return _own(checkpoint.removeprefix(SELF))
    if checkpoint.startswith(RELEASED):
        return _registered(checkpoint)
    return _released(checkpoint)


def _own(name: str) -> MultilingualBert:
    from xlrepro.pretraining.multilingual_bert import load
    from xlrepro.pretraining.text import plain_word

    pretrained = load(name)
    wordpiece = pretrained.wordpiece

    def pieces(words: Sequence[str], language: str) -> list[list[int]]:
        return wordpiece.of_words(plain_word(word, language) for word in words)

    table = pretrained.bert.positions.weight
    return MultilingualBert(pretrained.bert, table, pieces, wordpiece.cls, wordpiece.sep)


def _registered(checkpoint: str) -> MultilingualBert:
    from xlrepro.pretraining import recipes, released

    name, layer = name_and_layer(checkpoint)
    encoder = released.load(name)
    if layer is not None and not 0 < layer <= encoder.layers:
        raise SettingsError(f"{name} has layers 1 to {encoder.layers}, not {layer}")
    encoder.network.layers = encoder.network.layers[:layer]

    def pieces(words: Sequence[str], language: str) -> list[list[int]]:
        return encoder.tokenizer.of_words(words)

    return MultilingualBert(
        encoder.network,
        encoder.position_table,
        pieces,
        encoder.begin,
        encoder.end,
        encoder.tokenizer.first,
        recipes.weights_hash(name),
    )


class _LastLayer(nn.Module):
    """A ``transformers`` model as a function of numbers and mask."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.model(input_ids=ids, attention_mask=mask.long())[0]
        return hidden


def _released(checkpoint: str) -> MultilingualBert:
    try:
        from transformers import AutoTokenizer, BertModel
    except ImportError:
        raise SettingsError(
            f"the checkpoint {checkpoint} needs the package transformers: pip install "
            "'xlrepro[mbert]', or take one of ours with --set checkpoint=self:cpu"
        ) from None
    try:
        tokenizer = AutoTokenizer.from_pretrained(checkpoint)
        model = BertModel.from_pretrained(checkpoint, add_pooling_layer=False)
    except (OSError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise DataError(
            f"the checkpoint {checkpoint} cannot be had ({reason}): name a local folder with --set "
            "checkpoint=FOLDER, or take one of ours with --set checkpoint=self:cpu"
        ) from None

    def pieces(words: Sequence[str], language: str) -> list[list[int]]:
        split = tokenizer(list(words), add_special_tokens=False)["input_ids"]
        return [numbers or [tokenizer.unk_token_id] for numbers in split]

    table = model.embeddings.position_embeddings.weight
    return MultilingualBert(
        _LastLayer(model), table, pieces, tokenizer.cls_token_id, tokenizer.sep_token_id
    )
