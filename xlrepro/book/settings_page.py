"""The settings of an experiment, read from the presets that the runner reads."""

from typing import Any

from xlrepro.evidence.catalog import read_yaml
from xlrepro.evidence.html_table import Entry, Table, headings
from xlrepro.paths import project_root
from xlrepro.trials.trial import PROFILES, canonical_json


def settings_table(paper: str, name: str) -> str:
    """Return the presets ``name`` of ``paper``, a column per profile, as HTML."""
    path = project_root() / "xlrepro" / "papers" / paper / "presets" / f"{name}.yaml"
    found = read_yaml(path)
    profiles = [p for p in PROFILES if p in found]
    keys = list(dict.fromkeys(key for profile in profiles for key in found[profile]))
    rows = [
        (Entry(key, code=True), *(Entry(_text(found[p].get(key, ""))) for p in profiles))
        for key in keys
    ]
    caption = f"Presets of {name}; an empty field leaves the default of the settings class."
    return Table(caption, headings("setting", *profiles), tuple(rows), interactive=False).html


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" for k, v in value.items()) or "defaults"
    if isinstance(value, list | tuple):
        return f"{len(value)}: {' '.join(map(str, value))}"
    return value if isinstance(value, str) else canonical_json(value)
