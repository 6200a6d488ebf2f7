import fnmatch
import json
import re
from pathlib import Path

import pytest

from xlrepro import experiments
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims import judge, load_claims
from xlrepro.evidence.deviations import WEIGHTS, load_deviations, load_errata, read_deviations
from xlrepro.evidence.reported import load_reported

FILE = """paper: word_order
deviations:
  - {id: W1, title: t, experiments: [table2], profiles: [open], paper: p, here: h, why: w,
     effect: e, certainty: known}
"""


def written(tmp_path, text):
    path = tmp_path / "d.yaml"
    path.write_text(text, encoding="utf-8")
    return read_deviations(path)


def test_deviations_have_ids_of_their_own_and_name_experiments_that_there_are():
    every = load_deviations()
    assert len({d.id for d in every}) == len(every)
    for each in every:
        assert {*each.experiments} <= {*load_catalog().experiments}, each.id
        assert {*each.rows, *each.columns} <= {*each.experiments}, each.id


def test_every_deviation_that_is_cited_is_there():
    root = Path(__file__).parents[2]
    kinds = "data/*.yaml", "data/deviations/*.yaml", "book/**/*.md", "xlrepro/papers/*/*.yaml"
    texts = {f: f.read_text("utf-8") for kind in kinds for f in root.glob(kind)}
    for notebook in root.glob("notebooks/*/*.ipynb"):
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        texts[notebook] = "".join("".join(cell["source"]) for cell in cells)
    names = re.compile(r"\b(?:W|MM|SA|T|R)\d\d\b")
    cited = {(name, f.name) for f, text in texts.items() for name in names.findall(text)}
    assert len(cited) > 100
    known = {deviation.id for deviation in load_deviations()}
    assert {(name, file) for name, file in cited if name not in known} == set()


@pytest.mark.parametrize("key", experiments.all_experiments())
def test_every_row_and_column_that_a_deviation_names_is_there(key):
    each, printed = experiments.experiment(key), load_reported().cells(key)
    known = {
        "row": [*(s.identifier for s in each.systems), *(c.system for c in printed)],
        "column": [*each.columns, *(c.column for c in printed)],
    }
    for deviation in load_deviations(key):
        for kind, names in deviation.named(key).items():
            assert [n for n in names if not fnmatch.filter(known[kind], n)] == [], deviation.id


def test_a_deviation_touches_the_cells_that_its_rows_and_its_columns_name_or_all(tmp_path):
    key, cells = "word_order/table2", [("word:ORT", "ar"), ("word:ORT", "de"), ("mbert:ORT", "ar")]
    more = "why: w, rows: {table2: ['word:*']}, columns: {table2: [ar]},"
    (some,) = written(tmp_path, FILE.replace("why: w,\n    ", more))
    assert [some.touches(key, *cell) for cell in cells] == [True, False, False]
    assert not some.touches("word_order/table1", "word:ORT", "ar")
    (every,) = written(tmp_path, FILE)
    assert every.touches(key, "mbert:ORT", "de")


def test_the_deviations_of_a_profile_stand_by_weight():
    found = load_deviations("word_order/table2", "smoke")
    assert found
    assert all("smoke" in d.profiles for d in found)
    weights = [d.weight for d in load_deviations("word_order/table2")]
    assert weights == sorted(weights, key=WEIGHTS.index)


def test_every_claim_that_fails_on_printed_numbers_has_an_erratum():
    every = [c for paper in load_catalog().papers for c in load_claims(paper)]
    fail = {c.id for c in every if c.kind != "ours" and judge(c).status == "inconsistent"}
    assert {e.claim for e in load_errata() if e.claim} == fail
