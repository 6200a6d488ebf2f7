"""The settings of an experiment, read from the presets that the runner reads."""

from typing import Any

from xlrepro.evidence.tables.table import Entry, Table, headings
from xlrepro.paths import project_root
from xlrepro.trials import PROFILES, canonical_json
from xlrepro.yaml_files import read_yaml


def settings_table(paper: str, name: str) -> str:
    """Return the presets ``name`` of ``paper``, a column per profile, as HTML.

    Where the profiles stand one level down (``training: {smoke: …}``), what stands beside them
    holds for all.
    """
    path = project_root() / "xlrepro" / "papers" / paper / "presets" / f"{name}.yaml"
    presets = _by_profile(read_yaml(path))
    profiles = list(presets)
    keys = list(dict.fromkeys(key for profile in profiles for key in presets[profile]))
    rows = [
        (Entry(key, code=True), *(Entry(_text(presets[p].get(key, ""))) for p in profiles))
        for key in keys
    ]
    caption = f"Presets of {name}; an empty field leaves the default of the settings class."
    return Table(caption, headings("setting", *profiles), tuple(rows), interactive=False).html


def _by_profile(presets: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return profile to settings by name; ``block.task`` for what is nested without profiles."""
    profiles = [p for p in PROFILES if p in presets]
    if profiles:
        return {p: presets[p] for p in profiles}
    inner = {name: part for name, part in presets.items() if set(part) <= set(PROFILES)}
    shared = {
        f"{name}.{key}": value
        for name, part in presets.items()
        if name not in inner
        for key, value in part.items()
    }
    return {
        p: shared | {f"{name}.{k}": v for name, part in inner.items() for k, v in part[p].items()}
        for p in PROFILES
        if all(p in part for part in inner.values())
    }


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_inside(v)}" for k, v in value.items()) or "defaults"
    if isinstance(value, list | tuple):
        many = any(isinstance(v, dict) for v in value)
        return f"{len(value)}: {('; ' if many else ' ').join(map(_text, value))}"
    return value if isinstance(value, str) else canonical_json(value)


def _inside(value: Any) -> str:
    """Return a value as text inside that of another."""
    if isinstance(value, dict):
        return f"({_text(value)})"
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else _text(value)
