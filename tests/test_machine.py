import pytest

from xlrepro import machine as devices
from xlrepro.errors import DeviceError


def test_a_device_is_resolved_and_cuda_without_a_gpu_never_falls_back(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(devices, "gpu_count", lambda: 1)
    assert [devices.resolve(asked) for asked in ("cpu", "auto", "cuda")] == ["cpu", "cuda", "cuda"]
    monkeypatch.setattr(devices, "gpu_count", lambda: 0)
    assert [devices.resolve(asked) for asked in ("cpu", "auto")] == ["cpu", "cpu"]
    with pytest.raises(DeviceError, match="no CUDA device: use --device cpu"):
        devices.resolve("cuda")
