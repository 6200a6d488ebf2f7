"""pyproject.toml, constraints.txt, environment.yml and CITATION.cff tell one story."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def pinned() -> dict[str, str]:
    """Return constraints.txt as {canonical name: version}."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def asked_for() -> list[Requirement]:
    """Return every requirement of the package and of all its extras, but not itself."""
    texts = [*PROJECT["dependencies"], *(text for extra in EXTRAS.values() for text in extra)]
    return [r for r in map(Requirement, texts) if canonicalize_name(r.name) != PROJECT["name"]]


@pytest.mark.parametrize("requirement", asked_for(), ids=lambda r: r.name)
def test_every_dependency_is_pinned_within_its_range(requirement):
    version = pinned().get(canonicalize_name(requirement.name))
    assert version is not None, f"{requirement.name} has no line in constraints.txt"
    assert requirement.specifier.contains(version, prereleases=True)


def test_conda_brings_python_and_pip_and_pip_the_rest_as_pinned():
    python, pip, rest = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    name, _, version = python.partition("=")
    assert (name, re.split("[<>=]", pip)[0]) == ("python", "pip")
    assert SpecifierSet(PROJECT["requires-python"]).contains(version)
    assert rest == {"pip": ["-c constraints.txt", "-e .[dev]"]}


def test_version_is_the_same_everywhere():
    import xlrepro

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert PROJECT["version"] == xlrepro.__version__ == citation["version"]
