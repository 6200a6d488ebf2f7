"""The settings that the method chapters show."""

import re

import pytest

from xlrepro.book.pages.settings import settings_table
from xlrepro.papers.word_order.settings import presets


@pytest.fixture
def preset(tmp_path, monkeypatch):
    """Write a preset of a made-up paper and return its table as rows of text."""
    folder = tmp_path / "xlrepro" / "papers" / "p" / "presets"
    folder.mkdir(parents=True)
    monkeypatch.setattr("xlrepro.book.pages.settings.project_root", lambda: tmp_path)

    def rows(text):
        (folder / "table.yaml").write_text(text, encoding="utf-8")
        return table_rows("p", "table")

    return rows


def table_rows(paper, name):
    found = re.findall(r"<tr.*?</tr>", settings_table(paper, name), re.DOTALL)
    cells = [re.findall(r"<t[dh].*?>(.*?)</t[dh]>", row, re.DOTALL) for row in found]
    return [[re.sub("<[^>]+>", "", cell).strip() for cell in row] for row in cells]


def test_a_profile_is_a_column_and_what_it_lacks_is_empty(preset):
    assert preset("smoke: {epochs: 3, limit: 9}\nopen: {epochs: 6}\nlanguages: [de]\n") == [
        ["setting", "smoke", "open"],
        ["epochs", "3", "6"],
        ["limit", "9", ""],
    ]


def test_what_stands_beside_profiles_one_level_down_holds_for_all(preset):
    text = """
levels: {fine: [{name: a, noise: 1}, {name: b}]}
training: {smoke: {POS: {epochs: 3}}, open: {POS: {epochs: 4, sizes: {dim: 8}}}}
"""
    assert preset(text) == [
        ["setting", "smoke", "open"],
        ["levels.fine", *["2: name a, noise 1; name b"] * 2],
        ["training.POS", "epochs 3", "epochs 4, sizes (dim 8)"],
    ]


@pytest.mark.parametrize("name", ["table2", "spans", "mbert", "nlu"])
def test_every_preset_of_the_word_order_paper_can_be_shown(name):
    head, *rows = table_rows("word_order", name)
    assert head[:3] == ["setting", "smoke", "open"]
    assert len(rows) >= len(presets(name).get("smoke", presets(name)))
