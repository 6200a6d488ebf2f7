"""CRF loss with gradient and Viterbi decoding, beside pytorch-crf with the same parameters."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import torch
import torchcrf
from torch import Tensor

from benchmarks.timing import Result, beside_peer, interleaved_medians, torch_threads
from xlrepro.nn.crf import LinearChainCRF


@dataclass(frozen=True)
class Case:
    """A shape, and how many times faster than the peer ours is to be on it."""

    batch: int
    length: int
    n_tags: int
    loss_target: float
    decode_target: float


CASES = (
    Case(32, 40, 9, loss_target=2.0, decode_target=2.5),
    Case(32, 120, 30, loss_target=3.0, decode_target=2.0),
)
REPETITIONS = 60


def measure(device: str, threads: int) -> list[Result]:
    """Time both cases, without padding and with lengths drawn from half to full."""
    results = []
    with torch_threads(threads):
        for case in CASES:
            for padded in (False, True):
                results += _measure_case(case, padded, device, threads)
    return results


def _measure_case(case: Case, padded: bool, device: str, threads: int) -> list[Result]:
    ours, peer, emissions, tags, mask = inputs(case, padded, device)
    name = f"{case.batch} × {case.length} tokens, {case.n_tags} tags"
    name += ", half to full length" if padded else ""

    def ours_loss() -> None:
        emissions.grad = None
        ours(emissions, tags, mask).backward()

    def peer_loss() -> None:
        emissions.grad = None
        (-peer(emissions, tags, mask, reduction="mean")).backward()

    def compare(
        benchmark: str, our: Callable[[], object], their: Callable[[], object], target: float
    ) -> Result:
        medians = interleaved_medians({"ours": our, "peer": their}, REPETITIONS, device)
        label, run_on = f"pytorch-crf {version('pytorch-crf')}", (device, threads, REPETITIONS)
        return beside_peer(benchmark, name, medians, ("peer", label), run_on, least=target)

    return [
        compare("CRF loss and gradient", ours_loss, peer_loss, case.loss_target),
        compare(
            "CRF decoding",
            lambda: ours.decode(emissions, mask),
            lambda: peer.decode(emissions, mask),
            case.decode_target,
        ),
    ]


def inputs(
    case: Case, padded: bool, device: str
) -> tuple[LinearChainCRF, torchcrf.CRF, Tensor, Tensor, Tensor]:
    """Return both CRFs with the same parameters, and emissions, tags and mask of a batch."""
    generator = torch.Generator().manual_seed(0)
    ours = LinearChainCRF(case.n_tags).to(device)
    peer = torchcrf.CRF(case.n_tags, batch_first=True).to(device)
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
        peer.transitions.copy_(ours.transitions)
        peer.start_transitions.copy_(ours.start)
        peer.end_transitions.copy_(ours.end)
    shape = (case.batch, case.length)
    emissions = torch.randn(*shape, case.n_tags, generator=generator)
    tags = torch.randint(0, case.n_tags, shape, generator=generator)
    lengths = torch.full((case.batch,), case.length)
    if padded:
        lengths = torch.randint(
            case.length // 2, case.length + 1, (case.batch,), generator=generator
        )
        lengths[0] = case.length
    mask = torch.arange(case.length) < lengths[:, None]
    leaf = emissions.to(device).requires_grad_()
    return ours, peer, leaf, tags.to(device), mask.to(device)
