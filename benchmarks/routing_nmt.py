"""The routed unit beside the same unit cell by cell; greedy decoding in a batch and one by one.

torch's GRU does the same number of products without a router, its steps fused in C++.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.timing import Result, beside_peer, interleaved_medians, torch_threads
from xlrepro.papers.routing_nmt.model import END, PAD, START, MultiTaskModel
from xlrepro.papers.routing_nmt.recurrent import RoutedUnit, next_states, scan

BATCH, LENGTH, WIDTH, SHARED = 32, 30, 400, 3
REPETITIONS = 8
VOCABULARY, SENTENCES, PIECES, TASK = 4_000, 64, 20, "translation"


def cell_by_cell(unit: RoutedUnit, x: Tensor) -> Tensor:
    """Return h_t of every step, ``(length, batch, 2 * width)``, as one would first write it."""
    cells = [(unit.shared, i) for i in range(SHARED)] + [(unit.own[TASK], 0)]
    states = [x.new_zeros(1, x.shape[1], WIDTH) for _ in cells]
    h, outputs = x.new_zeros(x.shape[1], 2 * WIDTH), []
    for word in x:
        tau = unit.router_output((unit.router_input(word) + unit.router_state(h)).tanh()).softmax(
            -1
        )
        inputs = [word * tau[:, i : i + 1] for i in range(SHARED)] + [word]
        states = [
            next_states(
                (given @ part.input_weight[i] + part.bias[i]).unsqueeze(0),
                state,
                part.recurrent_weight[i : i + 1],
            )
            for (part, i), given, state in zip(cells, inputs, states, strict=True)
        ]
        shared = sum(tau[:, i : i + 1] * states[i][0] for i in range(SHARED))
        h = torch.cat((shared, states[-1][0]), -1)
        outputs.append(h)
    return torch.stack(outputs)


def measure(device: str, threads: int) -> list[Result]:
    """Time the unit forward and backward, and decoding in a batch and one by one."""
    torch.manual_seed(0)
    with torch_threads(threads):
        return [*_unit(device, threads), *_decoding(device, threads)]


def _unit(device: str, threads: int) -> list[Result]:
    unit = RoutedUnit(WIDTH, WIDTH, SHARED, (TASK,)).to(device)
    torchs = nn.ModuleList(nn.GRU(WIDTH, WIDTH) for _ in range(SHARED + 1)).to(device)
    x = torch.randn(LENGTH, BATCH, WIDTH, device=device)
    with torch.no_grad():
        assert torch.allclose(scan(unit.tied(TASK), x)[0], cell_by_cell(unit, x), atol=1e-5)

    def timed(module: nn.Module, forward: Callable[[], Tensor]) -> Callable[[], None]:
        def run() -> None:
            module.zero_grad(set_to_none=True)
            forward().sum().backward()

        return run

    medians = interleaved_medians(
        {
            "unit": timed(unit, lambda: scan(unit.tied(TASK), x)[0]),
            "cells": timed(unit, lambda: cell_by_cell(unit, x)),
            "torch": timed(torchs, lambda: torch.cat([gru(x)[0] for gru in torchs])),
        },
        REPETITIONS,
        device,
        warmup=1,
    )
    case = f"{BATCH} × {LENGTH} tokens, {SHARED} + 1 blocks of {WIDTH}, forward and backward"
    run_on = (device, threads, REPETITIONS)
    version = torch.__version__.split("+")[0]
    peers = [("cells", "cell by cell"), ("torch", f"torch {version}, {SHARED + 1} GRUs, no router")]
    return [beside_peer("routed unit", case, medians, peer, run_on, "unit", None) for peer in peers]


def _decoding(device: str, threads: int) -> list[Result]:
    model = MultiTaskModel(VOCABULARY, {TASK: VOCABULARY}, None, WIDTH, 0.0)
    model = model.to(device).eval()
    source = torch.randint(4, VOCABULARY, (SENTENCES, PIECES), device=device)
    lengths = torch.full((SENTENCES,), PIECES, device=device)
    limits = [PIECES] * SENTENCES

    def one_by_one() -> None:
        for i in range(SENTENCES):
            model.greedy(TASK, source[i : i + 1], lengths[i : i + 1], limits[i : i + 1])

    assert model.greedy(TASK, source, lengths, limits) == as_joeynmt(model, source, lengths)
    medians = interleaved_medians(
        {
            "batch": lambda: model.greedy(TASK, source, lengths, limits),
            "single": one_by_one,
            "joeynmt": lambda: as_joeynmt(model, source, lengths),
        },
        3,
        device,
        warmup=1,
    )

    def beside(peer: str, label: str) -> Result:
        return Result(
            benchmark="greedy decoding",
            case=f"{SENTENCES} sentences of {PIECES} subwords, routed units of {WIDTH}",
            device=device,
            threads=threads,
            value=SENTENCES / medians["batch"],
            unit="sentences/s",
            repetitions=3,
            peer=label,
            peer_value=SENTENCES / medians[peer],
            ratio=medians[peer] / medians["batch"],
            tokens_per_second=SENTENCES * PIECES / medians["batch"],
        )

    return [
        beside("single", "one sentence at a time"),
        beside("joeynmt", "in a batch as joeynmt does it, keys projected at each step"),
    ]


@torch.inference_mode()
def as_joeynmt(model: MultiTaskModel, source: Tensor, lengths: Tensor) -> list[list[int]]:
    """Decode with our weights the way joeynmt's recurrent greedy search goes about it.

    It calls its decoder for one step at a time, which projects all attention keys anew, and the
    step's input is the last word beside the context.
    """
    memory, decoder = model.encode(TASK, source, lengths), model.decoder
    readout, unit = model.readout(TASK), decoder.unit.tied(TASK)
    state = unit.start(memory.states, 0)
    last, found = torch.full_like(lengths, START), []
    for _ in range(PIECES):
        keys, query = decoder.key(memory.states), decoder.query
        hidden = (keys + query(state.output).unsqueeze(1)).tanh()
        energies = (hidden @ decoder.weight[0]).masked_fill(~memory.mask, -torch.inf)
        context = torch.bmm(energies.softmax(-1).unsqueeze(1), memory.states).squeeze(1)
        word = readout.embedding(last)
        given = unit.project(torch.cat((word, context), -1).unsqueeze(0))[0]
        state = unit.step(given, state)
        scores = readout(state.output, context, word)
        scores[:, PAD] = scores[:, START] = -torch.inf
        last = scores.argmax(-1)
        found.append(last)
    rows = torch.stack(found, 1).tolist()
    return [row[: row.index(END)] if END in row else row for row in rows]
