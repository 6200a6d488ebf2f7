"""Where things lie: the project's folder, what git ignores below it, and the data cache."""

import os
from pathlib import Path

from xlrepro.errors import SettingsError


def project_root() -> Path:
    """Return the folder that holds ``data/``, ``notebooks/`` and ``book/``.

    ``XLREPRO_HOME`` wins; else the checkout this package is installed from.

    Raises:
        SettingsError: if neither holds a ``data/reported`` folder.
    """
    candidates = [Path(os.environ["XLREPRO_HOME"])] if os.environ.get("XLREPRO_HOME") else []
    candidates += [Path(__file__).resolve().parent.parent, Path.cwd()]
    for folder in candidates:
        if (folder / "data" / "reported").is_dir():
            return folder.resolve()
    raise SettingsError(
        "the project's data/ folder was not found: run inside a clone of xlrepro, or set "
        "XLREPRO_HOME to one"
    )


def data_dir() -> Path:
    """Return ``data/``: registry, reported numbers, claims, deviations, published records."""
    return project_root() / "data"


def build_dir() -> Path:
    """Return ``build/``: what can be made again, ignored by git. ``XLREPRO_BUILD`` moves it."""
    moved = os.environ.get("XLREPRO_BUILD")
    return Path(moved).resolve() if moved else project_root() / "build"


def cache_dir() -> Path:
    """Return the cache of downloaded and derived data: ``XLREPRO_DATA``, else the user's cache."""
    chosen = os.environ.get("XLREPRO_DATA")
    if chosen:
        return Path(chosen).expanduser().resolve()
    import pooch

    return Path(pooch.os_cache("xlrepro"))


def supplied_dir() -> Path:
    """Return where users put what cannot be downloaded: ``XLREPRO_SUPPLIED``, else in the cache."""
    chosen = os.environ.get("XLREPRO_SUPPLIED")
    return Path(chosen).expanduser() if chosen else cache_dir() / "supplied"
