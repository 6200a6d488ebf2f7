"""The command line as a user meets it: in a process of its own."""

import errno
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from xlrepro import __version__, cli
from xlrepro.cli import build_app

ROOT = Path(__file__).resolve().parent.parent
# Those that the README and the issue that laid the foundation promise.
COMMANDS = ["list", "run", "status", "claims", "golden", "publish"]
COMMANDS += ["batch", "book", "data"]


def xlrepro(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "xlrepro", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "120", "TERM": "dumb", **environment},
    )


def test_help_names_every_command():
    shown = CliRunner().invoke(build_app(), ["--help"], env={"COLUMNS": "120"}).output
    assert [name for name in COMMANDS if f" {name} " not in shown] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_says_what_it_does(command):
    result = CliRunner().invoke(build_app(), [command, "--help"])
    assert result.exit_code == 0
    assert len(result.output.split("Options")[0].split("Usage:")[1].split()) > 5


def test_version():
    done = xlrepro("--version")
    assert (done.returncode, done.stdout) == (0, f"xlrepro {__version__}\n")


def test_no_arguments_shows_help_and_fails_as_a_usage_error():
    done = xlrepro()
    assert done.returncode == 2
    assert "Usage:" in done.stdout + done.stderr


@pytest.fixture
def call(monkeypatch, capsys):
    """Return a function that gives the exit status, stdout and stderr of a call."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["xlrepro", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code or 0, *capsys.readouterr()

    return call


def test_status_of_a_paper_is_that_of_all_its_experiments(call):
    status, shown, _ = call("status", "ramen", "--json")
    papers = {key.partition("/")[0] for key in json.loads(shown)}
    assert (status, papers) == (0, {"ramen"})
    assert len(json.loads(shown)) > 1


def test_a_file_that_may_not_be_touched_is_named_in_one_line(call, monkeypatch):
    def refused():
        raise PermissionError(errno.EACCES, "Permission denied", "/mine/x.verified")

    monkeypatch.setattr("xlrepro.data.registry.list_datasets", refused)
    told = (2, "", "xlrepro: /mine/x.verified cannot be used (Permission denied)\n")
    assert call("data", "verify") == told


@pytest.mark.parametrize(
    ("arguments", "wrong", "advice"),
    [
        (("reproduce-everything",), "reproduce-everything", "see xlrepro --help"),
        (("run",), "EXPERIMENT", "see xlrepro run --help"),
        (("run", "word_order/table2", "--jobs", "x"), "--jobs", "see xlrepro run --help"),
        (("run", "word_order/table2", "--set"), "--set", "see xlrepro run --help"),
        (("data", "path", "--set"), "--set", "see xlrepro data path --help"),
        (("book", "--serve", "--port", "99999"), "--port", "see xlrepro book --help"),
        (("run", "word_order/table2", "--colour"), "--colour", "see xlrepro run --help"),
        (("data", "path", "ud-r2.2"), "file_id", "see xlrepro data path --help"),
        (("list", "x"), "x", "see xlrepro list --help"),
    ],
)
def test_a_wrong_call_is_one_line_that_names_the_help(call, arguments, wrong, advice):
    status, shown, error = call(*arguments)
    assert (status, shown, error.count("\n")) == (2, "", 1)
    assert error.startswith("xlrepro: ")
    assert wrong.lower() in error.lower()
    assert error.endswith(f"{advice}\n")


@pytest.mark.parametrize("arguments", [("--help",), ("run", "-h"), ("data", "--help")])
def test_help_ends_with_0(call, arguments):
    status, shown, _ = call(*arguments)
    assert (status, "Usage:" in shown) == (0, True)


def test_ctrl_c_is_one_line_and_ends_with_130(call, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("xlrepro.data.registry.list_datasets", interrupted)
    assert call("data", "list") == (130, "", "xlrepro: interrupted\n")


def test_user_error_is_one_line_on_stderr_and_exit_2(tmp_path):
    done = xlrepro("run", "word_order/table99", "--profile", "smoke", XLREPRO_BUILD=str(tmp_path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("xlrepro: ")
    assert done.stderr.count("\n") == 1
    assert "word_order/table99" in done.stderr


def test_reader_that_goes_away_gets_no_traceback():
    done = subprocess.run(
        f"{sys.executable} -m xlrepro data list --json | true",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        line.replace("xlrepro", f"{sys.executable} -m xlrepro"),
        shell=True,
        capture_output=True,
        text=True,
        env={**os.environ, "TERM": "dumb", **environment},
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("xlrepro list >&-", "standard output is closed: send it to a file"),
        ("xlrepro list >/dev/full", "the output cannot be written (No space left on device)"),
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
    done, whole = (
        shell("xlrepro status ramen", PYTHONIOENCODING=code) for code in ("ascii", "utf-8")
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (done.stdout.isascii(), whole.stdout.isascii()) == (True, False)


@pytest.mark.parametrize("columns", ["0", "-5", "1", "wide", "9" * 5000])
def test_a_terminal_without_a_width_has_the_usual_one(columns):
    shown = shell("xlrepro data list", COLUMNS=columns).stdout
    assert any("ud-r2.2" in line for line in shown.splitlines())


def test_a_termination_is_one_line_and_ends_with_143(call, monkeypatch):
    monkeypatch.setattr(
        "xlrepro.data.registry.list_datasets", lambda: signal.raise_signal(signal.SIGTERM)
    )
    assert call("data", "list") == (143, "", "xlrepro: terminated\n")


HEAVY = ["torch", "numpy", "pandas", "scipy", "sklearn", "gensim", "dask", "distributed"]
HEAVY += ["matplotlib", "papermill"]


def test_help_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from xlrepro.cli import build_app\n"
        "build_app()\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGINT, "xlrepro: interrupted\n"), (signal.SIGTERM, "xlrepro: terminated\n")],
)
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


def test_the_installed_command_is_the_modules():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert scripts == {"xlrepro": "xlrepro.__main__:run"}


def test_relative_folders_mean_the_same_in_a_child(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLREPRO_BUILD", "mine/build")
    monkeypatch.setenv("XLREPRO_MIRROR", "https://example.org/data")
    monkeypatch.setattr(sys, "argv", ["xlrepro", "data", "list", "--json"])
    with pytest.raises(SystemExit):
        cli.main()
    capsys.readouterr()
    assert os.environ["XLREPRO_BUILD"] == str(tmp_path / "mine" / "build")
    assert os.environ["XLREPRO_MIRROR"] == "https://example.org/data"


def test_list_loads_no_torch():
    code = (
        "import sys\n"
        "from xlrepro.cli import build_app\n"
        "build_app()(['list'], standalone_mode=False)\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "False"
