"""Timing: medians of interleaved repetitions in one process, so that ratios survive a busy machine.

What is compared runs in turns, A B A B …, on the same inputs. A slow moment of the machine then
falls on both, and the ratio of the medians moves little where the medians themselves do.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Result:
    """One line of the benchmark page.

    Attributes:
        benchmark: what is measured, "CRF loss and gradient".
        case: on what, "32 x 40 tokens, 9 tags".
        device: ``"cpu"`` or ``"cuda"``.
        threads: CPU threads of torch.
        value: our median.
        unit: of ``value`` and ``peer_value``: ``"ms"``, ``"s"``.
        repetitions: how many times each side ran.
        peer: what it is compared with, and its version; None where there is nothing.
        peer_value: the peer's median.
        ratio: above 1: ours is faster (``peer_value / value``), unless ``target`` says otherwise.
        target: what issue or paper ask for, in words.
        met: whether the target is met; None where there is none.
        tokens_per_second: where tokens are counted.
    """

    benchmark: str
    case: str
    device: str
    threads: int
    value: float
    unit: str
    repetitions: int
    peer: str | None = None
    peer_value: float | None = None
    ratio: float | None = None
    target: str | None = None
    met: bool | None = None
    tokens_per_second: float | None = None


def interleaved_medians(
    functions: Mapping[str, Callable[[], object]],
    repetitions: int,
    device: str = "cpu",
    warmup: int = 3,
) -> dict[str, float]:
    """Return the median seconds of each function, all of them run in turns.

    Args:
        functions: by name.
        repetitions: of each, after the warm-up.
        device: ``"cuda"``: the clock stops when the GPU is done.
        warmup: runs of each that do not count.
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    with _no_garbage_collection():
        for turn in range(warmup + repetitions):
            for name, function in functions.items():
                _synchronize(device)
                began = time.perf_counter()
                function()
                _synchronize(device)
                elapsed = time.perf_counter() - began
                if turn >= warmup:
                    seconds[name].append(elapsed)
    return {name: statistics.median(values) for name, values in seconds.items()}


def beside_peer(
    benchmark: str,
    case: str,
    medians: Mapping[str, float],
    peer: tuple[str, str],
    run_on: tuple[str, int, int],
    ours: str = "ours",
    least: float | None = None,
    tokens: int | None = None,
) -> Result:
    """Return a line in milliseconds: ours beside a peer.

    Args:
        benchmark: what is measured.
        case: on what.
        medians: seconds of each, by name.
        peer: its name in ``medians``, and what it is.
        run_on: device, threads, repetitions.
        ours: our name in ``medians``.
        least: target: at least so many times as fast; None: there is none.
        tokens: of one run, where tokens are counted.
    """
    (name, label), (device, threads, repetitions) = peer, run_on
    ratio = medians[name] / medians[ours]
    return Result(
        benchmark=benchmark,
        case=case,
        device=device,
        threads=threads,
        value=1e3 * medians[ours],
        unit="ms",
        repetitions=repetitions,
        peer=label,
        peer_value=1e3 * medians[name],
        ratio=ratio,
        target=None if least is None else f"at least {least:g} times as fast",
        met=None if least is None else ratio >= least,
        tokens_per_second=None if tokens is None else tokens / medians[ours],
    )


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use ``count`` CPU threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _synchronize(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()
