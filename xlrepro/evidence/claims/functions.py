"""The functions that a predicate may call; each takes numbers, or arrays with a number per draw."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np


def are_drawn(values: Iterable[Any]) -> bool:
    """Tell whether one of the values is an array of draws."""
    return any(isinstance(value, np.ndarray) for value in values)


def _stack(values: Sequence[Any]) -> Any:
    """Return ``(values, draws)``; a number is the same in every draw."""
    return np.stack(np.broadcast_arrays(*values))


def flat(values: Any) -> Any:
    """Return ``values`` if it is no list of lists: comparing those could take for ever."""
    if isinstance(values, list) and any(isinstance(v, list) for v in values):
        raise TypeError("a list of lists cannot be compared or ordered")
    return values


def all_true(values: Iterable[Any]) -> Any:
    """Tell whether all are true, draw by draw."""
    truths = list(values)
    return np.logical_and.reduce(_stack(truths)) if are_drawn(truths) else all(truths)


def any_true(values: Iterable[Any]) -> Any:
    """Tell whether any is true, draw by draw."""
    truths = list(values)
    return np.logical_or.reduce(_stack(truths)) if are_drawn(truths) else any(truths)


def negated(value: Any) -> Any:
    """Return the opposite of a truth value."""
    return np.logical_not(value) if isinstance(value, np.ndarray) else not value


def among(item: Any, items: Any) -> Any:
    """Tell whether ``item`` is one of ``items``."""
    if isinstance(item, np.ndarray):
        return any_true([item == other for other in items])
    return item in items


def total(values: Sequence[Any]) -> Any:
    """Return the sum of numbers; of truth values: how many are true."""
    if not all(isinstance(v, int | float | np.ndarray) for v in values):
        raise TypeError("sum wants a list of numbers or truth values")
    return np.sum(_stack(values), axis=0) if are_drawn(values) else sum(values)


def largest(*values: Any) -> Any:
    """Return the largest of a list, or of several values."""
    items = flat(values[0]) if len(values) == 1 else [flat(v) for v in values]
    return np.max(_stack(items), axis=0) if are_drawn(items) else max(items)


def smallest(*values: Any) -> Any:
    """Return the smallest of a list, or of several values."""
    items = flat(values[0]) if len(values) == 1 else [flat(v) for v in values]
    return np.min(_stack(items), axis=0) if are_drawn(items) else min(items)


def in_order(values: Sequence[Any]) -> list[Any]:
    """Return the values, rising."""
    items = flat(values)
    return list(np.sort(_stack(items), axis=0)) if are_drawn(items) else sorted(items)


def average(values: Sequence[Any]) -> Any:
    """Return the mean of a list."""
    return np.mean(_stack(values), axis=0) if are_drawn(values) else fmean(values)


def middle(values: Sequence[Any]) -> Any:
    """Return the median of a list."""
    return np.median(_stack(values), axis=0) if are_drawn(values) else median(values)


def near(first: Any, second: Any, tolerance: float) -> Any:
    """Tell whether two numbers differ by at most ``tolerance``."""
    return abs(first - second) <= tolerance


def _ranks(values: Any) -> Any:
    """Return the ranks from 1 along ``(items, draws)``; ties share their mean rank."""
    lower = np.sum(values[None] < values[:, None], axis=1)
    not_higher = np.sum(values[None] <= values[:, None], axis=1)
    return (lower + not_higher + 1) / 2


def spearman(first: Sequence[Any], second: Sequence[Any]) -> Any:
    """Return Spearman's rank correlation; ties share their mean rank; NaN where one is constant.

    Example:
        >>> spearman([1, 2, 3], [10, 30, 20])
        0.5
    """
    if len(first) != len(second) or len(first) < 2:
        raise ValueError("spearman wants two lists of the same length, 2 or more")
    drawn = are_drawn([*first, *second])
    both = _stack([*first, *second]) if drawn else np.array([[v] for v in (*first, *second)])
    # shape: (items, draws); column j: the ranks in draw j, around their mean
    a, b = (r - r.mean(0) for r in map(_ranks, np.split(both, 2)))
    scale = np.sqrt(np.sum(a * a, axis=0) * np.sum(b * b, axis=0))
    rho = np.where(scale > 0, np.sum(a * b, axis=0) / np.where(scale > 0, scale, 1.0), math.nan)
    return rho if drawn else float(rho[0])


def argmax(values: Sequence[Any], labels: Sequence[Any]) -> Any:
    """Return the label of the largest value, the first of equals."""
    return highest(1, values, labels)[0]


def argmin(values: Sequence[Any], labels: Sequence[Any]) -> Any:
    """Return the label of the smallest value, the first of equals."""
    return lowest(1, values, labels)[0]


def lowest(count: int, values: Sequence[Any], labels: Sequence[Any]) -> list[Any]:
    """Return the labels of the ``count`` smallest values, rising."""
    if len(values) != len(labels) or len(values) < count:
        raise ValueError("values and labels must be of the same length")
    if are_drawn(values):
        order = np.argsort(_stack(values), axis=0, kind="stable")
        return list(np.array(labels, dtype=object)[order[:count]])
    ranked = sorted(range(len(values)), key=lambda i: values[i])
    return [labels[i] for i in ranked[:count]]


def highest(count: int, values: Sequence[Any], labels: Sequence[Any]) -> list[Any]:
    """Return the labels of the ``count`` largest values, falling."""
    return lowest(count, [-v for v in values], labels)


def rising(values: Sequence[Any]) -> Any:
    """Tell whether no value is smaller than the one before it."""
    return all_true([a <= b for a, b in itertools.pairwise(values)])


def same_set(first: Iterable[Any], second: Iterable[Any]) -> Any:
    """Tell whether two lists hold the same things, in whatever order and number."""
    one, other = list(first), list(second)
    if not are_drawn([*one, *other]):
        return set(one) == set(other)
    both = _stack([np.asarray(item, dtype=object) for item in (*one, *other)]).T
    return np.array([set(row[: len(one)]) == set(row[len(one) :]) for row in both])


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "all": all_true, "any": any_true, "sum": total, "min": smallest, "max": largest, "len": len,
    "abs": abs, "sorted": in_order, "mean": average, "median": middle, "near": near,
    "spearman": spearman, "argmax": argmax, "argmin": argmin, "lowest": lowest, "highest": highest,
    "rising": rising, "same_set": same_set,
}  # fmt: skip
