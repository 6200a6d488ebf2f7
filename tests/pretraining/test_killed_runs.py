"""A pretraining in a process of its own that is killed, and goes on from its checkpoint."""

import signal
import subprocess
import sys

import pytest
import torch

from tests.conftest import ROOT
from tests.pretraining.small_runs import same_bits, trained


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("whole") / "whole.pt")


def killed(checkpoint, place):
    """Start a run, wait until it stands at ``place``, and kill it; return how it ended."""
    command = [sys.executable, "-m", "tests.pretraining.small_runs", str(checkpoint), place]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout.readline() == "now\n"
        finally:
            run.send_signal(signal.SIGKILL)
    return run.returncode


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(("place", "done"), [("step", 6), ("checkpoint", 3)])
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path, undisturbed, place, done):
    whole, progress = undisturbed
    checkpoint = tmp_path / "broken.pt"
    assert killed(checkpoint, place) == -signal.SIGKILL
    assert len(torch.load(checkpoint, weights_only=True)["progress"]["losses"]) == done
    resumed, after = trained(checkpoint)
    assert after.losses == progress.losses
    assert same_bits(whole, resumed)
