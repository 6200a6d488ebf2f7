"""A small language for predicates over cells: Python's syntax, none of its powers.

An expression is parsed by `ast` and interpreted node by node from a whitelist; nothing is ever
compiled or evaluated by Python. There are numbers, strings, lists, comparisons (chained too),
``and``, ``or``, ``not``, ``+ - * /``, list comprehensions and generators, and calls of the
functions it is given. There is no attribute, no index, no lambda, no power and no keyword
argument. Length, depth, steps and sizes are bounded.

``and``, ``or``, ``all`` and ``any`` look at every operand: a predicate reads the same cells
whatever their values are, so that what it needs is known beforehand. It also makes the same
comparisons, which an evaluation can note down.
"""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from xlrepro.errors import SettingsError
from xlrepro.evidence.claims.comparisons import COMPARERS, SIGNS, Comparison, picked, shown_apart
from xlrepro.evidence.claims.functions import (
    FUNCTIONS,
    all_true,
    among,
    any_true,
    are_drawn,
    flat,
    negated,
)

MAX_LENGTH = 2_000  # characters of source
MAX_NODES = 500
MAX_DEPTH = 30
MAX_STEPS = 200_000  # nodes visited in one evaluation
MAX_ITEMS = 2_000  # of a list
MAX_TEXT = 500  # characters of a string that is put together
MAX_NUMBER = 1e15

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: among,
    ast.NotIn: lambda item, items: negated(among(item, items)),
}
_ALLOWED = (
    ast.Expression, ast.Constant, ast.Tuple, ast.List, ast.Name, ast.Load, ast.Store, ast.BoolOp,
    ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Compare, ast.Call,
    ast.GeneratorExp, ast.ListComp, ast.comprehension, *_BINARY, *_COMPARE,
)  # fmt: skip


@dataclass(frozen=True)
class Expression:
    """A checked expression. ``where`` (a claim's id) stands at the head of its errors."""

    text: str
    where: str
    tree: ast.expr

    def evaluate(
        self,
        names: Mapping[str, Any] | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        made: list[Comparison] | None = None,
    ) -> Any:
        """Return the expression's value; an array where what it reads are arrays of draws.

        Args:
            names: constants it may use.
            functions: functions it may call, besides ``FUNCTIONS``.
            made: takes the comparisons that were made, in their order; of one within another
                (counting how often something is larger) only the outer.

        Raises:
            SettingsError: for an unknown name, a wrong operand or a limit; names ``where`` and
                the column.
        """
        run = _Run(self, {**FUNCTIONS, **(functions or {})}, [] if made is None else made)
        with np.errstate(divide="raise", invalid="raise"):
            return run.visit(self.tree, dict(names or {}))


def parse(text: str, where: str) -> Expression:
    """Check an expression without evaluating it.

    Args:
        text: the source, on one or more lines.
        where: what it belongs to, ``"claim O05"``.

    Raises:
        SettingsError: if it is too long, is no expression, or uses what the language lacks.

    Example:
        >>> parse("mean([1, 2]) > 1", "example").evaluate()
        True
    """
    flat = " ".join(text.split())
    if len(flat) > MAX_LENGTH:
        raise SettingsError(f"{where}: {len(flat)} characters; the limit is {MAX_LENGTH}")
    try:
        tree = ast.parse(flat, mode="eval")
    except (SyntaxError, ValueError) as error:
        column = getattr(error, "offset", None) or 1
        raise SettingsError(f"{where}, column {column}: not an expression ({error})") from None
    except (RecursionError, MemoryError):
        raise SettingsError(f"{where}: nested deeper than {MAX_DEPTH}") from None
    expression = Expression(flat, where, tree.body)
    _check(expression)
    return expression


def _fail(expression: Expression, node: ast.AST, what: str) -> SettingsError:
    column = getattr(node, "col_offset", 0) + 1
    return SettingsError(f"{expression.where}, column {column}: {what}")


def _check(expression: Expression) -> None:
    waiting: list[tuple[ast.AST, int]] = [(expression.tree, 1)]
    count = 0
    while waiting:
        node, depth = waiting.pop()
        count += 1
        if count > MAX_NODES:
            raise _fail(expression, node, f"more than {MAX_NODES} parts")
        if depth > MAX_DEPTH:
            raise _fail(expression, node, f"nested deeper than {MAX_DEPTH}")
        if not isinstance(node, _ALLOWED):
            raise _fail(expression, node, f"{type(node).__name__} is not part of the language")
        if refusal := _refusal(node):
            raise _fail(expression, getattr(node, "target", node), refusal)
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)]


def _refusal(node: ast.AST) -> str:
    """Return why a kind of node that is allowed is not in this form; empty if it is."""
    match node:
        case ast.Constant(value=bool() | str()):
            return ""
        case ast.Constant(value=int() | float() as size) if abs(size) <= MAX_NUMBER:
            return ""
        case ast.Constant():
            return "only strings and numbers of reasonable size are allowed"
        case ast.Name(id=name) if name.startswith("_"):
            return f"the name {name!r} begins with an underscore"
        case ast.Call(func=ast.Name(id=name), keywords=[_, *_]):
            return f"{name} takes no keyword arguments here"
        case ast.Call(func=func) if not isinstance(func, ast.Name):
            return "only functions can be called, by their name"
        case ast.comprehension(is_async=1):
            return "async is not part of the language"
    return ""


def _gaps(ops: Sequence[ast.cmpop], terms: Sequence[Any]) -> tuple[Any, ...]:
    """Return by how much neighbours differ where measured values (not counts) are ordered.

    Above 0 where they differ as the comparison says.
    """
    return tuple(
        (b - a) * (1 if isinstance(op, ast.Lt | ast.LtE) else -1)
        for op, (a, b) in zip(ops, pairwise(terms))
        if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        and not isinstance(a, str | list)
        and not isinstance(b, str | list)
        and np.result_type(a, b).kind == "f"
    )


@dataclass
class _Run:
    """One evaluation: the functions it may call, what it compared, the steps it has made."""

    expression: Expression
    functions: Mapping[str, Callable[..., Any]]
    made: list[Comparison]
    steps: int = 0

    def visit(self, node: ast.expr, names: dict[str, Any]) -> Any:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise self.fail(node, f"more than {MAX_STEPS} steps")
        try:
            value = self.compute(node, names)
        except (TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise self.fail(node, f"{type(error).__name__}: {error}") from None
        if isinstance(value, (list, tuple)) and len(value) > MAX_ITEMS:
            raise self.fail(node, f"a list of more than {MAX_ITEMS} items")
        if isinstance(value, str) and len(value) > MAX_TEXT:
            raise self.fail(node, f"a string of more than {MAX_TEXT} characters")
        return value

    def fail(self, node: ast.AST, what: str) -> SettingsError:
        return _fail(self.expression, node, what)

    def compute(self, node: ast.expr, names: dict[str, Any]) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                if name not in names:
                    raise self.fail(node, f"unknown name {name!r}")
                return names[name]
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self.visit(part, names) for part in parts]
            case ast.BoolOp(op=op, values=parts):
                truths = [self.visit(part, names) for part in parts]
                return all_true(truths) if isinstance(op, ast.And) else any_true(truths)
            case ast.UnaryOp():
                return self.unary(node, names)
            case ast.Call(func=ast.Name(id=name)):
                return self.call(node, name, names)
            case ast.BinOp():
                return self.binary(node, names)
            case ast.Compare():
                return self.comparison(node, names)
            case ast.GeneratorExp() | ast.ListComp():
                return self.comprehension(node, names)

    def unary(self, node: ast.UnaryOp, names: dict[str, Any]) -> Any:
        before = len(self.made)
        operand = self.visit(node.operand, names)
        if not isinstance(node.op, ast.Not):
            return -operand
        self.made[before:] = [
            Comparison(f"not {c.text}", negated(c.true), tuple(-g for g in c.gaps))
            for c in self.made[before:]
        ]
        return negated(operand)

    def call(self, node: ast.Call, name: str, names: dict[str, Any]) -> Any:
        if name not in self.functions:
            raise self.fail(node, f"unknown function {name!r}")
        before = len(self.made)
        arguments = [self.visit(argument, names) for argument in node.args]
        self.steps += sum(len(a) for a in arguments if isinstance(a, list))
        value = self.functions[name](*arguments)
        if name in COMPARERS:
            drawn = isinstance(value, np.ndarray)
            text = "" if drawn else COMPARERS[name](*arguments)
            if text and name == "same_set":
                text = picked(node.args[0], arguments[0], arguments[1], value) or text
            self.made[before:] = [Comparison(text, value if drawn else bool(value))]
        return value

    def binary(self, node: ast.BinOp, names: dict[str, Any]) -> Any:
        left, right = self.visit(node.left, names), self.visit(node.right, names)
        numbers = all(isinstance(side, (int, float, np.ndarray)) for side in (left, right))
        alike = any(isinstance(left, kind) and isinstance(right, kind) for kind in (str, list))
        if not numbers and not (alike and isinstance(node.op, ast.Add)):
            raise self.fail(node, "numbers, or two strings or lists joined by +, are expected")
        value = _BINARY[type(node.op)](left, right)
        if numbers and np.any(np.abs(value) > MAX_NUMBER):
            raise self.fail(node, "the number is too large")
        return value

    def comparison(self, node: ast.Compare, names: dict[str, Any]) -> Any:
        before = len(self.made)
        first = flat(self.visit(node.left, names))
        within = self.made[before:]
        terms = [first, *(flat(self.visit(term, names)) for term in node.comparators)]
        true = all_true(
            _COMPARE[type(op)](left, right) for op, left, right in zip(node.ops, terms, terms[1:])
        )
        text = ""
        if not are_drawn(terms):
            text, true = self.written(node, terms, bool(true), within), bool(true)
        self.made[before:] = [Comparison(text, true, _gaps(node.ops, terms))]
        return true

    def written(
        self, node: ast.Compare, terms: list[Any], true: bool, within: list[Comparison]
    ) -> str:
        """Write a comparison down; ``within``: those that its first side made."""
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            if (text := picked(node.left, terms[0], terms[1], true)) is not None:
                return text
            if len(within) == 1 and isinstance(terms[1], bool):  # (a > b) == (l != "hi")
                return within[0].text if terms[1] else f"not {within[0].text}"
        side, *others = shown_apart(terms)
        return side + "".join(f" {SIGNS[type(o)]} {s}" for o, s in zip(node.ops, others))

    def comprehension(
        self, node: ast.GeneratorExp | ast.ListComp, names: dict[str, Any]
    ) -> list[Any]:
        scopes = [dict(names)]
        for part in node.generators:
            inner = []
            for scope in scopes:
                for item in self.visit(part.iter, scope):
                    self.steps += 1
                    bound = {**scope, **self.bind(part.target, item)}
                    tests = [self.visit(test, bound) for test in part.ifs]
                    if are_drawn(tests):
                        raise self.fail(node, "what stands after `if` must not depend on cells")
                    if all(tests):
                        inner.append(bound)
                    if len(inner) > MAX_ITEMS:
                        raise self.fail(node, f"a list of more than {MAX_ITEMS} items")
            scopes = inner
        return [self.visit(node.elt, scope) for scope in scopes]

    def bind(self, target: ast.expr, item: Any) -> dict[str, Any]:
        if isinstance(target, ast.Name):
            return {target.id: item}
        if not isinstance(target, ast.Tuple) or not isinstance(item, list):
            raise self.fail(target, "a name, or as many names as the item has parts, is expected")
        if len(target.elts) != len(item):
            raise self.fail(target, f"{len(target.elts)} names for {len(item)} parts")
        bound: dict[str, Any] = {}
        for part, value in zip(target.elts, item):
            bound.update(self.bind(part, value))
        return bound
