"""What identifies pretrained encoders: nothing is built or read, torch is not loaded."""

from functools import cache
from typing import Any

from xlrepro.artefacts import hash_of
from xlrepro.data import registry
from xlrepro.errors import SettingsError
from xlrepro.pretraining.settings import LANGUAGES, preset
from xlrepro.pretraining.text import files_of, text_recipe
from xlrepro.vectors.open.recipes import frequency_path
from xlrepro.vectors.open.registered import file_hash
from xlrepro.vectors.open.settings import open_settings

NAMES = ("multilingual-e5-small", "all-minilm-l6-v2")  # of the released encoders
# What decides the word vectors called "encoder", see word_states.py.
WORD_STATES = "encoder"
WORD_STATES_OF = "multilingual-e5-small"
WORD_STATES_LAYER = 5  # that of word_order's M-BERT rows, chosen on English dev
CENTRED_ON = 2000  # the most frequent words of a language, whose mean is subtracted
OCCURRENCES_IN = {"en": 400_000, "others": 100_000}  # words of open text that are read for them
MOST_OCCURRENCES = 20  # of a word form, after which a line is read for its other words alone
WORD_STATES_VERSION = 2  # raised when the code changes the vectors


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


def word_states_recipe(language: str) -> dict[str, Any]:
    """Return what decides the states of a language's words where they occur."""
    return {
        "version": WORD_STATES_VERSION,
        "weights": weights_hash(WORD_STATES_OF),
        "layer": WORD_STATES_LAYER,
        "text": files_of(language),
        "words": OCCURRENCES_IN["en" if language == open_settings().source else "others"],
        "most": MOST_OCCURRENCES,
    }


@cache
def word_states_hash() -> str:
    """Return the hash of what decides an encoder's word vectors; builds and downloads nothing."""
    languages = open_settings().languages
    return hash_of(
        {
            "centred on": CENTRED_ON,
            "frequent words": {code: file_hash(frequency_path(code)) for code in languages},
            "states": {code: word_states_recipe(code) for code in languages},
        }
    )
