"""RAMEN's second stage against a plain step of transformers; the parser against supar's way.

Both steps tune every weight of a model as large as all-MiniLM-L6-v2 on one English and one French
batch: gradients added up, clipped, one step of Adam. The plain one holds the subwords of both
languages in one table and scores every position against all of them, as ``BertForMaskedLM`` does;
ours scores masked positions alone, against the subwords of the batch's language.

supar 1.1.4 scores every relation of every pair of words while it trains, and takes those to the
right heads afterwards; ours scores these alone. Its scorer is written out here and given our
weights, since importing supar takes stanza and nltk: both must give the same loss.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.timing import Result, interleaved_medians, torch_threads
from xlrepro.papers.ramen.model import ENGLISH, BilingualModel, English
from xlrepro.tasks.parsing import BiaffineParser, Trees, parsing_loss

VOCABULARY, DIM, LAYERS, FF_DIM = 30522, 384, 6, 1536  # those of all-MiniLM-L6-v2
TARGET, TARGET_PIECES = "fr", 8000
SEQUENCES, LENGTH, HIDDEN = 8, 128, 0.15
CLIP = 5.0
REPETITIONS = {"cpu": 3, "cuda": 30}
LEAST = 1.3
SIDE = 2048
SENTENCES, WORDS = 32, 25
ARC, RELATION, RELATIONS = 500, 100, 37  # Dozat and Manning (2017); relations of UD

Batch = tuple[str, Tensor, Tensor]  # language, subwords, which are masked


def measure(device: str, threads: int) -> list[Result]:
    """Time steps of the second stage and of the parser, each beside its peer."""
    with torch_threads(threads):
        return [*_stage(device, threads), *_parsing(device, threads)]


def _stage(device: str, threads: int) -> list[Result]:
    """Time a step of each, and how fast ours computes beside one large product of matrices."""
    import transformers

    batches = _batches(device)
    steps: dict[str, Callable[[], object]] = {
        "ours": _ours(batches, device),
        "plain": _plain(batches, device),
        "product": _product(device),
    }
    medians = interleaved_medians(steps, REPETITIONS[device], device, warmup=1)
    ratio = medians["plain"] / medians["ours"]
    share = operations(batches) / medians["ours"] / (2 * SIDE**3 / medians["product"])
    case = f"6 layers, 384 wide; 2 × {SEQUENCES} × {LENGTH} subwords"
    shared: dict[str, Any] = {
        "device": device,
        "threads": threads,
        "repetitions": REPETITIONS[device],
    }
    return [
        Result(
            benchmark="bilingual step, all parameters",
            case=case,
            value=1e3 * medians["ours"],
            unit="ms",
            peer=f"transformers {transformers.__version__}, BertForMaskedLM",
            peer_value=1e3 * medians["plain"],
            ratio=ratio,
            target=f"at least {LEAST} times as fast",
            met=ratio >= LEAST,
            tokens_per_second=len(batches) * SEQUENCES * LENGTH / medians["ours"],
            **shared,
        ),
        Result(
            benchmark="its share of the rate of a large matrix product",
            case=f"{case}; the product {SIDE} × {SIDE} × {SIDE}",
            value=100 * share,
            unit="%",
            **shared,
        ),
    ]


def _parsing(device: str, threads: int) -> list[Result]:
    """Time the parser's loss and gradient beside supar's way, with the same weights."""
    torch.manual_seed(0)
    ours = BiaffineParser(DIM, ARC, RELATION, RELATIONS, dropout=0.0).to(device)
    for parameter in (ours.arc, ours.relation):
        nn.init.normal_(parameter, std=0.01)
    states = torch.randn(SENTENCES, WORDS, DIM, device=device)
    heads = torch.randint(0, WORDS + 1, (SENTENCES, WORDS), device=device)
    # A word is never its own head.
    heads[heads == torch.arange(1, WORDS + 1, device=device)] = 0
    relations = torch.randint(0, RELATIONS, (SENTENCES, WORDS), device=device)
    gold = Trees(heads, relations, torch.ones_like(heads, dtype=torch.bool))

    def our_loss() -> Tensor:
        return parsing_loss(*ours(states, gold.heads), gold)

    def their_loss() -> Tensor:
        return as_supar(ours, states, gold)

    with torch.no_grad():
        torch.testing.assert_close(our_loss(), their_loss())
    repetitions = 10 * REPETITIONS[device]
    functions = {"ours": _gradient(ours, our_loss), "supar": _gradient(ours, their_loss)}
    medians = interleaved_medians(functions, repetitions, device, warmup=1)
    return [
        Result(
            benchmark="biaffine parser, loss and gradient",
            case=f"{SENTENCES} × {WORDS} words, {ARC} and {RELATION} wide, {RELATIONS} relations",
            device=device,
            threads=threads,
            value=1e3 * medians["ours"],
            unit="ms",
            repetitions=repetitions,
            peer="the scorer as supar 1.1.4 computes it",
            peer_value=1e3 * medians["supar"],
            ratio=medians["supar"] / medians["ours"],
            target="faster",
            met=medians["supar"] > medians["ours"],
            tokens_per_second=SENTENCES * WORDS / medians["ours"],
        )
    ]


def _gradient(module: nn.Module, loss: Callable[[], Tensor]) -> Callable[[], None]:
    def run() -> None:
        module.zero_grad(set_to_none=True)
        loss().backward()  # type: ignore[no-untyped-call]

    return run


def as_supar(parser: BiaffineParser, states: Tensor, gold: Trees) -> Tensor:
    """Return the loss as supar computes it: all relations of all pairs, the root a word too."""
    root = parser.root.expand(len(states), 1, -1)
    everything = torch.cat([root, states], dim=1)
    narrowed = [
        functional.leaky_relu(part[i](everything), 0.1)
        for i in (0, 1)
        for part in (parser.dependents, parser.heads)
    ]
    one = torch.ones_like(everything[..., :1])
    # shape: (batch, words + 1, words + 1), then (batch, relations, words + 1, words + 1)
    arcs = torch.einsum(
        "bxi,ij,byj->bxy", torch.cat([narrowed[0], one], -1), parser.arc, narrowed[1]
    )
    sides = (torch.cat([side, one], -1) for side in narrowed[2:])
    relations = torch.einsum("bxi,oij,byj->boxy", next(sides), parser.relation, next(sides))
    arcs, relations = arcs[:, 1:], relations.permute(0, 2, 3, 1)[:, 1:]
    itself = functional.pad(torch.eye(arcs.shape[1], dtype=torch.bool, device=arcs.device), (1, 0))
    arcs = arcs.masked_fill(itself, float("-inf"))
    heads, labels = gold.heads[gold.mask], gold.relations[gold.mask]
    chosen = relations[gold.mask][torch.arange(len(heads), device=heads.device), heads]
    return functional.cross_entropy(arcs[gold.mask], heads) + functional.cross_entropy(
        chosen, labels
    )


def operations(batches: list[Batch]) -> float:
    """Return the multiplications and additions of a step's products of matrices."""
    total = 0.0
    for language, ids, hidden in batches:
        # A layer's matrices: 4 d² of attention and 2 d f of the feed-forward; two of the scores.
        layer = 4 * DIM**2 + 2 * DIM * FF_DIM + 2 * ids.shape[1] * DIM
        rows = VOCABULARY if language == ENGLISH else TARGET_PIECES
        head = int(hidden.sum()) * DIM * (DIM + rows)
        # A product forward costs two operations an entry; backward costs two such products.
        total += 3 * 2 * (ids.numel() * LAYERS * layer + head)
    return total


def _batches(device: str) -> list[Batch]:
    torch.manual_seed(0)
    found = []
    for language, subwords in ((ENGLISH, VOCABULARY), (TARGET, TARGET_PIECES)):
        ids = torch.randint(5, subwords, (SEQUENCES, LENGTH))
        hidden = torch.rand(ids.shape) < HIDDEN
        found.append((language, ids.to(device), hidden.to(device)))
    return found


def _bert(vocabulary: int, **more: Any) -> Any:
    """Return a BertForMaskedLM without dropout."""
    from xlrepro.encoders.pretrained import quiet_transformers

    transformers = quiet_transformers()
    sizes = {
        "hidden_size": DIM,
        "num_attention_heads": 12,
        "num_hidden_layers": LAYERS,
        "intermediate_size": FF_DIM,
    }
    config = transformers.BertConfig(
        vocab_size=vocabulary,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        **sizes | more,
    )
    return transformers.BertForMaskedLM(config)


def bilingual(vocabulary: int, subwords: int, **sizes: Any) -> BilingualModel:
    """Return a bilingual model with random weights, of English and ``TARGET``."""
    whole = _bert(vocabulary, attn_implementation="eager", **sizes)
    head, table = whole.cls.predictions, whole.bert.embeddings.word_embeddings.weight.detach()
    transform = head.transform
    english = English(whole.bert, transform.dense, transform.LayerNorm, table, head.bias.detach())
    model = BilingualModel(english)
    model.add(TARGET, torch.randn(subwords, table.shape[1]) / 50, torch.zeros(subwords))
    return model


def _ours(batches: list[Batch], device: str) -> Callable[[], None]:
    model = bilingual(VOCABULARY, TARGET_PIECES).to(device).train()

    def loss(language: str, ids: Tensor, hidden: Tensor) -> Tensor:
        return functional.cross_entropy(model(language, ids, hidden), ids[hidden])

    return _step(model, batches, loss)


def _plain(batches: list[Batch], device: str) -> Callable[[], None]:
    model: nn.Module = _bert(VOCABULARY + TARGET_PIECES)
    model = model.to(device).train()

    def loss(language: str, ids: Tensor, hidden: Tensor) -> Tensor:
        shifted = ids if language == ENGLISH else ids + VOCABULARY
        labels = shifted.masked_fill(~hidden, -100)
        found: Tensor = model(input_ids=shifted, labels=labels).loss
        return found

    return _step(model, batches, loss)


def _step(
    model: nn.Module, batches: list[Batch], loss: Callable[[str, Tensor, Tensor], Tensor]
) -> Callable[[], None]:
    adam = torch.optim.Adam(model.parameters(), lr=1e-5)

    def step() -> None:
        adam.zero_grad(set_to_none=True)
        for batch in batches:
            loss(*batch).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        adam.step()

    return step


def _product(device: str) -> Callable[[], Tensor]:
    left, right = (torch.randn(SIDE, SIDE, device=device) for _ in range(2))
    return lambda: left @ right
