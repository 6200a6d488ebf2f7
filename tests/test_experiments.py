"""Experiments that share trials: whose records they read, and as what."""

import subprocess
import sys
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import pytest

from xlrepro import experiments
from xlrepro.cli.arguments import parse_names
from xlrepro.data import supplied
from xlrepro.data.readers import conll_ner
from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.ramen.data import supplied_data
from xlrepro.paths import project_root
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell


def make(key, **more):
    return Experiment(key, (), (), lambda *_: [], **more)


def test_an_own_record_is_read_as_it_is():
    record = Record.model_construct(experiment="p/table1")
    assert make("p/table1").view(record) is record


def test_a_shared_record_is_read_in_the_cells_of_the_reader_and_keeps_its_key():
    record = Record.model_construct(experiment="p/table1", key="k", cells=(), details={"x": 1.5})
    reader = make("p/table5", cells=lambda r: [Cell("s", "c", r.details["x"], "F1")])
    seen = reader.view(record)
    assert (seen.experiment, seen.key, seen.cells) == (
        "p/table5",
        "k",
        (Cell("s", "c", 1.5, "F1"),),
    )
    assert record.experiment == "p/table1"


def test_a_foreign_record_without_a_reading_is_refused():
    with pytest.raises(SettingsError, match="does not say how to read"):
        make("p/table5").view(Record.model_construct(experiment="p/table1"))


def test_only_shared_records_that_the_reader_asks_for_count(monkeypatch):
    asked = Record.model_construct(experiment="p/table1", key="asked", seed=0)
    other = Record.model_construct(experiment="p/table1", key="other", seed=0)
    reader = make("p/table5", draws_on=("p/table1",), cells=lambda r: [Cell("s", r.key, 1.0, "F1")])
    store = SimpleNamespace(
        records=lambda name, profile: [asked, other] if name == "p/table1" else []
    )
    monkeypatch.setattr(experiments, "experiment", lambda key: reader)
    monkeypatch.setattr(experiments, "preset_keys", lambda *_: {"asked"})
    (found,) = experiments.own_records("p/table5", "open", store)
    assert found.cells[0].column == "asked"


def test_all_records_count_where_the_files_that_name_the_trials_are_not_here(monkeypatch):
    record = Record.model_construct(experiment="p/table1", key="k", seed=0)
    store = SimpleNamespace(records=lambda name, profile: [record])

    def missing(*_):
        raise DataError("no en/train")

    monkeypatch.setattr(experiments, "experiment", make)
    monkeypatch.setattr(experiments, "preset_keys", missing)
    assert experiments.own_records("p/table1", "open", store) == [record]


def test_own_trials_announce_systems_by_columns_and_shared_ones_what_the_reader_fills():
    def trial(key, systems, columns):
        return SimpleNamespace(experiment=key, systems=systems, columns=columns)

    trials = [
        trial("p/figure2", ("a", "b"), ("x", "y")),
        trial("p/table1", ("c",), ("z",)),
    ]
    asked = []

    def make_trials(profile, systems, seeds, overrides):
        asked.append((profile, systems, seeds))
        return trials

    reader = Experiment(
        key="p/figure2",
        systems=(System("block", "one"), System("block", "two", default=False)),
        columns=(),
        profiles=("open",),
        make_trials=make_trials,
        default_seeds={"open": (4, 5)},
        fills=lambda t: [(t.systems[0], "0")],
    )
    own = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert reader.announced("open") == [own, [("c", "0")]]
    assert replace(reader, fills=None).announced("open") == [own]
    assert asked[0] == ("open", ("block:one", "block:two"), (4,))


@pytest.mark.parametrize("key", ["word_order/figure1", "word_order/figure2", "word_order/figure3"])
def test_a_figure_announces_the_cells_that_its_published_records_fill(key):
    found = {(c.system, c.column) for r in experiments.own_records(key, "open") for c in r.cells}
    announced = {cell for cells in experiments.experiment(key).announced("open") for cell in cells}
    assert found
    assert found <= announced


@pytest.mark.parametrize("key", ["word_order/figure2", "word_order/figure3"])
def test_a_curve_announces_every_point_of_every_system_once(key):
    figure = experiments.experiment(key)
    announced = [cell for cells in figure.announced("smoke") for cell in cells]
    systems = [system.identifier for system in figure.systems]
    assert sorted(announced) == sorted(product(systems, figure.columns))


RAMEN_FILES = (
    supplied_data.text_path("fr"),
    supplied_data.parallel_path("fr"),
    supplied_data.trees_path("fr", "train"),
    supplied_data.INFERENCE,
)


def test_the_guide_lists_every_folder_of_files_that_a_user_supplies():
    text = (project_root() / "book" / "guide" / "data.md").read_text(encoding="utf-8")
    folders = [
        conll_ner.NAME,
        supplied.WIKI,
        supplied.ALIGNED,
        supplied.UTTERANCES,
        supplied.RELEASE,
        *(path.partition("/")[0] for path in RAMEN_FILES),
    ]
    assert [name for name in folders if f"| `{name}/" not in text] == []


def shown(*systems):
    """Return an experiment with these systems, whose trials are their names, but at open."""
    made = make("p/table1")
    return replace(
        made,
        systems=systems,
        make_trials=lambda profile, names, *_: [] if profile == "open" else list(names),
        profiles=("smoke", "open"),
    )


def test_a_system_that_runs_by_name_at_a_profile_is_a_default_at_the_others():
    one, two = System("a", "one"), System("a", "two", by_name_at=("open",))
    assert shown(one, two).select(None, "smoke") == ("a:one", "a:two")
    assert shown(one, two).select(None, "open") == ("a:one",)
    assert shown(one, two).select(["a:two"], "open") == ("a:two",)


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ("BERT, vec", ["a:BERT, vec"]),
        ("a:BERT, vec,BERT", ["a:BERT, vec", "a:BERT"]),
        ("BERT,1,000 merges,b:*", ["a:BERT", "a:1,000 merges", "b:x"]),
    ],
)
def test_a_name_with_a_comma_may_stand_in_a_list(given, chosen):
    names = ("a:BERT", "a:BERT, vec", "a:1,000 merges", "b:x")
    experiment = shown(*(System(*name.split(":")) for name in names))
    assert list(experiment.select(parse_names(given), "smoke")) == chosen
    assert experiment.trials("smoke", parse_names(given)) == chosen
    with pytest.raises(SettingsError, match="has no system 'nope'"):
        experiment.select(parse_names(f"{given},nope"), "smoke")


def test_named_systems_without_trials_at_a_profile_are_refused():
    experiment = shown(System("a", "one"))
    assert experiment.trials("smoke", ["one"]) == ["a:one"]
    assert experiment.trials("open") == []
    with pytest.raises(SettingsError, match=r"^p/table1 does not run one at open$"):
        experiment.trials("open", ["one"])
    assert experiment.all_trials("open", [0]) == []


def test_a_name_that_a_profile_does_not_run_is_refused_beside_others_that_it_does():
    one, two = System("a", "one"), System("b", "two")
    made = replace(
        shown(one, two), make_trials=lambda p, names, *_: [n for n in names if n == "a:one"]
    )
    assert made.trials("smoke") == ["a:one"]
    with pytest.raises(SettingsError, match=r"does not run b:\* at smoke"):
        made.trials("smoke", ["one", "b:*"])


NAME_ALL_TRIALS = """
import sys
sys.modules["torch"] = None  # importing it fails
from xlrepro.errors import DataError
from xlrepro.experiments import all_experiments
for each in all_experiments().values():
    for profile in each.profiles:
        try:
            each.all_trials(profile, (0,))
        except DataError:  # files that the user supplies
            pass
heavy = {"scipy.stats", "pandas", "matplotlib", "transformers", "distributed"} & set(sys.modules)
assert not heavy, heavy
"""


def test_all_trials_are_named_without_torch():
    done = subprocess.run([sys.executable, "-c", NAME_ALL_TRIALS], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
