"""`xlrepro test`: every step runs, and what passed is not run again until something changes."""

import subprocess
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from xlrepro.cli import build_app, checks
from xlrepro.errors import SettingsError


@pytest.fixture
def clone(tmp_path, monkeypatch) -> Path:
    """A git clone that looks like the project, its own build folder, one tracked file."""
    root = tmp_path / "clone"
    (root / "data" / "reported").mkdir(parents=True)
    (root / "model.py").write_text("layers = 2\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "add", "model.py"], check=True)
    monkeypatch.setenv("XLREPRO_HOME", str(root))
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path / "build"))
    return root


@pytest.fixture
def app() -> typer.Typer:
    return build_app()


def run_with(monkeypatch, *exit_statuses: int) -> list[str]:
    """Replace the steps by ones that exit so; return the list that gathers what was run."""
    fakes = {
        f"step {i}": ("-c", f"raise SystemExit({status})") for i, status in enumerate(exit_statuses)
    }
    ran: list[str] = []
    real = checks._run
    monkeypatch.setattr(checks, "steps", lambda jobs: fakes)
    monkeypatch.setattr(checks, "_run", lambda name, *how: (ran.append(name), real(name, *how))[1])
    return ran


def test_a_failing_step_does_not_hide_the_next(monkeypatch, clone, app):
    ran = run_with(monkeypatch, 1, 0)
    result = CliRunner().invoke(app, ["test"])
    assert (result.exit_code, ran) == (1, ["step 0", "step 1"])


def test_all_steps_passing_exits_0(monkeypatch, clone, app):
    run_with(monkeypatch, 0, 0)
    assert CliRunner().invoke(app, ["test"]).exit_code == 0


def test_where_nothing_can_be_kept_no_test_is_run(monkeypatch, clone, app):
    ran = run_with(monkeypatch, 0)

    def refused(*_args, **_more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refused)
    result = CliRunner().invoke(app, ["test", "--if-changed"])
    assert isinstance(result.exception, SettingsError)
    assert ran == []


def test_unchanged_files_that_passed_are_not_tested_again(monkeypatch, clone, app):
    ran = run_with(monkeypatch, 0)
    first = CliRunner().invoke(app, ["test", "--if-changed"])
    second = CliRunner().invoke(app, ["test", "--if-changed"])
    assert (first.exit_code, second.exit_code, ran) == (0, 0, ["step 0"])
    assert "nothing changed" in second.output


@pytest.mark.parametrize("left", [b"", b"\xff", b"\n", b"KEY", b"KEY "])
def test_a_note_that_a_kill_left_empty_or_half_does_not_count(
    monkeypatch, tmp_path, clone, app, left
):
    ran = run_with(monkeypatch, 0)
    key = checks.state_key(clone).encode()
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "tests-passed").write_bytes(left.replace(b"KEY", key))
    result = CliRunner().invoke(app, ["test", "--if-changed"])
    assert (result.exception, ran) == (None, ["step 0"])


def test_a_folder_in_the_place_of_the_note_is_an_error_that_says_what_to_do(
    monkeypatch, tmp_path, clone, app
):
    run_with(monkeypatch, 0)
    (tmp_path / "build" / "tests-passed").mkdir(parents=True)
    result = CliRunner().invoke(app, ["test", "--if-changed"])
    assert isinstance(result.exception, SettingsError)
    assert "remove it" in str(result.exception)


def test_failed_tests_run_again_though_nothing_changed(monkeypatch, clone, app):
    ran = run_with(monkeypatch, 1)
    CliRunner().invoke(app, ["test", "--if-changed"])
    CliRunner().invoke(app, ["test", "--if-changed"])
    assert ran == ["step 0", "step 0"]


def test_without_the_option_tests_always_run(monkeypatch, clone, app):
    ran = run_with(monkeypatch, 0)
    CliRunner().invoke(app, ["test", "--if-changed"])
    CliRunner().invoke(app, ["test"])
    assert ran == ["step 0", "step 0"]


def test_state_key_changes_with_a_tracked_file(clone):
    before = checks.state_key(clone)
    (clone / "model.py").write_text("layers = 3\n")
    assert checks.state_key(clone) != before


def test_state_key_changes_with_a_new_file_git_does_not_ignore(clone):
    before = checks.state_key(clone)
    (clone / "new.py").write_text("")
    assert checks.state_key(clone) != before


def test_state_key_ignores_what_git_ignores(clone):
    (clone / ".gitignore").write_text("build/\n")
    before = checks.state_key(clone)
    (clone / "build").mkdir()
    (clone / "build" / "log.txt").write_text("noise")
    assert checks.state_key(clone) == before


def test_state_key_outside_a_clone_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(SettingsError, match="leave the option out"):
        checks.state_key(tmp_path)
