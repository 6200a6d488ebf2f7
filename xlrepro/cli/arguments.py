"""What the arguments of several commands mean: experiments, profiles, systems, seeds, settings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xlrepro.errors import SettingsError
from xlrepro.trials import PUBLISHED

if TYPE_CHECKING:
    from xlrepro.trials import Trial
    from xlrepro.trials.experiment import Experiment

MOST_SEEDS = 10_000
MOST_DIGITS = 20  # of the largest seed
NO_SETTING = "extra inputs are not permitted"  # what the settings of the papers say


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
            raise SettingsError(
                f"--seeds: {_shortened(part.strip())!r} is neither a seed (7) nor a range (0-4)"
            )
        low, high = int(digits[0]), int(digits[-1])
        if not 0 <= high - low < MOST_SEEDS:
            raise SettingsError(f"--seeds {text!r}: {part.strip()!r} is no usable range")
        seeds |= dict.fromkeys(range(low, high + 1))
    return tuple(seeds)


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"


def parse_names(text: str | None, option: str = "--systems") -> tuple[str, ...] | None:
    """Read ``"ORT,word:TRS"``; nothing given is ``None``.

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
    profiles = parse_names(text, "--profile") or ()
    if unknown := [name for name in profiles if name not in PUBLISHED]:
        raise SettingsError(f"profile {unknown[0]!r} is not published; only open and paper are")
    return profiles


def parse_overrides(pairs: list[str], option: str = "--set") -> dict[str, Any]:
    """Read ``NAME=VALUE`` pairs whose values are YAML.

    Args:
        pairs: as the user gave them.
        option: with which.

    Raises:
        SettingsError: for a pair without ``=``, a value that is not YAML, or a name given twice.

    Example:
        >>> parse_overrides(["epochs=3", "kernel=null"])
        {'epochs': 3, 'kernel': None}
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


def chosen_experiments(names: "Sequence[str] | None") -> "list[Experiment]":
    """Return the experiments named, each once; a paper stands for all of its own, nothing for all.

    Raises:
        SettingsError: for an unknown name.
    """
    from xlrepro.experiments import all_experiments, experiment

    known = all_experiments()
    papers = {name: [key for key in known if key.startswith(f"{name}/")] for name in names or ()}
    keys = [key for name in names or () for key in papers[name] or [name]]
    return [experiment(key) for key in dict.fromkeys(keys or known)]


def trials_of(
    each: "Experiment",
    profile: str,
    systems: "Sequence[str] | None",
    seeds: "Sequence[int] | None",
    overrides: dict[str, Any],
) -> "list[Trial]":
    """Return an experiment's trials; a name that is no setting is refused with names that are."""
    try:
        return each.trials(profile, systems, seeds, overrides)
    except SettingsError as error:
        wrong = [name for name in overrides if f" {name}: {NO_SETTING}" in str(error)]
        if not wrong:
            raise
        known = {name for trial in each.trials(profile, systems, seeds) for name in trial.settings}
        raise SettingsError(
            f"--set {wrong[0]}: {each.key} has no such setting; its profile {profile} sets "
            f"{', '.join(sorted(known))}"
        ) from None
