"""A step of RAMEN's second stage against a plain masked-language-model step of transformers.

Both tune every weight of a model as large as all-MiniLM-L6-v2 on one English and one French batch:
gradients added up, clipped, one step of Adam. The plain one holds the pieces of both languages in
one table and scores every position against all of them, as ``BertForMaskedLM`` does; ours scores
hidden positions alone, against the pieces of the batch's language.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.timing import Result, interleaved_medians, torch_threads
from xlrepro.nn.bert import BertSizes, MaskedLanguageModel
from xlrepro.papers.ramen.model import ENGLISH, BilingualModel

SIZES = BertSizes(30522, dim=384, layers=6, heads=12, ff_dim=1536, positions=512, dropout=0.0)
TARGET, TARGET_PIECES = "fr", 8000
SEQUENCES, LENGTH, HIDDEN = 8, 128, 0.15
CLIP = 5.0
REPETITIONS = {"cpu": 3, "cuda": 30}
LEAST = 1.3

Batch = tuple[str, Tensor, Tensor]  # language, pieces, where they are hidden


def measure(device: str, threads: int) -> list[Result]:
    """Time a step of each, and how fast ours computes beside one large product of matrices."""
    batches = _batches(device)
    pieces = len(batches) * SEQUENCES * LENGTH
    with torch_threads(threads):
        steps: dict[str, Callable[[], object]] = {
            "ours": _ours(batches, device),
            "plain": _plain(batches, device),
            "product": _product(device),
        }
        medians = interleaved_medians(steps, REPETITIONS[device], device, warmup=1)
    import transformers

    ratio = medians["plain"] / medians["ours"]
    share = operations(batches) / medians["ours"] / (2 * SIDE**3 / medians["product"])
    case = f"6 layers, 384 wide; 2 × {SEQUENCES} × {LENGTH} pieces"
    return [
        Result(
            benchmark="bilingual step, all parameters",
            case=case,
            device=device,
            threads=threads,
            value=1e3 * medians["ours"],
            unit="ms",
            repetitions=REPETITIONS[device],
            peer=f"transformers {transformers.__version__}, BertForMaskedLM",
            peer_value=1e3 * medians["plain"],
            ratio=ratio,
            target=f"at least {LEAST} times as fast",
            met=ratio >= LEAST,
            tokens_per_second=pieces / medians["ours"],
        ),
        Result(
            benchmark="its share of the rate of a large matrix product",
            case=f"{case}; the product {SIDE} × {SIDE} × {SIDE}",
            device=device,
            threads=threads,
            value=100 * share,
            unit="%",
            repetitions=REPETITIONS[device],
        ),
    ]


SIDE = 2048


def operations(batches: list[Batch]) -> float:
    """Return the multiplications and additions of a step's products of matrices."""
    total = 0.0
    for language, ids, hidden in batches:
        # A layer's matrices: 4 d² of attention and 2 d f of the feed-forward; two of the scores.
        layer = 4 * SIZES.dim**2 + 2 * SIZES.dim * SIZES.ff_dim + 2 * ids.shape[1] * SIZES.dim
        rows = SIZES.vocabulary if language == ENGLISH else TARGET_PIECES
        head = int(hidden.sum()) * SIZES.dim * (SIZES.dim + rows)
        # A product forward costs two operations an entry; backward costs two such products.
        total += 3 * 2 * (ids.numel() * SIZES.layers * layer + head)
    return total


def _batches(device: str) -> list[Batch]:
    torch.manual_seed(0)
    found = []
    for language, pieces in ((ENGLISH, SIZES.vocabulary), (TARGET, TARGET_PIECES)):
        ids = torch.randint(5, pieces, (SEQUENCES, LENGTH))
        hidden = torch.rand(ids.shape) < HIDDEN
        found.append((language, ids.to(device), hidden.to(device)))
    return found


def _ours(batches: list[Batch], device: str) -> Callable[[], None]:
    model = BilingualModel(MaskedLanguageModel(SIZES))
    model.add(TARGET, torch.randn(TARGET_PIECES, SIZES.dim) / 50, torch.zeros(TARGET_PIECES))
    model.to(device).train()

    def loss(language: str, ids: Tensor, hidden: Tensor) -> Tensor:
        return functional.cross_entropy(model(language, ids, hidden), ids[hidden])

    return _step(model, batches, loss)


def _plain(batches: list[Batch], device: str) -> Callable[[], None]:
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=SIZES.vocabulary + TARGET_PIECES,
        hidden_size=SIZES.dim,
        num_hidden_layers=SIZES.layers,
        num_attention_heads=SIZES.heads,
        intermediate_size=SIZES.ff_dim,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model: torch.nn.Module = BertForMaskedLM(config)
    model = model.to(device).train()

    def loss(language: str, ids: Tensor, hidden: Tensor) -> Tensor:
        shifted = ids if language == ENGLISH else ids + SIZES.vocabulary
        labels = shifted.masked_fill(~hidden, -100)
        found: Tensor = model(input_ids=shifted, labels=labels).loss
        return found

    return _step(model, batches, loss)


def _step(
    model: torch.nn.Module, batches: list[Batch], loss: Callable[[str, Tensor, Tensor], Tensor]
) -> Callable[[], None]:
    adam = torch.optim.Adam(model.parameters(), lr=1e-5)

    def step() -> None:
        adam.zero_grad(set_to_none=True)
        for batch in batches:
            loss(*batch).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        adam.step()

    return step


def _product(device: str) -> Callable[[], Tensor]:
    left, right = (torch.randn(SIDE, SIDE, device=device) for _ in range(2))
    return lambda: left @ right
