"""Where things lie: the project's folder, what git ignores below it, and the data cache."""

import os
from functools import cache
from pathlib import Path

from xlrepro.errors import SettingsError

CHECKOUT = Path(__file__).resolve().parent.parent  # that this package is installed from


def project_root() -> Path:
    """Return the folder that holds ``data/``, ``notebooks/`` and ``book/``.

    ``XLREPRO_HOME`` wins; else the checkout this package is installed from, or the working folder.

    Raises:
        SettingsError: if ``XLREPRO_HOME`` is set and holds no ``data/reported`` folder, or if it is
            not and there is none.
    """
    return _root_of(os.environ.get("XLREPRO_HOME"))


@cache
def _root_of(named: str | None) -> Path:
    for folder in [as_path(named, "XLREPRO_HOME")] if named else [CHECKOUT, Path.cwd()]:
        if (folder / "data" / "reported").is_dir():
            return folder
    where = f"XLREPRO_HOME={named} holds" if named else "this installation and this folder hold"
    raise SettingsError(
        f"{where} no data/reported folder: set XLREPRO_HOME to a clone of xlrepro, or run in one"
    )


def as_path(text: str, source: str) -> Path:
    """Return the absolute path that a setting names, ``~`` and symbolic links followed.

    Args:
        text: as the user wrote it, ``"~/builds"``.
        source: the setting, as an error calls it, ``"XLREPRO_BUILD"``.

    Raises:
        SettingsError: if it can be no folder: a file, not readable, a name of no user, links in a
            circle, too long.
    """
    try:
        path = Path(text).expanduser().resolve()
        if path.exists():
            os.scandir(path).close()
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingsError(
            f"{source}={text} cannot be used ({reason}): name another folder, or unset it"
        ) from None
    return path


def data_dir() -> Path:
    """Return ``data/``: registry, reported numbers, claims, deviations, published records."""
    return project_root() / "data"


def build_dir() -> Path:
    """Return ``build/``: what can be made again, ignored by git. ``XLREPRO_BUILD`` moves it.

    Raises:
        SettingsError: if it can be none.
    """
    moved = os.environ.get("XLREPRO_BUILD")
    return as_path(moved, "XLREPRO_BUILD") if moved else project_root() / "build"


def checkpoint_of(key: str) -> Path:
    """Return where a trial keeps what it goes on from; it is removed once the record is kept."""
    return build_dir() / "checkpoints" / f"{key[:32]}.pt"


def cache_dir() -> Path:
    """Return the cache of downloaded and derived data: ``XLREPRO_DATA``, else the user's cache."""
    if chosen := os.environ.get("XLREPRO_DATA"):
        return as_path(chosen, "XLREPRO_DATA")
    import platformdirs

    return Path(platformdirs.user_cache_dir("xlrepro"))


def supplied_dir() -> Path:
    """Return where users put what cannot be downloaded: ``XLREPRO_SUPPLIED``, else in the cache."""
    chosen = os.environ.get("XLREPRO_SUPPLIED")
    return as_path(chosen, "XLREPRO_SUPPLIED") if chosen else cache_dir() / "supplied"
