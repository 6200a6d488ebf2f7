"""Training steps of the word-order taggers: BiLSTM, TRS, RPT, ORT, with CRF and optimiser."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from benchmarks.timing import Result, interleaved_medians, torch_threads
from xlrepro.papers.word_order.model import make_tagger
from xlrepro.papers.word_order.settings import EncoderSettings
from xlrepro.tasks.tagging import SequenceTagger
from xlrepro.vectors.encoding import Batch

KINDS = {
    "BiLSTM": EncoderSettings(kind="bilstm"),
    "TRS": EncoderSettings(kind="transformer", positions="sinusoidal"),
    "RPT": EncoderSettings(kind="transformer", positions="relative"),
    "ORT": EncoderSettings(kind="transformer", positions="none"),
}
SIZES = {  # as the profiles of word_order/table2 have them
    "open": {"dim": 128, "heads": 4, "ff_dim": 512, "hidden_dim": 128},
    "paper": {"dim": 256, "heads": 4, "ff_dim": 1024, "hidden_dim": 250},
}
INPUT_DIM, N_TAGS, BATCH = 200, 17, 32
LENGTHS = (6, 11, 16, 21, 30)  # one batch each; their mean is about that of EWT's tokens
REPETITIONS = {"cpu": 9, "cuda": 30}

Sentences = tuple[Batch, Tensor]  # and the table of their words


def measure(device: str, threads: int) -> list[Result]:
    """Time one pass over five batches; RPT is also held against TRS."""
    batches = _batches(device)
    tokens = sum(int(batch.mask.sum()) for batch, _ in batches)
    results = []
    with torch_threads(threads):
        for profile, sizes in SIZES.items():
            passes = {
                name: _training_pass(settings.model_copy(update=sizes), batches, device)
                for name, settings in KINDS.items()
            }
            medians = interleaved_medians(passes, REPETITIONS[device], device, warmup=2)
            case = f"{profile} sizes: width {sizes['dim']}, LSTM {sizes['hidden_dim']}"
            for name, seconds in medians.items():
                cost = seconds / medians["TRS"] if name == "RPT" else None
                results.append(
                    Result(
                        benchmark=f"training step, {name}",
                        case=case,
                        device=device,
                        threads=threads,
                        value=1e3 * seconds / len(batches),
                        unit="ms",
                        repetitions=REPETITIONS[device],
                        peer="TRS" if cost else None,
                        peer_value=1e3 * medians["TRS"] / len(batches) if cost else None,
                        ratio=1 / cost if cost else None,
                        target="at most 1.3 times the time of TRS" if cost else None,
                        met=cost <= 1.3 if cost else None,
                        tokens_per_second=tokens / seconds,
                    )
                )
    return results


def _training_pass(
    settings: EncoderSettings, batches: list[Sentences], device: str
) -> Callable[[], None]:
    torch.manual_seed(0)
    tagger = make_tagger(settings, INPUT_DIM, N_TAGS).to(device).train()
    optimizer = torch.optim.Adam(tagger.parameters(), lr=1e-4)
    return partial(_train, tagger, optimizer, batches)


def _train(
    tagger: SequenceTagger, optimizer: torch.optim.Optimizer, batches: list[Sentences]
) -> None:
    for batch, table in batches:
        optimizer.zero_grad(set_to_none=True)
        tagger.loss(batch, table).backward()
        torch.nn.utils.clip_grad_norm_(tagger.parameters(), 1.0)
        optimizer.step()


def _batches(device: str) -> list[Sentences]:
    """Make random batches whose sentences differ in length by two tokens at most."""
    generator = torch.Generator().manual_seed(0)
    batches = []
    for longest in LENGTHS:
        lengths = torch.randint(longest - 2, longest + 1, (BATCH,), generator=generator)
        lengths[0] = longest
        table = torch.randn(BATCH * longest, INPUT_DIM, generator=generator)
        rows = torch.arange(len(table)).view(BATCH, longest)
        tags = torch.randint(0, N_TAGS, (BATCH, longest), generator=generator)
        mask = torch.arange(longest) < lengths[:, None]
        batches.append((Batch(rows, tags, mask, []).to(device), table.to(device)))
    return batches
