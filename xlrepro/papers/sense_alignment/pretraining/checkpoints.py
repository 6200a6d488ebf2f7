"""Checkpoints that a kill at any moment leaves whole: the last one stays until the next is."""

import os
from pathlib import Path
from typing import Any

import torch


def write(path: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint beside the last one, then put it in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    with open(unfinished, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)


def read(path: Path, device: str) -> dict[str, Any] | None:
    """Return what was written last, None where nothing was."""
    if not path.is_file():
        return None
    found: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    return found
