"""What a GPU can tell in ten minutes, on a machine without network or this project's packages.

    python -m benchmarks.gpu pack FOLDER            # here, with the data: what travels, weighed
    python -m benchmarks.gpu run FOLDER --out OUT   # there, from the root of the same files

``pack`` writes packages for that machine's Python, prepared tensors and corpora into FOLDER.
``run`` takes the parts one after the other, each in a process of its own that is killed at its
limit, and appends a line of JSON to ``OUT/results.jsonl`` for each result as it comes. ``--device
cpu --quick`` tries all of it in seconds, without a FOLDER. RAMEN's adaptation has ten minutes and a
FOLDER of its own: ``pack FOLDER --only packages ramen``, ``run FOLDER --only ramen``.

What stands here above the parts is Python's own, so that ``run`` starts anywhere.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cached_property, partial
from importlib.metadata import distribution
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

LIMIT_MIB = 64  # of what travels, the project's own files among it
PYTHON = "3.12"  # of that machine; it has torch, transformers, pandas, scikit-learn, sacrebleu
PACKAGES = (
    "pydantic", "pydantic-core", "annotated-types", "typing-inspection", "typing-extensions",
    "pooch", "platformdirs", "filelock", "regex", "penman", "pytorch-crf",
    "ufal.chu-liu-edmonds",
)  # fmt: skip
OF_RAMEN = PACKAGES[:8]  # all that its adaptation imports
COPIED = "seqeval"  # plain Python, of which no wheel is published: as it is installed here
CORPORA = ("multi30k/*", "amr/*", "ptb-nltk-sample/*", "panx-wikiann/*-en*")  # for translations
TREE = ("benchmarks", "xlrepro", "data/registry", "data/reported")
# Vectors that Table 2's word block is trained on, and languages that it is tested on: from near to
# far, of which so many fit; French alone has published vectors here.
VECTORS = {
    "dictionary": ("sv", "fr", "es", "it", "de", "ru", "fi", "zh", "ar", "hi"),
    "distributional": ("fr",),
}
SEEDS = (0, 1, 2)
LOOPS = ("CRF", "routed unit", "projected LSTM")  # over time: several kernels a step
COMPILER = {"mode": "reduce-overhead"}  # CUDA graphs
COMPILE_SECONDS = 90  # for all of them, side by side
KEPT = "XLREPRO_GPU_RESULTS"  # the folder that results are written to, for a part's own processes
ADAPTED = "base:RAMEN-BASE + BERT (mono)"  # Table 1's row, to French
TEXT_WORDS = 1_500_000  # of each language, five times those of `open`: what 64 MiB have room for
TIMES = 100  # the updates of `open`; warm-up is as many times as long
LOOKS = 20  # at held-out text, in each stage
QUICK_UPDATES, QUICK_PAIRS = 10, 60
QUICK_SECONDS = 400  # for a part where nothing is timed
AGREE = 1e-6  # largest difference of a CPU and a GPU, both in double precision

# Rows whose smoke trials stand for all models: experiment, row, settings that make it short.
SHORT: dict[str, Any] = {"epochs": 1}
ONE: dict[str, Any] = SHORT | {"targets": ["de"]}
FEW: dict[str, Any] = SHORT | {
    "train_pairs": 16, "test_pairs": 4, "auxiliary_train": 16, "auxiliary_dev": 4,
    "longest_words": 6, "longest_auxiliary": 12, "longest_output": 0.1,
}  # fmt: skip
STEPS: dict[str, Any] = {"model.training.steps": 8}  # senses begin at 6
HEAD: dict[str, Any] = STEPS | {"head.epochs": 1, "train_sentences": 20, "test_sentences": 10}
STAGES = {"english.all": 4, "embeddings": 3, "bilingual": 6}  # updates; slow weights move at 5
FRENCH: dict[str, Any] = {"head.train": 48, "head.test": 12, "head.epochs": 1}
RAMEN: dict[str, Any] = FRENCH | {
    "parts": ["fr"], "adaptation.words": 600, "adaptation.pairs": 60, "adaptation.vocabulary": 150,
    **{f"adaptation.{stage}.updates": updates for stage, updates in STAGES.items()},
}  # fmt: skip
Row = tuple[str, str, dict[str, Any]]
MODELS: tuple[Row, ...] = (
    ("word_order/table2", "word:BiLSTM", ONE),
    ("word_order/table2", "word:TRS", ONE),
    ("word_order/table2", "word:RPT", ONE),
    ("word_order/table2", "word:ORT", ONE),
    ("word_order/table2", "mbert:TRS w/ M-BERT PE", ONE),
    ("word_order/table2", "finetune:M-BERT", ONE),
    ("word_order/table1", "word:ORT", SHORT),
    ("word_order/table3", "nlu:Liu et al. (2019)", SHORT),
    ("word_order/distances", "distance:mean absolute difference", {}),
    ("word_order/open_vectors", "vectors:dictionary", {"languages": ["en", "de"]}),
    ("word_order/table4", "ner:Chen et al. (2019) using TRS", ONE),
    ("man_moe/table2", "corpus:en", {}),
    ("man_moe/table4", "without:MAN-MOE+CharCNN", ONE),
    ("man_moe/table5", "without:MAN-MoE", SHORT),
    ("man_moe/table6", "sweep:k", SHORT),
    ("sense_alignment/table2", "wsd:ELMo", STEPS),
    ("sense_alignment/table2", "wsd:SaELMo", STEPS),
    ("sense_alignment/table2", "wsd:BERT-Tiny", STEPS),
    ("sense_alignment/table2", "wsd:SaBERT-Tiny", STEPS),
    ("sense_alignment/table3", "main:Bi-SaELMo", HEAD),
    ("sense_alignment/table4", "sentiment:Joint-ELMo", HEAD),
    ("sense_alignment/table5", "xnli:Bi-SaELMo", HEAD),
    ("sense_alignment/tables6_8", "alive:SaELMo", STEPS),
    ("sense_alignment/figures4_7", "purity:SaELMo", STEPS),
    ("sense_alignment/figures4_7", "vectors:SaELMo", STEPS),
    ("routing_nmt/table1", "translation:MTL (Partial)", FEW),
    ("routing_nmt/table1", "translation:MTL (Routing)", FEW),
    ("ramen/table1", "prior:mBERT (Wu & Dredze, 2019) (mono)", FRENCH | {"targets": ["fr"]}),
    ("ramen/table1", "base:RAMEN-BASE + BERT (mono)", RAMEN),
    ("ramen/table2", "base:RAMEN-BASE + BERT (parallel)", RAMEN),
    ("ramen/table3", "xnli-pair:RAMEN-BASE + RoBERTa, vec", RAMEN),
    ("ramen/table3", "ud-tuned:RAMEN-BASE + RoBERTa, vec", RAMEN | {"tuned_epochs": 1}),
)  # fmt: skip
QUICK_MODELS = MODELS[3:4]


class Part(NamedTuple):
    """A part of the ten minutes.

    Attributes:
        seconds: after which it is killed.
        results: yields its results, given the device, whether to be quick, and the packed folder.
    """

    seconds: int
    results: Callable[[str, bool, Path | None], Iterator[dict[str, Any]]]


# ---- every model, on a CPU and on the device


def models(device: str, quick: bool, folder: Path | None) -> Iterator[dict[str, Any]]:
    """Compare each model's smoke trial, in double precision, on a CPU and on the device.

    Each device has a cache of its own: neither reads what the other has trained.
    """
    import torch

    card = torch.cuda.get_device_name() if device == "cuda" else "a CPU"
    yield {"card": card, "torch": torch.__version__, "CUDA": torch.version.cuda}
    rows = QUICK_MODELS if quick else MODELS
    jobs = 1 if quick else max(1, (os.cpu_count() or 2) // 2)
    with (
        tempfile.TemporaryDirectory() as there,
        tempfile.TemporaryDirectory() as here,
        _pool(jobs, there) as of_device,
        _pool(jobs, here) as of_cpu,
    ):
        # the slow ones stand at the end of the list
        waiting = {
            of_device.submit(alike, model, device): (model, of_cpu.submit(alike, model, "cpu"))
            for model in reversed(rows)
        }
        for future in as_completed(waiting):
            (key, row, _changes), other = waiting[future]
            yield {"experiment": key, "row": row} | _difference(future, other)


def numbers(model: Row, device: str) -> dict[str, float]:
    """Return all numbers of the first smoke trial of a row: its cells, and those of its details."""
    from xlrepro.experiments import experiment, task
    from xlrepro.trials import TrialContext

    key, row, settings = model
    trial, *_ = experiment(key).trials("smoke", [row], [0], settings)
    result = task(trial.task).load()(trial, TrialContext(device))
    cells = {f"{cell.system} {cell.column}": cell.value for cell in result.cells}
    return dict(_flat(json.loads(json.dumps(result.details, default=float)))) | cells


def alike(model: Row, device: str) -> dict[str, float]:
    """Return `numbers` where every device draws what the CPU draws: comparable."""
    with same_draws():
        return numbers(model, device)


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, part in inside:
        yield from _flat(part, f"{name}/{key}")
    if isinstance(value, int | float) and "seconds" not in name:
        yield name, float(value)


def _difference(future: Any, other: Any) -> dict[str, Any]:
    try:
        found, expected = future.result(), other.result()
    except Exception as error:
        return {"agrees": False, "error": _reason(error)}
    largest = max(
        (abs(value - expected.get(name, float("inf"))) / max(1.0, abs(value)), name)
        for name, value in found.items()
    )
    return {"numbers": len(found), "largest_difference": largest[0], "of": largest[1],
            "agrees": largest[0] <= AGREE}  # fmt: skip


def draws(operation: Any) -> bool:
    """Tell whether an operation draws random numbers.

    cuDNN's LSTM counts as random, and draws none: ours have no dropout between their layers.
    """
    import torch

    seeded = torch.Tag.nondeterministic_seeded in operation.tags
    return seeded and "_cudnn_rnn" not in operation.name()


@contextmanager
def same_draws() -> Iterator[None]:
    """Let every device have the CPU's random numbers, so that both see the same."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves, tree_map

    from xlrepro.nn import dropout

    class Drawing(TorchDispatchMode):
        def __torch_dispatch__(
            self, operation: Any, _: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if not draws(operation):
                return operation(*args, **kwargs)
            tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
            device = kwargs.get("device") or next((x.device for x in tensors), None)
            if device is None or torch.device(device).type in ("cpu", "meta"):
                return operation(*args, **kwargs)
            moved = partial(tree_map, lambda x: x.cpu() if isinstance(x, torch.Tensor) else x)
            there = kwargs | ({"device": "cpu"} if kwargs.get("device") else {})
            drawn = operation(*moved(args), **moved(there))
            if operation._schema.is_mutable:
                return args[0].copy_(drawn)
            return tree_map(lambda x: x.to(device) if isinstance(x, torch.Tensor) else x, drawn)

    def forward(self: Any, x: Any) -> Any:
        if not self.training or self.p == 0:
            return x
        return x * dropout.kept(x.shape, self.p).to(x.device, x.dtype).mul_(1 / (1 - self.p))

    before = dropout.Dropout.forward
    dropout.Dropout.forward = forward  # type: ignore[method-assign]
    try:
        with Drawing():
            yield
    finally:
        dropout.Dropout.forward = before  # type: ignore[method-assign]


# ---- speed


def speed(device: str, quick: bool, _: Path | None) -> Iterator[dict[str, Any]]:
    """Run the benchmarks of layers and steps beside their peers, on the device."""
    from dataclasses import asdict
    from importlib import import_module

    names = ("crf", "routing_nmt", "man_moe", "sense_alignment", "ramen", "encoders")
    for name in names[:1] if quick else names:
        try:
            module: Any = import_module(f"benchmarks.{name}")
        except ModuleNotFoundError as error:
            yield {"benchmark": name, "error": str(error)}
            continue
        if quick:
            module.REPETITIONS = 1
        for result in module.measure(device, 1):
            yield asdict(result)


def compiled(device: str, quick: bool, _: Path | None) -> Iterator[dict[str, Any]]:
    """Time the loops over time as they are, and by torch's compiler with CUDA graphs.

    Each in a process of its own, which is killed at their common limit; where the compiler fails,
    a line says how. They compile side by side: times of each are of a GPU that others use too.
    """
    context = get_context("spawn")  # no pool: its end can wait for a worker that is killed
    limit = QUICK_SECONDS if quick else COMPILE_SECONDS
    end, started = time.monotonic() + limit, {}
    for name in LOOPS:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_both_ways, args=(there, name, device, quick))
        process.start()
        there.close()
        started[name] = here, process
    for name, (here, process) in started.items():
        found = {"error": f"not compiled in {limit} s"}
        try:
            if here.poll(max(0, end - time.monotonic())):
                found = here.recv()
        except EOFError:
            found = {"error": "its process died"}
        finally:
            process.kill()
            process.join()
        yield {"loop": name} | found


def _both_ways(answer: Connection, name: str, device: str, quick: bool) -> None:
    """Send what `both_ways` finds, or why it fails."""
    try:
        answer.send(both_ways(name, device, quick))
    except Exception as error:
        answer.send({"error": _reason(error)})


def both_ways(name: str, device: str, quick: bool) -> dict[str, Any]:
    """Time forward and backward of a loop as it is, and compiled; ``quick``: traced alone."""
    import torch

    from benchmarks.timing import interleaved_medians

    loss, weights = _loop(name, device, quick)
    fast: Any = torch.compile(loss, **({"backend": "eager"} if quick else COMPILER))

    def step(way: Callable[[], Any]) -> float:
        for weight in weights:
            weight.grad = None
        found = way()
        found.backward()
        return float(found.detach())

    began = time.perf_counter()
    found, expected = step(fast), step(loss)
    seconds = time.perf_counter() - began
    timed = {"eager": partial(step, loss), "compiled": partial(step, fast)}
    medians = interleaved_medians(timed, 1 if quick else 20, device, 0 if quick else 3)
    return {
        "ms": {way: 1e3 * median for way, median in medians.items()},
        "first_seconds": seconds, "difference": abs(found - expected) / abs(expected),
    }  # fmt: skip


def _loop(name: str, device: str, quick: bool) -> tuple[Callable[[], Any], list[Any]]:
    """Return a loop's loss, and its weights."""
    import torch

    from benchmarks import crf, routing_nmt, sense_alignment
    from xlrepro.papers.routing_nmt.recurrent import RoutedUnit, scan
    from xlrepro.papers.sense_alignment.network import ProjectedLSTM

    torch.manual_seed(0)
    batch, length, width = (2, 3, 4) if quick else (32, 16, 400)
    if name == "CRF":
        case = crf.Case(batch, length, 9, 0, 0)
        layer, _, emissions, tags, mask = crf.inputs(case, True, device)
        return lambda: layer(emissions, tags, mask), [*layer.parameters(), emissions]
    if name == "routed unit":
        unit = RoutedUnit(width, width, routing_nmt.SHARED, (routing_nmt.TASK,)).to(device)
        x = torch.randn(length, batch, width, device=device)
        return lambda: scan(unit.tied(routing_nmt.TASK), x)[0].sum(), [*unit.parameters()]
    settings = sense_alignment.settings_of("ELMo", None, "smoke" if quick else "paper")
    network, training = settings.network, settings.training
    assert network.family == "bilm"
    lstm = ProjectedLSTM(network.dim, network.cells, network.dim).to(device)
    x = torch.randn(2, training.streams, training.unroll, network.dim, device=device)
    return lambda: lstm(x)[0].sum(), [*lstm.parameters()]


def steps(device: str, quick: bool, _: Path | None) -> Iterator[dict[str, Any]]:
    """Time an update of each model as ``paper`` has it, on random text, and weigh its memory."""
    import torch

    peak = _peak_rate(device, quick)
    yield {"product": peak}
    for name, make in _updates(device, quick).items():
        if device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        try:
            update, tokens, operations = make()
            seconds = _seconds_of(update, 1 if quick else 10, device)
        except Exception as error:  # a model too large for the card is no reason to stop
            yield {"update": name, "error": _reason(error)}
            continue
        found = {"update": name, "ms": 1e3 * seconds, "tokens_per_second": tokens / seconds}
        if operations:
            found["share_of_product"] = operations / seconds / peak["operations_per_second"]
        if device == "cuda":
            found["GiB"] = torch.cuda.max_memory_allocated() / 2**30
        yield found


Update = tuple[Callable[[int], object], int, float]  # what it does, its tokens, its operations


def _seconds_of(update: Callable[[int], object], count: int, device: str) -> float:
    from itertools import count as numbers_from

    from benchmarks.timing import interleaved_medians

    number = numbers_from()
    timed = {"update": lambda: update(next(number))}
    return interleaved_medians(timed, count, device, warmup=0 if count == 1 else 2)["update"]


def _peak_rate(device: str, quick: bool) -> dict[str, Any]:
    """Return the rate of a large product in bfloat16: the peak that can be had."""
    import torch

    side = 512 if quick else 8192
    one = torch.randn(side, side, device=device, dtype=torch.bfloat16)
    seconds = _seconds_of(lambda _: one @ one, 1 if quick else 10, device)
    return {"side": side, "dtype": "bfloat16", "operations_per_second": 2 * side**3 / seconds}


def _updates(device: str, quick: bool) -> dict[str, Callable[[], Update]]:
    """Return how to make each model and its update, by name."""
    profile = "smoke" if quick else "paper"
    made: dict[str, Callable[[], Update]] = {}
    for row, parts in (  # three quarters of the hours: first
        ("base:RAMEN-BASE + BERT (mono)", None), ("base:RAMEN-BASE + BERT (mono)", 1),
        ("large:RAMEN-LARGE + BERT (mono)", None),
    ):  # fmt: skip
        name = f"ramen stage 2 {row}" + (f" in {parts} part" if parts else "")
        if not (quick and "large" in row):  # which is at `paper` alone
            made[name] = partial(_bilingual, row, parts, device, profile)
    for row in ("word:BiLSTM", "word:ORT"):
        made[f"word_order {row}"] = partial(_tagger, row, device, profile)
    for row in ("translation:MTL (Routing)", "translation:MTL (Full)"):
        made[f"routing_nmt {row}"] = partial(_translation, row, device, profile)
    for table, row in (
        ("table2", "wsd:ELMo"), ("table2", "wsd:SaELMo"), ("table3", "main:Bi-SaELMo"),
        ("table2", "wsd:BERT-Tiny"), ("table2", "wsd:SaBERT-Tiny"),
    ):  # fmt: skip
        made[f"sense_alignment {row}"] = partial(_language_model, table, row, device, profile)
    return made


def _settings(key: str, row: str, kind: Any, profile: str = "paper") -> Any:
    from xlrepro.experiments import experiment

    trial, *_ = experiment(key).trials(profile, [row], [0])
    return trial.typed(kind)


def _tagger(row: str, device: str, profile: str) -> Update:
    import torch

    from benchmarks.encoders import BATCH, N_TAGS
    from xlrepro.papers.word_order.model import make_tagger
    from xlrepro.papers.word_order.settings import TaggingSettings
    from xlrepro.training.optimiser import ScheduledAdam
    from xlrepro.vectors.encoding import Batch

    settings = _settings("word_order/table2", row, TaggingSettings, profile)
    words, length = 9999, 25
    tagger = make_tagger(settings.encoder, 300, N_TAGS, settings.head).to(device).train()
    adam, table = ScheduledAdam(tagger, settings.learning_rate), torch.randn(words, 300)
    shape = (BATCH, length)
    rows, tags = torch.randint(1, words, shape), torch.randint(0, N_TAGS, shape)
    batch = Batch(rows, tags, torch.ones(shape, dtype=torch.bool), list(range(BATCH))).to(device)
    table = table.to(device)
    return lambda _: adam.step(tagger.loss(batch, table)), rows.numel(), 0.0


def _translation(row: str, device: str, profile: str) -> Update:
    from types import SimpleNamespace

    import torch

    from xlrepro.papers.routing_nmt.run import make_model
    from xlrepro.papers.routing_nmt.settings import TranslationSettings

    settings = _settings("routing_nmt/table1", row, TranslationSettings, profile)
    sizes = dict(zip(settings.tasks, (30_000, 20, 100, 8_000), strict=False))
    targets = {name: SimpleNamespace(target=range(size)) for name, size in sizes.items()}
    data: Any = SimpleNamespace(source=range(30_000), tasks=targets)
    model = make_model(settings, data, 0).to(device).train()
    adam = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
    batch, length = settings.batch_size, 25
    source = torch.randint(4, 30_000, (batch, length), device=device)
    target = torch.randint(4, 18, (batch, length + 2), device=device)
    lengths = torch.full((batch,), length, device=device)

    def update(_: int) -> None:
        adam.zero_grad(set_to_none=True)
        for name in settings.tasks[:2]:  # a batch of translation, and one of another task
            (model.loss(name, source, lengths, target) / batch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        adam.step()

    return update, 2 * source.numel(), 0.0


def _language_model(table: str, row: str, device: str, profile: str) -> Update:
    from benchmarks.sense_alignment import invented_corpus
    from xlrepro.experiments import experiment
    from xlrepro.papers.sense_alignment.settings import LanguageModelSettings
    from xlrepro.papers.sense_alignment.training import Run
    from xlrepro.training.loop import fast_products

    trial, *_ = experiment(f"sense_alignment/{table}").trials(profile, [row], [0])
    model = trial.settings["model"]
    model["senses"] = model.get("senses", {}) | {"warmup_steps": 0, "warmup": "copied"}
    settings = LanguageModelSettings.model_validate(model)
    network, training = settings.network, settings.training
    words = (30_000 if profile == "paper" else 500) * (2 if settings.dictionary else 1)
    run = Run(settings, invented_corpus(words, settings, tokens=200_000), device)
    length = network.positions if network.family == "bert" else training.unroll

    def update(number: int) -> None:
        with fast_products(device):  # as its training does
            run.step(number)

    return update, training.streams * length, 0.0


def _bilingual(row: str, parts: int | None, device: str, profile: str) -> Update:
    import numpy as np

    from benchmarks.ramen import bilingual
    from xlrepro.encoders.subwords import Special
    from xlrepro.papers.ramen.adaptation import Stage, Text
    from xlrepro.papers.ramen.settings import EvaluationSettings

    adaptation = _settings("ramen/table1", row, EvaluationSettings, profile).adaptation
    stage = adaptation.bilingual
    if parts:
        stage = stage.model_copy(update={"accumulation": parts})
    layers, dim = (24, 1024) if "large" in row else (12, 768)
    if profile == "smoke":
        layers, dim = 1, 64
    sizes = {"en": 28_996, "fr": adaptation.vocabulary}
    model = bilingual(
        *sizes.values(), num_hidden_layers=layers, hidden_size=dim, intermediate_size=4 * dim,
        num_attention_heads=dim // 64,
    )  # fmt: skip
    drawn, special = np.random.default_rng(0), Special(0, 1, 2, 3, 4, 5)
    texts = {
        code: Text(drawn.integers(6, size, (720, stage.length)), special, size)
        for code, size in sizes.items()
    }
    run = Stage(model, texts, "all", "fr", stage, [0], device == "cuda", device)
    tokens = 2 * stage.sequences * stage.length
    # per token: the layers' matrices, attention, and the output layer of a seventh of all
    inner = layers * (12 * dim**2 + 2 * stage.length * dim) + 0.15 * dim * (sum(sizes.values()) / 2)
    return run.step, tokens, 6 * tokens * inner


# ---- trials


def word_order(device: str, quick: bool, folder: Path | None) -> Iterator[dict[str, Any]]:
    """Train Table 2's word block at the paper's sizes on packed vectors: does it bring +9.6?"""
    packed = sorted(folder.glob("word_order-*.npz")) if folder else []
    rows = ["word:ORT", "word:BiLSTM", "word:TRS", "word:RPT"]
    calls = [(str(path), row, seed, device) for seed in SEEDS for path in packed for row in rows]
    if quick:
        calls = calls[:1]
    yield from _in_turn(tagging, calls, 1 if quick else 8)


def tagging(path: str, row: str, seed: int, device: str) -> dict[str, Any]:
    """Train one tagger with the settings of ``paper`` on a packed set."""
    from xlrepro.papers.word_order.run import evaluated, trained
    from xlrepro.papers.word_order.settings import TaggingSettings
    from xlrepro.trials import TrialContext

    source = Prepared(Path(path))
    settings = _settings("word_order/table2", row, TaggingSettings)
    changes: dict[str, Any] = {"targets": source.languages[1:]}
    if source.quick:
        changes |= {"epochs": 1}
    settings = settings.model_copy(update=changes)
    said = {"part": "word-order", "vectors": Path(path).stem, "row": row, "seed": seed}
    context = TrialContext(device, partial(_note, said))
    tagger, curve = trained(settings, source, seed, context)  # type: ignore[arg-type]
    scores, _ = evaluated(tagger, settings, source, seed, device)  # type: ignore[arg-type]
    return {
        "vectors": Path(path).stem.partition("-")[2], "row": row, "seed": seed, "scores": scores,
        "dev": curve.dev_scores, "stopped": curve.stopped, "seconds": curve.seconds,
    }  # fmt: skip


class Prepared:
    """Sentences without their words: each is the number of a row of a table of vectors.

    It stands where a `Source` of part-of-speech trials stands.
    """

    task, vectors_name = "POS", "packed"

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._arrays as arrays:
            self.languages = tuple(arrays["languages"].tolist())
            self.quick = bool(arrays["quick"])

    @property
    def _arrays(self) -> Any:
        import numpy as np

        return np.load(self.path, allow_pickle=False)

    def sentences(self, language: str, split: str) -> list[Any]:
        """Return the sentences of a split; a token is the number of its vector."""
        import numpy as np

        from xlrepro.data.sentences import Sentence
        from xlrepro.tasks.tagging import UPOS

        with self._arrays as arrays:
            name = f"{language}/{split}"
            ends = np.cumsum(arrays[f"{name}/lengths"])[:-1]
            rows = np.split(arrays[f"{name}/rows"], ends)
            tags = np.split(arrays[f"{name}/tags"], ends)
        return [
            Sentence(tuple(map(str, r.tolist())), upos=tuple(UPOS.names[t] for t in n.tolist()))
            for r, n in zip(rows, tags, strict=True)
        ]

    @property
    def vectors(self) -> "Prepared":
        """The vectors: this."""
        return self

    @cached_property
    def _table(self) -> Any:
        with self._arrays as arrays:
            return arrays["table"].astype("float32")

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""
        return int(self._table.shape[1])

    def lookup(self, language: str, words: list[str]) -> tuple[Any, Any]:
        """Return the vectors of numbers, ``(n, dim)``, and that all are known."""
        import numpy as np

        return self._table[np.array(words, dtype=int)], np.ones(len(words), np.int8)


def routing(device: str, quick: bool, folder: Path | None) -> Iterator[dict[str, Any]]:
    """Train Table 1's four systems on 5,000 German pairs, as wide as the paper's."""
    profile, pair, changes = "open", "en-de-5k", {"model.hidden": 400}
    rows = ["MTL (Routing)", "NMT", "MTL (Full)", "MTL (Partial)"]
    if quick:
        profile, pair, changes, rows = "smoke", "en-vi", {"epochs": 1}, rows[:1]
    elif folder is None:
        return
    calls = [(row, profile, pair, changes, seed, device) for seed in SEEDS for row in rows]
    yield from _in_turn(translating, calls[:1] if quick else calls, 1 if quick else 4)


def translating(
    row: str, profile: str, pair: str, changes: dict[str, Any], seed: int, device: str
) -> dict[str, Any]:
    """Train one translation system; return its cells."""
    from xlrepro.experiments import experiment, task
    from xlrepro.trials import TrialContext

    trial, *_ = experiment("routing_nmt/table1").trials(
        profile, [f"translation:{row}"], [seed], {"parts": [pair], **changes}
    )
    said = {"part": "routing", "row": row, "seed": seed}
    context = TrialContext(device, partial(_note, said))
    result = task(trial.task).load()(trial, context)
    cells = {cell.column: cell.value for cell in result.cells}
    return {"row": row, "seed": seed, "cells": cells, "seconds": result.training_seconds}


def ramen(device: str, quick: bool, folder: Path | None) -> Iterator[dict[str, Any]]:
    """Adapt the small English model to French, at a hundred times the updates of `open`.

    Held-out subwords are named at each look, percent; the log of `open`, of the same ones, comes
    first. Inference in French is scored before, between and after the stages.
    """
    import numpy as np
    import torch

    from benchmarks.ramen import bilingual
    from xlrepro.encoders.subwords import Special
    from xlrepro.papers.ramen import adaptation
    from xlrepro.papers.ramen.settings import EvaluationSettings
    from xlrepro.training.loop import mean_loss

    with tempfile.TemporaryDirectory() as cache:
        _settle(cache)
        path = (folder or Path(cache)) / "ramen.npz"
        if folder is None:
            pack_adaptation(path, "smoke")
        with np.load(path, allow_pickle=False) as arrays:
            packed = dict(arrays)
        about = json.loads(str(packed["about"]))
        settings = _settings("ramen/table1", ADAPTED, EvaluationSettings, about["profile"])
        made = settings.adaptation
        texts, held_out = {}, {}
        for code, special in about["special"].items():
            begin, size = Special(*special), len(packed[f"model/sides.{code}.bias"])
            rows = adaptation.sequences(packed[code], begin.begin, made.bilingual.length)
            texts[code] = adaptation.Text(rows[made.held_out :], begin, size)
            held_out[code] = adaptation.Text(rows[: made.held_out], begin, size)
        model = bilingual(*(text.vocabulary for text in texts.values()), **about["sizes"])
        weights = {k[6:]: v for k, v in packed.items() if k.startswith("model/")}
        model.load_state_dict({k: torch.from_numpy(v).float() for k, v in weights.items()})

        def percent(found: list[int]) -> float:
            return 100 * found[0] / found[1]

        def named() -> float:
            return percent(adaptation.accuracy(model, "fr", held_out["fr"], device))

        yield {
            "stage": "start", "accuracy": named(),
            "unigram": percent(adaptation.unigram_accuracy(texts["fr"], held_out["fr"])),
            "log": about["log"],
            "sequences": {code: len(text.sequences) for code, text in texts.items()},
        }  # fmt: skip
        yield {"stage": "start"} | zero_shot(model, packed, settings.head, "start", device, quick)
        stages = (("embeddings", "embeddings", ("fr",)), ("all", "bilingual", ("fr", "en")))
        for number, (what, name, languages) in enumerate(stages, start=2):
            stage = getattr(made, name)
            if not quick:
                longer = ("updates", "warmup_steps")
                stage = stage.model_copy(update={k: TIMES * getattr(stage, k) for k in longer})
            updates = QUICK_UPDATES if quick else stage.updates
            every = updates if quick else -(-updates // LOOKS)
            read = {code: texts[code] for code in languages}
            key = [made.seed, number]
            tuning = adaptation.Stage(model, read, what, "fr", stage, key, device=device)
            for first in range(0, updates, every):
                began = time.perf_counter()
                done = [tuning.step(update) for update in range(first, min(first + every, updates))]
                tokens = len(done) * len(read) * stage.sequences * stage.length
                rate = tokens / (time.perf_counter() - began)
                yield {
                    "stage": name, "updates": first + len(done), "tokens_per_second": rate,
                    "loss": mean_loss(done[-max(1, updates // 10) :]), "accuracy": named(),
                }  # fmt: skip
            yield {"stage": name} | zero_shot(model, packed, settings.head, name, device, quick)


def zero_shot(
    model: Any, packed: Mapping[str, Any], how: Any, stage: str, device: str, quick: bool
) -> dict[str, float]:
    """Return the accuracy of inference in French by a head trained on English, and on its dev set.

    Args:
        model: the bilingual model.
        packed: pairs as subwords.
        how: the head's settings.
        stage: that the model has gone through: its states are kept by that name.
        device: where to compute.
        quick: whether a few pairs are enough.
    """
    import numpy as np

    from xlrepro.encoders.pretrained import Encoder
    from xlrepro.papers.ramen import heads

    unread: Any = None  # words: they have been split

    def examples(language: str, split: str) -> heads.Examples:
        name, side = f"{language}/{split}", model.side(language).embeddings
        encoder = Encoder(f"{stage} {language}", model.encoder, unread, side, device)
        ends = np.cumsum(packed[f"{name}/lengths"])[:-1]
        ids, reads = (np.split(packed[f"{name}/{each}"], ends) for each in ("ids", "read"))
        pairs = len(ids) // 2  # premises, then hypotheses
        most = QUICK_PAIRS if quick else pairs
        both = [*range(pairs)[:most], *range(pairs, 2 * pairs)[:most]]
        found = [(ids[i].tolist(), np.flatnonzero(reads[i]).tolist()) for i in both]
        texts = heads.Texts(encoder, *zip(*found), np.arange(len(both)), frozen=True, mean=True)
        return heads.Examples(texts, packed[f"{name}/gold"][:most].tolist())

    train, dev = examples("en", "train"), examples("en", "dev")
    head = heads.Classifier(train, how, 0, device)
    fitted = heads.fit(head, head.module, train, dev, how, 0, lambda fraction, text: None)
    right = head.right(examples("fr", "test"))["accuracy"]
    return {"inference": heads.percent(right), "english_dev": max(fitted.dev_scores)}


def _note(said: dict[str, Any], fraction: float, text: str) -> None:
    """Keep a training's dev score: one that its limit cuts off has said something all the same."""
    if (kept := os.environ.get(KEPT)) and text.startswith("dev"):
        _write(Path(kept), said | {"done": round(fraction, 3), "score": text})


def _in_turn(
    function: Callable[..., dict[str, Any]], calls: list[tuple[Any, ...]], jobs: int
) -> Iterator[dict[str, Any]]:
    """Yield what calls return, in processes, as each is done; the first ones begin first."""
    with tempfile.TemporaryDirectory() as cache, _pool(jobs, cache) as pool:
        waiting = {pool.submit(function, *call): call for call in calls}
        for future in as_completed(waiting):
            try:
                yield future.result()
            except Exception as error:
                yield {"call": list(map(str, waiting[future])), "error": _reason(error)}


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]


def _pool(jobs: int, cache: str) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_settle, initargs=(cache,))


def _settle(cache: str) -> None:
    os.environ |= {"XLREPRO_DATA": f"{cache}/data", "XLREPRO_BUILD": f"{cache}/build"}
    import torch

    torch.set_num_threads(1)


PARTS = {
    "models": Part(60, models),
    "speed": Part(120, speed),
    "compiled": Part(100, compiled),
    "steps": Part(80, steps),
    "word-order": Part(160, word_order),
    "routing": Part(70, routing),
    "ramen": Part(590, ramen),
}
TOGETHER = [name for name in PARTS if name != "ramen"]  # which has ten minutes of its own


# ---- here: what travels


def pack(
    folder: Path,
    profile: str = "open",
    only: tuple[str, ...] = ("packages", "word-order", "routing"),
) -> float:
    """Write what travels into a folder, and return its weight with the project's own files, MiB."""
    folder.mkdir(parents=True, exist_ok=True)
    if "packages" in only:
        site = folder / "site"
        call = [sys.executable, "-m", "pip", "-q", "install", "--no-deps", "--no-compile"]
        call += ["--upgrade", f"--python-version={PYTHON}", "--only-binary=:all:"]
        call += ["-c", "constraints.txt", "--target", str(site)]
        subprocess.run([*call, *(OF_RAMEN if "ramen" in only else PACKAGES)], check=True)
        for file in () if "ramen" in only else distribution(COPIED).files or ():
            if file.suffix != ".pyc":
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), site / file)
    if "word-order" in only:
        for vectors in list(VECTORS)[:1] if profile == "smoke" else VECTORS:
            pack_tagging(folder / f"word_order-{vectors}.npz", vectors, profile)
    if "ramen" in only:
        pack_adaptation(folder / "ramen.npz", profile)
    if "routing" in only and profile != "smoke":
        mirror = Path(os.environ["XLREPRO_MIRROR"])
        for file in (file for pattern in CORPORA for file in mirror.glob(pattern)):
            if file.is_file():
                to = folder / "mirror" / file.relative_to(mirror)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, to)
    files = (path for root in (folder, *map(Path, TREE)) for path in root.rglob("*"))
    kept = (path for path in files if path.is_file() and "__pycache__" not in path.parts)
    return sum(path.stat().st_size for path in kept) / 2**20


def pack_tagging(path: Path, vectors: str, profile: str) -> None:
    """Write what Table 2's word block reads: rows of a table of vectors, tags, and the table."""
    import numpy as np

    from xlrepro.experiments import experiment
    from xlrepro.papers.word_order.settings import TaggingSettings
    from xlrepro.tasks.source import Source
    from xlrepro.tasks.tagging import UPOS

    trial, *_ = experiment("word_order/table2").trials(profile, ["word:ORT"], [0])
    settings = trial.typed(TaggingSettings)
    targets = tuple(code for code in VECTORS[vectors] if code in settings.targets)
    source = Source.of(settings.model_copy(update={"vectors": vectors, "targets": targets}), "POS")
    numbers_of: dict[bytes, int] = {}
    arrays: dict[str, Any] = {
        "languages": np.array(source.languages),
        "quick": np.array(profile == "smoke"),
    }
    for language in source.languages:
        for split in ("train", "dev", "test") if language == settings.source else ("test",):
            sentences = source.sentences(language, split)
            words = list(dict.fromkeys(word for s in sentences for word in s.tokens))
            matrix, _ = source.vectors.lookup(language, words)
            halves = np.asarray(matrix).astype(np.float16)
            row_of = {
                word: numbers_of.setdefault(half.tobytes(), len(numbers_of))
                for word, half in zip(words, halves, strict=True)
            }
            name = f"{language}/{split}"
            arrays[f"{name}/lengths"] = np.array([len(s.tokens) for s in sentences], np.uint16)
            arrays[f"{name}/rows"] = np.array(
                [row_of[w] for s in sentences for w in s.tokens], np.int32
            )
            arrays[f"{name}/tags"] = np.array(
                [UPOS.number(t) for s in sentences for t in s.upos or ()], np.int8
            )
    arrays["table"] = np.frombuffer(b"".join(numbers_of), np.float16).reshape(len(numbers_of), -1)
    np.savez_compressed(path, **arrays)


def pack_adaptation(path: Path, profile: str) -> None:
    """Write what RAMEN's adaptation reads: a model before it, text and labelled pairs as subwords.

    Weights are those of `open` before any update, in half precision, and the subwords are its own;
    its text is the beginning of what travels.
    """
    import numpy as np
    import torch

    from xlrepro.papers.ramen import adaptation, data
    from xlrepro.papers.ramen.run import encoders, examples
    from xlrepro.papers.ramen.settings import EvaluationSettings

    settings = _settings("ramen/table1", ADAPTED, EvaluationSettings, profile)
    made = settings.adaptation
    start = torch.load(adaptation.folder(made, "fr") / "start.pt", weights_only=True)
    arrays = {f"model/{name}": weight.numpy().astype(np.float16) for name, weight in start.items()}
    more = made if profile == "smoke" else made.model_copy(update={"words": TEXT_WORDS})
    special = {}
    for code in ("en", "fr"):
        split = adaptation.subwords_in(made, code)
        numbers = adaptation.stream(data.words(more, code), split)
        arrays[code], special[code] = np.fromiter(numbers, np.uint16), split.special
    read = encoders(settings, "fr", "start")
    for code, part in (("en", "train"), ("en", "dev"), ("fr", "test")):
        texts, gold = examples(settings, read, code, part)
        ids, reads = ([each[i] for i in texts.place] for each in (texts.ids, texts.reads))
        name = f"{code}/{part}"
        arrays[f"{name}/gold"] = np.array(gold, np.int8)
        arrays[f"{name}/lengths"] = np.array(list(map(len, ids)), np.uint16)
        arrays[f"{name}/ids"] = np.concatenate(ids).astype(np.uint16)
        arrays[f"{name}/read"] = np.concatenate(
            [np.isin(np.arange(len(row)), places) for row, places in zip(ids, reads, strict=True)]
        )
    log, config = adaptation.logs(made, "fr"), read("en").model.config
    sizes = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
             "max_position_embeddings", "type_vocab_size")  # fmt: skip
    about = {
        "profile": profile, "special": special, "sizes": {s: getattr(config, s) for s in sizes},
        "log": {stage: log[stage] for stage in ("start", "embeddings", "end")},
    }  # fmt: skip
    np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)


# ---- there: part after part


def run(folder: Path | None, out: Path, device: str, quick: bool, only: list[str]) -> None:
    """Run the parts, each in a process of its own, and append their results to a file."""
    out.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {KEPT: str(out.resolve())}
    if folder is not None:
        paths = [str(folder.resolve() / "site"), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        environment["XLREPRO_MIRROR"] = str(folder.resolve() / "mirror")
    for name in only:
        command = [
            sys.executable,
            "-m",
            "benchmarks.gpu",
            "part",
            name,
            "--device",
            device,
            "--out",
            str(out),
        ]
        command += ["--quick"] * quick + (["--folder", str(folder)] if folder else [])
        began = time.monotonic()
        part = subprocess.Popen(command, env=environment, start_new_session=True)
        try:
            status = str(part.wait(QUICK_SECONDS if quick else PARTS[name].seconds))
        except subprocess.TimeoutExpired:
            status = "killed at its limit"
        finally:
            if part.poll() is None:
                os.killpg(part.pid, signal.SIGKILL)  # its own processes too
                part.wait()
        _write(out, {"part": name, "ended": status, "seconds": round(time.monotonic() - began, 1)})


def _write(out: Path, result: Mapping[str, Any]) -> None:
    line = json.dumps(result, default=str)
    print(line, flush=True)
    with (out / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Pack or run; return the exit status."""
    from xlrepro.machine import GPU_FILES

    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.do == "pack":
        if "routing" in chosen.only and "XLREPRO_MIRROR" not in os.environ:
            parser.error("set XLREPRO_MIRROR to the folder with the corpora that translations read")
        weight = pack(chosen.folder, chosen.profile, tuple(chosen.only))
        refused = ": too heavy, leave something out" if weight > LIMIT_MIB else ""
        print(f"{chosen.folder} and {', '.join(TREE)}: {weight:.1f} MiB of {LIMIT_MIB}{refused}")
        return int(weight > LIMIT_MIB)
    if chosen.do == "part":
        for result in PARTS[chosen.name].results(chosen.device, chosen.quick, chosen.folder):
            _write(chosen.out, {"part": chosen.name} | result)
        return 0
    if chosen.folder is not None and not chosen.folder.is_dir():
        parser.error(f"there is no folder {chosen.folder}: `pack` writes it")
    if chosen.device == "cuda" and not any(map(os.path.exists, GPU_FILES)):
        parser.error("this machine has no GPU: --device cpu --quick tries all parts without one")
    trained = {"word-order", "routing", "ramen"} & {*chosen.only}
    if chosen.folder is None and not chosen.quick and trained:
        parser.error("the trainings need the FOLDER that `pack` writes")
    if chosen.folder and "ramen" in trained and not (chosen.folder / "ramen.npz").is_file():
        parser.error(f"{chosen.folder} has no ramen.npz: `pack --only packages ramen` writes it")
    run(chosen.folder, chosen.out, chosen.device, chosen.quick, chosen.only)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="do", required=True)
    packing = commands.add_parser("pack", help="write what travels into a folder")
    packing.add_argument("folder", type=Path)
    packing.add_argument("--profile", choices=["open", "smoke"], default="open")
    whole = ["packages", "word-order", "routing"]
    packing.add_argument("--only", nargs="+", choices=[*whole, "ramen"], default=whole)
    running = commands.add_parser("run", help="run all parts but ramen")
    running.add_argument("folder", type=Path, nargs="?")
    running.add_argument("--only", nargs="+", choices=list(PARTS), default=TOGETHER)
    one = commands.add_parser("part", help="run one part without a limit")
    one.add_argument("name", choices=list(PARTS))
    one.add_argument("--folder", type=Path)
    for command in (running, one):
        command.add_argument("--out", type=Path, default=Path("build/gpu"))
        command.add_argument("--device", default="cuda")
        command.add_argument("--quick", action="store_true", help="try it in seconds")
    return parser


if __name__ == "__main__":
    sys.exit(main())
