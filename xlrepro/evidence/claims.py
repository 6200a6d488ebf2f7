"""Claims: sentences of the papers with predicates over cells, and the verdicts on them.

A printed number settles a claim by itself: consistent or inconsistent. On reproduced numbers a
claim *replicates* if each of its comparisons is significant in its direction and it is true in 95 %
of the draws of the means over seeds; *contradicts*, if one of its comparisons is significant the
other way round, corrected (Holm) for how many different ones it makes; shows *no effect*, if the
interval of each difference lies within a quarter of the reported one; and is *inconclusive* else.
What the runs did not test is *not testable here*, which wins over all of these.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from xlrepro.checked import Checked
from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.catalog import Catalog, load_catalog
from xlrepro.evidence.conditions import failed_conditions, item_error, items_of
from xlrepro.evidence.deviations import WEIGHTS, Deviation
from xlrepro.evidence.predicates import Array, P, Truth, evaluate, parse
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import LEVEL, ReproducedCell, ReproducedNumbers, View
from xlrepro.paths import data_dir
from xlrepro.yaml_files import read_model

REPLICATES, CONTRADICTS, NO_EFFECT = "replicates", "contradicts", "no effect"
INCONCLUSIVE, NOT_TESTABLE, NOT_RUN = "inconclusive", "not testable here", "not run"
CONSISTENT, INCONSISTENT, NOT_CHECKABLE = "consistent", "inconsistent", "not checkable"
ON_OURS = (REPLICATES, CONTRADICTS, NO_EFFECT, INCONCLUSIVE, NOT_TESTABLE, NOT_RUN)
ON_PRINTED = (CONSISTENT, INCONSISTENT, NOT_CHECKABLE)
STATUSES = (*ON_OURS, *ON_PRINTED)
SIGNS = {REPLICATES: "✓", CONTRADICTS: "✗", NO_EFFECT: "=", INCONCLUSIVE: "?",
         CONSISTENT: "✓", INCONSISTENT: "✗"}  # fmt: skip
ALPHA = (1 - LEVEL) / 2  # of a test in one direction
DRAWS, ITEM_DRAWS = 4_000, 400
FEW = 0.2  # power below which runs cannot decide a claim
EQUIVALENT = 0.25  # of the reported difference: what counts as no effect
LEAST_LANGUAGES = 3  # with an adaptation each, for a verdict where seeds change the heads alone
SIZES_AT = "paper"  # the profile whose data and hyperparameters are the paper's
UNPRINTED = "rests on a figure without printed numbers"

Address = tuple[str, str, str]  # experiment, system, column


class Claim(Checked):
    """A sentence of a paper and its predicate. Field by field: head of ``word_order.yaml``.

    A claim of kind ``figure`` has a ``rule`` in words. Its predicate, where it has one, reads cells
    of an experiment that the paper prints no numbers of, so it decides on reproduced numbers alone.
    """

    id: str = Field(pattern=r"^[A-Z]\d+[a-z]?$")
    kind: Literal["text", "strict", "weak", "secondary", "figure", "ours"]
    section: str
    text: str
    cells: str
    predicate: str | None = None
    rule: str | None = None
    variant_of: str | None = None
    magnitudes: bool = False
    paper: str = ""
    names: dict[str, Any] = Field(default_factory=dict, repr=False)

    @property
    def counted(self) -> bool:
        """Whether it is the authors' sentence, and no reading of ours."""
        return self.kind == "text"


class _ClaimFile(Checked):
    paper: str
    names: dict[str, Any] = Field(default_factory=dict)
    claims: list[Claim]


def read_claims(path: Path) -> list[Claim]:
    """Read a claims file and check every predicate.

    Raises:
        DataError: if the file is malformed, an id stands twice, a claim on a figure has no rule,
            or another claim has no predicate.
        SettingsError: if a predicate is no expression; names claim and column.
    """
    content = read_model(path, _ClaimFile)
    known = [c.id for c in content.claims]
    for claim in content.claims:
        if known.count(claim.id) > 1:
            raise DataError(f"{path}: claim {claim.id} stands there twice")
        if claim.kind == "figure" and not claim.rule:
            raise DataError(f"{path}: claim {claim.id} rests on a figure: it needs a rule in words")
        if claim.kind != "figure" and (claim.rule or not claim.predicate):
            raise DataError(f"{path}: claim {claim.id} needs a predicate, and no rule")
        if claim.variant_of is not None and claim.variant_of not in known:
            raise DataError(f"{path}: claim {claim.id} is a variant of no claim there")
        if claim.predicate:
            parse(claim.predicate, f"claim {claim.id}")
    extra = {"paper": content.paper, "names": content.names}
    return [claim.model_copy(update=extra) for claim in content.claims]


@lru_cache(maxsize=8)
def _cached(path: Path, changed_ns: int) -> list[Claim]:
    return read_claims(path)


def load_claims(paper: str | None = None) -> list[Claim]:
    """Return the claims of ``paper``, or of all papers in the catalog's order.

    Raises:
        SettingsError: for an unknown paper.
    """
    catalog = load_catalog()
    claims: list[Claim] = []
    for key in catalog.papers if paper is None else [paper]:
        catalog.paper(key)
        path = data_dir() / "claims" / f"{key}.yaml"
        claims += _cached(path, path.stat().st_mtime_ns if path.is_file() else 0)
    return claims


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict on one claim under one condition.

    Attributes:
        status: one of ``STATUSES``.
        share: share of draws in which the predicate is true; ``None`` where none was drawn.
        p: p-values of its being false and of its being true; ``None`` where nothing was tested.
        n: the number of seeds that its cells have in common; 0 for reported numbers.
        alone: in how many single seeds it is true; ``None`` where cells share none.
        compared: what it compares in the means: text, and whether it is so.
        decidable: half of the widest 95 % interval among the differences that it compares.
        power: chance that it would replicate if the reported differences were true.
        missing: cells it reads that nobody ran.
        note: what a reader must know.
    """

    status: str
    share: float | None = None
    p: P | None = None
    n: int = 0
    alone: int | None = None
    compared: tuple[tuple[str, bool], ...] = ()
    decidable: float | None = None
    power: float | None = None
    missing: tuple[str, ...] = ()
    note: str = ""

    @property
    def told(self) -> str:
        """Its comparisons in words; of more than four how many are so."""
        if len(self.compared) > 4:
            return f"{sum(so for _, so in self.compared)} of {len(self.compared)} comparisons true"
        return ", ".join(text if so else f"{text} ✗" for text, so in self.compared)


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


# -- Arrays behind a cell ----------------------------------------------------------------------


@dataclass(frozen=True)
class Places:
    """What stands where in the array of a cell: mean, draws, seeds, draws of items, languages."""

    seeds: int = 0
    languages: tuple[str, ...] = ()
    draws: int = DRAWS
    items: int = ITEM_DRAWS

    def of(self, part: Literal["draws", "seeds", "items", "languages"]) -> slice:
        """Return where a part stands."""
        start = 1
        for name in ("draws", "seeds", "items", "languages"):
            size = getattr(self, name) if name != "languages" else len(self.languages)
            if name == part:
                return slice(start, start + size)
            start += size
        raise AssertionError(part)


def drawn_means(values: Array, rng: np.random.Generator, count: int) -> Array:
    """Draw the means of cells from their multivariate t distribution, mean + R'z / √(n·χ²).

    A resample of three seeds cannot show more than ten means; a draw can show any, on one cell as
    the t-interval has it, and cells of the same seeds keep their correlation.

    Args:
        values: ``(seeds, cells)``.
        rng: of the draws.
        count: how many.

    Returns:
        ``(count, cells)``.
    """
    n = len(values)
    k = np.arange(1, n)
    # The n - 1 orthonormal (Helmert) contrasts R of n seeds; row k: the mean of the first k seeds
    # minus the next one. R'R / (n - 1) is the sample covariance of the cells.
    rows = np.tril(np.ones((n - 1, n))) / k[:, None]
    rows[k - 1, k] = -1.0
    contrasts = rows / np.sqrt(1 / k + 1)[:, None] @ values  # shape: (seeds - 1, cells)
    normal = rng.standard_normal((count, n - 1))
    spread = np.sqrt(n * rng.chisquare(n - 1, count))[:, None]
    return np.asarray(values.mean(axis=0) + normal @ contrasts / spread)


def _language(column: str) -> str:
    """Return the language of a column, ``"fr"`` of ``"LAS/fr"``; empty where it names none."""
    return next((part for part in column.split("/") if len(part) == 2 and part.islower()), "")


def laid_out(
    cells: Mapping[Address, ReproducedCell], items: Callable[[Address], float | None]
) -> tuple[dict[Address, Array], Places, int]:
    """Return the arrays of cells, what stands where in them, and their common seeds' number.

    Cells are taken at the seeds that all of them have, where these are two or more: so every
    difference is paired. A test set of so many items adds the error of its own to the draws, half
    of it common to all systems; its items are drawn apart from the seeds too.

    Args:
        cells: the random ones.
        items: how many items the test set of a cell has; ``None``: not known.
    """
    shared = sorted(set.intersection(*(set(c.seeds) for c in cells.values())))
    paired = len(shared) > 1
    languages = tuple(sorted({_language(c) for _, _, c in cells} - {""}))
    places = Places(len(shared) if paired else 0, languages)
    rng, arrays = np.random.default_rng(0), dict[Address, Array]()
    known = {a: [v for v, s in zip(c.values, c.seeds) if s in shared or not paired]
             for a, c in cells.items()}  # fmt: skip
    for seeds in [tuple(shared)] if paired else sorted({c.seeds for c in cells.values()}):
        group = [a for a, c in cells.items() if paired or c.seeds == seeds]
        values = np.array([known[a] for a in group]).T  # shape: (seeds, cells)
        means = values.mean(axis=0)
        draws = np.tile(means, (DRAWS, 1))
        if len(values) > 1:
            draws = drawn_means(values, rng, DRAWS)
        for a, mean, drawn, own in zip(group, means, draws.T, values.T, strict=True):
            apart = [mean if _language(a[2]) in ("", code) else math.nan for code in languages]
            seeds_part = own if paired else []
            parts = [[mean], drawn, seeds_part, np.full(ITEM_DRAWS, mean), apart]
            arrays[a] = np.concatenate([np.asarray(p, dtype=float) for p in parts])
    common: dict[tuple[str, str], Array] = {}
    for a, array in arrays.items():
        error = item_error(cells[a], items(a))
        if not error:
            continue
        of_set = common.setdefault((a[0], a[2]), rng.standard_normal(DRAWS + ITEM_DRAWS))
        noise = error * math.sqrt(0.5) * (of_set + rng.standard_normal(DRAWS + ITEM_DRAWS))
        array[places.of("draws")] += noise[:DRAWS]
        array[places.of("items")] += noise[DRAWS:]
    return arrays, places, min(len(v) for v in known.values())


@dataclass(frozen=True)
class GapTests:
    """The tests of a predicate's comparisons, on arrays that are laid out as ``places`` say."""

    places: Places

    def error(self, gap: Array) -> tuple[float, int] | None:
        """Return a difference's standard error and degrees of freedom; ``None``: draws alone tell.

        Seeds and test items both count. A largest of several or a rank correlation is no mean of
        what it is seed by seed: its draws tell.
        """
        seeds = gap[self.places.of("seeds")] if gap.size > 1 else gap[:0]
        if len(seeds) < 2 or not math.isclose(gap[0], np.mean(seeds), abs_tol=1e-9):
            return None
        of_items = np.var(gap[self.places.of("items")])
        return math.sqrt(np.var(seeds, ddof=1) / len(seeds) + of_items), len(seeds) - 1

    def leaf(self, truth: Truth) -> P:
        """Return the p-values for and against one comparison."""
        from scipy.special import stdtr

        gap = truth.gap
        if gap.size == 1 or np.ptp(gap[self.places.of("draws")]) == 0:  # nothing random, or 1 seed
            exact = gap.size == 1 or self.places.seeds > 1
            return (1.0, 1.0) if not exact else (0.0, 1.0) if truth.values[0] else (1.0, 0.0)
        if known := self.error(gap):
            error, freedom = known
            ratio = gap[0] / error if error else math.copysign(math.inf, gap[0])
            return float(stdtr(freedom, -ratio)), float(stdtr(freedom, ratio))
        draws = gap[self.places.of("draws")]
        count = len(draws) + 1
        return (1 + np.sum(draws <= 0)) / count, (1 + np.sum(draws >= 0)) / count

    def interval(self, truth: Truth) -> tuple[float, float]:
        """Return the 95 % interval of one difference."""
        from scipy.special import stdtrit

        if truth.gap.size == 1:
            return truth.gap[0], truth.gap[0]
        if known := self.error(truth.gap):
            half = known[0] * float(stdtrit(known[1], 1 - ALPHA))
            return truth.gap[0] - half, truth.gap[0] + half
        low, high = np.quantile(truth.gap[self.places.of("draws")], (ALPHA, 1 - ALPHA))
        return float(low), float(high)

    def power(self, truth: Truth, reported: Sequence[Truth]) -> float:
        """Return the chance that it would replicate if the reported differences were true.

        Their noise is ours: that of the draws around our means; a comparison counts as significant
        where the drawn difference is above what its own interval's half asks for.
        """
        theirs = dict(zip((leaf.name for leaf in truth.leaves), reported, strict=True))

        def seen(leaf: Truth) -> Array:
            if leaf.gap.size == 1:
                return np.full(self.places.draws, bool(leaf.values[0]))
            low, high = self.interval(leaf)
            noise = leaf.gap[self.places.of("draws")] - leaf.gap[0]
            return np.asarray(theirs[leaf.name].gap[0] + noise > (high - low) / 2)

        return float(np.mean(truth.counted(seen)))

    def languages_agree(self, truth: Truth) -> tuple[int, P]:
        """Return how many languages there are, and p-values for and against across them.

        Where seeds change the heads alone, a language, with an adaptation of its own, is what was
        replicated.
        """
        means = []
        for i in range(len(self.places.languages)):
            at = self.places.of("languages").start + i
            gaps = [leaf.gap[at] for leaf in truth.leaves if leaf.gap.size > 1]
            known = [gap for gap in gaps if gap == gap]
            means += [float(np.mean(known))] if known else []
        if len(means) < LEAST_LANGUAGES:
            return len(means), (1.0, 1.0)
        from scipy.stats import ttest_1samp

        p = float(ttest_1samp(means, 0.0, alternative="greater").pvalue)
        return len(means), (p, 1 - p)


def decide(truth: Truth, tests: GapTests, reported: Sequence[Truth] = ()) -> ClaimVerdict:
    """Return the verdict on a predicate by its comparisons and draws alone.

    Args:
        truth: the predicate's value on arrays.
        tests: what knows their layout.
        reported: its comparisons on the printed numbers, in the same order; none where nothing is
            printed, or where the paper's numbers do not bear it out.
    """
    p = truth.judged(tests.leaf)
    share = float(np.mean(truth.counted(lambda leaf: _draws(leaf, tests.places))))
    ranges = [tests.interval(leaf) for leaf in truth.leaves]
    status, power = INCONCLUSIVE, None
    if truth.values[0] and p[0] <= ALPHA and share >= LEVEL:
        status = REPLICATES
    elif not truth.values[0] and p[1] <= ALPHA:
        status = CONTRADICTS
    elif reported and all(
        -EQUIVALENT * r.gap[0] < low and high < EQUIVALENT * r.gap[0]
        for (low, high), r in zip(ranges, reported, strict=True)
    ):
        status = NO_EFFECT
    if reported:
        power = tests.power(truth, reported)
    halves = [(high - low) / 2 for low, high in ranges]
    return ClaimVerdict(status, share, p, decidable=max(halves, default=None), power=power)


def _draws(leaf: Truth, places: Places) -> Array:
    if leaf.values.size == 1:
        return np.full(places.draws, bool(leaf.values[0]))
    return leaf.values[places.of("draws")]


# -- What may be read on other data --------------------------------------------------------------


def _read_on(catalog: Catalog, profile: str, cells: Iterable[Address]) -> tuple[str, str]:
    """Return what stands in for the paper's data and weights, and what was read instead of what."""
    data, weights, fields = dict[str, None](), dict[str, None](), dict[str, str]()
    for experiment, system, column in cells:
        entry = catalog.experiment(experiment)
        stand_in = entry.stand_ins.get(profile)
        if stand_in and stand_in.covers(column):
            data[stand_in.data] = None
        known = stand_in.columns if stand_in else {}
        fields |= {part: known[part] for part in column.split("/") if part in known}
        if other := entry.other_weights(profile, system):
            weights[other] = None
    read = [f"{ours} for {printed}" for printed, ours in fields.items()]
    read += [f"{each} for the paper's" for each in weights]
    return "; ".join([*data, *weights]), ", ".join(read)


class Judge:
    """Evaluates claims on reported and on reproduced numbers.

    Args:
        numbers: reproduced cells; ``None``: none were run.
    """

    def __init__(self, numbers: ReproducedNumbers | None = None) -> None:
        self.numbers = numbers or ReproducedNumbers([])
        self.reported, self.catalog = load_reported(), load_catalog()
        self._tables: dict[str, dict[str, Callable[..., Any]]] = {}
        self._judged: dict[Any, ClaimVerdict | None] = {}
        self._read: dict[Any, list[Address]] = {}

    def judge(self, claim: Claim, condition: Condition = REPORTED) -> ClaimVerdict | None:
        """Return the verdict, reached once; ``None`` if the condition's blocks of ours do not touch
        the claim.

        A claim on the size of an effect has the verdict of its sign-only form where sizes cannot
        be tested.
        """
        key = (claim.paper, claim.id, claim.predicate, condition.label)
        if key not in self._judged:
            self._judged[key] = self._verdict(claim, condition)
        return self._judged[key]

    def _verdict(self, claim: Claim, condition: Condition) -> ClaimVerdict | None:
        printed = condition.profile == "reported"
        if claim.predicate is None:
            return ClaimVerdict(NOT_CHECKABLE if printed else NOT_TESTABLE, note=UNPRINTED)
        reads = self.reads(claim)
        if printed:
            return self._on_reported(claim, reads)
        if condition.blocks and not any(
            condition.blocks.get(system.partition(":")[0])
            in self.catalog.experiment(experiment).reference_blocks
            for experiment, system, _ in reads
        ):  # no experiment has the block of ours that replaces a cell's
            return None
        verdict = self._on_reproduced(claim, condition, reads)
        if claim.magnitudes and verdict.status == NOT_TESTABLE:
            for form in load_claims(claim.paper):
                if form.variant_of == claim.id and not form.magnitudes and form.kind == "ours":
                    if (of_form := self.judge(form, condition)) is None:
                        break
                    note = f"judged by its sign-only form {form.id}; {of_form.note}".rstrip("; ")
                    return replace(of_form, note=note)
        return verdict

    def reads(self, claim: Claim) -> list[Address]:
        """Return the cells that the claim's predicate reads, in their first order.

        Raises:
            SettingsError: if it reads a cell that its paper does not have. Experiments of which
                the paper prints nothing are taken at their word: a test holds such reads against
                the systems and columns that the experiment can run.
        """
        key = (claim.paper, claim.id, claim.predicate)
        if key not in self._read:
            seen: dict[Address, None] = {}

            def look_up(address: Address) -> Array:
                cell = self.reported.get(*address)
                if cell is None and not self._is_unprinted(address[0]):
                    raise SettingsError(f"claim {claim.id}: no such cell: {' / '.join(address)}")
                seen[address] = None
                return np.array([math.nan if cell is None or cell.value is None else cell.value])

            self._evaluate(claim, look_up)
            self._read[key] = list(seen)
        return self._read[key]

    def _is_unprinted(self, experiment: str) -> bool:
        """Tell whether the paper prints no numbers of the experiment, as of most figures."""
        return not self.catalog.experiment(experiment).reported

    def _evaluate(self, claim: Claim, look_up: Callable[[Address], Array]) -> Truth:
        where = f"claim {claim.id}"
        functions = self.functions(claim.paper, look_up)
        true = evaluate(claim.predicate or "", where, functions, claim.names)
        if not isinstance(true, Truth):
            raise SettingsError(f"{where}: its predicate is {true!r}, and compares no cells")
        return true

    def functions(
        self, paper: str, look_up: Callable[[Address], Any]
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

        @cache
        def columns(table: str, system: str) -> list[str]:
            cells = self.reported.cells(f"{paper}/{table}", context=None)
            return [c.column for c in cells if c.system == system and c.value is not None]

        @cache
        def targets(table: str, system: str) -> list[str]:
            entry = self.catalog.experiment(f"{paper}/{table}")
            left_out = {*entry.source_columns, *entry.average_columns}
            return [c for c in columns(table, system) if c not in left_out]

        @cache
        def systems(table: str, block: str = "") -> list[str]:
            known = self.reported.systems(f"{paper}/{table}")
            return [s for s in known if not block or s.split(":", 1)[0] == block]

        return {"columns": columns, "targets": targets, "systems": systems}

    def _printed_truth(self, claim: Claim, reads: Sequence[Address]) -> Truth | None:
        """Return the predicate on the printed numbers; ``None`` where one is not printed."""
        cells = {a: self.reported.get(*a) for a in reads}
        values = {a: c.value for a, c in cells.items() if c is not None and c.value is not None}
        if len(values) < len(cells):
            return None
        return self._evaluate(claim, lambda address: np.array([values[address]]))

    def _on_reported(self, claim: Claim, reads: Sequence[Address]) -> ClaimVerdict:
        if any(self._is_unprinted(address[0]) for address in reads):
            return ClaimVerdict(NOT_CHECKABLE, note=UNPRINTED)
        true = self._printed_truth(claim, reads)
        if true is None:
            cells = {a: self.reported.get(*a) for a in reads}
            missing = tuple(" / ".join(a[1:]) for a, c in cells.items() if c and c.value is None)
            return ClaimVerdict(NOT_CHECKABLE, missing=missing, note="cells without a number")
        status = CONSISTENT if true.values[0] else INCONSISTENT
        return ClaimVerdict(status, compared=_told(true))

    def _on_reproduced(
        self, claim: Claim, condition: Condition, reads: Sequence[Address]
    ) -> ClaimVerdict:
        cells, fixed, missing = self._gathered(condition, reads)
        if missing:
            more = f" and {len(missing) - 3} more" * (len(missing) > 3)
            return ClaimVerdict(
                NOT_RUN, missing=tuple(missing), note=f"not run: {'; '.join(missing[:3])}{more}"
            )
        ours, read = _read_on(self.catalog, condition.profile, reads)
        refusal = _refusal(claim, condition.profile, ours, sorted({a[1] for a in fixed}))
        random = {a: c for a, c in cells.items() if not self.catalog.experiment(a[0]).deterministic}
        constant = fixed | {a: c.mean for a, c in cells.items() if a not in random}
        arrays, places, n = dict[Address, Array](), Places(), 0
        if random:
            arrays, places, n = laid_out(
                random, lambda a: items_of(self.catalog, self.numbers, random[a])
            )
        true = self._evaluate(
            claim, lambda a: arrays[a] if a in arrays else np.array([constant[a]])
        )
        compared = _told(true)
        if refusal:
            return ClaimVerdict(NOT_TESTABLE, n=n, compared=compared, note=refusal)
        tests = GapTests(places)
        printed = self._printed_truth(claim, reads)
        leaves = printed.leaves if printed is not None and printed.values[0] else []
        fits = len(leaves) == len(true.leaves) and not claim.magnitudes
        verdict = decide(true, tests, leaves if fits else ())
        alone = true.counted(lambda leaf: _at(leaf, places)) if places.seeds else None
        verdict = replace(
            verdict, n=n, compared=compared, alone=None if alone is None else int(alone.sum())
        )
        notes = [read, *_remarks(verdict, cells, fixed)]
        moved = {c.system.partition(":")[0] for a, c in cells.items() if c.system != a[1]}
        if moved and not condition.blocks:
            notes.insert(1, f"judged on block {', '.join(sorted(moved))}")
        verdict = self._held_back(verdict, true, tests, reads, notes)
        failed, unknown = failed_conditions(
            self.catalog, self.numbers, condition.profile, list(cells.values())
        )
        if failed:
            verdict = replace(verdict, status=NOT_TESTABLE)
        notes = [*failed, *notes, *(f"not known: {what}" for what in unknown)]
        return replace(verdict, note="; ".join(filter(None, notes)))

    def _held_back(
        self, verdict: ClaimVerdict, true: Truth, tests: GapTests, reads: Sequence[Address],
        notes: list[str],
    ) -> ClaimVerdict:  # fmt: skip
        """Take a verdict back that rests on seeds of heads alone, unless languages agree."""
        seeds_of = {self.catalog.experiment(a[0]).seeds_of for a in reads} - {""}
        if not seeds_of or verdict.status not in (REPLICATES, CONTRADICTS, NO_EFFECT):
            return verdict
        count, p = tests.languages_agree(true)
        side = p[0] if verdict.status == REPLICATES else p[1]
        if verdict.status != NO_EFFECT and side <= ALPHA:
            notes.append(
                f"seeds are of {min(seeds_of)}; {count} languages, each trained once, agree"
            )
            return verdict
        notes.append(
            f"by {min(seeds_of)} alone it {_VERBS[verdict.status]}: one model each of {count} "
            f"language{'s' * (count != 1)} stands behind it"
        )
        return replace(verdict, status=INCONCLUSIVE)

    def _gathered(
        self, condition: Condition, reads: Sequence[Address]
    ) -> tuple[dict[Address, ReproducedCell], dict[Address, float], list[str]]:
        """Return the cells that stand for those read, printed ones that count, and what nobody ran.

        Quoted rows and distances keep their printed value where nobody ran them.
        """
        cells, fixed, missing = dict[Address, ReproducedCell](), dict[Address, float](), list[str]()
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
            ):
                fixed[address] = printed.value
            else:
                missing.append(f"{experiment.split('/')[1]} / {placed} / {column}")
        return cells, fixed, missing


_VERBS = {REPLICATES: "would replicate", CONTRADICTS: "would contradict",
          NO_EFFECT: "would show no effect"}  # fmt: skip


def _told(true: Truth) -> tuple[tuple[str, bool], ...]:
    return tuple((part.text, bool(part.values[0])) for part in true.told)


def _at(leaf: Truth, places: Places) -> Array:
    if leaf.values.size == 1:
        return np.full(places.seeds, bool(leaf.values[0]))
    return leaf.values[places.of("seeds")]


def _refusal(claim: Claim, profile: str, ours: str, quoted: Sequence[str]) -> str:
    """Return why a claim is not testable on these numbers; empty if it is."""
    if ours and quoted:
        return f"{', '.join(quoted)} are numbers of another corpus than ours ({ours})"
    if ours and claim.magnitudes:
        return f"it is about values on the paper's data; ours: {ours}"
    if claim.magnitudes and profile != SIZES_AT:
        return f"it is about the size of an effect, which {profile} says little of"
    return ""


def _remarks(
    verdict: ClaimVerdict, cells: Mapping[Address, ReproducedCell], fixed: Mapping[Address, float]
) -> list[str]:
    """Return what a reader must know of the verdict."""
    lone = sorted({c.system for c in cells.values() if c.n == 1})
    remarks = [f"one seed decides nothing: {', '.join(lone)}"] * (verdict.n == 1)
    remarks += ["our runs cannot decide this"] * (
        verdict.status == INCONCLUSIVE and verdict.power is not None and verdict.power < FEW
    )
    if fixed:
        remarks.append(f"printed values for {', '.join(sorted({a[1] for a in fixed}))}")
    remarks += ["stale records"] * any(c.stale for c in cells.values())
    return remarks + ["records of different settings"] * any(c.mixed for c in cells.values())


def judge_all(
    claims: Sequence[Claim], wanted: Sequence[Condition], judge: Judge
) -> dict[str, dict[str, ClaimVerdict | None]]:
    """Return claim id -> condition label -> verdict."""
    return {c.id: {w.label: judge.judge(c, w) for w in wanted} for c in claims}


def status_counts(verdicts: Sequence[ClaimVerdict | None]) -> dict[str, int]:
    """Return how many verdicts have each status."""
    statuses = [v.status for v in verdicts if v is not None]
    return {status: statuses.count(status) for status in STATUSES}


def kept_at_five_percent(verdicts: Iterable[ClaimVerdict | None]) -> int:
    """Return how many verdicts in one direction stay at a false discovery rate of 5 %.

    Benjamini and Hochberg's procedure over the two-sided p-values of all claims that were tested.
    """
    tested = [v for v in verdicts if v is not None and v.p is not None]
    p = sorted(min(1.0, 2 * min(v.p)) for v in tested if v.p and v.status != NOT_TESTABLE)
    return max((i for i, each in enumerate(p, 1) if each <= (1 - LEVEL) * i / len(p)), default=0)


def claims_of(key: str, judge: Judge) -> list[Claim]:
    """Return the claims of a paper (``"ramen"``), or those that an experiment bears on.

    An experiment bears on the claims whose predicates read its cells, and on those without a
    predicate that rest on the figure of its name (``"word_order/figure2"``: "Figure 2").
    """
    paper, _, experiment = key.partition("/")
    claims = load_claims(paper)
    if not experiment:
        return claims
    judge.catalog.experiment(key)
    figure = experiment.replace("figure", "Figure ")
    return [
        c
        for c in claims
        if (c.predicate is None and c.cells == figure)
        or (c.predicate is not None and any(key == read[0] for read in judge.reads(c)))
    ]


def conditions_of(
    paper: str, profiles: Sequence[str], numbers: ReproducedNumbers
) -> list[Condition]:
    """Return the conditions worth a column: the printed numbers, each profile, and each profile
    with a block of ours in the place of the paper's, if that block was run at it.
    """
    conditions = [REPORTED, *map(Condition, profiles)]
    for key, entry in load_catalog().of_paper(paper).items():
        for ours, theirs in entry.reference_blocks.items():
            for profile in profiles:
                if entry.judged_on.get(profile, {}).get(theirs) == ours:
                    continue  # the profile's own verdict
                ran = any(s.startswith(f"{ours}:") for s in View(key, profile, numbers).systems)
                condition = Condition(profile, {theirs: ours})
                if ran and condition not in conditions:
                    conditions.insert(conditions.index(Condition(profile)) + 1, condition)
    return conditions


def touching(
    claim: Claim, judge: Judge, profiles: Sequence[str], known: Sequence[Deviation]
) -> list[Deviation]:
    """Return the deviations that touch the cells a claim rests on, those of major weight first.

    A block of ours that stands in for one of the paper's counts as that one too.
    """
    cells = set[Address]()
    for experiment, system, column in judge.reads(claim) if claim.predicate else []:
        block, _, name = system.partition(":")
        blocks = judge.catalog.experiment(experiment).reference_blocks
        stood_in = [
            system,
            *(f"{ours}:{name}" for ours, theirs in blocks.items() if theirs == block),
        ]
        cells |= {(experiment, each, column) for each in stood_in}
    deviations = [
        d for d in known if {*profiles} & {*d.profiles} and any(d.touches(*cell) for cell in cells)
    ]
    return sorted(deviations, key=lambda d: WEIGHTS.index(d.weight))
