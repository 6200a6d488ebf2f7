"""Verb-second order: the finite verb second in main clauses, last in subordinate ones."""

import random

from xlrepro.artificial.tree import ROLES, Node

MOVABLE = frozenset(
    {
        "adverb",
        "negation",
        "object",
        "object_pronoun",
        "oblique",
        "predicate_subject",
        "recipient",
        "subject",
        "subject_pronoun",
    }
)
FINITE = frozenset({"auxiliary", "copula"})
# Ranks left of everything movable: first the opening phrase, then the finite verb.
OPENING, SECOND = 175, 160


def order_main_clause(head: Node, rng: random.Random, outer: int) -> None:
    """Put one phrase first and the finite verb second; a non-finite verb goes last."""
    entries = head.dependents
    auxiliary = next((n for _, _, n in entries if n.role == "auxiliary"), None)
    finite = auxiliary or next((n for _, _, n in entries if n.role == "copula"), None)
    opening = _opening(head, rng)
    ordered = []
    for before, rank, node in entries:
        left, right = ROLES[node.role][2:]
        if node is finite:
            ordered.append((True, outer + SECOND, node))
        elif node is opening:
            ordered.append((True, outer + OPENING, node))
        elif node.role in MOVABLE or node.role in FINITE:
            last = finite is not None
            ordered.append((last, outer + (left if last else right), node))
        else:
            ordered.append((before, rank, node))
    head.dependents = ordered


def _opening(head: Node, rng: random.Random) -> Node | None:
    """Return the phrase that opens the clause: mostly the subject."""
    subjects = [n for _, _, n in head.dependents if n.relation == "nsubj"]
    others = [n for _, _, n in head.dependents if n.role in ("adverb", "oblique")]
    if subjects and (not others or rng.random() < 0.7):
        return subjects[0]
    return others[0] if others else None


def order_subordinate_clause(head: Node, outer: int) -> None:
    """Put everything movable before the verb and the finite auxiliary after it."""
    head.dependents = [
        (True, outer + ROLES[node.role][2], node)
        if node.role in MOVABLE
        else (False, outer + ROLES[node.role][3], node)
        if node.role in FINITE
        else (before, rank, node)
        for before, rank, node in head.dependents
    ]
