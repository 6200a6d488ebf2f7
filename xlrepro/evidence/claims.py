"""Claims: sentences of the papers with predicates over cells, and the verdicts on them.

A printed number settles a claim by itself: consistent or inconsistent. On reproduced numbers a
claim *replicates* if each of its comparisons is significant in its direction and it is true in 95 %
of the draws of the means over seeds; *contradicts*, if one of its comparisons is significant the
other way round, corrected (Holm) for how many different ones it makes; shows *no effect*, if the
interval of each difference lies within a quarter of the reported one; and is *inconclusive* else.
What the runs did not test is *not testable here*, which wins over all of these.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.catalog import Catalog, load_catalog
from xlrepro.evidence.conditions import failed_conditions
from xlrepro.evidence.intervals import ALPHA, LEVEL, half_width, sources_of, tail_of
from xlrepro.evidence.predicates import Array, P, Truth, evaluate, parse, shown
from xlrepro.evidence.reported import ReportedCell, load_reported
from xlrepro.evidence.reproduced import ReproducedCell, ReproducedNumbers, View
from xlrepro.evidence.text import enumerated, minus, number
from xlrepro.paths import data_dir
from xlrepro.values import Checked, read_model

REPLICATES, CONTRADICTS, NO_EFFECT = "replicates", "contradicts", "no effect"
INCONCLUSIVE, NOT_TESTABLE, NOT_RUN = "inconclusive", "not testable here", "not run"
CONSISTENT, INCONSISTENT, NOT_CHECKABLE = "consistent", "inconsistent", "not checkable"
STATUSES = (REPLICATES, CONTRADICTS, NO_EFFECT, INCONCLUSIVE, NOT_TESTABLE, NOT_RUN, CONSISTENT,
            INCONSISTENT, NOT_CHECKABLE)  # fmt: skip
SIGNS = {REPLICATES: "✓", CONTRADICTS: "✗", NO_EFFECT: "=", INCONCLUSIVE: "?",
         CONSISTENT: "✓", INCONSISTENT: "✗"}  # fmt: skip
VERBS = {  # of one claim, and of several
    REPLICATES: ("replicates", "replicate"), CONTRADICTS: ("is contradicted", "are contradicted"),
    NO_EFFECT: ("shows no effect", "show no effect"),
    INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    NOT_TESTABLE: ("is not testable here", "are not testable here"),
    NOT_RUN: ("was not run", "were not run"),
}  # fmt: skip
DRAWS = 4_000
FEW = 0.2  # power below which runs cannot decide a claim
EQUIVALENT = 0.25  # of the reported difference: what counts as no effect
LEAST_LANGUAGES = 3  # with an adaptation each, for a verdict where seeds change the heads alone
SIZES_AT = "paper"  # the profile whose data and hyperparameters are the paper's
UNPRINTED = "rests on a figure whose numbers the text does not have"

Address = tuple[str, str, str]  # experiment, system, column
Places = Mapping[str, slice]  # what stands where in a cell's array, after its mean: `places_of`


class Claim(Checked):
    """A sentence of a paper and its predicate. Field by field: head of ``word_order.yaml``.

    A claim of kind ``figure`` has a ``rule`` in words. Its predicate reads cells of an experiment
    that the paper prints no numbers of, so it decides on reproduced numbers alone.
    """

    id: str = Field(pattern=r"^[A-Z]\d+[a-z]?$")
    kind: Literal["text", "strict", "weak", "secondary", "figure", "ours"]
    section: str
    text: str
    cells: str
    predicate: str
    rule: str | None = None
    variant_of: str | None = None
    magnitudes: bool = False
    signs: str = ""
    paper: str = ""
    names: dict[str, Any] = Field(default_factory=dict, repr=False)

    def __hash__(self) -> int:
        return hash((self.paper, self.id, self.predicate))

    @property
    def counted(self) -> bool:
        """Whether it is the authors' sentence, and no reading of ours."""
        return self.kind == "text"


class _ClaimFile(Checked):
    paper: str
    names: dict[str, Any] = Field(default_factory=dict)
    claims: list[Claim]


@cache
def read_claims(path: Path) -> list[Claim]:
    """Read a claims file and check every predicate.

    Raises:
        DataError: if the file is malformed, or names a claim twice or one that is not there.
        SettingsError: if a predicate is no expression; names claim and column.
    """
    content = read_model(path, _ClaimFile)
    if content.paper != path.stem:
        raise DataError(f"{path}: it is of {content.paper}, and the file's name says {path.stem}")
    known = [claim.id for claim in content.claims]
    for claim in content.claims:
        parse(claim.predicate, f"{path}: claim {claim.id}")
        named = [claim.id, *filter(None, (claim.signs, claim.variant_of))]
        if odd := [name for name in named if known.count(name) != 1]:
            times = f"stands {known.count(odd[0])} times"
            raise DataError(f"{path}: claim {claim.id}: {odd[0]} {times}")
    extra = {"paper": content.paper, "names": content.names}
    return [claim.model_copy(update=extra) for claim in content.claims]


def load_claims(paper: str) -> list[Claim]:
    """Return the claims of a paper.

    Raises:
        SettingsError: for an unknown one.
    """
    load_catalog().paper(paper)
    return read_claims(data_dir() / "claims" / f"{paper}.yaml")


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
        form: id of the claim's sign-only form, where that one was judged in its place.
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
    form: str = ""

    @property
    def told(self) -> str:
        """Its comparisons in words; of more than four how many are so."""
        if len(self.compared) > 4:
            return f"{sum(so for _, so in self.compared)} of {len(self.compared)} comparisons true"
        return ", ".join(text if so else f"{text} ✗" for text, so in self.compared)


@dataclass(frozen=True)
class Condition:
    """Numbers to judge claims by: a profile, perhaps with rows of ours for the paper's.

    Attributes:
        profile: ``"open"``; ``"reported"`` for the printed numbers.
        theirs: what stands in the name of a row in the predicate, as a regular expression:
            ``"^word:"``; empty: each row is itself.
        ours: what is read in its place: ``"word-mapped:"``.
    """

    profile: str
    theirs: str = ""
    ours: str = ""

    @property
    def label(self) -> str:
        """How a table's heading names it."""
        return ", ".join(filter(None, (self.profile, self.ours.removesuffix(":"))))

    def placed(self, system: str) -> str:
        """Return the row of ours that is read for one of the paper's; itself where there is none.

        Example:
            >>> Condition("open", "[+]Proj.*", "+Proj (orthogonal W)").placed("main:Bi-SaELMo+Proj")
            'main:Bi-SaELMo+Proj (orthogonal W)'
        """
        return re.sub(self.theirs, self.ours, system) if self.theirs else system


REPORTED = Condition("reported")
NOTHING = ReproducedNumbers([])


# -- Arrays behind a cell ----------------------------------------------------------------------


def places_of(seeds: int, sources: int, languages: int) -> Places:
    """Return where draws, single seeds, sources of error and languages stand after the mean."""
    sizes = {"draws": DRAWS, "seeds": seeds, "items": sources, "languages": languages}
    ends = np.cumsum([1, *sizes.values()]).tolist()
    return {name: slice(*ends) for name, ends in zip(sizes, pairwise(ends), strict=True)}


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
    from scipy.linalg import helmert  # takes a tenth of a second

    n = len(values)
    # Orthonormal contrasts R of n seeds: R'R / (n - 1) is the sample covariance of the cells.
    contrasts = helmert(n) @ values  # shape: (seeds - 1, cells)
    normal = rng.standard_normal((count, n - 1))
    spread = np.sqrt(n * rng.chisquare(n - 1, count))[:, None]
    return np.asarray(values.mean(axis=0) + (normal / spread) @ contrasts)


def laid_out(
    read: Mapping[Address, ReproducedCell], items: Callable[[ReproducedCell], float | Array]
) -> tuple[dict[Address, Array], Places, int]:
    """Return the arrays of cells, what stands where in them, and their common seeds' number.

    Cells are taken at the seeds that all of them have, where these are two or more: so every
    difference is paired. The sources of their errors over test items (`sources_of`) are added to
    the draws, and stand apart too. A cell that is read for several of the paper's is one array.

    Args:
        read: the random ones, by the addresses that they are read for.
        items: what the choice of test items does to a cell; see `intervals.error_of_items`.
    """
    if not read:
        return {}, places_of(0, 0, 0), 0
    cells = [*dict.fromkeys(read.values())]
    shared = set.intersection(*(set(c.seeds) for c in cells))
    paired = len(shared) > 1
    known = [[v for v, seed in zip(c.values, c.seeds) if seed in shared or not paired]
             for c in cells]  # fmt: skip
    # The language of a column, "fr" of "LAS/fr"; empty where it names none.
    parts = [[p for p in c.column.split("/") if len(p) == 2 and p.islower()] for c in cells]
    of_cell = np.array([next(iter(known), "") for known in parts])
    languages = sorted({*of_cell} - {""})
    sources = [sources_of(items(c), (c.experiment, c.column), c) for c in cells]
    sizes = {name: len(part) for of in sources for name, part in of.items()}
    starts = dict(zip(sizes, accumulate(sizes.values(), initial=0)))
    errors = np.zeros((len(cells), sum(sizes.values())))
    for row, of in zip(errors, sources, strict=True):
        for name, part in of.items():
            row[starts[name] : starts[name] + len(part)] = part
    places = places_of(len(shared) if paired else 0, errors.shape[1], len(languages))
    rng, made = np.random.default_rng(0), np.empty((len(cells), places["languages"].stop))
    groups = [tuple(shared)] if paired else sorted({c.seeds for c in cells})
    for seeds in groups:
        group = [i for i, c in enumerate(cells) if paired or c.seeds == seeds]
        values = np.array([known[i] for i in group]).T  # shape: (seeds, cells)
        made[group] = values.mean(axis=0)[:, None]
        if len(values) > 1:
            made[group, places["draws"]] = drawn_means(values, rng, DRAWS).T
        if paired:
            made[group, places["seeds"]] = values.T
    # A cell says nothing of other languages than its own.
    elsewhere = (of_cell[:, None] != languages) & (of_cell[:, None] != "")
    made[:, places["languages"]][elsewhere] = math.nan
    made[:, places["draws"]] += errors @ rng.standard_normal((errors.shape[1], DRAWS))
    made[:, places["items"]] += errors
    arrays = dict(zip(cells, made, strict=True))
    return {address: arrays[cell] for address, cell in read.items()}, places, min(map(len, known))


def tested(truth: Truth, places: Places) -> tuple[P, float, float]:
    """Test one comparison over seeds and test items, paired (`half_width`).

    Returns the p-values for and against it, and the 95 % interval of its difference.

    A largest of several or a rank correlation is no mean of what it is seed by seed: its draws
    tell.
    """
    gap = truth.gap
    if gap.size == 1:  # nothing random
        return ((0.0, 1.0) if truth.values[0] else (1.0, 0.0)), gap[0], gap[0]
    draws, seeds = gap[places["draws"]], gap[places["seeds"]]
    if (n := len(seeds)) > 1 and math.isclose(gap[0], np.mean(seeds), abs_tol=1e-9):
        of_items = float(np.linalg.norm(gap[places["items"]] - gap[0]))
        errors = float(np.std(seeds, ddof=1)) / math.sqrt(n), of_items
        if not any(errors):  # the same in all; a tie speaks against neither side
            return (float(not truth.values[0]), float(gap[0] >= 0)), gap[0], gap[0]
        half, tail = half_width(*errors, n), tail_of(abs(gap[0]), *errors, n)
        return ((tail, 1 - tail) if gap[0] > 0 else (1 - tail, tail)), gap[0] - half, gap[0] + half
    low, high = np.quantile(draws, (ALPHA, 1 - ALPHA))
    if np.ptp(draws) == 0:  # one seed
        return (1.0, 1.0), low, high
    against, for_it = (1 + np.sum(~side) for side in (draws > 0, draws < 0))
    return (against / (len(draws) + 1), for_it / (len(draws) + 1)), low, high


def _part(name: str, places: Places) -> Callable[[Truth], Array]:
    """Return what tells where a comparison is so, among the draws or the seeds."""
    size = places[name].stop - places[name].start
    return lambda leaf: (
        leaf.values[places[name]] if leaf.gap.size > 1 else np.full(size, bool(leaf.values[0]))
    )


def _named(
    claim: Claim, profile: str, points: set[Address], cells: Mapping[Address, Array],
    leaf: Truth, ends: Sequence[float],
) -> str:  # fmt: skip
    """Return the difference of a comparison, named by what differs in its cells' names, and what is
    claimed of it; of a comparison with a constant the value.

    Args:
        claim: whose. What it compares with 0 is its rank correlation, where it has one.
        profile: of the cells; a column that is a proxy for the paper's has its own name there.
        points: the cells in percent, whose differences are points.
        cells: all that the claim reads.
        leaf: the comparison.
        ends: of the difference's interval.
    """
    for limit, sign, where in zip(leaf.sides, (-1, 1), ("below", "above")):
        if isinstance(limit, int | float):
            value, low, high = (number(limit + sign * v) for v in (leaf.gap[0], *ends[::sign]))
            said = f"{value} ({low} to {high})"
            if "spearman(" in claim.predicate and not limit:
                middle = number(sign * float(np.median(leaf.gap[places_of(0, 0, 0)["draws"]])))
                said = f"Spearman's correlation {value} (draws have noise, which pulls it to 0: "
                said += f"median {middle}, 95 % from {low} to {high})"
            return f"{said}, where {where} {shown(limit)} is claimed"
    known = [a for side in leaf.sides for a in [a for a, of in cells.items() if of is side][:1]]
    name = f"{leaf.text}, a difference of".lstrip(", ")
    if len(known) == 2:
        names = []
        for experiment, system, column in known:
            entry, block = load_catalog().experiment(experiment), system.partition(":")[0]
            fields = entry.column_name(entry.column_at(profile, column)).split(", ")
            names.append((block, entry.row_name(system), *fields))
        first, second = (", ".join(n for n, o in zip(*p) if n != o) for p in (names, names[::-1]))
        same = [n for n, o in zip(*(of[1:] for of in names)) if n == o]
        name = ", ".join([minus(first, second), *same]) + ":"
    gap, low, high = (number(each, 2, signed=True) for each in (leaf.gap[0], *ends))
    unit = " points" * (len(known) == 2 and points.issuperset(known))
    return f"{name} {gap}{unit} ({low} to {high}), where above 0 is claimed"


def decide(
    truth: Truth,
    places: Places,
    reported: Sequence[Truth] = (),
    named: Callable[[Truth, Sequence[float]], str] = lambda leaf, ends: leaf.text,
) -> ClaimVerdict:
    """Return the verdict on a predicate by its comparisons and draws alone.

    Power is the chance that it would replicate if the reported differences were true, with the
    noise of our draws: a comparison counts as significant where the drawn difference is above what
    half of its own interval asks for.

    Args:
        truth: the predicate's value on arrays.
        places: what stands where in them.
        reported: each of its comparisons on the printed numbers, in the same order; none where
            nothing is printed, or where the paper's numbers do not bear it out. Of several printed
            differences that one of ours stands for, the smallest counts.
        named: what is told of a comparison and its interval.
    """
    tests = {leaf.name: tested(leaf, places) for leaf in truth.leaves}
    theirs = dict[Any, float]()
    for leaf, printed in zip(truth.every, reported, strict=False):
        theirs[leaf.name] = min(printed.gap[0], theirs.get(leaf.name, math.inf))
    p = truth.judged(lambda leaf: tests[leaf.name][0])
    is_drawn = _part("draws", places)
    share = float(np.mean(truth.counted(is_drawn)))
    halves = {name: (high - low) / 2 for name, (_, low, high) in tests.items()}

    def seen(leaf: Truth) -> Array:
        noise = leaf.gap[places["draws"]] - leaf.gap[0]
        significant = theirs[leaf.name] + noise > halves[leaf.name]
        return np.asarray(significant) if leaf.gap.size > 1 else is_drawn(leaf)

    status = INCONCLUSIVE
    if truth.values[0] and p[0] <= ALPHA and share >= LEVEL:
        status = REPLICATES
    elif not truth.values[0] and p[1] <= ALPHA:
        status = CONTRADICTS
    elif theirs and all(
        -EQUIVALENT * size < low and high < EQUIVALENT * size
        for size, (_, low, high) in zip(theirs.values(), tests.values())
    ):
        status = NO_EFFECT
    power = float(np.mean(truth.counted(seen))) if theirs else None
    decidable, note = max(halves.values(), default=None), ""
    for leaf in truth.leaves if status == INCONCLUSIVE and decidable else ():
        side, *ends = tests[leaf.name]
        if side[0] == p[0]:
            note = f"least certain: {named(leaf, ends)}"
            note += ", significant alone, not after Holm's correction" * bool(ends[1] < 0)
    if status == INCONCLUSIVE and decidable and not note:
        note = f"it holds in {100 * share:.0f} % of draws, where {100 * LEVEL:.0f} % are required; "
        note += "corrected for their number, no comparison contradicts it"
    return ClaimVerdict(status, share, p, decidable=decidable, power=power, note=note)


def held_back(status: str, heads: str, truth: Truth, places: Places) -> tuple[str, str]:
    """Take a verdict back that rests on seeds of heads alone, unless languages agree.

    A language, with an adaptation of its own, is what was replicated then.

    Returns:
        The verdict, and why it is that.
    """
    from scipy.special import stdtr

    gaps = np.array([leaf.gap[places["languages"]] for leaf in truth.leaves if leaf.gap.size > 1])
    known = [of[~np.isnan(of)] for of in gaps.T]  # shape: (comparisons,) of each language
    means = [float(of.mean()) for of in known if len(of)]
    n, p = len(means), 0.5
    if n >= LEAST_LANGUAGES:
        with np.errstate(divide="ignore", invalid="ignore"):  # all alike: 0 or 1; all 0: NaN
            t = math.sqrt(n) * np.mean(means) / np.std(means, ddof=1)
        p = float(stdtr(n - 1, -t))
    if {REPLICATES: p, CONTRADICTS: 1 - p}.get(status, 1.0) <= ALPHA:
        return status, f"seeds are of {heads}; {n} languages, each trained once, agree"
    models = f"one model each of {n} language{'s' * (n != 1)}"
    return INCONCLUSIVE, f"by {heads} alone {status} ({models} stands behind it)"


# -- What may be read on other data --------------------------------------------------------------


def _proxies(
    catalog: Catalog, profile: str, cells: Iterable[Address]
) -> tuple[dict[str, None], dict[str, None], dict[str, str]]:
    """Return what stands in for the paper's data and weights, and the fields read for others."""
    data, weights, fields = dict[str, None](), dict[str, None](), dict[str, str]()
    for experiment, system, column in cells:
        entry = catalog.experiment(experiment)
        if other := entry.other_data(profile, column):
            data[other.replace(";", ",")] = None  # semicolons part the notes
        if stand_in := entry.stand_ins.get(profile):
            known = stand_in.columns
            name, replaced = entry.column_name, [p for p in column.split("/") if p in known]
            fields |= {name(part): name(known[part]) for part in replaced}
        if other := entry.other_weights(profile, system):
            weights[other] = None
    return data, weights, fields


def _told(true: Truth) -> tuple[tuple[str, bool], ...]:
    """Return each comparison that a reader sees, and whether it is so; the same one once."""
    distinct = {(part.name, part.text): part for part in true.told}
    return tuple((part.text, bool(part.values[0])) for part in distinct.values())


# -- Judging -------------------------------------------------------------------------------------


@cache
def judge(
    claim: Claim, condition: Condition = REPORTED, numbers: ReproducedNumbers = NOTHING
) -> ClaimVerdict | None:
    """Return the verdict; ``None`` if the condition's rows of ours do not touch the claim.

    A claim on the size of an effect has the verdict of its sign-only form where sizes cannot
    be tested.

    Args:
        claim: which.
        condition: on what.
        numbers: reproduced cells.
    """
    printed, catalog = condition == REPORTED, load_catalog()
    if printed:
        return _on_reported(claim)
    if condition.ours and not any(
        catalog.experiment(experiment).readings.get(condition.ours) == condition.theirs
        and condition.placed(system) != system
        for experiment, system, _ in reads(claim)
    ):
        return None
    verdict = _on_reproduced(claim, condition, numbers)
    if claim.signs and verdict.status == NOT_TESTABLE:
        (form,) = (form for form in load_claims(claim.paper) if form.id == claim.signs)
        if of_form := judge(form, condition, numbers):
            note = f"{of_form.note}; judged by its sign-only form {form.id}".lstrip("; ")
            return replace(of_form, note=note, form=form.id)
    return verdict


def reads(claim: Claim) -> list[Address]:
    """Return the cells that the claim's predicate reads, in their first order."""
    return [*_on_printed(claim)[0]]


@cache
def _on_printed(claim: Claim) -> tuple[dict[Address, ReportedCell | None], Truth]:
    """Return the cells that a claim reads, and its predicate on what is printed of them.

    Raises:
        SettingsError: if it reads a cell that its paper does not have. Experiments of which
            the paper prints nothing are taken at their word: a test holds such reads against
            the systems and columns that the experiment can run.
    """
    reported, catalog, seen = load_reported(), load_catalog(), dict[Address, ReportedCell | None]()

    def look_up(address: Address) -> Array:
        seen[address] = cell = reported.get(*address)
        if cell is None and catalog.experiment(address[0]).reported:
            raise SettingsError(f"claim {claim.id}: no such cell: {' / '.join(address)}")
        return np.array([math.nan if cell is None or cell.value is None else cell.value])

    true = _evaluated(claim, look_up)
    return seen, true


def _evaluated(claim: Claim, look_up: Callable[[Address], Array]) -> Truth:
    paper, where = claim.paper, f"claim {claim.id}"
    distance = next(iter(load_reported().systems(f"{paper}/distances")), "")
    functions: dict[str, Callable[..., Any]] = {
        "value": lambda t, system, column: look_up((f"{paper}/{t}", system, column)),
        "distance": lambda lang: look_up((f"{paper}/distances", distance, lang)),
        "columns": lambda table, system: _columns(f"{paper}/{table}", system),
        "targets": lambda table, system: _columns(f"{paper}/{table}", system, True),
        "systems": lambda table, block="": [s for s in load_reported().systems(f"{paper}/{table}")
                                            if s.startswith(f"{block}:" if block else "")],
    }  # fmt: skip
    true = evaluate(claim.predicate, where, functions, claim.names)
    if not isinstance(true, Truth):
        raise SettingsError(f"{where}: its predicate is {true!r}, and compares no cells")
    return true


def _columns(experiment: str, system: str, targets: bool = False) -> list[str]:
    """Return the columns in which the paper prints a number of a row, all or the targets."""
    entry, cells = load_catalog().experiment(experiment), load_reported().cells(experiment)
    known = [c.column for c in cells if c.system == system and c.value is not None]
    return [c for c in known if not targets or entry.is_target(c)]


def _on_reported(claim: Claim) -> ClaimVerdict:
    cells, true = _on_printed(claim)
    if None in cells.values():
        return ClaimVerdict(NOT_CHECKABLE, note=UNPRINTED)
    missing = tuple(" / ".join(a[1:]) for a, c in cells.items() if c and c.value is None)
    if missing:
        return ClaimVerdict(NOT_CHECKABLE, missing=missing, note="cells without a number")
    status = CONSISTENT if true.values[0] else INCONSISTENT
    return ClaimVerdict(status, compared=_told(true))


def _on_reproduced(claim: Claim, condition: Condition, numbers: ReproducedNumbers) -> ClaimVerdict:
    catalog, (read, printed) = load_catalog(), _on_printed(claim)
    cells, fixed, missing = _gathered(condition, read, numbers)
    if missing:
        rows = dict[str, list[str]]()
        for experiment, system, column in missing:
            entry = catalog.experiment(experiment)
            name = entry.column_name(column).replace(", ", " ")
            rows.setdefault(f"{entry.label}: {system}", []).append(name)
        named = [f"{row} in {enumerated(columns)}" for row, columns in rows.items()]
        parts = named[:3] + [f"{len(named) - 3} more rows"] * (len(named) > 3)
        note, left = f"not run: {'; '.join(parts)}", tuple(map(" / ".join, missing))
        return ClaimVerdict(NOT_RUN, missing=left, note=note)
    quoted = ", ".join(sorted({a[1].partition(":")[2] for a in fixed}))
    placed = [(experiment, condition.placed(system), c) for experiment, system, c in read]
    data, weights, fields = _proxies(catalog, condition.profile, placed)
    instead = [*(f"{ours} for {theirs}" for theirs, ours in fields.items()), *data, *weights]
    ours = ", ".join([*data, *weights])
    said = {
        f"on proxies: {', '.join(instead)}": instead,
        f"reported values for {quoted}": quoted,
        "outdated records": any(c.stale for c in cells.values()),
    }
    notes = [note for note, so in said.items() if so]
    failed, unknown = failed_conditions(catalog, numbers, condition.profile, list(cells.values()))
    means = fixed | {a: c.mean for a, c in cells.items()}
    arrays = {a: np.array([mean]) for a, mean in means.items()}
    refusal = ""
    if ours and quoted:
        refusal = f"it compares with numbers of another corpus than ours ({ours}): {quoted}"
    elif ours and claim.magnitudes:
        refusal = f"it is about values on the paper's data, and ours are proxies: {ours}"
    elif claim.magnitudes and condition.profile != SIZES_AT:
        refusal = f"it is about the size of an effect, which {condition.profile} says little of"
    if refusal or failed:
        compared = _told(_evaluated(claim, arrays.__getitem__))
        note = refusal or "; ".join([*failed, *notes])
        return ClaimVerdict(NOT_TESTABLE, compared=compared, note=note)
    random = {a: c for a, c in cells.items() if not catalog.experiment(a[0]).deterministic}
    drawn, places, n = laid_out(random, numbers.noise)
    true = _evaluated(claim, (arrays | drawn).__getitem__)
    is_printed = all(c is not None and c.value is not None for c in read.values())
    fits = is_printed and printed.values[0] and len(printed.every) == len(true.every)
    theirs = printed.every if fits and not claim.magnitudes else ()
    points = {a for a, c in cells.items() if c.unit == "percent"}
    said_of = partial(_named, claim, condition.profile, points, arrays | drawn)
    verdict = decide(true, places, theirs, said_of)
    alone = None
    if paired := places["seeds"].stop - places["seeds"].start:
        alone = int(np.broadcast_to(true.counted(_part("seeds", places)), paired).sum())
    status = verdict.status
    if n == 1:
        lone = sorted({c.system for c in cells.values() if c.n == 1})
        notes.append(f"one seed decides nothing: {', '.join(lone)}")
        status, verdict = INCONCLUSIVE, replace(verdict, p=None)
    if status == INCONCLUSIVE and verdict.power is not None and verdict.power < FEW:
        notes.append(f"power {100 * verdict.power:.0f} % for an effect of the reported size")
    heads = {catalog.experiment(a[0]).seeds_of for a in read} - {""}
    if heads and status != INCONCLUSIVE:
        status, note = held_back(status, min(heads), true, places)
        notes.append(note)
    notes += [f"not known whether {what}" for what in unknown]
    notes = [verdict.note, *notes] if verdict.note and status == INCONCLUSIVE else notes
    return replace(
        verdict, status=status, n=n, alone=alone, compared=_told(true), note="; ".join(notes)
    )


def _gathered(
    condition: Condition, read: Mapping[Address, ReportedCell | None], numbers: ReproducedNumbers
) -> tuple[dict[Address, ReproducedCell], dict[Address, float], list[Address]]:
    """Return the cells that stand for those read, printed ones that count, and what nobody ran.

    Quoted rows and distances keep their printed value where nobody ran them.
    """
    cells, fixed = dict[Address, ReproducedCell](), dict[Address, float]()
    missing = list[Address]()
    catalog = load_catalog()
    for address, printed in read.items():
        experiment, system, name = address
        entry = catalog.experiment(experiment)
        placed, column = condition.placed(system), entry.column_at(condition.profile, name)
        cell = View(experiment, condition.profile, numbers).get(placed, column)
        keeps = entry.deterministic or bool(entry.quoted_because(system))
        if cell is not None:
            cells[address] = cell
        elif keeps and printed is not None and printed.value is not None:
            fixed[address] = printed.value
        else:
            missing.append((experiment, placed, column))
    return cells, fixed, missing


def status_counts(verdicts: Sequence[ClaimVerdict | None]) -> dict[str, int]:
    """Return how many verdicts have each status."""
    counts = Counter(v.status for v in verdicts if v is not None)
    return {status: counts[status] for status in STATUSES}


def counted(counts: Mapping[str, int]) -> str:
    """Return how many claims have each verdict, as prose has it.

    Example:
        >>> counted({REPLICATES: 1, NO_EFFECT: 2, NOT_TESTABLE: 1})
        '1 replicates, 2 show no effect and 1 is not testable here'
    """
    return enumerated([f"{n} {VERBS[s][n > 1]}" for s in VERBS if (n := counts.get(s, 0))])


def kept_at_five_percent(verdicts: Iterable[ClaimVerdict | None]) -> int:
    """Return how many verdicts in one direction stay at a false discovery rate of 5 %.

    Benjamini and Hochberg's procedure over the two-sided p-values of all claims that were tested.
    """
    tests = [v.p for v in verdicts if v is not None and v.p]
    p = sorted(min(1.0, 2 * min(both)) for both in tests)
    return max((i for i, each in enumerate(p, 1) if each <= (1 - LEVEL) * i / len(p)), default=0)
