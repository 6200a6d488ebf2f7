"""AMR graphs as sequences (Konstas et al. 2017, §4).

Depth first from the root. Variables and their ``/`` are dropped, a variable named again becomes its
concept (so that a re-entrancy is lost), links to Wikipedia are dropped, quotation marks too. A node
with edges stands in parentheses, one without is its concept alone. Their anonymisation of names,
dates and numbers is not done: with so few graphs its gain is unsure.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlrepro.data.readers.penman import Graph, GraphNode
from xlrepro.errors import DataError

WIKI = ":wiki"


@dataclass(frozen=True, slots=True)
class Part:
    """A node of a linearised graph: a label, and its roles with what they lead to."""

    label: str
    edges: "tuple[tuple[str, Part], ...]" = ()


def skeleton(graph: Graph) -> Part:
    """Return what a linearised graph keeps of a graph: a tree of concepts and constants."""
    return _part(graph.root, graph.concepts())


def _part(node: GraphNode | str, concepts: Mapping[str, str]) -> Part:
    if isinstance(node, str):
        return Part(_token(concepts.get(node, node)))
    edges = tuple((role, _part(target, concepts)) for role, target in node.edges if role != WIKI)
    return Part(_token(node.concept), edges)


def _token(text: str) -> str:
    """One token: no quotation marks, blanks or brackets; a constant is never a role's name."""
    plain = "_".join(text.strip('"').split()).replace("(", "[").replace(")", "]") or '""'
    return f"_{plain}" if plain.startswith(":") else plain


def linearised_graph(part: Part) -> list[str]:
    """Return a skeleton as tokens.

    Example:
        >>> boy = Part("boy")
        >>> " ".join(linearised_graph(Part("want-01", ((":ARG0", boy), (":polarity", Part("-"))))))
        '( want-01 :ARG0 boy :polarity - )'
    """
    if not part.edges:
        return [part.label]
    inside = [t for role, target in part.edges for t in (role, *linearised_graph(target))]
    return ["(", part.label, *inside, ")"]


def parsed_graph(tokens: Sequence[str]) -> Part:
    """Return the skeleton that tokens stand for.

    Raises:
        DataError: where the tokens are no graph.
    """
    part, end = _parsed(tokens, 0)
    if end != len(tokens):
        raise DataError("a linearised graph ends before its tokens do")
    return part


def _parsed(tokens: Sequence[str], start: int) -> tuple[Part, int]:
    try:
        if tokens[start] != "(":
            if tokens[start] == ")" or tokens[start].startswith(":"):
                raise DataError(f"a linearised graph has {tokens[start]!r} where it does not fit")
            return Part(tokens[start]), start + 1
        label, place = tokens[start + 1], start + 2
        edges = []
        while tokens[place] != ")":
            role = tokens[place]
            if not role.startswith(":"):
                raise DataError(f"a linearised graph has {role!r} in place of a role")
            target, place = _parsed(tokens, place + 1)
            edges.append((role, target))
    except IndexError:
        raise DataError("a linearised graph has a parenthesis that is never closed") from None
    return Part(label, tuple(edges)), place + 1


def dropped_from_graph(graph: Graph) -> Counter[str]:
    """Return how much of a graph its sequence lacks, by kind.

    Variables, re-entrancies, links to Wikipedia, and the quotation marks around other constants.
    """
    concepts, lost = graph.concepts(), Counter({"variables": 0})
    waiting: list[GraphNode] = [graph.root]
    while waiting:
        node = waiting.pop()
        lost["variables"] += 1
        for role, target in node.edges:
            if role == WIKI:
                lost["wiki links"] += 1
            elif isinstance(target, GraphNode):
                waiting.append(target)
            elif target in concepts:
                lost["re-entrancies"] += 1
            elif target.startswith('"'):
                lost["quotation marks"] += 1
    return lost
