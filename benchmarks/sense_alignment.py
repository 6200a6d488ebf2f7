"""Steps of sense-aware language models against the plain ones'; the biLM's LSTM against torch's.

Whole training steps on random text: forward, backward, clipping, both optimisers, and what senses
add: choice, centres, queue. Both draw as many negatives.
"""

from collections.abc import Callable
from itertools import count

import numpy as np
import torch
from torch import nn

from benchmarks.timing import Result, beside_peer, interleaved_medians, torch_threads
from xlrepro.experiments import experiment
from xlrepro.papers.sense_alignment.network import ProjectedLSTM
from xlrepro.papers.sense_alignment.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.text import SPECIAL, Corpus
from xlrepro.papers.sense_alignment.training import Run

PLAIN = {"SaELMo": "ELMo", "SaBERT-Tiny": "BERT-Tiny", "Bi-SaELMo": "Joint-ELMo"}
ROWS = {  # whose language model
    **{name: ("table2", f"wsd:{name}") for name in ("ELMo", "SaELMo", "BERT-Tiny", "SaBERT-Tiny")},
    **{name: ("table3", f"main:{name}") for name in ("Joint-ELMo", "Bi-SaELMo")},
}
# model, words of the vocabulary, negatives (None: the full softmax), largest cost of its step
CASES = (
    ("SaELMo", 10_000, 2048, 1.15),  # as at open
    ("SaELMo", 30_000, 8192, 1.15),
    ("SaELMo", 4_000, None, None),
    ("Bi-SaELMo", 20_000, 2048, 1.15),  # as at open; three words of four have translations
    # The plain BERT's word vectors are its output, of which none is left out.
    ("SaBERT-Tiny", 10_000, 2048, None),
)
TRANSLATIONS = 4  # of a word there are fewer
REPETITIONS = {"cpu": 7, "cuda": 20}
TARGET = "at most {} times the plain model's step"


def measure(device: str, threads: int) -> list[Result]:
    """Time steps at the open profile's sizes, and the LSTM alone."""
    with torch_threads(threads):
        results = [_step(device, threads, *case) for case in CASES]
        return [*results, _lstm(device, threads)]


def _step(
    device: str, threads: int, name: str, words: int, negatives: int | None, limit: float | None
) -> Result:
    plain = PLAIN[name]
    runs = {each: _stepper(settings_of(each, negatives), words, device) for each in (plain, name)}
    repetitions = REPETITIONS[device] if negatives else 3
    medians = interleaved_medians(runs, repetitions, device, warmup=2)
    cost = medians[name] / medians[plain]
    settings = settings_of(name, negatives)
    network, training = settings.network, settings.training
    read = training.streams * (network.positions if network.family == "bert" else training.unroll)
    drawn = "full softmax" if negatives is None else f"{negatives:,} negatives"
    return Result(
        benchmark=f"sense-aware training step, {name}",
        case=f"{words:,} words, {settings.senses.senses} senses, {drawn}",
        device=device,
        threads=threads,
        value=1e3 * medians[name],
        unit="ms",
        repetitions=repetitions,
        peer=f"plain step, {plain}",
        peer_value=1e3 * medians[plain],
        ratio=1 / cost,
        target=None if limit is None else TARGET.format(limit),
        met=None if limit is None else cost <= limit,
        tokens_per_second=read / medians[name],
    )


def settings_of(name: str, negatives: int | None, profile: str = "open") -> LanguageModelSettings:
    """Return settings without a warm-up, so that senses are chosen from the first step."""
    table, row = ROWS[name]
    trial, *_ = experiment(f"sense_alignment/{table}").trials(profile, [row], seeds=[0])
    values = trial.settings["model"]
    values["senses"] = values.get("senses", {}) | {
        "warmup_steps": 0,
        "warmup": "copied",
        "negatives": negatives,
    }
    return LanguageModelSettings.model_validate(values)


def invented_corpus(words: int, settings: LanguageModelSettings, tokens: int = 60_000) -> Corpus:
    """Return random sentences of Zipfian words, with a dictionary if asked."""
    random = np.random.default_rng(0)
    names = [*SPECIAL, *(f"word{i}" for i in range(words))]
    chances = 1 / (np.arange(words) + 2.7)
    drawn = random.choice(words, tokens, p=chances / chances.sum()) + len(SPECIAL)
    sentences = list(drawn.astype(np.int32).reshape(-1, 20))
    if not settings.dictionary:
        return Corpus.of(names, len(names), sentences)
    # shape: (words and special ones, TRANSLATIONS), -1 behind a word's own
    table = random.integers(len(SPECIAL), len(names), (len(names), TRANSLATIONS))
    table[np.arange(TRANSLATIONS) >= random.integers(TRANSLATIONS, size=(len(names), 1))] = -1
    return Corpus.of(names, len(names), sentences, translations=torch.from_numpy(table))


def _stepper(settings: LanguageModelSettings, words: int, device: str) -> Callable[[], object]:
    run, numbers = Run(settings, invented_corpus(words, settings), device), count()
    return lambda: run.step(next(numbers))


def _lstm(device: str, threads: int) -> Result:
    """Time both directions of a layer against two layers of torch's own with a projection."""
    settings = settings_of("ELMo", 2048)
    sizes, training = settings.network, settings.training
    assert sizes.family == "bilm"
    torch.manual_seed(0)
    x = torch.randn(2, training.streams, training.unroll, sizes.dim, device=device)
    ours = ProjectedLSTM(sizes.dim, sizes.cells, sizes.dim).to(device)
    theirs = nn.ModuleList(
        nn.LSTM(sizes.dim, sizes.cells, proj_size=sizes.dim, batch_first=True) for _ in range(2)
    ).to(device)

    def run_ours() -> None:
        ours(x)[0].sum().backward()

    def run_theirs() -> None:
        torch.stack([layer(part)[0] for layer, part in zip(theirs, x)]).sum().backward()

    medians = interleaved_medians(
        {"ours": run_ours, "torch": run_theirs}, 3 * REPETITIONS[device], device, warmup=3
    )
    return beside_peer(
        "projected LSTM with clips, forward and backward",
        f"2 directions, {sizes.cells} cells, {training.streams} x {training.unroll} words",
        medians,
        ("torch", f"torch {torch.__version__} nn.LSTM, without clips"),
        (device, threads, 3 * REPETITIONS[device]),
        tokens=training.streams * training.unroll,
    )
