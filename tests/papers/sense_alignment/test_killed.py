"""A process that trains a language model is killed; the next one ends with the same bits."""

import os
import signal
import subprocess
import sys

import pytest

from tests.papers.sense_alignment.small_models import BERT, BILM, settings
from xlrepro.papers.sense_alignment.pretraining import artefacts

KINDS = {"biLM": ({"warmup": "own"}, BILM), "BERT": ({"warmup": "tied"}, BERT)}
# Dies in the middle of the fifth step, one step behind the checkpoint of the third.
KILLED = """
import os, signal, sys
from xlrepro.papers.sense_alignment.language_model.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.pretraining import artefacts, training

whole = training.Run._loss

def dies(self, number):
    if number == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(self, number)

training.Run._loss = dies
artefacts.load(LanguageModelSettings.model_validate_json(sys.argv[1]))
"""


@pytest.mark.parametrize(("senses", "network"), KINDS.values(), ids=KINDS)
def test_a_killed_process_leaves_what_the_next_one_goes_on_from(
    tmp_path, monkeypatch, senses, network
):
    chosen = settings(senses, network)
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "killed"))
    told = [sys.executable, "-c", KILLED, chosen.model_dump_json()]
    dead = subprocess.run(told, env=dict(os.environ), capture_output=True, check=False)
    assert dead.returncode == -signal.SIGKILL, dead.stderr.decode()
    checkpoint = artefacts.checkpoint_path(chosen)
    assert checkpoint.is_file()
    resumed = artefacts.load(chosen)
    assert not checkpoint.is_file()

    artefacts._loaded.cache_clear()
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "undisturbed"))
    undisturbed = artefacts.load(chosen)
    assert resumed.content == undisturbed.content
    assert resumed.log["loss_curve"] == undisturbed.log["loss_curve"]
    for one, other in zip(resumed.parts, undisturbed.parts, strict=True):
        assert one.vectors.equal(other.vectors)
        assert one.centres.equal(other.centres)
        assert one.alive.equal(other.alive)
    artefacts._loaded.cache_clear()
