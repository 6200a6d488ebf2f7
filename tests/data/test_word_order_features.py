"""Word-order features: the published distances come back from them."""

import csv

import numpy as np
import pytest

from xlrepro.data.readers import word_order_features
from xlrepro.data.readers.word_order_features import (
    N_FEATURES,
    mean_absolute_difference,
    read_features,
)
from xlrepro.errors import DataError
from xlrepro.paths import data_dir

HEADER = "\t".join(["lang", *(f"f{i}" for i in range(N_FEATURES))])


def row(language, value, n=N_FEATURES):
    return "\t".join([language, *[str(value)] * n])


@pytest.fixture
def write(tmp_path):
    def write_file(*lines):
        path = tmp_path / "features.tsv"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write_file


def test_each_language_has_52_features(write):
    features = read_features(write(HEADER, row("aa", 0.25), row("bb", 1.0)))
    assert {code: values.shape for code, values in features.items()} == {"aa": (52,), "bb": (52,)}


def test_distance_by_hand():
    assert mean_absolute_difference([0.0, 0.5, 1.0], np.array([0.5, 0.5, 0.0])) == 0.5


@pytest.mark.parametrize(
    ("lines", "number", "expected"),
    [
        ((row("aa", 0.5),), 1, "header"),
        ((HEADER, row("aa", 0.5, n=51)), 2, "52 numbers"),
        ((HEADER, row("aa", 0.5), row("bb", 1.5)), 3, "from 0 to 1"),
        ((HEADER, row("aa", "x")), 2, "expected numbers"),
        ((HEADER, row("aa", "nan")), 2, "from 0 to 1"),
        ((HEADER, row("aa", 0.5), row("aa", 0.5)), 3, "aa again"),
    ],
)
def test_malformed_table_is_an_error_with_its_line(write, lines, number, expected):
    with pytest.raises(DataError, match=rf"features\.tsv:{number}: .*{expected}"):
        read_features(write(*lines))


@pytest.mark.mirror
def test_distances_of_the_paper_come_back(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    with (data_dir() / "reported" / "word_order" / "table2.csv").open(encoding="utf-8") as stream:
        reported = {
            line["language"]: float(line["value"])
            for line in csv.DictReader(stream)
            if line["row_group"] == "distance" and line["language"] != "avg"
        }
    table = word_order_features.table()
    computed = {c: mean_absolute_difference(table["en"], table[c]) for c in reported}
    assert {code: round(value, 2) for code, value in computed.items()} == reported
