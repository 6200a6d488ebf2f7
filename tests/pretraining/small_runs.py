"""A pretraining of seconds: settings, sequences, and a run that can be killed from outside.

``python -m tests.pretraining.small_runs CHECKPOINT PLACE`` trains and stands still at a place for
its parent to kill it: ``step`` (within the first step after the second checkpoint) or
``checkpoint`` (the second one is half written).
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch

from xlrepro.pretraining import training
from xlrepro.pretraining.settings import preset

SMALL = preset("smoke").model_copy(
    update={
        "sizes": preset("smoke").sizes.model_copy(update={"dropout": 0.1, "positions": 16}),
        "sequences": 4,
        "tokens": 4 * 16 * 10,
        "checkpoint_every": 3,
    }
)
PIECES = 40
SEQUENCES = np.random.default_rng(0).integers(5, PIECES, (30, 16)).astype(np.uint16)


def trained(checkpoint, stop_after=None):
    """Train from the checkpoint, if there is one, and return the model and the progress."""
    return training.pretrain(SEQUENCES, PIECES, SMALL, checkpoint, stop_after=stop_after)


def same_bits(one, other):
    """Return whether two models have the same weights, to the last bit."""
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def _stand_still():
    print("now", flush=True)
    time.sleep(600)


def _until_killed(checkpoint, place):
    """Train, and wait at a place for the end."""
    clip, save, saves = torch.nn.utils.clip_grad_norm_, torch.save, []

    def clip_then_wait(*arguments):
        clip(*arguments)
        if len(saves) == 2:
            _stand_still()

    def save_half(state, file):
        saves.append(file)
        if place == "checkpoint" and len(saves) == 2:
            file.write(b"half of a checkpoint")
            file.flush()
            _stand_still()
        save(state, file)

    torch.nn.utils.clip_grad_norm_, torch.save = clip_then_wait, save_half
    trained(Path(checkpoint))


if __name__ == "__main__":
    _until_killed(*sys.argv[1:])
