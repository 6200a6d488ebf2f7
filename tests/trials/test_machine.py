import pytest

from xlrepro import engine as cluster
from xlrepro import machine as devices
from xlrepro.errors import DeviceError, SettingsError


@pytest.fixture
def gpus(monkeypatch):
    """Return a function that sets how many GPUs there seem to be."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return lambda count: monkeypatch.setattr(devices, "gpu_count", lambda: count)


@pytest.mark.parametrize(
    ("asked", "count", "expected"),
    [
        ("cpu", 0, "cpu"),
        ("cpu", 1, "cpu"),
        ("auto", 0, "cpu"),
        ("auto", 1, "cuda"),
        ("cuda", 1, "cuda"),
    ],
)
def test_a_device_is_resolved(gpus, asked, count, expected):
    gpus(count)
    assert devices.resolve(asked) == expected


def test_asking_for_cuda_without_a_gpu_never_falls_back(gpus):
    gpus(0)
    with pytest.raises(DeviceError, match="no CUDA device: use --device cpu"):
        devices.resolve("cuda")


def test_an_unknown_device_is_named(gpus):
    with pytest.raises(SettingsError, match=r"'tpu'.*auto, cpu, cuda"):
        devices.resolve("tpu")


def test_gpu_workers_are_pinned_and_spread_over_all_gpus(gpus):
    gpus(2)
    slots = cluster.pins("cuda", jobs=None, per_gpu=2, n_trials=3)
    assert [slot["CUDA_VISIBLE_DEVICES"] for slot in slots] == ["0", "1", "0"]


def test_pins_respect_the_gpus_that_are_visible(gpus, monkeypatch):
    gpus(2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-abc")
    slots = cluster.pins("cuda", jobs=None, per_gpu=1, n_trials=9)
    assert [slot["CUDA_VISIBLE_DEVICES"] for slot in slots] == ["3", "GPU-abc"]


def test_there_are_no_more_workers_than_trials(monkeypatch):
    monkeypatch.setattr(cluster, "cpu_slots", lambda: 8)
    assert len(cluster.pins("cpu", jobs=None, per_gpu=1, n_trials=3)) == 3


def test_there_are_no_more_workers_than_cores(monkeypatch):
    monkeypatch.setattr(cluster, "cpu_slots", lambda: 2)
    assert len(cluster.pins("cpu", jobs=None, per_gpu=1, n_trials=3)) == 2
