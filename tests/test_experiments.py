"""The one merge of settings, and how rows become trials, on a small paper of its own."""

import pytest

from tests.toy_trials import forget_papers, other_papers
from xlrepro import experiments
from xlrepro.engine import measure_trial
from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.compare import compare
from xlrepro.evidence.reproduced import View, gather
from xlrepro.pages.tables import comparison_tables
from xlrepro.trials import Cell, Record

YAML = """
tasks:
  pos: {run: "tagging:run", settings: "settings:TaggingSettings", version: 1}
experiments:
  table1:
    task: pos
    seeds: {open: [0, 1]}
    fills: ["{part}/{source}", "{part}/{targets}", "{part}/avg"]
    defaults:
      {corpus: artificial, vectors: dictionary, train_sentences: 9, test_sentences: 9, epochs: 9,
       patience: 3, batch_size: 4}
    profiles:
      smoke: {learning_rate: 0.5, encoder: {dim: 8, heads: 2}}
      open: {learning_rate: 0.1}
    parts:
      NER: {set: {task: NER, targets: [es, nl]}, at: {open: {epochs: 7}}}
      SF: {set: {task: SF, targets: [th]}}
    rows:
      "word:ORT":
        set: {encoder: {kind: transformer, positions: none}}
        at: {smoke: {batch_size: 2}}
      "word:TRS": {set: {encoder: {kind: transformer, positions: sinusoidal}, patience: 1}}
      "word:TRS twin": {shares: "word:TRS", ours: true}
      "rare:ORT":
        set: {encoder: {kind: transformer}}
        default: false
        profiles: [smoke]
        seeds: [7]
        parts: {SF: {set: {epochs: 1}}}
  figure2:
    profiles: {smoke: {}, open: {}}
    rows:
      "word:ORT":
        borrows: [{from: word_order/table1, parts: [SF], columns: {SF/th: th/0},
                   changed_at: {open: {epochs: 5}}}]
  each:
    task: pos
    fills: ["{targets}", "{learning_rate:.0e}"]
    each: {targets: ["{part}"]}
    parts: [de, "no"]
    profiles:
      smoke:
        {corpus: artificial, vectors: dictionary, train_sentences: 9, test_sentences: 9, epochs: 1,
         patience: 1, learning_rate: 0.5}
    rows:
      "word:ORT": {set: {encoder: {kind: transformer}}}
"""


@pytest.fixture(autouse=True)
def toy(tmp_path):
    (tmp_path / "word_order").mkdir()
    path = tmp_path / "word_order" / "experiments.yaml"
    path.write_text(YAML, "utf-8")
    with other_papers("PAPERS", tmp_path), other_papers("ORDER", ("word_order",)):
        yield path


def trials(key, *args, **more):
    return experiments.experiment(f"word_order/{key}").trials(*args, **more)


def test_later_layers_win_and_mappings_are_merged():
    by_part = {t.columns[0]: t.settings for t in trials("table1", "smoke", ["word:ORT"])}
    ner, slots = by_part["NER/en"], by_part["SF/en"]
    assert (ner["task"], ner["epochs"], ner["batch_size"]) == ("NER", 9, 2)
    assert ner["encoder"] == {"kind": "transformer", "dim": 8, "heads": 2}
    assert slots["targets"] == ["th"]
    at_open = trials("table1", "open", ["word:ORT"], [0])
    assert [t.settings["epochs"] for t in at_open] == [7, 9]
    assert [t.settings["learning_rate"] for t in at_open] == [0.1, 0.1]


def test_a_users_setting_wins_over_all_and_its_name_may_be_dotted():
    changed = trials("table1", "smoke", ["ORT"], overrides={"encoder.dim": 4, "batch_size": 3})
    assert {t.settings["encoder"]["dim"] for t in changed} == {4}
    assert {t.settings["batch_size"] for t in changed} == {3}
    lent = [trials("figure2", "open", overrides=changes)[0] for changes in ({}, {"epochs": 3})]
    assert [t.settings["epochs"] for t in lent] == [5, 3]


@pytest.mark.parametrize(
    ("name", "said"),
    [("dim", "write encoder.dim"), ("nonsense", "there are: corpus"), ("epochs", "epochs")],
)
def test_an_unknown_setting_or_an_impossible_value_is_refused(name, said):
    with pytest.raises(SettingsError, match=said):
        trials("table1", "smoke", overrides={name: 0})


def test_columns_follow_from_settings():
    made = trials("table1", "open", ["word:TRS"], [0])
    assert [t.columns for t in made] == [
        ("NER/en", "NER/es", "NER/nl", "NER/avg"),
        ("SF/en", "SF/th", "SF/avg"),
    ]
    assert [t.columns for t in trials("each", "smoke")] == [("de", "5e-01"), ("no", "5e-01")]


def test_a_row_that_shares_is_filled_by_the_others_trial():
    (trial, _) = trials("table1", "smoke", ["word:TRS twin"])
    assert trial.systems == ("word:TRS", "word:TRS twin")
    assert trial in trials("table1", "smoke", ["word:TRS"])


def test_a_rare_row_runs_by_name_at_its_profiles_alone():
    assert "rare:ORT" not in {s for t in trials("table1", "smoke") for s in t.systems}
    (rare,) = trials("table1", "smoke", ["rare:*"], [3])
    assert (rare.settings["epochs"], rare.seed) == (1, 7)  # its own, whichever is asked for
    with pytest.raises(SettingsError, match="does not run rare:ORT at open"):
        trials("table1", "open", ["rare:ORT"])


def test_parts_can_be_chosen_and_an_unknown_one_is_refused():
    (only,) = trials("table1", "smoke", ["word:ORT"], overrides={"parts": ["SF"]})
    assert only.settings["task"] == "SF"
    with pytest.raises(SettingsError, match=r"does not run rare:ORT at smoke in \['NER'\]"):
        trials("table1", "smoke", ["rare:ORT"], overrides={"parts": ["NER"]})
    with pytest.raises(SettingsError, match="has no part 'XX'; it has: NER, SF"):
        trials("table1", "smoke", overrides={"parts": ["XX"]})


def test_a_borrowed_trial_is_its_owners_and_its_cells_are_renamed():
    (lent,) = trials("figure2", "smoke")
    assert lent in trials("table1", "smoke", ["word:ORT"])
    figure = experiments.experiment("word_order/figure2")
    assert figure.announced("smoke") == [[("word:ORT", "th/0")]]
    cells = (Cell("word:ORT", "SF/th", 1.0, "F1"), Cell("word:ORT", "SF/en", 2.0, "F1"))
    record = Record.model_construct(
        experiment="word_order/table1", systems=("word:ORT",), cells=cells, key="k",
        task="word_order/pos", settings=lent.settings, profile="smoke", items={"SF/th": [True]},
    )  # fmt: skip
    read = figure.view(record)
    (cell,) = read.cells
    assert read.items == {"word:ORT th/0": [True]}
    assert (cell.system, cell.column, cell.value) == ("word:ORT", "th/0", 1.0)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("shares:", "shards:", r"experiments\.yaml: .*table1\.rows\.word:TRS twin\.shards"),
        ("at: {smoke: {b", "at: {smok: {b", r"rows\.word:ORT\.at\.smok"),
        ("seeds: {open:", "seeds: {opne:", r"table1\.seeds\.opne"),
        ("seeds: {open: [0, 1]}", "seeds: {open: [-1]}", r"table1\.seeds\.open\.0"),
        ('"word:TRS twin":', '"word:TRS":', r"line \d+: 'word:TRS' stands twice"),
        ("settings:TaggingSettings", "settings:TagingSettings", "of word_order: no .* loads"),
    ],
)
def test_a_slip_in_the_yaml_is_named_with_its_place(toy, old, new, said):
    assert YAML.count(old) == 1
    toy.write_text(YAML.replace(old, new), "utf-8")
    with pytest.raises(DataError, match=said):
        trials("table1", "smoke")


def test_a_paper_without_its_yaml_is_named_and_not_left_out(toy):
    toy.unlink()
    with pytest.raises(DataError, match=r"word_order/experiments\.yaml cannot be read"):
        experiments.all_experiments()


def test_a_part_of_a_row_that_the_experiment_lacks_is_refused(toy):
    toy.write_text(YAML.replace('"word:TRS": {set', '"word:TRS": {parts: [FS], set'), "utf-8")
    with pytest.raises(SettingsError, match="has no part 'FS'; it has: NER, SF"):
        trials("table1", "smoke")


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        ("table1", 'shares: "word:TRS"', 'shares: "word:X"'),
        ("figure2", "from: word_order/table1", 'from: word_order/table1, row: "word:X"'),
    ],
)
def test_a_row_that_is_not_there_is_named(toy, key, old, new):
    toy.write_text(YAML.replace(old, new), "utf-8")
    with pytest.raises(DataError, match="word_order/table1 has no row 'word:X'"):
        trials(key, "open")


@pytest.mark.parametrize("seed", [-1, True, 2**32, "0"])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(SettingsError, match="seeds must be whole"):
        trials("table1", "smoke", seeds=[seed])


# ---- what CONTRIBUTING.md promises: a row is one entry of a YAML file, and nothing else is touched

ORT = '      "word:ORT": {parts: [word], set: *ort, at: *ort_rates}\n'
GUIDE = (experiments.PAPERS.parent.parent / "CONTRIBUTING.md").read_text("utf-8")
ORT_5 = GUIDE.partition("    rows:\n")[2].partition("```")[0]
OURS = (experiments.PAPERS / "word_order" / "experiments.yaml").read_text("utf-8")


def test_a_row_added_by_one_entry_runs_at_smoke_and_stands_in_the_table(toy):
    assert OURS.count(ORT) == 1
    toy.write_text(OURS.replace(ORT, ORT + ORT_5), "utf-8")
    forget_papers()
    table2 = experiments.experiment("word_order/table2")
    (trial,) = table2.trials("smoke", ["word:ORT-5"])
    assert trial.settings["encoder"]["kernel_size"] == 5
    record = measure_trial(trial, "cpu")
    view = View("word_order/table2", "smoke", gather([record]))
    frame = compare(view, experiment=table2)
    shown = frame[frame["system"] == "word:ORT-5"]
    assert {"en", "de", "avg"} <= set(shown["column"])
    assert shown["reproduced"].notna().all()
    assert any("ORT-5" in table._repr_html_() for table in comparison_tables(frame))
