"""Where things lie: the project's folder, what git ignores below it, and the data cache."""

import os
import stat
from pathlib import Path

from xlrepro.errors import SettingsError


def project_root() -> Path:
    """Return the folder that holds ``data/``, ``notebooks/`` and ``book/``.

    ``XLREPRO_HOME`` wins; else the checkout this package is installed from.

    Raises:
        SettingsError: if ``XLREPRO_HOME`` is set and holds no ``data/reported`` folder, or if it is
            not and there is none.
    """
    named = os.environ.get("XLREPRO_HOME")
    candidates = [Path(named)] if named else [Path(__file__).resolve().parent.parent, Path.cwd()]
    for folder in candidates:
        if (folder / "data" / "reported").is_dir():
            return folder.resolve()
    if named:
        raise SettingsError(
            f"XLREPRO_HOME={named} holds no data/reported folder: set it to a clone of xlrepro, "
            "or unset it"
        )
    raise SettingsError(
        "the project's data/ folder was not found: run inside a clone of xlrepro, or set "
        "XLREPRO_HOME to one"
    )


def data_dir() -> Path:
    """Return ``data/``: registry, reported numbers, claims, deviations, published records."""
    return project_root() / "data"


def build_dir() -> Path:
    """Return ``build/``: what can be made again, ignored by git. ``XLREPRO_BUILD`` moves it.

    Raises:
        SettingsError: if something else than a folder is there, or it cannot be reached.
    """
    moved = os.environ.get("XLREPRO_BUILD")
    folder = Path(moved).resolve() if moved else project_root() / "build"
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
        return Path(chosen).expanduser().resolve()
    import pooch

    return Path(pooch.os_cache("xlrepro"))


def supplied_dir() -> Path:
    """Return where users put what cannot be downloaded: ``XLREPRO_SUPPLIED``, else in the cache."""
    chosen = os.environ.get("XLREPRO_SUPPLIED")
    return Path(chosen).expanduser() if chosen else cache_dir() / "supplied"
