"""Stage 0: an English masked language model to begin with, and its pieces."""

import torch

from xlrepro.errors import SettingsError
from xlrepro.nn.bert import BertSizes, MaskedLanguageModel
from xlrepro.papers.ramen.encoders.pieces import Pieces, Special
from xlrepro.papers.ramen.recipes import OWN, SUPPLIED
from xlrepro.papers.ramen.settings import EnglishSettings
from xlrepro.pretraining import released


def pieces_of(name: str) -> Pieces:
    """Return the pieces of an English model that is released, or supplied in a folder.

    Raises:
        SettingsError: if it is unknown, or has no mask.
        DataError: if its files cannot be had.
    """
    if name.startswith(SUPPLIED):
        from xlrepro.papers.ramen.encoders import supplied

        return supplied.pieces(name.removeprefix(SUPPLIED))
    return released_pieces(released.load(name))


def released_pieces(encoder: released.ReleasedEncoder) -> Pieces:
    """Return the pieces of a released encoder that has a mask.

    Raises:
        SettingsError: if it has none.
    """
    if encoder.mask is None:
        raise SettingsError(f"{encoder.name} has no mask piece: take another English model")
    numbers = (encoder.begin, encoder.end, encoder.pad, encoder.unknown, encoder.mask)
    special = Special(*numbers, max(numbers) + 1)
    return Pieces(encoder.tokenizer.numbers, special, encoder.network.sizes.vocabulary)


def model(settings: EnglishSettings, pieces: Pieces | None) -> MaskedLanguageModel:
    """Return the English model before stage 0; its head is new.

    Args:
        settings: which model.
        pieces: of an own model.

    Raises:
        SettingsError: for an unknown model.
        DataError: if its files cannot be had.
    """
    if settings.model == OWN:
        assert pieces is not None
        sizes = BertSizes(
            pieces.size,
            settings.dim,
            settings.layers,
            settings.heads,
            settings.ff_dim,
            settings.positions,
            settings.dropout,
        )
        return MaskedLanguageModel(sizes)
    if settings.model.startswith(SUPPLIED):
        from xlrepro.papers.ramen.encoders import supplied

        return supplied.model(settings.model.removeprefix(SUPPLIED), settings.dropout)
    encoder = released.load(settings.model)
    whole = MaskedLanguageModel(encoder.network.sizes)
    whole.bert = encoder.network
    for module in whole.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = settings.dropout
    whole.bert.sizes = whole.bert.sizes._replace(dropout=settings.dropout)
    return whole
