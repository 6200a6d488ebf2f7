"""The routed unit beside a plain loop over GRU cells and torch's own GRU; greedy decoding.

torch's GRU does the same number of products without a router, its steps fused in C++. The bound of
what any unit can reach are the products alone: at a width of 400 most of the time goes into them.
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from benchmarks.timing import Result, beside_peer, interleaved_medians, torch_threads
from xlrepro.papers.routing_nmt.decoding import greedy
from xlrepro.papers.routing_nmt.gru_blocks import ResetGate
from xlrepro.papers.routing_nmt.model import END, PAD, START, MultiTaskModel, Routed, Sizes
from xlrepro.papers.routing_nmt.routed_unit import RoutedUnit

BATCH, LENGTH, WIDTH, SHARED = 32, 30, 400, 3
REPETITIONS = 8
TARGETS = {"cpu": 2.5, "cuda": 5.0}  # asked of the unit, on the processor with two threads
GATES: dict[ResetGate, str] = {
    "after": "after its product, as in torch's cells",
    "before": "before its product, as in the trials",
}
VOCABULARY, SENTENCES, PIECES, TASK = 4_000, 64, 20, "translation"


class LoopOverCells(nn.Module):
    """The same unit step by step and block by block, as one would first write it."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.ModuleList(nn.GRUCell(WIDTH, WIDTH) for _ in range(SHARED + 1))
        self.router_input = nn.Linear(WIDTH, WIDTH)
        self.router_state = nn.Linear(2 * WIDTH, WIDTH, bias=False)
        self.router_output = nn.Linear(WIDTH, SHARED)

    def forward(self, x: Tensor) -> Tensor:
        """Return h_t of every step, ``(length, batch, 2 * width)``."""
        states = [x.new_zeros(x.shape[1], WIDTH) for _ in self.cells]
        unit, outputs = x.new_zeros(x.shape[1], 2 * WIDTH), []
        for word in x:
            s = (self.router_input(word) + self.router_state(unit)).tanh()
            tau = self.router_output(s).softmax(-1)
            inputs = [word * tau[:, i : i + 1] for i in range(SHARED)] + [word]
            states = [c(i, h) for c, i, h in zip(self.cells, inputs, states, strict=True)]
            shared = sum(tau[:, i : i + 1] * states[i] for i in range(SHARED))
            unit = torch.cat((shared, states[-1]), -1)
            outputs.append(unit)
        return torch.stack(outputs)


def with_weights_of(loop: LoopOverCells, reset_gate: ResetGate = "after") -> RoutedUnit:
    """Return the fused unit with the loop's weights; torch's cells have the gate "after"."""
    unit = RoutedUnit(WIDTH, WIDTH, SHARED, ("task",), WIDTH, reset_gate)
    own = unit.own["task"]
    with torch.no_grad():
        for number, cell in enumerate(loop.cells):
            part, row = (unit.shared, number) if number < SHARED else (own, 0)
            cell.bias_hh.zero_()
            part.input_weight[row] = cell.weight_ih.T
            part.recurrent_weight[row] = cell.weight_hh.T
            part.bias[row, 0] = cell.bias_ih
    for name in ("router_input", "router_state", "router_output"):
        getattr(unit, name).load_state_dict(getattr(loop, name).state_dict())
    return unit


def measure(device: str, threads: int) -> list[Result]:
    """Time the unit forward and backward, and decoding in a batch and one by one."""
    torch.manual_seed(0)
    with torch_threads(threads):
        return [*_unit(device, threads), *_decoding(device, threads)]


def _medians_of_unit(device: str) -> dict[str, float]:
    """Return the seconds of the unit, with either reset gate, and of its peers."""
    loop = LoopOverCells().to(device)
    unit, as_trained = (with_weights_of(loop, gate).to(device) for gate in GATES)
    torchs = nn.ModuleList(nn.GRU(WIDTH, WIDTH) for _ in range(SHARED + 1)).to(device)
    x = torch.randn(LENGTH, BATCH, WIDTH, device=device)
    with torch.no_grad():
        assert torch.allclose(unit.tied("task").scan(x)[0], loop(x), atol=1e-5)

    def timed(module: nn.Module, forward: Callable[[], Tensor]) -> Callable[[], None]:
        def run() -> None:
            module.zero_grad(set_to_none=True)
            forward().sum().backward()

        return run

    return interleaved_medians(
        {
            "after": timed(unit, lambda: unit.tied("task").scan(x)[0]),
            "before": timed(as_trained, lambda: as_trained.tied("task").scan(x)[0]),
            "loop": timed(loop, lambda: loop(x)),
            "torch": timed(torchs, lambda: torch.cat([gru(x)[0] for gru in torchs])),
            "products": products_alone(device),
        },
        REPETITIONS,
        device,
        warmup=1,
    )


def _unit(device: str, threads: int) -> list[Result]:
    medians = _medians_of_unit(device)
    asked = None if (device, threads) == ("cpu", 1) else TARGETS[device]
    case = f"{BATCH} × {LENGTH} tokens, {SHARED} + 1 blocks of {WIDTH}, forward and backward"

    def beside(peer: str, label: str, wanted: float | None, gate: ResetGate = "after") -> Result:
        run_on = (device, threads, REPETITIONS)
        told = f"{case}, reset gate {GATES[gate]}"
        return beside_peer("routed unit", told, medians, (peer, label), run_on, gate, wanted)

    return [
        beside("loop", "a loop over torch's GRU cells", asked),
        beside("loop", "a loop over torch's GRU cells", None, "before"),
        beside("torch", f"torch {torch.__version__.split('+')[0]}, {SHARED + 1} GRUs", None),
        beside("products", "its matrix products alone: the bound", None),
        replace(
            beside("loop", "a loop over torch's GRU cells", None),
            benchmark="matrix products alone: the most that any unit could reach",
            value=1e3 * medians["products"],
            ratio=medians["loop"] / medians["products"],
        ),
    ]


def products_alone(device: str) -> Callable[[], None]:
    """Return what does the blocks' products of one run, forward and back, and nothing else."""
    blocks, rows = SHARED + 1, LENGTH * BATCH

    def some(*shape: int) -> Tensor:
        return torch.randn(*shape, device=device)

    x, inputs = some(rows, WIDTH), some(WIDTH, blocks * 3 * WIDTH)
    of_inputs, of_gates = some(rows, blocks * 3 * WIDTH), some(blocks, BATCH, 3 * WIDTH)
    state, recurrent = some(blocks, BATCH, WIDTH), some(blocks, WIDTH, 3 * WIDTH)
    states, of_all = some(blocks, rows, WIDTH), some(blocks, rows, 3 * WIDTH)

    def run() -> None:
        torch.mm(x, inputs)
        for _ in range(LENGTH):
            torch.bmm(state, recurrent)
        for _ in range(LENGTH):
            torch.bmm(of_gates, recurrent.mT)
        torch.bmm(states.mT, of_all)
        torch.mm(x.T, of_inputs)

    return run


def _decoding(device: str, threads: int) -> list[Result]:
    sizes = Sizes(WIDTH, WIDTH, WIDTH, WIDTH, dropout=0.0)
    model = MultiTaskModel(VOCABULARY, {TASK: VOCABULARY}, Routed(SHARED), sizes)
    model = model.to(device).eval()
    source = torch.randint(4, VOCABULARY, (SENTENCES, PIECES), device=device)
    lengths = torch.full((SENTENCES,), PIECES, device=device)
    limits = [PIECES] * SENTENCES

    def one_by_one() -> None:
        for i in range(SENTENCES):
            greedy(model, TASK, source[i : i + 1], lengths[i : i + 1], limits[i : i + 1])

    assert greedy(model, TASK, source, lengths, limits) == as_joeynmt(model, source, lengths)
    medians = interleaved_medians(
        {
            "batch": lambda: greedy(model, TASK, source, lengths, limits),
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
            case=f"{SENTENCES} sentences of {PIECES} pieces, routed units of {WIDTH}",
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
    state = unit.start(memory.states)
    last, found = torch.full_like(lengths, START), []
    for _ in range(PIECES):
        keys, query = decoder.attention.key(memory.states), decoder.attention.query
        hidden = (keys + query(unit.output(state)).unsqueeze(1)).tanh()
        energies = (hidden @ decoder.attention.weight[0]).masked_fill(~memory.mask, -torch.inf)
        context = torch.bmm(energies.softmax(-1).unsqueeze(1), memory.states).squeeze(1)
        word = readout.embedding(last)
        given = unit.project(torch.cat((word, context), -1).unsqueeze(0))[0]
        state = unit.step(given, state)
        scores = readout(unit.output(state), context, word)
        scores[:, PAD] = scores[:, START] = -torch.inf
        last = scores.argmax(-1)
        found.append(last)
    rows = torch.stack(found, 1).tolist()
    return [row[: row.index(END)] if END in row else row for row in rows]
