"""Words with senses."""

import pytest

from xlrepro.data import registry
from xlrepro.data.readers.senses import lemma_of, read_senses
from xlrepro.errors import DataError, SettingsError


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_words_have_the_senses_of_their_column(tmp_path):
    lines = "# doc = a\nA\ta\tDT\t_\t_\t_\nbanks\tbank\tNN\tbank%1:1|bank%1:2\tx\td0.t1\n\n"
    (found,) = read_senses(written(tmp_path / "x", lines), "naf")
    assert found.tokens == ("A", "banks")
    assert found.lemmas == ("a", "bank")
    assert found.senses == ((), ("bank%1:1", "bank%1:2"))
    assert found.instances == (None, "d0.t1")


def test_the_unified_sets_have_another_order(tmp_path):
    lines = "# sent = s\nbanks\tbank\tNOUN\ts.t0\tbank%1:1\n\n# sent = t\n#\t#\t.\t_\t_\n"
    found = read_senses(written(tmp_path / "x", lines), "unified")
    assert [s.tokens for s in found] == [("banks",), ("#",)]
    assert found[0].senses == (("bank%1:1",),)
    assert found[0].instances == ("s.t0",)


def test_a_line_with_too_few_columns_is_named(tmp_path):
    with pytest.raises(DataError, match="x:1: expected 6 columns"):
        read_senses(written(tmp_path / "x", "a\tb\n"), "naf")


def test_an_unknown_layout_is_one_line(tmp_path):
    with pytest.raises(SettingsError, match="'xml'"):
        read_senses(tmp_path / "x", "xml")


def test_a_key_begins_with_its_lemma():
    assert lemma_of("bank%1:17:01::") == "bank"


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("name", "file", "layout", "words"),
    [
        ("wsd-unified", "en/senseval2", "unified", 2240),
        ("wsd-unified", "en/semeval2015", "unified", 1014),
        ("wsd-naf", "en/semeval2007", "naf", 465),
    ],
)
def test_the_test_sets_have_as_many_annotated_words_as_counted(name, file, layout, words):
    sentences = read_senses(registry.fetch(name, file, progress=False), layout)
    assert sum(bool(keys) for s in sentences for keys in s.senses) == words
