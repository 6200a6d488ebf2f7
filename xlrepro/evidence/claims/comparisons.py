"""What a predicate compared, written down for a reader: ``"67.91 > 67.75"``."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

SIGNS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "≤", ast.Gt: ">", ast.GtE: "≥", ast.Eq: "=", ast.NotEq: "≠",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """One comparison that an evaluation made.

    Attributes:
        text: its values, ``"67.91 > 67.75"``; empty where they are draws.
        true: whether it is so; an array of truth values where they are draws.
        gaps: by how much neighbouring sides differ, where values that are measured are ordered,
            above 0 if they differ as the claim has it; ``(draws,)`` each where they are draws.
    """

    text: str
    true: Any
    gaps: tuple[Any, ...] = ()


def shown(value: Any, decimals: int = 2) -> str:
    """Write a value down: a number with two decimals, a small one with two digits.

    Example:
        >>> shown(67.9), shown(0.1234), shown(-0.005), shown(["es", 3])
        ('67.90', '0.12', '-0.005', '[es, 3]')
    """
    if isinstance(value, list):
        return f"[{', '.join(shown(v) for v in value)}]"
    if isinstance(value, str | bool | int):
        return str(value)
    return f"{value:.{decimals}f}" if abs(value) >= 0.01 or not value else f"{value:.2g}"


def shown_apart(values: Sequence[Any]) -> list[str]:
    """Write the sides of a comparison down, with as many decimals as tell unequal ones apart.

    Example:
        >>> shown_apart([67.912, 67.908]), shown_apart([1.5, 1.5])
        (['67.912', '67.908'], ['1.50', '1.50'])
    """
    sides: list[str] = []
    for decimals in range(2, 9):
        sides = [shown(value, decimals) for value in values]
        if all((a == b) == (x == y) for (a, x), (b, y) in pairwise(zip(sides, values))):
            break
    return sides


# Functions that compare, and what is written of their arguments.
COMPARERS: Mapping[str, Callable[..., str]] = {
    "near": lambda first, second, tolerance: f"{shown(first)} = {shown(second)} ± {tolerance:g}",
    "rising": lambda values: " ≤ ".join(shown(v) for v in values),
    "same_set": lambda first, second: f"{shown(first)} = {shown(second)}",
}
# Functions that pick items, and what a reader calls what they picked.
PICKED: Mapping[str, str] = {
    "argmax": "largest", "argmin": "smallest", "highest": "largest", "lowest": "smallest",
}  # fmt: skip


def picked(by: ast.expr, ours: Any, claimed: Any, true: bool) -> str | None:
    """Return what was picked, beside what should have been; ``None`` if ``by`` picks nothing.

    Example:
        >>> call = ast.parse("argmax([1, 2], [a, b])", mode="eval").body
        >>> picked(call, "b", "a", False), picked(call, "a", "a", True)
        ('largest: b, not a', 'largest: a')
    """
    kind = PICKED.get(by.func.id) if isinstance(by, ast.Call) and hasattr(by.func, "id") else None
    if kind is None:
        return None
    sides = [
        ", ".join(map(shown, side)) if isinstance(side, list) else shown(side)
        for side in (ours, claimed)
    ]
    return f"{kind}: {sides[0]}" if true else f"{kind}: {sides[0]}, not {sides[1]}"


def told(made: list[Comparison] | tuple[Comparison, ...], most: int = 4) -> str:
    """Return the comparisons in words; of more than ``most`` how many are true.

    Example:
        >>> told([Comparison("2 > 1", True), Comparison("1 > 3", False)])
        '2 > 1, 1 > 3 ✗'
    """
    if len(made) > most:
        return f"{sum(c.true for c in made)} of {len(made)} comparisons true"
    return ", ".join(c.text if c.true else f"{c.text} ✗" for c in made)
