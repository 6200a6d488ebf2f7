"""What CONTRIBUTING.md promises: a row is one entry of a YAML file, and nothing else is touched."""

import pytest

from xlrepro import experiments
from xlrepro.engine import measure_trial
from xlrepro.evidence.compare import compare
from xlrepro.evidence.reproduced import View, gather
from xlrepro.pages.tables import comparison_tables

ORT = '      "word:ORT": {parts: [word], set: *ort, at: *ort_rates}\n'
ORT_5 = """\
      "word:ORT-5":
        parts: [word]
        set: {encoder: {kind: transformer, positions: none, kernel_size: 5}}
        at: *ort_rates
"""


@pytest.fixture
def copy_with_a_row(tmp_path, monkeypatch):
    ours = experiments.PAPERS / "word_order" / "experiments.yaml"
    text = ours.read_text("utf-8")
    assert text.count(ORT) == 1
    (tmp_path / "word_order").mkdir()
    changed = text.replace(ORT, ORT + ORT_5)
    (tmp_path / "word_order" / "experiments.yaml").write_text(changed, "utf-8")
    monkeypatch.setattr(experiments, "PAPERS", tmp_path)
    monkeypatch.setattr(experiments, "ORDER", ("word_order",))
    caches = (experiments.all_experiments, experiments._paper, experiments._runs)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.mark.usefixtures("copy_with_a_row")
def test_a_row_added_by_one_entry_runs_at_smoke_and_stands_in_the_table():
    table2 = experiments.experiment("word_order/table2")
    (trial,) = table2.trials("smoke", ["word:ORT-5"])
    assert trial.settings["encoder"]["kernel_size"] == 5
    record = measure_trial(trial, "cpu")
    view = View("word_order/table2", "smoke", gather([record], stale=lambda r: False))
    frame = compare(view, experiment=table2)
    shown = frame[frame["system"] == "word:ORT-5"]
    assert {"en", "de", "avg"} <= set(shown["column"])
    assert shown["reproduced"].notna().all()
    assert any("ORT-5" in table._repr_html_() for table in comparison_tables(frame))
