"""Predicates of claims: expressions over cells, evaluated by asteval on arrays.

A cell is an array: first its mean over seeds, then draws of the mean, then what else the judge lays
behind them (`xlrepro.evidence.claims`); a printed number is an array of one. So one evaluation
says whether the claim is true in the means and in each draw, and leaves behind the tree of
comparisons that decided it, each with a p-value for and one against it.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from asteval import Interpreter

from xlrepro.errors import SettingsError

Array = np.ndarray[Any, np.dtype[Any]]
P = tuple[float, float]  # p-values: of "it is so" being false, of "it is not so" being false
SIGNS = {ast.Lt: "<", ast.LtE: "≤", ast.Gt: ">", ast.GtE: "≥"}


@dataclass(frozen=True, eq=False)
class Truth:
    """Whether something is so, in each place of the arrays.

    Attributes:
        values: true or false per place.
        parts: what it is made of: so where at least ``least`` of them are; none of a comparison.
        least: how many.
        gap: of a comparison: by how much its sides differ, above 0 where it is so.
        text: what was compared, as a reader sees it; empty for what only joins comparisons.
        sides: of a comparison: the value that the claim has larger, and the other.
    """

    values: Array
    parts: tuple["Truth", ...] = ()
    least: int = 0
    gap: Array = field(default_factory=lambda: np.zeros(1))
    text: str = ""
    sides: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        raise TypeError("a comparison of cells is joined by and, all, any and at_least alone")

    @property
    def every(self) -> list["Truth"]:
        """Its comparisons, in order."""
        return [leaf for part in self.parts for leaf in part.every] if self.parts else [self]

    @property
    def leaves(self) -> list["Truth"]:
        """Its distinct comparisons: the same difference counts once."""
        return list({leaf.name: leaf for leaf in self.every}.values())

    @cached_property
    def name(self) -> Any:
        """What tells a comparison from others."""
        return self.gap.tobytes() if not self.parts else (self.least, *(p.name for p in self.parts))

    @property
    def told(self) -> list["Truth"]:
        """The comparisons that a reader sees."""
        return [self] if self.text else [t for part in self.parts for t in part.told]

    def judged(self, of_leaf: Callable[["Truth"], P]) -> P:
        """Return the p-values for and against, from those of its comparisons.

        At least m of k hypotheses: Benjamini and Heller's (2008) partial conjunction by Bonferroni,
        (k - m + 1) times the m-th smallest. So "all" takes the largest p-value for it, and against
        it the smallest times their number, which is Holm's first step; "any" the other way round.
        """
        if not self.parts:
            return of_leaf(self)
        distinct = {part.name: part for part in self._flat()}.values()
        k = len(distinct)
        m = k if self.least == len(self.parts) else min(self.least, k)
        sides = zip(*(part.judged(of_leaf) for part in distinct), strict=True)
        (certain, refuted) = (sorted(side) for side in sides)
        return min(1.0, (k - m + 1) * certain[m - 1]), min(1.0, m * refuted[k - m])

    def _flat(self) -> list["Truth"]:
        """Its parts; those that are again all of theirs, within an all, by their own parts."""
        if self.least < len(self.parts):
            return list(self.parts)
        nested = (p._flat() if p.parts and p.least == len(p.parts) else [p] for p in self.parts)
        return [part for group in nested for part in group]

    def counted(self, of_leaf: Callable[["Truth"], Array]) -> Array:
        """Return where it would be so, given where its comparisons are."""
        if not self.parts:
            return of_leaf(self)
        true = np.sum([part.counted(of_leaf) for part in self.parts], axis=0)
        return np.asarray(true >= self.least)


class Extreme(np.ndarray[Any, Any]):
    """The largest or smallest of several values; remembers them, until it is calculated with."""

    items: Sequence[Any] = ()
    largest = True


def _first(value: Any) -> float:
    return float(np.asarray(value, dtype=float).flat[0])


def _less(a: Any, b: Any, or_equal: bool = False) -> Truth:
    """Compare two values; against a largest or a smallest of several: with each of these.

    As at least as large as itself, where it is one of them, it is not compared.
    """
    for side, other, is_right in ((a, b, False), (b, a, True)):
        if isinstance(side, Extreme) and side.items:
            items = [i for i in side.items if not (or_equal and np.array_equal(i, other))]
            pairs = [(other, item) if is_right else (item, other) for item in items]
            every = [_less(*pair, or_equal) for pair in pairs]
            return all_of(every) if side.largest != is_right else any_of(every)
    gap = np.atleast_1d(np.asarray(b, dtype=float) - np.asarray(a, dtype=float))
    return Truth(gap >= 0 if or_equal else gap > 0, gap=gap, sides=(b, a))


def all_of(parts: Iterable[Any], least: int | None = None) -> Any:
    """Tell whether all, or at least so many, are so; plain if none depends on cells."""
    known = list(parts)
    truths = [p for p in known if isinstance(p, Truth)]
    needed = (len(known) if least is None else least) - sum(p is True for p in known)
    if not 0 < needed <= len(truths):
        return needed <= 0
    if len(truths) == 1:
        return truths[0]
    count = np.sum(np.broadcast_arrays(*(t.values for t in truths)), axis=0)
    return Truth(count >= needed, tuple(truths), needed)


def any_of(parts: Iterable[Any]) -> Any:
    """Tell whether any is so."""
    return all_of(parts, 1)


def at_least(least: int, parts: Iterable[Any]) -> Truth:
    """Tell whether so many are so."""
    known = list(parts)
    so = sum(bool(part.values.flat[0]) for part in known)
    return replace(all_of(known, least), text=f"{so} ≥ {least}")


def _stacked(values: Iterable[Any]) -> Array:
    """Return values as rows of an array, ``(values, places)``."""
    return np.stack(np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in values)))


def extreme(*values: Any, largest: bool) -> Any:
    """Return the largest or the smallest of values, or of a list."""
    items = list(values[0]) if len(values) == 1 else list(values)
    stacked = _stacked(items)
    found = (stacked.max(axis=0) if largest else stacked.min(axis=0)).view(Extreme)
    found.items, found.largest = items, largest
    return found


def ranked(values: Sequence[Any], labels: Sequence[str], *wanted: str, largest: bool) -> Truth:
    """Tell whether the values at some labels are the largest, or the smallest, of all."""
    at = dict(zip(labels, values, strict=True))
    pairs = [(at[b], at[a]) for a in wanted for b in labels if b not in wanted]
    true = all_of(_less(*pair) if largest else _less(*pair[::-1]) for pair in pairs)
    order = sorted(labels, key=lambda label: _first(at[label]), reverse=largest)
    text = f"{'largest' if largest else 'smallest'}: {', '.join(order[: len(wanted)])}"
    not_so = f", not {', '.join(wanted)}" * (not true.values.flat[0])
    return replace(true, text=text + not_so)


def average(values: Iterable[Any]) -> Array:
    """Return the mean of a list; of what is there where places are empty."""
    stacked = _stacked(values)
    there = ~np.isnan(stacked)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, stacked, 0.0).sum(axis=0) / there.sum(axis=0))


def near(first: Any, second: Any, tolerance: float) -> Truth:
    """Tell whether two numbers differ by at most ``tolerance``: an equivalence test (TOST)."""
    gap = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    true = all_of([_less(-tolerance, gap, True), _less(gap, tolerance, True)])
    text = f"{shown(_first(first))} = {shown(_first(second))} ± {tolerance:g}"
    return replace(true, text=text)


def spearman(first: Sequence[Any], second: Sequence[Any]) -> Array:
    """Return Spearman's rank correlation; ties share their mean rank; NaN where one is constant.

    Example:
        >>> spearman([1, 2, 3], [10, 30, 20])
        array([0.5])
    """
    if len(first) != len(second) or len(first) < 2:
        raise ValueError("spearman wants two lists of the same length, 2 or more")
    both = _stacked(map(np.atleast_1d, [*first, *second]))

    def ranks(values: Array) -> Array:  # shape: (items, places); around their mean
        lower = np.sum(values[None] < values[:, None], axis=1)
        not_higher = np.sum(values[None] <= values[:, None], axis=1)
        return np.asarray((lower + not_higher + 1) / 2 - (len(values) + 1) / 2)

    a, b = map(ranks, np.split(both, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sum(a * b, 0) / np.sqrt(np.sum(a * a, 0) * np.sum(b * b, 0)))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "all": all_of, "any": any_of, "at_least": at_least, "mean": average, "near": near,
    "min": partial(extreme, largest=False), "max": partial(extreme, largest=True),
    "largest": partial(ranked, largest=True), "smallest": partial(ranked, largest=False),
    "spearman": spearman,
}  # fmt: skip


def shown(value: float, decimals: int = 2) -> str:
    """Write a number down with two decimals, a small one with two digits.

    Example:
        >>> shown(67.9), shown(0.1234), shown(-0.005)
        ('67.90', '0.12', '−0.005')
    """
    if isinstance(value, int):
        return str(value)
    text = f"{value:.{decimals}f}" if abs(value) >= 0.01 or not value else f"{value:.2g}"
    return text.replace("-", "−")


def _written(ops: Sequence[ast.cmpop], terms: Sequence[Any]) -> str:
    """Write a comparison down, with as many decimals as unequal sides and constants need."""
    numbers = [t if isinstance(t, int) else _first(t) for t in terms]
    finer = any(isinstance(t, float) and t != round(t, 2) for t in terms)
    for decimals in range(2 + finer, 9):
        sides = [shown(n, decimals) for n in numbers]
        if all((a == b) == (x == y) for (a, x), (b, y) in pairwise(zip(sides, numbers))):
            break
    signs = (f" {SIGNS[type(op)]} {side}" for op, side in zip(ops, sides[1:]))
    return sides[0] + "".join(signs)


class _Predicate(Interpreter):
    """asteval without statements, attributes, indices and powers; truths instead of booleans."""

    def __init__(self, functions: Mapping[str, Any], names: Mapping[str, Any]) -> None:
        symbols = {**functions, **names, "True": True, "False": False, "None": None}
        super().__init__(symtable=symbols, use_numpy=False, minimal=True, with_listcomp=True)
        kept = ("expression", "expr", "module", "constant", "num", "str", "name", "list", "tuple",
                "unaryop", "binop", "listcomp", "call")  # fmt: skip
        self.node_handlers: dict[str, Any] = {
            k: v for k, v in self.node_handlers.items() if k in kept
        }
        self.node_handlers |= {
            "generatorexp": self.on_listcomp, "compare": self.on_compare, "boolop": self.on_boolop,
        }  # fmt: skip

    def on_boolop(self, node: ast.BoolOp) -> Any:
        parts = [self.run(value) for value in node.values]
        return all_of(parts) if isinstance(node.op, ast.And) else any_of(parts)

    def on_compare(self, node: ast.Compare) -> Any:
        terms = [self.run(term) for term in (node.left, *node.comparators)]
        if not any(isinstance(term, np.ndarray) for term in terms):  # names of columns, say
            return super().on_compare(node)
        if any(type(op) not in SIGNS for op in node.ops):
            raise TypeError(f"cells are compared by {', '.join(SIGNS.values())} alone")
        parts = []
        for op, (a, b) in zip(node.ops, pairwise(terms), strict=True):
            low, high = (a, b) if isinstance(op, ast.Lt | ast.LtE) else (b, a)
            parts.append(_less(low, high, isinstance(op, ast.LtE | ast.GtE)))
        return replace(all_of(parts), text=_written(node.ops, terms))


@lru_cache(maxsize=512)
def parse(text: str, where: str) -> ast.expr:
    """Return the tree of an expression.

    Raises:
        SettingsError: if it is none; names ``where`` and the column.
    """
    try:
        tree = ast.parse(" ".join(text.split()), mode="eval").body
        if any(isinstance(node, ast.Pow) for node in ast.walk(tree)):
            raise ValueError("there is no power")
        return tree
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = getattr(error, "offset", None) or 1
        raise SettingsError(f"{where}, column {column}: not an expression ({error})") from None


def evaluate(
    text: str, where: str, functions: Mapping[str, Callable[..., Any]], names: Mapping[str, Any]
) -> Any:
    """Return the value of an expression.

    Args:
        text: the expression.
        where: what it belongs to, ``"claim O05"``: stands at the head of errors.
        functions: what it may call, besides `FUNCTIONS`.
        names: constants.

    Raises:
        SettingsError: for what is no expression, an unknown name, what the language lacks.
    """
    tree = parse(text, where)
    run = _Predicate({**FUNCTIONS, **functions}, names)
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            return run.run(tree, expr=text, with_raise=True)
    except Exception as error:  # asteval raises whatever an operand raised, in words of its own
        first = run.error[0].exc_info[1] if run.error else None
        if isinstance(first, SettingsError):
            raise first from None
        said = str(run.error[-1].get_error()[1] if run.error else error).strip().splitlines()
        raise SettingsError(f"{where}: {said[-1] if said else error}") from None
