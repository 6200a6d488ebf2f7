"""YAML of the project: whatever is wrong with it is one line, and no bytes of a file break that."""

import contextlib
import random

import pytest
from pydantic import BaseModel

from tests.attacks import records
from tests.attacks.readers import damaged
from xlrepro.errors import DataError, XlreproError
from xlrepro.values import parse_value, parse_yaml, read_model, read_yaml


class Coloured(BaseModel):
    colour: str


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\nb: [1\n", "line 3: did not find"),
        ("!!int x", "invalid literal"),
        ("!!bool x", "'x'"),  # a KeyError
        ("!!python/object:os.system x", "could not determine a constructor"),
        ("2001-99-99", "month must be in"),
        ("9" * 5000, "digit"),
        ("a: 1\nb: 2\na: 3\n", "line 3: 'a' stands twice"),
    ],
)
def test_what_is_not_yaml_is_one_line(text, reason):
    with pytest.raises(ValueError, match=reason) as raised:
        parse_yaml(text)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["2001-01-01", "&a [*a]", "[" * 20_000])
def test_a_setting_that_json_has_not_is_refused(text):
    with pytest.raises(ValueError, match=r"not JSON|Circular|recursion"):
        parse_value(text)


def test_a_broken_file_names_the_line(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\nb: [1\n")
    with pytest.raises(DataError, match=r"x\.yaml is not valid YAML \(line 3: "):
        read_yaml(path)


def test_a_file_that_is_no_text_says_so(tmp_path):
    path = tmp_path / "catalog.yaml"
    path.write_bytes(b"title: \xff\xfe")
    with pytest.raises(DataError, match=r"catalog\.yaml is not text in UTF-8: save it as such"):
        read_yaml(path)


@pytest.mark.parametrize(("name", "why"), [("", "Is a directory"), ("none.yaml", "No such file")])
def test_a_file_that_cannot_be_read_says_so(tmp_path, name, why):
    with pytest.raises(DataError, match=rf"cannot be read \({why}"):
        read_yaml(tmp_path / name)


def test_a_model_names_the_place_that_is_wrong(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("colour: [red]")
    with pytest.raises(DataError, match=r"x\.yaml: colour: .*string"):
        read_model(path, Coloured)


ATTACKED = records.readers()


@pytest.mark.parametrize("name", ATTACKED)
def test_a_damaged_file_is_read_or_refused(tmp_path, name):
    read, content = ATTACKED[name]
    (tmp_path / "folder").mkdir()
    for seed in range(15):
        path = tmp_path / "folder" / "file"
        path.write_bytes(damaged(content, random.Random(f"{name} {seed}")))
        with contextlib.suppress(XlreproError):
            read(path)
