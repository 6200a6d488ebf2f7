import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from xlrepro import cli, experiments
from xlrepro.cli import build_app
from xlrepro.errors import SettingsError
from xlrepro.evidence.catalog import Catalog, CatalogEntry
from xlrepro.store import RecordStore
from xlrepro.trials import GitState


@pytest.fixture
def home(tmp_path, monkeypatch, toy_alone):
    (tmp_path / "data" / "reported").mkdir(parents=True)
    monkeypatch.setenv("XLREPRO_HOME", str(tmp_path))
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path / "build"))
    entry = CatalogEntry(short="Fake: it", title="It", question="Does it run?", reported=())
    catalog = Catalog(
        papers={}, metrics={}, experiments={"toy/table": entry, "toy/smoke_only": entry}
    )
    monkeypatch.setattr("xlrepro.evidence.catalog.load_catalog", lambda: catalog)
    return tmp_path


@pytest.fixture
def call(home):
    """Return a function that runs the command line and gives its result."""
    return lambda *arguments: CliRunner().invoke(build_app(), [str(part) for part in arguments])


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("4294967295", (4294967295,)),
        ("0,1,2", (0, 1, 2)),
        ("0-4", (0, 1, 2, 3, 4)),
        ("5, 1-2,1", (5, 1, 2)),
    ],
)
def test_seeds_are_read(text, seeds):
    assert cli.parse_seeds(text) == seeds


@pytest.mark.parametrize(
    "text",
    ["", "x", "1,", "-1", "1.5", "4-0", "1-2-3", "²", "0-999999999", "9" * 5000],
)
def test_bad_seeds_are_an_error_that_shows_them(text):
    with pytest.raises(SettingsError, match="--seeds"):
        cli.parse_seeds(text)


def test_overrides_are_yaml():
    given = ["epochs=3", "rate=1e-3", "name=a=b", "sizes=[1, 2]", "kernel=null"]
    assert cli.parse_overrides(given) == {
        "epochs": 3,
        "rate": 1e-3,
        "name": "a=b",
        "sizes": [1, 2],
        "kernel": None,
    }


def test_an_override_is_refused_by_the_name_of_its_option():
    with pytest.raises(SettingsError, match=r"-p 'seeds' is not of the form NAME=VALUE"):
        cli.parse_overrides(["seeds"], "-p")


ODD_VALUES = ["[1", "2001-99-99", "!!int x", "!!bool x", "9" * 5000, "\0", "&a [*a]", "[" * 9999]


@pytest.mark.parametrize(
    "pairs", [["epochs"], ["=3"], ["a=1", "a=2"], *([f"epochs={odd}"] for odd in ODD_VALUES)]
)
def test_bad_overrides_are_an_error(pairs):
    with pytest.raises(SettingsError, match="--set") as raised:
        cli.parse_overrides(pairs)
    assert len(str(raised.value)) < 200


def test_list_counts_the_records_of_each_profile(call, record_of):
    RecordStore().put(record_of())
    RecordStore().put(record_of(settings={"sleep": 0}))  # not the profile's own settings
    [row, _] = json.loads(call("list", "--json").stdout)
    assert row["key"] == "toy/table"
    assert {name: p["records"] for name, p in row["profiles"].items()} == {"smoke": 0, "open": 1}


def test_list_shows_question_and_cost(call):
    shown = call("list").stdout
    assert "Fake: It" in shown
    assert "Does it run?" in shown
    assert "a second" in shown


def test_dry_run_shows_trials_with_and_without_record_and_runs_nothing(call, home, scheduler):
    call("run", "toy/table", "--systems", "ORT", "--seeds", "0", "--scheduler", scheduler)
    result = call("run", "toy/table", "--seeds", "0", "--dry-run", "--json")
    states = {row["label"]: row["state"] for row in json.loads(result.stdout)}
    assert states == {
        "toy/table smoke word:ORT seed 0": "has a record",
        "toy/table smoke word:TRS seed 0": "to run",
    }
    assert len(list((home / "build" / "records").glob("*.json"))) == 1


def test_run_ends_with_0_and_a_summary(call, scheduler):
    result = call("run", "toy/table", "--profile", "open", "--scheduler", scheduler, "--json")
    summary = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (len(summary["done"]), summary["reused"], summary["failed"]) == (4, [], [])


def test_run_ends_with_1_and_names_the_failed_trial_and_its_log(call, scheduler):
    result = call("run", "toy/table", "--systems=ORT", "--set=fail=[0]", "--scheduler", scheduler)
    assert result.exit_code == 1
    assert "failed: toy/table smoke word:ORT seed 0: ValueError" in result.stderr
    assert "log: " in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "word_order/fak"], "there are: toy/table"),
        (["run", "toy/table", "--profile", "big"], "it has: smoke, open"),
        (["run", "toy/table", "--systems", "GRU"], "word:ORT, word:TRS"),
        (["run", "toy/table", "--seeds", "one"], "'one'"),
        (["run", "toy/table", "--set", "x=1"], "no setting 'x'"),
        (["run", "toy/table", "--device", "tpu"], "no device 'tpu'"),
        (["run", "toy/table", "--jobs", "0"], "--jobs must be 1 or more"),
        (["run", "toy/table", "--jobs", "0", "--dry-run"], "--jobs must be 1 or more"),
        (["run", "toy/table", "--device", "tpu", "--dry-run"], "no device 'tpu'"),
        (["run", "toy/table", "--per-gpu=-3", "--dry-run"], "--per-gpu must be 1 or more"),
        (["run", "toy/table", "--scheduler", "", "--dry-run"], "--scheduler is empty"),
        (["run", "toy/table", "--systems", ""], "--systems '' names nothing"),
        (["run", "toy/table", "--seeds", "9" * 20], "from 0 to 4294967295"),
        (["publish", "--profile", ""], "--profile '' names nothing"),
        (["publish", "word_order/fak"], "there are: toy/table"),
        (["publish", "--profile", "smoke"], "only open and paper"),
        (["publish", "--all", "--withdraw"], "name one of the two"),
    ],
)
def test_mistakes_are_one_line_that_says_what_would_be_right(call, arguments, message):
    error = call(*arguments).exception
    assert isinstance(error, SettingsError)
    assert message in str(error)
    assert "\n" not in str(error)


def test_a_paper_stands_for_its_experiments(call):
    shown = call("run", "toy", "toy/table", "--dry-run").stdout
    assert shown.endswith("\n3 trials to run, 0 have a record\n")


def test_run_again_repeats_a_published_trial_and_compares(call, home, scheduler):
    run = ("run", "toy/table", "--profile=open", "--systems=ORT", "--seeds=0", "--scheduler")
    call(*run, scheduler)
    call("publish")
    published = home / "data/results/toy/table.open.jsonl"
    before = published.read_text()
    [local] = (home / "build" / "records").glob("*.json")
    local.unlink()
    assert "0 trials run, 1 had a record" in call(*run, scheduler).stdout
    shown = call(*run, scheduler, "--again").stdout
    assert "toy/table open word:ORT seed 0: the same 2 numbers as before" in shown
    assert "1 trials run, 0 had a record" in shown
    assert local.is_file()
    assert published.read_text() == before


def test_numbers_that_moved_are_counted_and_the_farthest_is_shown(record_of):
    before = record_of(0)
    cells = tuple(replace(c, value=c.value + i) for i, c in enumerate(before.cells))
    now = before.model_copy(update={"cells": cells, "device": "another"})
    said = cli._moved(before, now)
    assert said.startswith("1 of 2 numbers moved, most of all word:ORT / de: ")
    assert said.endswith(f"(another machine, {before.device} before)")


def test_cells_that_came_or_went_are_no_move(record_of):
    before = record_of(0)
    now = before.model_copy(update={"cells": before.cells[:1]})
    assert cli._moved(before, before) == "the same 2 numbers as before"
    assert cli._moved(before, now) == "the same 1 numbers as before, 1 came or went"


def test_publish_takes_the_profiles_own_settings_and_names_the_rest(call, home, scheduler):
    run = ("run", "toy/table", "--profile=open", "--systems=ORT", "--scheduler", scheduler)
    call(*run, "--seeds=0,5")
    call(*run, "--seeds=0", "--set=sleep=0.01")
    result = call("publish")
    lines = (home / "data/results/toy/table.open.jsonl").read_text().splitlines()
    assert [json.loads(line)["seed"] for line in lines] == [0, 5]
    assert "1 record has other settings" in result.stderr
    call("publish", "--all")
    assert "other settings" not in call("publish").stderr  # what is published is not left out


def test_publish_all_takes_every_record(call, home, scheduler):
    run = ("run", "toy/table", "--profile=open", "--systems=ORT", "--scheduler", scheduler)
    call(*run, "--seeds=0", "--set=sleep=0.01")
    call("publish", "--all")
    lines = (home / "data/results/toy/table.open.jsonl").read_text().splitlines()
    assert [json.loads(line)["settings"] for line in lines] == [{"sleep": 0.01}]


def test_publish_withdraws_what_no_preset_asks_for_any_more(call, home, scheduler):
    run = ("run", "toy/table", "--profile=open", "--systems=ORT", "--scheduler", scheduler)
    call(*run, "--seeds=0")
    call(*run, "--seeds=0", "--set=sleep=0.01")
    call("publish", "--all")
    path = home / "data/results/toy/table.open.jsonl"
    assert len(path.read_text().splitlines()) == 2
    result = call("publish", "--withdraw")
    assert "1 taken out" in result.stderr
    (line,) = path.read_text().splitlines()
    assert json.loads(line)["settings"] == {}
    assert "taken out" not in call("publish", "--withdraw").stderr


def test_a_text_setting_keeps_its_words_and_a_switch_knows_them_too(call):
    given = ("--set", "names=[de, no, off]", "--set", "switch=off", "--dry-run")
    assert cli.parse_overrides(["names=[de, no, off]"]) == {"names": ["de", "no", "off"]}
    assert call("run", "toy/table", *given).exit_code == 0
    (trial, *_) = experiments.experiment("toy/table").trials(
        "smoke", overrides=cli.parse_overrides(["names=[de, no]", "switch=on"])
    )
    assert trial.settings == {"names": ["de", "no"], "switch": True}


def test_a_whole_paper_leaves_out_experiments_without_the_profile_and_says_so(call):
    result = call("run", "toy", "--profile", "open", "--dry-run")
    assert "toy/smoke_only has no profile 'open', and is left out" in result.stderr
    assert "4 trials to run" in result.stdout
    error = call("run", "toy/smoke_only", "--profile", "open").exception
    assert "it has: smoke" in str(error)


def test_supplied_files_that_are_missing_are_named_before_anything_runs(call, home, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(home / "mine"))
    run = ("run", "toy/table", "--seeds=0", "--set", "supplies=[a/train.txt, b.bin]", "--dry-run")
    error = call(*run).exception
    assert str(error).startswith("2 of the files that you supply are not in")
    assert "a/train.txt, b.bin" in str(error)
    (home / "mine" / "a").mkdir(parents=True)
    for name in ("a/train.txt", "b.bin"):
        (home / "mine" / name).write_text("")
    assert call(*run).exit_code == 0


def test_git_that_cannot_say_is_said_before_training(call, scheduler, monkeypatch):
    why = "git refuses a checkout that belongs to somebody else"
    monkeypatch.setattr(
        "xlrepro.machine.git_state", lambda: GitState(commit=None, dirty=None, reason=why)
    )
    said = call("run", "toy/table", "--seeds=0", "--scheduler", scheduler).stderr
    assert said.startswith(f"the records will name no commit: {why}")


def test_names_of_rows_may_hold_commas():
    chosen = ("main:ELMo+Proj (Schuster et al., 2019)", "main:Bi-SaELMo+Proj")
    table3 = experiments.experiment("sense_alignment/table3")
    names = cli.parse_names(", ".join(chosen))
    assert set(table3.select(names, "open")) == set(chosen)
    assert set(table3.select(cli.parse_names(",".join(chosen)), "open")) == set(chosen)
