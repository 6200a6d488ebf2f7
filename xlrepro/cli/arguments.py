"""What the arguments of several commands mean: experiments, profiles, systems, seeds, settings."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from xlrepro.errors import SettingsError

MOST_SEEDS, MOST_DIGITS = 10_000, 20

Experiments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[EXPERIMENT...]", help="word_order/table2, or a whole paper."),
]
Profile = Annotated[str, typer.Option(help="smoke, open or paper.")]
Systems = Annotated[
    str | None, typer.Option(help="ORT,word:TRS or word:*; default: the experiment's own.")
]
Seeds = Annotated[str | None, typer.Option(help="0,1,2 or 0-4; default: the profile's own.")]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a running Dask cluster, tcp://host:8786.")
]


def parse_seeds(text: str | None) -> tuple[int, ...] | None:
    """Read ``"0,1,2"`` and ``"0-4"``, each seed once.

    Raises:
        SettingsError: for anything else.

    Example:
        >>> parse_seeds("7,0-2")
        (7, 0, 1, 2)
    """
    if text is None:
        return None
    seeds: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        digits = [first, last] if dash else [first]
        if not all(p.isascii() and p.isdigit() and len(p) <= MOST_DIGITS for p in digits):
            shown = part.strip()[:40]
            raise SettingsError(f"--seeds: {shown!r} is neither a seed (7) nor a range (0-4)")
        low, high = int(digits[0]), int(digits[-1])
        if not 0 <= high - low < MOST_SEEDS:
            raise SettingsError(f"--seeds {text!r}: {part.strip()!r} is no usable range")
        seeds |= dict.fromkeys(range(low, high + 1))
    return tuple(seeds)


def parse_names(text: str | None, option: str = "--systems") -> tuple[str, ...] | None:
    """Read ``"ORT,word:TRS"``; names that have commas are put together again where they are used.

    Raises:
        SettingsError: if the option is there and names nothing, as with an unset shell variable.
    """
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise SettingsError(f"{option} {text!r} names nothing: name something, or leave it out")
    return names


def parse_published(text: str) -> tuple[str, ...]:
    """Read the profiles, ``"open,paper"``, whose records are published.

    Raises:
        SettingsError: if it names none, or another.
    """
    from xlrepro.trials import PUBLISHED

    profiles = parse_names(text, "--profile") or ()
    if unknown := [name for name in profiles if name not in PUBLISHED]:
        raise SettingsError(f"profile {unknown[0]!r} is not published; only open and paper are")
    return profiles


def parse_overrides(pairs: list[str], option: str = "--set") -> dict[str, Any]:
    """Read ``NAME=VALUE`` pairs whose values are YAML; ``no`` and ``off`` are words.

    Args:
        pairs: as the user gave them.
        option: with which.

    Raises:
        SettingsError: for a pair without ``=``, a value that is not YAML, or a name given twice.

    Example:
        >>> parse_overrides(["epochs=3", "kernel=null", "targets=[de, no]"])
        {'epochs': 3, 'kernel': None, 'targets': ['de', 'no']}
    """
    from xlrepro.yaml_files import parse_value

    overrides: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise SettingsError(f"{option} {pair!r} is not of the form NAME=VALUE")
        if name.strip() in overrides:
            raise SettingsError(f"{option} {name.strip()} is given twice")
        try:
            overrides[name.strip()] = parse_value(value)
        except ValueError as error:
            raise SettingsError(f"{option} {name}: the value is not YAML ({error})") from None
    return overrides


def chosen_experiments(names: Sequence[str] | None) -> list[Any]:
    """Return the experiments named, each once; a paper stands for all of its own, nothing for all.

    Raises:
        SettingsError: for an unknown name.
    """
    from xlrepro.experiments import all_experiments, experiment

    known = all_experiments()
    papers = {name: [key for key in known if key.startswith(f"{name}/")] for name in names or ()}
    keys = [key for name in names or () for key in papers[name] or [name]]
    return [experiment(key) for key in dict.fromkeys(keys or known)]
