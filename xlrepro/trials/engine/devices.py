"""Which device a trial runs on."""

import os
from pathlib import Path

from xlrepro.errors import DeviceError, SettingsError

DEVICES = ("auto", "cpu", "cuda")
# Without one of these there is no GPU, and torch need not be imported to find that out.
GPU_FILES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg")


def resolve(device: str) -> str:
    """Return ``"cpu"`` or ``"cuda"`` for ``"auto"``, ``"cpu"`` or ``"cuda"``.

    Raises:
        SettingsError: for another name.
        DeviceError: if CUDA is asked for and there is none; never falls back silently.
    """
    if device not in DEVICES:
        raise SettingsError(f"there is no device {device!r}; choose one of: {', '.join(DEVICES)}")
    if device == "cpu":
        return "cpu"
    if gpu_count() > 0:
        return "cuda"
    if device == "cuda":
        raise DeviceError("no CUDA device: use --device cpu or run on a GPU machine")
    return "cpu"


def gpu_count() -> int:
    """Return how many GPUs torch can use here."""
    if os.name == "posix" and not any(Path(file).exists() for file in GPU_FILES):
        return 0
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def visible_gpus() -> list[str]:
    """Return one value of ``CUDA_VISIBLE_DEVICES`` per usable GPU."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named:
        return [name.strip() for name in named.split(",") if name.strip()][: gpu_count()]
    return [str(index) for index in range(gpu_count())]
