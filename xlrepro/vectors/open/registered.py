"""Registered files by their path below the mirror: for the vectors the path alone names a file."""

from functools import lru_cache
from pathlib import Path

from xlrepro.data import registry
from xlrepro.errors import SettingsError

# The data sets that word vectors may be built from.
DATASETS = (
    "mono-text",
    "muse-full",
    "wiktionary",
    "tatoeba",
    "tico19",
    "frequency-words",
    "ud-r2.2",
)


@lru_cache(maxsize=1)
def _by_path() -> dict[str, tuple[str, str]]:
    return {
        entry.path: (name, file_id)
        for name in DATASETS
        for file_id, entry in registry.dataset(name).files.items()
    }


def _registered(path: str) -> tuple[str, str]:
    if path not in _by_path():
        raise SettingsError(
            f"the word vectors need {path}, which none of the data sets {', '.join(DATASETS)} has: "
            "correct open_vectors.yaml or the registry"
        )
    return _by_path()[path]


def registered_paths(prefix: str) -> list[str]:
    """Return the paths of all registered files that begin with ``prefix``, sorted."""
    return sorted(path for path in _by_path() if path.startswith(prefix))


def local_path(path: str) -> Path:
    """Return the verified, unpacked file in the cache; bring it there if need be."""
    return registry.fetch(*_registered(path))


def file_hash(path: str) -> str:
    """Return the SHA-256 of a file's content as the registry states it; reads no data."""
    return registry.content_hash(*_registered(path))
