"""What identifies pretrained encoders: nothing is built or read, torch is not loaded."""

from functools import cache
from typing import Any

from xlrepro.artefacts import hash_of
from xlrepro.corpora import registry
from xlrepro.errors import SettingsError
from xlrepro.pretraining.settings import LANGUAGES, preset
from xlrepro.pretraining.text import text_recipe

NAMES = ("multilingual-e5-small", "all-minilm-l6-v2")  # of the released encoders


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
