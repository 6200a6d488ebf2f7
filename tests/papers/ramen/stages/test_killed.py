"""A process that is really killed, at no chosen moment, and goes on, ends with the same bits."""

import signal
import subprocess
import sys
import time

import torch

STAGE = """
import sys
from pathlib import Path
import numpy as np, torch
from xlrepro.nn.bert import BertSizes, MaskedLanguageModel
from xlrepro.papers.ramen.encoders.pieces import Special
from xlrepro.papers.ramen.model import BilingualModel
from xlrepro.papers.ramen.settings import StageSettings
from xlrepro.papers.ramen.stages.tuning import Text, tune

torch.set_num_threads(1)
checkpoint, end = Path(sys.argv[1]), Path(sys.argv[2])
stage = StageSettings(
    updates=400, sequences=4, length=9, learning_rate=0.01, warmup_steps=3, checkpoint_every=7
)
torch.manual_seed(0)
model = BilingualModel(MaskedLanguageModel(BertSizes(20, 8, 2, 2, 16, 9, dropout=0.1)))
model.add("fr", torch.randn(15, 8) / 4, torch.zeros(15))
texts = {}
for seed, (language, pieces) in enumerate((("en", 20), ("fr", 15))):
    rows = np.random.default_rng(seed).integers(5, pieces, (22, 9))
    texts[language] = Text(rows, Special(2, 3, 0, 1, 4, 5), pieces)
progress = tune(model, texts, "all", "fr", stage, seed=1, checkpoint=checkpoint)
losses = torch.tensor([loss["fr"] for loss in progress.losses])
torch.save({**model.state_dict(), "losses": losses}, end)
"""
PATIENCE = 240.0  # seconds for a first checkpoint: the import takes most of them


def started(checkpoint, end):
    return subprocess.Popen([sys.executable, "-c", STAGE, str(checkpoint), str(end)])


def test_a_process_that_is_killed_goes_on_to_the_last_bit(tmp_path):
    unbroken, resumed = tmp_path / "unbroken.pt", tmp_path / "resumed.pt"
    assert started(tmp_path / "a.pt", unbroken).wait(PATIENCE) == 0

    checkpoint = tmp_path / "b.pt"
    process = started(checkpoint, resumed)
    deadline = time.monotonic() + PATIENCE
    while not checkpoint.is_file() and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait(PATIENCE) == -signal.SIGKILL
    assert not resumed.exists()
    done = len(torch.load(checkpoint, weights_only=True)["progress"]["losses"])
    assert 0 < done < 400

    assert started(checkpoint, resumed).wait(PATIENCE) == 0
    one, other = (torch.load(path, weights_only=True) for path in (unbroken, resumed))
    assert one.keys() == other.keys()
    for name, values in one.items():
        assert torch.equal(values, other[name]), name
