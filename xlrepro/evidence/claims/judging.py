"""The verdict on a claim, computed from reported or from reproduced numbers.

On reproduced numbers the verdict is the share of draws (`xlrepro.evidence.claims.draws`) in which
the predicate is true. Cells with the same seeds are drawn together, so that what a seed does to two
systems stays paired. One seed decides nothing, and no verdict stands against the intervals of what
its predicate compares.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from xlrepro.errors import SettingsError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims.comparisons import Comparison
from xlrepro.evidence.claims.draws import draw
from xlrepro.evidence.claims.files import Claim
from xlrepro.evidence.claims.stand_ins import reading
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import (
    LEVEL,
    Interval,
    ReproducedCell,
    ReproducedNumbers,
    t_interval,
)
from xlrepro.evidence.view import View

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
NOT_RUN, NOT_EVALUABLE = "not run", "not evaluable"
STATUSES = (HOLDS, FAILS, UNDECIDED, NOT_RUN, NOT_EVALUABLE)
CERTAIN = 0.95  # share of draws from which a claim holds; up to 1 - CERTAIN it fails
ENDS = (0.5 - LEVEL / 2, 0.5 + LEVEL / 2)  # of an interval
UNPRINTED = "rests on a figure without printed numbers"

Address = tuple[str, str, str]  # experiment, system, column


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict on one claim under one condition.

    Attributes:
        status: one of ``STATUSES``.
        share: share of draws in which the predicate is true; ``None`` where none was drawn.
        n: the smallest number of seeds of a cell it reads; 0 for reported numbers.
        alone: in how many single seeds it is true; ``None`` where cells have different seeds.
        compared: what its predicate compares, in the means over seeds.
        decidable: the smallest difference that these seeds could have decided, of all that it
            compares: half of the widest 95 % interval; ``None`` where none was drawn.
        missing: cells it reads that nobody ran.
        note: what a reader must know.
    """

    status: str
    share: float | None = None
    n: int = 0
    alone: int | None = None
    compared: tuple[Comparison, ...] = ()
    decidable: float | None = None
    missing: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Condition:
    """Numbers to judge claims by: a profile, perhaps with a block of ours for the paper's.

    Attributes:
        profile: ``"open"``; ``"reported"`` for the printed numbers.
        blocks: block in the predicate -> block of ours, ``{"word": "word-mapped"}``.
    """

    profile: str
    blocks: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """How a table's heading names it."""
        return ", ".join([self.profile, *self.blocks.values()])

    def place(self, system: str) -> str:
        """Return the identifier that stands for ``system`` under this condition."""
        block, colon, name = system.partition(":")
        return f"{self.blocks.get(block, block)}{colon}{name}"


REPORTED = Condition("reported")


class Judge:
    """Evaluates claims on reported and on reproduced numbers.

    Args:
        numbers: reproduced cells; ``None``: none were run.
    """

    def __init__(self, numbers: ReproducedNumbers | None = None) -> None:
        self.numbers = numbers or ReproducedNumbers([])
        self.reported, self.catalog = load_reported(), load_catalog()
        self._tables: dict[str, dict[str, Callable[..., Any]]] = {}
        self._judged: dict[tuple[Hashable, ...], ClaimVerdict | None] = {}
        self._read: dict[tuple[Hashable, ...], list[Address]] = {}

    def judge(self, claim: Claim, condition: Condition = REPORTED) -> ClaimVerdict | None:
        """Return the verdict, reached once; ``None`` if the condition's blocks of ours do not touch
        the claim.
        """
        key = (*_key(claim), condition.profile, *sorted(condition.blocks.items()))
        if key not in self._judged:
            self._judged[key] = self._verdict(claim, condition)
        return self._judged[key]

    def _verdict(self, claim: Claim, condition: Condition) -> ClaimVerdict | None:
        if claim.expression is None:
            return ClaimVerdict(NOT_EVALUABLE, note=UNPRINTED)
        reads = self.reads(claim)
        if condition.profile == "reported":
            return self._on_reported(claim, reads)
        if condition.blocks and not any(
            condition.blocks.get(system.partition(":")[0])
            in self.catalog.experiment(experiment).reference_blocks
            for experiment, system, _ in reads
        ):  # no experiment has the block of ours that replaces a cell's
            return None
        return self._on_reproduced(claim, condition, reads)

    def reads(self, claim: Claim) -> list[Address]:
        """Return the cells that the claim's predicate reads, in their first order.

        Raises:
            SettingsError: if it reads a cell that its paper does not have. Experiments of which
                the paper prints nothing are taken at their word: a test holds such reads against
                the systems and columns that the experiment can run.
        """
        if _key(claim) not in self._read:
            self._read[_key(claim)] = self._addresses(claim)
        return self._read[_key(claim)]

    def _addresses(self, claim: Claim) -> list[Address]:
        seen: dict[Address, None] = {}

        def look_up(address: Address) -> float:
            cell = self.reported.get(*address)
            if cell is None and not self._is_unprinted(address[0]):
                raise SettingsError(f"claim {claim.id}: no such cell: {' / '.join(address)}")
            seen[address] = None
            return math.nan if cell is None or cell.value is None else cell.value

        self._evaluate(claim, look_up)
        return list(seen)

    def _is_unprinted(self, experiment: str) -> bool:
        """Tell whether the paper prints no numbers of the experiment, as of most figures."""
        return not self.catalog.experiment(experiment).reported

    def _evaluate(
        self,
        claim: Claim,
        look_up: Callable[[Address], Any],
        made: list[Comparison] | None = None,
    ) -> Any:
        """Return whether the predicate is true; an array where cells are arrays of draws."""
        expression = claim.expression
        assert expression is not None
        result = expression.evaluate(claim.names, self.functions(claim.paper, look_up), made)
        if isinstance(result, np.ndarray) and result.dtype == bool:
            return result
        if not isinstance(result, bool | np.bool_):
            raise SettingsError(f"claim {claim.id}: its predicate is {result!r}, not true or false")
        return bool(result)

    def functions(
        self, paper: str, look_up: Callable[[Address], float]
    ) -> dict[str, Callable[..., Any]]:
        """Return what an expression over cells of ``paper`` may call; ``look_up`` gives a cell."""
        if paper not in self._tables:
            self._tables[paper] = self._table_functions(paper)
        distances = self.reported.systems(f"{paper}/distances")
        return {
            "value": lambda t, system, column: look_up((f"{paper}/{t}", system, column)),
            "distance": lambda lang: look_up((f"{paper}/distances", distances[0], lang)),
            **self._tables[paper],
        }

    def _table_functions(self, paper: str) -> dict[str, Callable[..., Any]]:
        """Return what a predicate may ask about the layout of a paper's tables."""

        def printed(table: str) -> str:
            if self._is_unprinted(f"{paper}/{table}"):
                raise ValueError(f"the paper prints nothing of {table}: name systems and columns")
            return f"{paper}/{table}"

        @cache
        def columns(table: str, system: str) -> list[str]:
            cells = self.reported.cells(printed(table), context=None)
            return [c.column for c in cells if c.system == system and c.value is not None]

        @cache
        def targets(table: str, system: str) -> list[str]:
            entry = self.catalog.experiment(printed(table))
            left_out = {*entry.source_columns, *entry.average_columns}
            return [c for c in columns(table, system) if c not in left_out]

        @cache
        def systems(table: str, block: str = "") -> list[str]:
            known = self.reported.systems(printed(table))
            return [s for s in known if not block or s.split(":", 1)[0] == block]

        return {"columns": columns, "targets": targets, "systems": systems}

    def _on_reported(self, claim: Claim, reads: Sequence[Address]) -> ClaimVerdict:
        if any(self._is_unprinted(address[0]) for address in reads):
            return ClaimVerdict(NOT_EVALUABLE, note=UNPRINTED)
        values = {a: cell.value for a in reads if (cell := self.reported.get(*a))}
        missing = tuple(" / ".join(a[1:]) for a, v in values.items() if v is None)
        if missing:
            return ClaimVerdict(NOT_EVALUABLE, missing=missing, note="cells without a number")
        made: list[Comparison] = []
        true = self._evaluate(claim, values.__getitem__, made)
        return ClaimVerdict(HOLDS if true else FAILS, compared=tuple(made))

    def _on_reproduced(
        self, claim: Claim, condition: Condition, reads: Sequence[Address]
    ) -> ClaimVerdict:
        cells: dict[Address, ReproducedCell] = {}
        fixed: dict[Address, float] = {}
        missing: list[str] = []
        how = reading(self.catalog, condition.profile, reads)
        for address in reads:
            experiment, system, printed_column = address
            entry = self.catalog.experiment(experiment)
            placed = condition.place(system)
            if placed == system:
                placed = entry.judged(condition.profile, system)
            column = entry.column_at(condition.profile, printed_column)
            cell = View(experiment, condition.profile, self.numbers).get(placed, column)
            printed = self.reported.get(*address)
            if cell is not None:
                cells[address] = cell
            elif (
                printed is not None
                and printed.value is not None
                and (entry.is_quoted(system) or entry.deterministic)
            ):  # quoted rows and distances keep their printed value where nobody ran them
                fixed[address] = printed.value
            else:
                missing.append(f"{experiment.split('/')[1]} / {placed} / {column}")
        if missing:
            return ClaimVerdict(NOT_RUN, missing=tuple(missing), note=_abridged(missing))
        refusal = how.refusal(claim, condition.profile, (system for _, system, _ in fixed))
        if refusal:
            return ClaimVerdict(NOT_EVALUABLE, note=refusal)
        made: list[Comparison] = []
        means = fixed | {a: c.mean for a, c in cells.items()}
        true = self._evaluate(claim, means.__getitem__, made)
        random = {a: c for a, c in cells.items() if not self.catalog.experiment(a[0]).deterministic}
        verdict = ClaimVerdict(HOLDS if true else FAILS)
        if random:
            verdict = self._drawn(claim, random, means, made)
        remarks = _remarks(verdict, cells, random, fixed)
        moved = {c.system.partition(":")[0] for a, c in cells.items() if c.system != a[1]}
        if moved and not condition.blocks:
            remarks.insert(0, f"judged on block {', '.join(sorted(moved))}")
        note = "; ".join(filter(None, (how.note, *remarks)))
        return replace(verdict, compared=tuple(made), note=note)

    def _drawn(
        self,
        claim: Claim,
        random: Mapping[Address, ReproducedCell],
        means: Mapping[Address, float],
        made: Sequence[Comparison],
    ) -> ClaimVerdict:
        """Judge by draws of the random cells; the others keep their value.

        Args:
            claim: the claim.
            random: the cells that differ from seed to seed.
            means: all values.
            made: what the predicate compared in them.
        """
        n = min(cell.n for cell in random.values())
        seeds = {cell.seeds for cell in random.values()}
        single: list[Comparison] = []
        alone = None
        if len(seeds) == 1:  # then the predicate has a value in each seed alone
            of_seed = {a: np.array(cell.values) for a, cell in random.items()}
            alone = int(np.sum(self._evaluate(claim, {**means, **of_seed}.__getitem__, single)))
        if n == 1:
            return ClaimVerdict(UNDECIDED, n=n, alone=alone)
        drawn: list[Comparison] = []
        true = self._evaluate(claim, {**means, **draw(random)}.__getitem__, drawn)
        ranges = _intervals(made, single, drawn)
        share, open_ones = float(np.mean(true)), [i.low < 0 < i.high for i in ranges]
        refuted = any(interval.high < 0 for interval in ranges)  # the wrong way, and closed
        status = UNDECIDED
        if share >= CERTAIN and not any(open_ones):
            status = HOLDS
        # That many comparisons hold at once is unlikely already where each of them is open.
        elif share <= 1 - CERTAIN and (refuted or not ranges):
            status = FAILS
        widest = max((i.half for i in ranges), default=None)
        return ClaimVerdict(status, share, n, alone, decidable=widest)


def _key(claim: Claim) -> tuple[Hashable, ...]:
    """Return what tells a claim from others: a page's own share an id."""
    return claim.paper, claim.id, claim.kind, claim.predicate


def _abridged(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"not run: {'; '.join(names[:most])}{more}"


def _intervals(
    made: Sequence[Comparison], single: Sequence[Comparison], drawn: Sequence[Comparison]
) -> list[Interval]:
    """Return the 95 % intervals of the differences that a predicate compares.

    The t-interval itself where a difference is one of means, so that no verdict disagrees with a
    table; else (a largest of several, a rank correlation) that of the draws.

    Args:
        made: what was compared in the means.
        single: in the seeds alone; empty where cells have different seeds.
        drawn: in the draws.
    """
    of_means, of_draws = ([g for c in compared for g in c.gaps] for compared in (made, drawn))
    of_seeds: list[Any] = [g for c in single for g in c.gaps] or [None] * len(of_means)
    intervals = []
    for mean, by_seed, draws in zip(of_means, of_seeds, of_draws, strict=True):
        if by_seed is not None and np.ndim(by_seed) == 0:  # no seed changes either side
            intervals.append(Interval(mean, mean))
        elif by_seed is not None and math.isclose(mean, np.mean(by_seed), abs_tol=1e-9):
            exact = t_interval(list(by_seed))
            intervals += [exact] if exact else []
        else:
            intervals.append(Interval(*map(float, np.quantile(draws, ENDS))))
    return intervals


def _remarks(
    verdict: ClaimVerdict,
    cells: Mapping[Address, ReproducedCell],
    random: Mapping[Address, ReproducedCell],
    fixed: Mapping[Address, float],
) -> list[str]:
    """Return what a reader must know of the verdict."""
    remarks = []
    lone = sorted({c.system for c in random.values() if c.n == 1})
    if lone and all(c.n == 1 for c in random.values()):
        remarks.append("one seed decides nothing")
    elif lone:
        remarks.append(f"one seed decides nothing: {', '.join(lone)}")
    elif verdict.status == UNDECIDED and not 1 - CERTAIN < (verdict.share or 0.0) < CERTAIN:
        remarks.append(
            "an interval that it compares includes 0"
            if (verdict.share or 0.0) >= CERTAIN
            else "none of its comparisons is refuted alone"
        )
    if fixed:
        rows = sorted({system for _, system, _ in fixed})
        remarks.append(f"printed values for {', '.join(rows)}")
    remarks += ["stale records"] * any(c.stale for c in cells.values())
    remarks += ["records of different settings"] * any(c.mixed for c in cells.values())
    return remarks


def judge_all(
    claims: Sequence[Claim], wanted: Sequence[Condition], judge: Judge
) -> dict[str, dict[str, ClaimVerdict | None]]:
    """Return claim id -> condition label -> verdict."""
    return {c.id: {w.label: judge.judge(c, w) for w in wanted} for c in claims}


def status_counts(verdicts: Sequence[ClaimVerdict | None]) -> dict[str, int]:
    """Return how many verdicts have each status."""
    statuses = [v.status for v in verdicts if v is not None]
    return {status: statuses.count(status) for status in STATUSES}
