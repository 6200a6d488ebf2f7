"""What decides the models of the paper's trials: nothing is built, torch is not loaded."""

from functools import cache
from pathlib import Path
from typing import Any

from xlrepro.artefacts import hash_of
from xlrepro.data import supplied
from xlrepro.errors import DataError
from xlrepro.papers.ramen.data import labelled, texts
from xlrepro.papers.ramen.settings import (
    AdaptationSettings,
    EnglishSettings,
    EvaluationSettings,
    validated,
)
from xlrepro.paths import supplied_dir
from xlrepro.pretraining import recipes as pretraining

UPDATES = {"start": "0k", "embeddings": "25k", "end": "175k"}  # as Figure 2 names its points
OWN = "own"  # an English model that is pretrained here
SUPPLIED_FILES, WEIGHTS = ("config.json", "tokenizer.json"), "model.safetensors"
SUPPLIED = "supplied:"  # how the name of a model begins that lies in a folder of the user's
SELF = "self:"  # how the name of an encoder pretrained here begins


def data_hashes(settings: EvaluationSettings) -> dict[str, str]:
    """Return what identifies everything that a trial reads; builds nothing."""
    hashes = labelled.hashes(settings.corpus, settings.task, settings.targets)
    if settings.model is not None:
        return hashes | {f"encoder/{settings.model}": multilingual_hash(settings.model)}
    for target in settings.targets:
        made = adaptation_of(settings, target)
        hashes[f"bilingual/{target}"] = recipe_hash(made)
    return hashes


def adaptation_of(settings: EvaluationSettings, target: str) -> AdaptationSettings:
    """Return the settings of the adaptation to a target."""
    values = {**(settings.adaptation or {}), "target": target}
    return validated(values, f"the adaptation to {target}", AdaptationSettings)


def multilingual_hash(name: str) -> str:
    """Return what identifies a multilingual encoder's weights; loads nothing."""
    if name.startswith(SELF):
        return pretraining.recipe_hash(name.removeprefix(SELF))
    if name.startswith(SUPPLIED):
        return f"{name} {supplied.size(supplied_folder(name.removeprefix(SUPPLIED)) / WEIGHTS)}"
    return pretraining.weights_hash(name)


def supplied_folder(name: str) -> Path:
    """Return the folder of a model that the user supplies.

    Raises:
        DataError: if it, or one of its files, is not there.
    """
    root = supplied_dir() / name
    missing = [file for file in (*SUPPLIED_FILES, WEIGHTS) if not (root / file).is_file()]
    if missing:
        raise DataError(
            f"no {', '.join(missing)} in {root}: put the published model there, or set "
            "XLREPRO_SUPPLIED to the folder above it"
        )
    return root


def start_recipe(settings: EnglishSettings) -> dict[str, Any]:
    """Return what decides the model before stage 0."""
    if settings.model == OWN:
        return {}
    if settings.model.startswith(SUPPLIED):
        folder = supplied_folder(settings.model.removeprefix(SUPPLIED))
        return {settings.model: supplied.size(folder / WEIGHTS)}
    return {settings.model: pretraining.weights_hash(settings.model)}


@cache
def english_recipe(settings: AdaptationSettings) -> dict[str, Any]:
    """Return everything that decides the English model after stage 0."""
    plain = settings.model_dump(mode="json")
    names = ("version", "corpus", "words", "held_out", "characters", "english", "precision", "seed")
    text = {
        path: value
        for path, value in texts.recipe(settings).items()
        if path.startswith(("artificial", f"mono-text/{texts.SOURCE}/"))
    }
    model = start_recipe(settings.english)
    return {"settings": {name: plain[name] for name in names}, "text": text, "model": model}


@cache
def recipe(settings: AdaptationSettings) -> dict[str, Any]:
    """Return everything that decides a bilingual model. Builds nothing."""
    return {
        "settings": settings.model_dump(mode="json"),
        "text": texts.recipe(settings),
        "english": hash_of(english_recipe(settings)),
    }


def recipe_hash(settings: AdaptationSettings) -> str:
    """Return the hash of a bilingual model's recipe; builds nothing."""
    return hash_of(recipe(settings))
