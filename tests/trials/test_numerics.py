"""The numerical class: repeatable within a process, other where the arithmetic is another."""

import os
import subprocess
import sys

import pytest
import torch

from xlrepro.trials import numerics
from xlrepro.trials.numerics import TURNED_DOWN, digest


def fresh() -> str:
    digest.cache_clear()
    return digest()


def elsewhere(**environment: str) -> str:
    """Return the digest of a process with these variables."""
    code = "from xlrepro.trials.numerics import digest; print(digest())"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout.strip()


def test_what_is_kept_is_computed_again_where_the_processor_is_another(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    computed = []
    monkeypatch.setattr(numerics, "digest", lambda: computed.append(1) or "0" * 16)
    for processor in ("flags: avx2", "flags: avx2", "flags: avx512f"):
        monkeypatch.setattr(numerics, "_lines", lambda path, line=processor: [line])
        numerics.kept_digest.cache_clear()
        assert numerics.kept_digest() == "0" * 16
    numerics.kept_digest.cache_clear()
    assert len(computed) == 2


def test_the_same_twice_whatever_the_process_has_set():
    before = fresh()
    assert len(before) == 16
    torch.manual_seed(3)
    torch.set_default_dtype(torch.float64)
    try:
        assert fresh() == before
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_the_same_in_another_process_and_other_without_vector_instructions():
    here = fresh()
    assert elsewhere() == here
    if torch.backends.cpu.get_cpu_capability() == "DEFAULT":
        pytest.skip("this processor has no vector instructions to turn down")
    assert elsewhere(ATEN_CPU_CAPABILITY=TURNED_DOWN["ATEN_CPU_CAPABILITY"]) != here


def test_inputs_are_exact_whatever_the_machine():
    numbers = numerics._fixed(3, 1000).double()
    assert torch.equal(numbers * 2**20, (numbers * 2**20).round())
    assert numbers.abs().max() <= 1
    assert len(numbers.unique()) > 2900
