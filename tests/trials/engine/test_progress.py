import IPython.display
import pytest

from xlrepro.trials.engine import progress


def test_time_left_follows_from_the_share_done(monkeypatch):
    clock = iter([0.0, 30.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    assert progress.TimeLeft().text(0.25) == "2 min left"


@pytest.mark.parametrize("fraction", [0.0, 1.0])
def test_nothing_is_said_of_the_time_left_before_the_start_and_after_the_end(fraction):
    assert progress.TimeLeft().text(fraction) == ""


def test_a_log_has_a_line_per_finished_trial_and_none_between(capsys):
    with progress.make_progress(2) as display:
        display.update(0, 0.2, "")
        display.update(1, 0.5, "one: 3 s")
        display.update(1, 0.7, "")
        display.update(2, 1.0, "two: 3 s")
    assert capsys.readouterr().err.splitlines() == ["[1/2]  one: 3 s", "[2/2]  two: 3 s"]


def test_no_progress_prints_nothing(capsys):
    with progress.make_progress(2, wanted=False) as display:
        display.update(1, 0.5, "one")
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar_with_the_count(monkeypatch, capsys):
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with progress.make_progress(2) as display:
        display.update(1, 0.5, "one")
    assert "1/2 trials" in capsys.readouterr().err


def test_a_notebooks_last_line_holds_no_time(monkeypatch):
    shown = []

    class Handle:
        def display(self, content, raw):
            shown.append(content["text/plain"])

        update = display

    monkeypatch.setattr(IPython.display, "DisplayHandle", Handle)
    with progress.NotebookLine(3) as display:
        display.update(3, 1.0, "three: 5 s")
    assert shown[-1] == "3 of 3 trials"
