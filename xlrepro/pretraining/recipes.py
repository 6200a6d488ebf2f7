"""What identifies pretrained encoders: nothing is built or read, torch is not loaded."""

from functools import cache
from typing import Any

from xlrepro.artefacts import hash_of
from xlrepro.corpora import registry
from xlrepro.embeddings.open.recipes import frequency_path
from xlrepro.embeddings.open.registered import file_hash
from xlrepro.embeddings.open.settings import open_settings
from xlrepro.errors import SettingsError
from xlrepro.pretraining.settings import LANGUAGES, preset
from xlrepro.pretraining.text import text_recipe

NAMES = ("multilingual-e5-small", "all-minilm-l6-v2")  # of the released encoders
# What decides the word vectors called "encoder", see word_states.py.
WORD_STATES = "encoder"
WORD_STATES_OF = "multilingual-e5-small"
WORD_STATES_LAYER = 5  # that of word_order's M-BERT rows, chosen on English dev
CENTRED_ON = 2000  # the most frequent words of a language, whose mean is subtracted
WORD_STATES_VERSION = 1  # raised when the code changes the vectors


@cache
def recipe(name: str) -> dict[str, Any]:
    """Return everything that decides the model ``name``.

    Raises:
        SettingsError: for an unknown name.
    """
    settings = preset(name)
    return {
        "settings": settings.model_dump(
            mode="json", exclude={"checkpoint_every"}, exclude_defaults=True
        ),
        "languages": list(LANGUAGES),
        "text": text_recipe(preset(name)),
    }


def recipe_hash(name: str) -> str:
    """Return the hash of a model's recipe; builds and downloads nothing.

    Raises:
        SettingsError: for an unknown name.
    """
    return hash_of(recipe(name))


def check_name(name: str) -> None:
    """Check that an encoder is known.

    Raises:
        SettingsError: if not; the message names those that are.
    """
    if name not in NAMES:
        raise SettingsError(f"no released encoder is called {name!r}: use {' or '.join(NAMES)}")


def weights_hash(name: str) -> str:
    """Return the SHA-256 of an encoder's weights, as the registry states it; reads nothing.

    Raises:
        SettingsError: for an unknown name.
    """
    check_name(name)
    return registry.content_hash(name, "weights")


@cache
def word_states_hash() -> str:
    """Return the hash of what decides an encoder's word vectors; builds and downloads nothing."""
    lists = {code: file_hash(frequency_path(code)) for code in open_settings().languages}
    return hash_of(
        {
            "version": WORD_STATES_VERSION,
            "weights": weights_hash(WORD_STATES_OF),
            "layer": WORD_STATES_LAYER,
            "centred on": CENTRED_ON,
            "frequent words": lists,
        }
    )
