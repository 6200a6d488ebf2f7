"""A language's text as one stream of pieces, and the pieces: kept in the cache for all its models.

Its folder holds ``vocabulary.json``, the pieces where they are learnt here, and ``numbers.npy``,
the text in pieces, line after line.
"""

import json
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from xlrepro.artefacts import built
from xlrepro.papers.ramen.data import texts
from xlrepro.papers.ramen.encoders import english
from xlrepro.papers.ramen.encoders.pieces import Pieces, learnt, wordpieces
from xlrepro.papers.ramen.recipes import OWN
from xlrepro.papers.ramen.settings import AdaptationSettings

VERSION = 1  # raised when the code changes the result


def recipe(settings: AdaptationSettings, language: str) -> dict[str, Any]:
    """Return everything that decides a language's stream."""
    return {
        "version": VERSION,
        "text": texts.recipe_of_text(settings, language),
        "words": settings.words,
        "seed": settings.seed,
        "characters": settings.characters,
        "pieces": _pieces_recipe(settings, language),
    }


def _pieces_recipe(settings: AdaptationSettings, language: str) -> int | str:
    """Return what the pieces are: how many are learnt, or the released model that has them."""
    if language != texts.SOURCE:
        return settings.vocabulary
    return settings.english.vocabulary if _own(settings) else settings.english.model


def _own(settings: AdaptationSettings) -> bool:
    return settings.english.model == OWN


def folder(settings: AdaptationSettings, language: str) -> Path:
    """Return the folder of a language's stream, building it first if it is not in the cache."""
    write = partial(_write, settings, language)
    return built("ramen-text", language, recipe(settings, language), write)


def _write(settings: AdaptationSettings, language: str, target: Path) -> None:
    lines = texts.words(settings, language)
    if language == texts.SOURCE and not _own(settings):
        tokenizer = _released(settings.english.model)
    else:
        size = settings.vocabulary
        if language == texts.SOURCE:
            size = settings.english.vocabulary
        tokenizer = learnt(lines, size, settings.characters)
    np.save(target / "numbers.npy", texts.numbers(lines, tokenizer.numbers).astype(np.int32))
    (target / "vocabulary.json").write_text(json.dumps(tokenizer.vocabulary), "utf-8")


def pieces(settings: AdaptationSettings, language: str) -> Pieces:
    """Return a language's pieces: learnt from its text, or those of the released English model."""
    if language == texts.SOURCE and not _own(settings):
        return _released(settings.english.model)
    path = folder(settings, language) / "vocabulary.json"
    return wordpieces(json.loads(path.read_text("utf-8")))


@lru_cache(maxsize=1)
def _released(name: str) -> Pieces:
    return english.pieces_of(name)


def numbers(settings: AdaptationSettings, language: str) -> np.ndarray:
    """Return a language's text as one stream of pieces, ``(pieces of the text,)``."""
    stream: np.ndarray = np.load(folder(settings, language) / "numbers.npy").astype(np.int64)
    return stream
