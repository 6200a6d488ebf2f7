import pytest

from xlrepro import machine as devices
from xlrepro.errors import DeviceError


@pytest.fixture
def gpus(monkeypatch):
    """Return a function that sets how many GPUs there seem to be."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return lambda count: monkeypatch.setattr(devices, "gpu_count", lambda: count)


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, {"cpu": "cpu", "auto": "cpu"}), (1, {"cpu": "cpu", "auto": "cuda", "cuda": "cuda"})],
)
def test_a_device_is_resolved(gpus, count, expected):
    gpus(count)
    assert {asked: devices.resolve(asked) for asked in expected} == expected


def test_asking_for_cuda_without_a_gpu_never_falls_back(gpus):
    gpus(0)
    with pytest.raises(DeviceError, match="no CUDA device: use --device cpu"):
        devices.resolve("cuda")
