"""A process that is really killed, at no chosen moment, and goes on, ends with the same bits.

``python -m tests.papers.ramen.stages.test_killed CHECKPOINT`` tunes until it is killed.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

import torch

from tests.conftest import ROOT
from tests.papers.ramen.stages.test_tuning import STAGE, TEXTS, model
from xlrepro.papers.ramen.stages.tuning import tune

PATIENCE = 240.0  # seconds for a first checkpoint: the import takes most of them


def tuned(checkpoint, updates):
    """Tune from the checkpoint, if there is one; return the weights and the losses."""
    made, stage = model(), STAGE.model_copy(update={"updates": updates, "checkpoint_every": 7})
    progress = tune(made, TEXTS, "all", "fr", stage, [1], checkpoint)
    return made.state_dict(), progress.losses


def test_a_process_that_is_killed_goes_on_to_the_last_bit(tmp_path):
    checkpoint = tmp_path / "broken.pt"
    process = subprocess.Popen([sys.executable, "-m", __name__, str(checkpoint)], cwd=ROOT)
    deadline = time.monotonic() + PATIENCE
    while not checkpoint.is_file() and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait(PATIENCE) == -signal.SIGKILL
    done = len(torch.load(checkpoint, weights_only=True)["progress"]["losses"])
    assert done > 0

    torch.rand(5)  # it goes on in another process, which has drawn other numbers
    resumed, losses = tuned(checkpoint, done + 20)
    unbroken, wanted = tuned(tmp_path / "unbroken.pt", done + 20)
    assert losses == wanted
    for name, values in unbroken.items():
        assert torch.equal(values, resumed[name]), name


if __name__ == "__main__":
    torch.set_num_threads(1)
    tuned(Path(sys.argv[1]), 10**9)
