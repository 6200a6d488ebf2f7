"""YAML of the project: whatever is wrong with it is one line, and no bytes of a file break that."""

import contextlib
import random

import pytest
from pydantic import BaseModel

from xlrepro.data.registry import Dataset
from xlrepro.errors import DataError, XlreproError
from xlrepro.evidence.catalog import read_catalog
from xlrepro.evidence.claims import read_claims
from xlrepro.evidence.deviations import read_deviations, read_errata
from xlrepro.paths import data_dir
from xlrepro.yaml_files import parse_value, parse_yaml, read_model, read_yaml


class Coloured(BaseModel):
    colour: str


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\nb: [1\n", "line 3: did not find"),
        ("!!int x", "invalid literal"),
        ("!!bool x", "x"),
        ("!!timestamp x", "group"),
        ("!!python/object:os.system x", "could not determine a constructor"),
        ("2001-99-99", "month must be in"),
        ("9" * 5000, "digit"),
        ("\0", "control characters"),
    ],
)
def test_what_is_not_yaml_is_one_line(text, reason):
    with pytest.raises(ValueError, match=reason) as raised:
        parse_yaml(text)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["2001-01-01", "&a [*a]", "[" * 200_000])
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


ODD = [b"\xff", b"!!bool x", b"!!timestamp x", b"2001-99-99", b"9" * 5000, b"1e999", b"&a [*a]"]
ODD += [b"{", b"null", b"[]", b"\0", b"!!binary x", b"\xe2\x80\xa8", b": ", b"-1", b".nan", b"'"]


def damaged(content, chance):
    """Return the bytes with one stretch of them replaced by something odd."""
    start = chance.randrange(len(content))
    stop = start + chance.choice([0, 1, 10, 100])
    return content[:start] + chance.choice(ODD) + content[stop:]


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("catalog.yaml", read_catalog),
        ("errata.yaml", read_errata),
        ("registry/muse-test.yaml", lambda path: read_model(path, Dataset)),
        ("claims/word_order.yaml", read_claims),
        ("deviations/man_moe.yaml", read_deviations),
    ],
)
def test_a_damaged_file_is_read_or_refused(tmp_path, name, read):
    content = (data_dir() / name).read_bytes()
    chance = random.Random(name)
    for _ in range(15):
        path = tmp_path / "damaged.yaml"
        path.write_bytes(damaged(content, chance))
        with contextlib.suppress(XlreproError):
            read(path)
