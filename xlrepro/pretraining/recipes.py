"""What decides the self-pretrained multilingual BERTs: nothing is built, torch is not loaded."""

from functools import cache
from typing import Any

from xlrepro.artefacts import hash_of
from xlrepro.pretraining.settings import LANGUAGES, preset
from xlrepro.pretraining.text import text_recipe


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
