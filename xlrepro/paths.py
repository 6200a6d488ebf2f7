"""Where things lie: the project's folder, what git ignores below it, and the data cache."""

import os
import stat
from functools import cache
from pathlib import Path

from xlrepro.errors import SettingsError

CHECKOUT = Path(__file__).resolve().parent.parent  # that this package is installed from
MOST_SHOWN = 80  # characters of a path in an error


def project_root() -> Path:
    """Return the folder that holds ``data/``, ``notebooks/`` and ``book/``.

    ``XLREPRO_HOME`` wins; else the checkout this package is installed from.

    Raises:
        SettingsError: if ``XLREPRO_HOME`` is set and holds no ``data/reported`` folder, or if it is
            not and there is none.
    """
    named = os.environ.get("XLREPRO_HOME")
    if named:
        folder = as_path(named, "XLREPRO_HOME")
        if _is_project(folder):
            return folder
        raise SettingsError(
            f"XLREPRO_HOME={named} holds no data/reported folder: set it to a clone of xlrepro, "
            "or unset it"
        )
    if _is_checkout():
        return CHECKOUT
    if _is_project(Path()):
        return Path().resolve()
    raise SettingsError(
        "the project's data/ folder was not found: run inside a clone of xlrepro, or set "
        "XLREPRO_HOME to one"
    )


@cache  # asked a thousand times by one command
def _is_checkout() -> bool:
    return _is_project(CHECKOUT)


def _is_project(folder: Path) -> bool:
    try:
        return (folder / "data" / "reported").is_dir()
    except OSError:
        return False


def as_path(text: str, source: str) -> Path:
    """Return the absolute path that a setting names, ``~`` and symbolic links followed.

    Args:
        text: as the user wrote it, ``"~/builds"``.
        source: the setting, as an error calls it, ``"XLREPRO_BUILD"``.

    Raises:
        SettingsError: if it can be no path: a name of no user, links in a circle, too long.
    """
    try:
        path = Path(text).expanduser().resolve()
        path.exists()
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        shown = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
        raise SettingsError(
            f"{source}={shown} cannot be used ({reason}): name another folder, or unset it"
        ) from None
    return path


def data_dir() -> Path:
    """Return ``data/``: registry, reported numbers, claims, deviations, published records."""
    return project_root() / "data"


def build_dir() -> Path:
    """Return ``build/``: what can be made again, ignored by git. ``XLREPRO_BUILD`` moves it.

    Raises:
        SettingsError: if something else than a folder is there, or it cannot be reached.
    """
    moved = os.environ.get("XLREPRO_BUILD")
    folder = as_path(moved, "XLREPRO_BUILD") if moved else project_root() / "build"
    check_folder(folder)
    return folder


def check_folder(folder: Path) -> None:
    """Check that a folder of the build can be looked into; one that is not there yet can.

    Raises:
        SettingsError: if it is something else, or cannot be reached.
    """
    try:
        is_folder = stat.S_ISDIR(folder.stat().st_mode)
    except FileNotFoundError:
        return
    except OSError as error:
        wrong = f"cannot be used ({error.strerror})"
    else:
        if is_folder and os.access(folder, os.R_OK | os.X_OK):
            return
        wrong = "is not readable" if is_folder else "is no folder"
    raise SettingsError(f"{folder} {wrong}: set XLREPRO_BUILD to a folder you can write in")


def cache_dir() -> Path:
    """Return the cache of downloaded and derived data: ``XLREPRO_DATA``, else the user's cache."""
    chosen = os.environ.get("XLREPRO_DATA")
    if chosen:
        return as_path(chosen, "XLREPRO_DATA")
    import platformdirs

    return Path(platformdirs.user_cache_dir("xlrepro"))


def supplied_dir() -> Path:
    """Return where users put what cannot be downloaded: ``XLREPRO_SUPPLIED``, else in the cache."""
    chosen = os.environ.get("XLREPRO_SUPPLIED")
    return as_path(chosen, "XLREPRO_SUPPLIED") if chosen else cache_dir() / "supplied"
