"""Word-order features: the published distances come back from them."""

import csv

import pytest

from xlrepro.data.readers.word_order_features import mean_absolute_difference, table
from xlrepro.paths import data_dir


@pytest.mark.mirror
def test_distances_of_the_paper_come_back(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    with (data_dir() / "reported" / "word_order" / "table2.csv").open(encoding="utf-8") as stream:
        reported = {
            line["language"]: float(line["value"])
            for line in csv.DictReader(stream)
            if line["row_group"] == "distance" and line["language"] != "avg"
        }
    features = table()
    assert {values.shape for values in features.values()} == {(52,)}
    computed = {c: mean_absolute_difference(features["en"], features[c]) for c in reported}
    assert {code: round(value, 2) for code, value in computed.items()} == reported
