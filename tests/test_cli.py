"""The command line as a user meets it: in a process of its own."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from xlrepro import cli, experiments
from xlrepro.__main__ import run
from xlrepro.cli import build_app
from xlrepro.errors import SettingsError
from xlrepro.evidence.catalog import Catalog, CatalogEntry
from xlrepro.store import RecordStore
from xlrepro.trials import GitState

ROOT = Path(__file__).resolve().parent.parent
CZECH, UD_WORD = "ud-treebanks-v2.2/UD_Czech-PDT", "1\tslovo\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
UNLABELLED = '{"gold_label": "-", "sentence1": "a", "sentence2": "b"}\n'
COMMANDS = ["list", "run", "status", "claims", "golden", "publish", "batch", "book", "data"]


ENDS = [(signal.SIGINT, "xlrepro: interrupted\n"), (signal.SIGTERM, "xlrepro: terminated\n")]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_says_what_it_does(command):
    result = CliRunner().invoke(build_app(), [command, "--help"])
    assert result.exit_code == 0
    assert len(result.output.split("Options")[0].split("Usage:")[1].split()) > 5


@pytest.fixture
def call(monkeypatch, capsys):
    """Return a function that gives the exit status, stdout and stderr of a call."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["xlrepro", *arguments])
        with pytest.raises(SystemExit) as end:
            run()
        return end.value.code, *capsys.readouterr()

    return call


def test_a_file_that_may_not_be_touched_is_named_in_one_line(call, monkeypatch):
    def refused():
        raise PermissionError(errno.EACCES, "Permission denied", "/mine/x.verified")

    monkeypatch.setattr("xlrepro.data.registry.list_datasets", refused)
    told = "/mine/x.verified cannot be used (Permission denied): mend that, or name another place"
    assert call("data", "list") == (2, "", f"xlrepro: {told}\n")


@pytest.mark.parametrize(
    ("arguments", "wrong", "advice"),
    [
        (("reproduce-everything",), "reproduce-everything", "see xlrepro --help"),
        (("run",), "EXPERIMENT", "see xlrepro run --help"),
        (("run", "word_order/table2", "--jobs", "x"), "--jobs", "see xlrepro run --help"),
        (("run", "word_order/table2", "--set"), "--set", "see xlrepro --help"),
        (("data", "fetch"), "name", "see xlrepro data fetch --help"),
        (("batch", "-p", "overrides=null"), "overrides=null", "give a value, or leave it out"),
    ],
)
def test_a_wrong_call_is_one_line_that_names_the_help(call, arguments, wrong, advice):
    status, shown, error = call(*arguments)
    assert (status, shown, error.count("\n")) == (2, "", 1)
    assert error.startswith("xlrepro: ")
    assert wrong.lower() in error.lower()
    assert error.endswith(f"{advice}\n")


@pytest.mark.parametrize(("number", "said"), ENDS)
def test_a_signal_is_one_line_and_its_own_status(call, monkeypatch, number, said):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests
    monkeypatch.setattr("xlrepro.data.registry.list_datasets", lambda: signal.raise_signal(number))
    assert call("data", "list") == (128 + number, "", said)


def test_reader_that_goes_away_gets_no_traceback():
    assert shell("xlrepro data list --json | true").stderr == ""


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        line.replace("xlrepro", f"{sys.executable} -m xlrepro"),
        shell=True, capture_output=True, text=True,
        env={**os.environ, "TERM": "dumb", **environment},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("xlrepro list >&-", "standard output is closed: send it to a file"),
        ("xlrepro list >/dev/full", "the output cannot be used (No space left on device)"),
        ("cd $GONE && rmdir $GONE && xlrepro list", "the working folder is gone"),
    ],
)
def test_a_place_that_cannot_be_written_or_stood_in_is_one_line(tmp_path, line, reason):
    (tmp_path / "gone").mkdir()
    # An empty entry would be the working folder, which Python itself could not start from.
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = shell(line, GONE=str(tmp_path / "gone"), PYTHONPATH=path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert reason in done.stderr


def test_what_the_terminal_has_no_letters_for_is_replaced():
    codes = ("ascii", "utf-8")
    done, whole = (shell("xlrepro status ramen", PYTHONIOENCODING=code) for code in codes)
    assert (done.returncode, done.stderr) == (0, "")
    assert (done.stdout.isascii(), whole.stdout.isascii()) == (True, False)


HEAVY = ["torch", "numpy", "pandas", "scipy", "sklearn", "gensim", "dask", "distributed"]
HEAVY += ["matplotlib", "papermill"]


@pytest.mark.parametrize(("command", "heavy"), [("", HEAVY), ("['list'], ", ["torch", "dask"])])
def test_help_loads_nothing_heavy_and_list_no_torch(command, heavy):
    run = f"build_app()({command}standalone_mode=False)" if command else "build_app()"
    code = f"import sys\nfrom xlrepro.cli import build_app\n{run}\n"
    code += f"print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("number", "said"), ENDS)
def test_a_signal_while_the_command_line_loads_ends_it_without_a_traceback(tmp_path, number, said):
    """A module that the command line loads sends the signal while it is being loaded."""
    slow = f"import os, time; os.kill(os.getpid(), {int(number)}); time.sleep(60)"
    (tmp_path / "typer.py").write_text(slow)
    done = subprocess.run(
        [sys.executable, "-c", "from xlrepro.__main__ import run; run()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", said)


def test_relative_folders_mean_the_same_in_a_child(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLREPRO_BUILD", "mine/build")
    monkeypatch.setenv("XLREPRO_MIRROR", "https://example.org/data")
    monkeypatch.setattr(sys, "argv", ["xlrepro", "data", "list", "--json"])
    assert cli.main() == 0
    capsys.readouterr()
    assert os.environ["XLREPRO_BUILD"] == str(tmp_path / "mine" / "build")
    assert os.environ["XLREPRO_MIRROR"] == "https://example.org/data"


# ---- on a paper of its own


@pytest.fixture
def home(tmp_path, monkeypatch, toy_alone):
    (tmp_path / "data" / "reported").mkdir(parents=True)
    monkeypatch.setenv("XLREPRO_HOME", str(tmp_path))
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path / "build"))
    entry = CatalogEntry(short="Fake: it", title="It", question="Does it run?", reported=())
    both = {"toy/table": entry, "toy/smoke_only": entry}
    catalog = Catalog(papers={}, metrics={}, experiments=both)
    monkeypatch.setattr("xlrepro.evidence.catalog.load_catalog", lambda: catalog)
    return tmp_path


@pytest.fixture
def invoke(home):
    """Return a function that runs the command line on the toy alone and gives its result."""
    return lambda *arguments: CliRunner().invoke(build_app(), [str(part) for part in arguments])


@pytest.mark.parametrize("text", ["", "-1", "4-0", "²", "0-999999999", "9" * 5000])
def test_bad_seeds_are_an_error_that_shows_them(text):
    with pytest.raises(SettingsError, match="--seeds"):
        cli.parse_seeds(text)


@pytest.mark.parametrize("pairs", [["epochs"], ["=3"], ["a=1", "a=2"], ["a=" + "[" * 9999]])
def test_bad_overrides_are_an_error(pairs):
    with pytest.raises(SettingsError, match="--set") as raised:
        cli.parse_overrides(pairs)
    assert len(str(raised.value)) < 300


def test_list_shows_question_and_cost(invoke):
    shown = invoke("list").stdout
    assert [said for said in ("Fake: It", "Does it run?", "a second") if said not in shown] == []


def test_dry_run_shows_trials_with_and_without_record_and_runs_nothing(invoke, home, scheduler):
    invoke("run", "toy/table", "--systems", "ORT", "--seeds", "0", "--scheduler", scheduler)
    trs, ort, end = invoke("run", "toy/table", "--seeds", "0", "--dry-run").stdout.splitlines()
    assert trs.endswith("to run            toy/table smoke word:TRS (en, de) seed 0")
    assert ort.endswith("has a record      toy/table smoke word:ORT (en, de) seed 0")
    assert end == "1 trials to run, 1 have a record"
    assert len(list((home / "build" / "records").glob("*.json"))) == 1
    twice = ("--systems=ORT", "--systems=TRS", "--seeds=0", "--seeds=2", "--dry-run")
    assert "3 trials to run, 1 have a record" in invoke("run", "toy/table", *twice).stdout


def test_run_ends_with_1_and_names_the_failed_trial_and_its_log(invoke, scheduler):
    result = invoke("run", "toy/table", "--systems=ORT", "--set=fail=[0]", "--scheduler", scheduler)
    assert result.exit_code == 1
    assert "failed: toy/table smoke word:ORT (en, de) seed 0: ValueError" in result.stderr
    assert "log: " in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "word_order/fak"], "there are: toy/table"),
        (["run", "toy/table", "--profile", "paper"], "it has: smoke, open"),
        (["run", "toy", "--profile", "pape"], "there are: smoke, open, paper"),
        (["run", "toy/table", "--systems", "GRU"], "word:ORT, word:TRS"),
        (["run", "toy/table", "--set", "x=1"], "no setting 'x'"),
        (["run", "toy/table", "--device", "tpu"], "no device 'tpu'"),
        (["run", "toy/table", "--per-gpu=-3", "--dry-run"], "--per-gpu must be 1 or more"),
        (["run", "toy/table", "--scheduler", "", "--dry-run"], "--scheduler '': give tcp://"),
        (["run", "toy/table", "--scheduler", "box:8786", "--dry-run"], "give tcp://host:8786"),
        (["run", "toy/table", "--seeds", "9" * 20], "from 0 to 4294967295"),
    ],
)
def test_mistakes_are_one_line_that_says_what_would_be_right(invoke, arguments, message):
    error = invoke(*arguments).exception
    assert isinstance(error, SettingsError)
    assert message in str(error)
    assert "\n" not in str(error)


def test_torchrun_is_refused_where_it_has_nothing_to_train(invoke, monkeypatch):
    for name in cli.TORCHRUN:
        monkeypatch.setenv(name, "0")
    with pytest.raises(SettingsError, match="torchrun trains the models of ramen/table1"):
        raise invoke("run", "toy/table", "--device=cpu").exception


def test_a_rank_that_another_program_has_left_is_no_torchrun(invoke, monkeypatch, scheduler):
    monkeypatch.setenv("LOCAL_RANK", "0")
    result = invoke("run", "toy/table", "--systems=ORT", "--seeds=0", "--scheduler", scheduler)
    assert "1 trials run" in result.stdout


def test_run_again_repeats_a_published_trial_and_compares(invoke, home, scheduler):
    run = ("run", "toy/table", "--profile=open", "--systems=ORT", "--seeds=0", "--scheduler")
    invoke(*run, scheduler)
    invoke("publish")
    published = home / "data/results/toy/table.open.jsonl"
    before = published.read_text()
    [local] = (home / "build" / "records").glob("*.json")
    local.unlink()
    assert "0 trials run, 1 had a record" in invoke(*run, scheduler).stdout
    shown = invoke(*run, scheduler, "--again").stdout
    assert "toy/table open word:ORT (en, de) seed 0: the same 2 numbers as before" in shown
    assert "1 trials run, 0 had a record" in shown
    assert local.is_file()
    assert published.read_text() == before


def test_publish_takes_the_profiles_own_settings_and_withdraws_others(invoke, home, scheduler):
    run = ("run", "toy/table", "--profile=open", "--systems=ORT", "--scheduler", scheduler)
    invoke(*run, "--seeds=0,5")
    invoke(*run, "--seeds=0", "--set=sleep=0.01")
    assert "1 records with other settings" in invoke("publish").stderr
    path = home / "data/results/toy/table.open.jsonl"
    first, last = path.read_text().splitlines()
    assert [json.loads(line)["seed"] for line in (first, last)] == [0, 5]
    store = RecordStore()
    (other,) = [r for r in store.records() if r.settings]
    path.write_text(f"{first}\n{other.to_json()}\n")
    invoke("publish", "toy/table")
    assert len(path.read_text().splitlines()) == 3
    assert "1 withdrawn, 2 in all" in invoke("publish", "--withdraw").stdout


def test_numbers_that_moved_are_counted_and_the_farthest_is_shown(record_of):
    cells = record_of(0).cells
    moved = [replace(c, value=c.value + i) for i, c in enumerate(cells)]
    assert cli._moved(cells, cells) == "the same 2 numbers as before"
    assert cli._moved(cells, moved).startswith("1 of 2 numbers moved, most of all word:ORT / de: ")


def test_a_text_setting_keeps_its_words_and_a_switch_knows_them_too(invoke):
    given = ("--set", "names=[de, no, off]", "--set", "switch=off", "--dry-run")
    assert cli.parse_overrides(["names=[de, no, off]"]) == {"names": ["de", "no", "off"]}
    assert invoke("run", "toy/table", *given).exit_code == 0
    (trial, *_) = experiments.experiment("toy/table").trials(
        "smoke", overrides=cli.parse_overrides(["names=[de, no]", "switch=on"])
    )
    assert trial.settings == {"names": ["de", "no"], "switch": True}


def test_a_whole_paper_leaves_out_experiments_without_the_profile_and_says_so(invoke):
    result = invoke("run", "toy", "--profile", "open", "--dry-run")
    assert "toy/smoke_only has no profile 'open', and is left out" in result.stderr
    assert "4 trials to run" in result.stdout
    error = invoke("run", "toy/smoke_only", "--profile", "open").exception
    assert "it has: smoke" in str(error)


def test_supplied_files_that_are_missing_are_named_before_anything_runs(invoke, home, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(home / "mine"))
    (home / "data" / "registry").mkdir()
    (home / "data" / "registry" / "supplied.yaml").write_text("{}")
    run = ("run", "toy/table", "--seeds=0", "--set", "supplies=[a/train.txt, b.bin]", "--dry-run")
    error = invoke(*run).exception
    assert str(error).startswith(f"no a/train.txt, b.bin below {home / 'mine'} (files with")
    (home / "mine" / "a").mkdir(parents=True)
    (home / "mine" / "b.bin").mkdir()  # a folder in its place
    (home / "mine" / "b.bin" / "b.bin").write_text("something\n")
    for content, said in (("", r"no a/train.txt, b.bin below"), ("something\n", "no b.bin below")):
        (home / "mine" / "a" / "train.txt").write_text(content)
        assert str(invoke(*run).exception).startswith(said)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("multinli_1.0/multinli_1.0_train.jsonl", "5.0\tgut\n", ":1: expected one JSON object"),
        ("cls-acl10/de/books/test.tsv", "5.0\tgut\n", ":1: unknown label '5.0'"),
        ("conll-ner/de/test", "5.0\tgut\n", ":1: expected a tag"),
        ("conll-ner/de/test", "a O\n\n" * 3004, " has 3004 of 3005 sentences"),
        ("multinli_1.0/other.jsonl", UNLABELLED, " has nothing that can be read"),
        (f"{CZECH}/cs_pdt-ud-test.conllu", "5.0\tgut\n", ":1: expected 10 columns"),
        (f"{CZECH}/cs_pdt-ud-test.conllu", UD_WORD, " has a last line .* sentence without"),
        ("conll-ner/de/test", "a I-PERS\n", r":1: expected a tag .*PER\|LOC.* found 'I-PERS'"),
        ("wikipedia/fr.txt", "Une ligne\nUne li", " has a last line without its end"),
        ("language-model-text/de.txt", "gut\nsch\xf6n\n", ":2: expected text in UTF-8"),
        ("ramen-parallel/fr.tsv", "one\tun\ntwo\n", ":2: expected 2 columns, found 1"),
        ("ramen-parallel/fr.tsv", "Go.\tVa !\tCC-BY\n", ":1: expected 2 columns, found 3"),
        ("routing-nmt/amr-2.0/dev.txt", "# ::tok b\n(b / b)\n", ":1: the graph has no .*::snt"),
        ("routing-nmt/ptb/dev.mrg", "( (S (NN b))\n", ": 1 brackets are never closed"),
        ("fasttext-wiki/wiki.de.vec", "2 2\ngut 1 2\nda 1\n", ":3: no word vectors .*2 finite"),
        ("bert-base-cased/config.json", '{"num', " is not a whole .json .*: copy it again"),
        ("bert-base-cased/model.safetensors", "cut", " is not a whole .safetensors .*: copy it"),
    ],
)
def test_a_wrong_supplied_file_is_told_before_runs(invoke, home, monkeypatch, file, content, said):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(home))
    (home / file).parent.mkdir(parents=True)
    (home / file).write_text(content, "latin-1")
    (home / "data" / "registry").mkdir()
    supplied = ROOT / "data" / "registry" / "supplied.yaml"
    (home / "data" / "registry" / "supplied.yaml").write_text(supplied.read_text())
    if file.endswith("conllu"):  # a folder, of a treebank
        (home / file.replace("test", "train")).write_text(UD_WORD + "\n")
        file, said = CZECH, f"/cs_pdt-ud-test.conllu{said}"
    run = ("run", "toy/table", "--seeds=0", "--set", f"supplies=[{file}]", "--dry-run")
    assert re.search(f"{home / file}{said}", str(invoke(*run).exception))


def test_git_that_cannot_say_is_said_before_training(invoke, scheduler, monkeypatch):
    why = "git refuses a checkout that belongs to somebody else"
    state = GitState(commit=None, dirty=None, reason=why)
    monkeypatch.setattr("xlrepro.machine.git_state", lambda: state)
    said = invoke("run", "toy/table", "--seeds=0", "--scheduler", scheduler).stderr
    assert f"the records will name no commit: {why}" in said


def test_names_of_rows_may_hold_commas():
    chosen = ("main:ELMo+Proj (Schuster et al., 2019)", "main:Bi-SaELMo+Proj")
    table3 = experiments.experiment("sense_alignment/table3")
    for text in (", ".join(chosen), ",".join(chosen)):
        assert set(table3.select([text], "open")) == set(chosen)
