"""The numerical class of a process: what its arithmetic gives, down to the last bit.

Sums are rounded in the order in which a library's kernels take them, and kernels are chosen by
the processor's vector instructions and its vendor. A processor's name does not tell: so a class is
the digest of what matmul, convolution, softmax, attention and a step of an LSTM give on fixed
inputs, in single precision on one thread. Trials repeat to the last bit within a class only.
"""

import hashlib
import json
import math
import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from xlrepro.errors import StoreError
from xlrepro.paths import cache_dir

if TYPE_CHECKING:
    import torch

# Environment of a process that is to round otherwise than this machine does: the vector
# instructions of ATen, MKL, oneDNN and NumPy's OpenBLAS are turned down to those of any x86-64.
TURNED_DOWN = {
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "OPENBLAS_CORETYPE": "Nehalem",
}
DIGITS = 16  # of the digest
PROCESSOR = ("model name", "flags", "vendor_id", "Features", "CPU part")  # lines of /proc/cpuinfo


@cache
def digest() -> str:
    """Return 16 hex digits: the SHA-256 of the operations' outputs, cut; computed once a process.

    Neither torch's random numbers nor its default precision nor its number of threads changes.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            sha = hashlib.sha256()
            for output in _outputs():
                sha.update(output.contiguous().numpy().tobytes())
    finally:
        torch.set_num_threads(threads)
    return sha.hexdigest()[:DIGITS]


@cache
def kept_digest() -> str:
    """Return `digest`, kept in the cache with what it depends on: loading torch takes seconds."""
    from xlrepro.trials.store import write_atomically

    processor = [line for line in _lines(Path("/proc/cpuinfo")) if line.startswith(PROCESSOR)]
    facts = {
        "torch": version("torch"),
        "numpy": version("numpy"),
        "processor": sorted(set(processor)) or platform.processor(),
        "environment": {name: os.environ.get(name) for name in TURNED_DOWN},
    }
    file = cache_dir() / "numerical_class.json"
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(file.read_text("utf-8"))
        if kept["facts"] == facts:
            return str(kept["digest"])
    of_today = digest()
    with suppress(StoreError):  # a cache that cannot be written
        write_atomically(file, json.dumps({"facts": facts, "digest": of_today}))
    return of_today


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _outputs() -> Iterator["torch.Tensor"]:
    """Yield what each operation gives, float32, at sizes that trials have."""
    import torch
    from torch.nn import functional

    # shape: (batch, length, dim)
    x = _fixed(8, 24, 128)
    # shape: (dim, 4 * dim) and (dim, dim, kernel)
    wide, kernels = _fixed(128, 512), _fixed(128, 128, 3)
    yield x @ wide
    yield functional.conv1d(x.transpose(1, 2), kernels)
    yield torch.softmax(8 * (x @ x.transpose(1, 2)), -1)
    heads = x.view(8, 24, 4, 32).transpose(1, 2)
    yield functional.scaled_dot_product_attention(heads, heads, heads)
    state = (_fixed(8, 64), _fixed(8, 64))
    weights = (_fixed(256, 128), _fixed(256, 64), _fixed(256), _fixed(256))
    yield from torch.lstm_cell(x[:, 0], state, *weights)
    yield functional.layer_norm(x, (128,))
    yield torch.linalg.svd(wide[:, :128]).S


def _fixed(*shape: int) -> "torch.Tensor":
    """Return numbers in (-1, 1) that every machine makes alike: multiples of 2^-20, no rounding."""
    import torch

    # The low bits of a multiplicative sequence, as in Knuth's hashing: exact in 64-bit integers
    numbers = (torch.arange(1, math.prod(shape) + 1, dtype=torch.int64) * 2654435761) % 2**21
    return ((numbers - 2**20).to(torch.float32) / 2**20).view(shape)
