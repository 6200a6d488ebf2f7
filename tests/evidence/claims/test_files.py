import pytest

from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.claims.files import read_claims

FILE = """paper: word_order
claims:
  - {id: T1, kind: text, section: s, text: t, cells: c, predicate: "1 < 2"}
"""


def written(tmp_path, text):
    path = tmp_path / "c.yaml"
    path.write_text(text, encoding="utf-8")
    return read_claims(path)


def test_a_file_of_claims_loads(tmp_path):
    (found,) = written(tmp_path, FILE)
    assert (found.id, found.paper) == ("T1", "word_order")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (("kind: text", "kind: rumour"), DataError, r"c\.yaml: claims\.0\.kind"),
        (('predicate: "1 < 2"', "rule: r"), DataError, "T1 needs a predicate, and no rule"),
        (('predicate: "1 < 2"', "predicate: ''"), DataError, "T1 needs a predicate"),
        (('1 < 2"', '1 < 2", rule: r'), DataError, "T1 needs a predicate, and no rule"),
        (("kind: text", "kind: figure"), DataError, "T1 rests on a figure: it needs a rule"),
        (("cells: c", "cells: c, variant_of: T9"), DataError, "T1 is a variant of no claim"),
        (("1 < 2", "x.y < 2"), SettingsError, "claim T1, column 1: Attribute is not part"),
        (("id: T1, ", ""), DataError, r"claims\.0\.id: Field required"),
    ],
)
def test_a_malformed_claim_names_file_and_claim(tmp_path, change, error, message):
    with pytest.raises(error, match=message):
        written(tmp_path, FILE.replace(*change))


def test_a_claim_on_a_figure_may_have_a_predicate_beside_its_rule(tmp_path):
    text = FILE.replace("kind: text", "kind: figure").replace('1 < 2"', '1 < 2", rule: r')
    (found,) = written(tmp_path, text)
    assert (found.predicate, found.rule) == ("1 < 2", "r")


def test_an_id_must_not_stand_twice(tmp_path):
    line = FILE.splitlines()[-1]
    with pytest.raises(DataError, match="claim T1 stands there twice"):
        written(tmp_path, f"{FILE}{line}\n")
