"""Mixed precision of a pretraining: on a GPU where there is one, else the same code on a CPU."""

import numpy as np
import pytest
import torch

from tests.pretraining.small_runs import PIECES, SMALL, same_bits
from xlrepro.pretraining import training

NO_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
# To training the device "cpu:0" is no CPU, so that its code for a GPU runs.
DEVICES = pytest.mark.parametrize("device", ["cpu:0", pytest.param("cuda", marks=NO_GPU)])
TYPES = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
# A piece is that of its neighbours: soon learnt.
SEQUENCES = np.repeat(np.arange(5, 35)[:, None], 16, 1).astype(np.uint16)
SETTINGS = SMALL.model_copy(
    update={
        "sizes": SMALL.sizes.model_copy(update={"dropout": 0.0}),  # chance is the device's own
        "tokens": 4 * 16 * 60,
        "learning_rate": 0.01,
    }
)


class Seen:
    """What training asked torch for.

    Attributes:
        types: of each autocast region.
        scalers: of the loss.
        norms: of each step's gradient, before clipping.
        scale: of a new scaler, and after how many steps it doubles.
    """

    def __init__(self):
        self.types, self.scalers, self.norms = [], [], []
        self.scale = {"init_scale": 2.0**10, "growth_interval": 2000}


@pytest.fixture
def seen(monkeypatch, device, dtype):
    """Let the GPU be one with bfloat16 or one without; give a CPU what torch has for CPUs."""
    found, kind = Seen(), device.partition(":")[0]
    autocast, scaler, load = torch.autocast, torch.amp.GradScaler, torch.load
    clip, deterministic = torch.nn.utils.clip_grad_norm_, torch.use_deterministic_algorithms

    def autocast_here(device_type, dtype):
        assert device_type == "cuda"
        found.types.append(dtype)
        return autocast(kind, dtype=dtype)

    def scaler_here(enabled):
        found.scalers.append(scaler(kind, enabled=enabled, **found.scale))
        return found.scalers[-1]

    def clip_here(parameters, most):
        found.norms.append(float(clip(parameters, most)))

    def load_here(path, map_location, **options):
        return load(path, map_location=kind, **options)

    monkeypatch.setattr(torch, "load", load_here)  # which knows no "cpu:0"
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: dtype == torch.bfloat16)
    monkeypatch.setattr(torch, "autocast", autocast_here)
    monkeypatch.setattr(torch.amp, "GradScaler", scaler_here)
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", clip_here)
    monkeypatch.setattr(
        torch, "use_deterministic_algorithms", lambda wanted: deterministic(True, warn_only=True)
    )
    yield found
    deterministic(False)


def trained(checkpoint, device, stop_after=None):
    return training.pretrain(
        SEQUENCES, PIECES, SETTINGS, checkpoint, device=device, stop_after=stop_after
    )


@DEVICES
@TYPES
def test_the_loss_falls_in_half_precision_as_in_full(tmp_path, seen, device, dtype):
    _, full = trained(tmp_path / "full.pt", "cpu")
    assert seen.types == []  # a CPU as such computes in full precision
    _, half = trained(tmp_path / "half.pt", device)
    assert set(seen.types) == {dtype}
    assert np.mean(half.losses[-5:]) < half.losses[0] - 1
    assert half.losses != full.losses
    assert half.losses == pytest.approx(full.losses, abs=0.1)


@DEVICES
@TYPES
def test_the_loss_is_scaled_in_float16_alone_and_gradients_are_clipped_unscaled(
    tmp_path, seen, device, dtype
):
    trained(tmp_path / "full.pt", "cpu", stop_after=5)
    expected = seen.norms.copy()
    trained(tmp_path / "half.pt", device, stop_after=5)
    assert [s.is_enabled() for s in seen.scalers] == [False, dtype == torch.float16]
    assert seen.norms[5:] == pytest.approx(expected, rel=0.02)


@DEVICES
@pytest.mark.parametrize("dtype", [torch.float16])
def test_a_run_with_loss_scaling_goes_on_to_the_same_bits(tmp_path, seen, device):
    # The scale doubles at every second step, so that it is too high now and then and a step is
    # left out, as in a long run. Which one follows from the state of the scaler.
    seen.scale = {"init_scale": 2.0**14, "growth_interval": 2}
    whole, undisturbed = trained(tmp_path / "whole.pt", device)
    left_out = [step for step, norm in enumerate(seen.norms) if not np.isfinite(norm)]
    assert any(step > 30 for step in left_out)
    trained(tmp_path / "broken.pt", device, stop_after=31)
    resumed, progress = trained(tmp_path / "broken.pt", device)
    assert progress.losses == undisturbed.losses
    assert same_bits(whole, resumed)
    assert seen.scalers[0].state_dict() == seen.scalers[-1].state_dict()
