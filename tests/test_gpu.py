"""What a GPU will be asked, tried on the CPU; and models on a device that is only pretended."""

import json
import subprocess
import sys

import pytest
import torch

from benchmarks import gpu
from tests.pretended_device import pretended_device
from xlrepro.experiments import ORDER, _paper, experiment
from xlrepro.papers.routing_nmt import corpora


def lines_of(folder):
    return [json.loads(line) for line in (folder / "results.jsonl").open(encoding="utf-8")]


def test_every_task_is_among_the_models_that_are_compared():
    compared = {
        experiment(key).trials("smoke", [row], [0], changes)[0].task
        for key, row, changes in gpu.MODELS
    }
    assert compared == {task for paper in ORDER for task in _paper(paper)[0]}


@pytest.mark.gpu
def test_tensors_of_two_devices_never_meet_in_a_trial_of_any_task():
    call = [sys.executable, "-m", "tests.pretended_device"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    failed = [line for line in done.stdout.splitlines() if "FAILED" in line]
    assert done.returncode == 0, failed or done.stderr


def test_the_pretended_device_refuses_what_a_gpu_refuses():
    with pretended_device() as device:
        there, here = torch.ones(2, 3, device=device), torch.ones(2, 3)
        with pytest.raises(RuntimeError, match="two devices"):
            there + here
        with pytest.raises(RuntimeError, match="two devices"):
            here[torch.zeros(1, dtype=torch.long, device=device)]
        with pytest.raises(TypeError):
            there.numpy()
        assert float((2 * there[[0]] + here.to(device).mean()).sum()) == 9
        assert torch.nn.Linear(3, 1).to(device)(there).cpu().shape == (2, 1)


def test_a_model_computes_on_another_device_what_it_computes_on_the_cpu():
    (model,) = gpu.QUICK_MODELS
    expected = gpu.alike(model, "cpu")
    with pretended_device() as device:
        assert gpu.alike(model, device) == pytest.approx(expected, abs=gpu.AGREE)


@pytest.mark.gpu
def test_all_parts_run_on_a_cpu_with_what_was_packed(tmp_path):
    weight = gpu.pack(tmp_path / "packed", "smoke", ("word-order", "routing", "ramen"))
    assert 1 < weight < gpu.LIMIT_MIB
    gpu.run(tmp_path / "packed", tmp_path, "cpu", True, list(gpu.PARTS))
    found = lines_of(tmp_path)
    ended = {line["part"]: line["ended"] for line in found if "ended" in line}
    assert ended == dict.fromkeys(gpu.PARTS, "0")
    assert not [line for line in found if "error" in line]
    by_part = {line["part"]: line for line in found if "ended" not in line}
    assert by_part["models"]["agrees"]
    assert by_part["compiled"]["difference"] < 1e-5
    assert sum(gpu.PARTS[name].seconds for name in gpu.TOGETHER) <= 595  # of ten minutes
    assert set(by_part["word-order"]["scores"]) == {"avg", "en", *gpu.VECTORS["dictionary"]}
    assert by_part["routing"]["cells"]
    start, _, embedded, *_ = (line for line in found if line["part"] == "ramen")
    assert embedded["loss"] == pytest.approx(start["log"]["embeddings"]["loss"], abs=0.01)
    assert by_part["ramen"]["inference"]


@pytest.mark.gpu
@pytest.mark.mirror
def test_the_packed_corpora_are_all_that_translations_read(tmp_path, monkeypatch):
    gpu.pack(tmp_path / "packed", "open", ("routing",))
    monkeypatch.setenv("XLREPRO_MIRROR", str(tmp_path / "packed" / "mirror"))
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    assert len(corpora._open_translation.__wrapped__("en-de-5k").train) == 5_000
    for task in ("ner", "syntax", "semantics"):
        assert corpora.auxiliary.__wrapped__("open", task).train, task


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "there-is-none"], "there is no folder there-is-none"),
        (["run"], "this machine has no GPU"),
        (["run", ".", "--only", "ramen", "--device", "cpu"], "has no ramen.npz"),
        (["pack", "a"], "set XLREPRO_MIRROR"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_runs(arguments, said, capsys, monkeypatch):
    monkeypatch.setattr("xlrepro.machine.GPU_FILES", ())
    monkeypatch.delenv("XLREPRO_MIRROR", raising=False)
    with pytest.raises(SystemExit) as ended:
        gpu.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_part_that_hangs_is_killed_at_its_limit_and_the_next_one_runs(tmp_path, monkeypatch):
    monkeypatch.setitem(gpu.PARTS, "models", gpu.Part(0, gpu.models))
    gpu.run(None, tmp_path, "cpu", False, ["models", "word-order"])
    assert [line["ended"] for line in lines_of(tmp_path)] == ["killed at its limit", "0"]
