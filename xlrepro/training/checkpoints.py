"""The state of a training on the disk: one file, whole at every moment."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch


class Checkpoints:
    """Keeps the last state of one training.

    Args:
        file: where; its folder must be there. A state is written beside it and renamed.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def save(self, state: Mapping[str, Any]) -> None:
        """Keep a state in place of the one before; tensors, numbers, strings and their containers.

        A kill at any moment leaves one of the two.
        """
        beside = self.file.with_name(f"{self.file.name}.part")
        with beside.open("wb") as file:
            torch.save(dict(state), file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.file)

    def load(self) -> dict[str, Any] | None:
        """Return the kept state on the CPU, None if there is none; no code in it is run."""
        if not self.file.is_file():
            return None
        return dict(torch.load(self.file, map_location="cpu", weights_only=True))


def random_state() -> dict[str, Any]:
    """Return the state of torch's generators, of every device in use."""
    on_gpu = torch.cuda.is_available() and torch.cuda.is_initialized()
    return {
        "cpu": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if on_gpu else [],
    }


def restore_random_state(state: Mapping[str, Any]) -> None:
    """Go on drawing where :func:`random_state` was called."""
    torch.set_rng_state(state["cpu"])
    if state["cuda"]:
        torch.cuda.set_rng_state_all(state["cuda"])
