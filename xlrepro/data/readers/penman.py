"""AMR graphs in PENMAN notation, one block of lines per sentence."""

import re
from dataclasses import dataclass
from pathlib import Path

from xlrepro.data.readers.text_files import read_text_lines
from xlrepro.errors import DataError

_TOKEN = re.compile(r'"[^"]*"|[()]|[^\s()"]+')
SENTENCE = "# ::snt "
IDENTIFIER = re.compile(r"# ::id (\S+)")


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of a graph, at its place in the notation's tree.

    Attributes:
        variable: ``"b"``.
        concept: ``"boy"``.
        edges: role (``":ARG0"``) and target: a node, or a text that is a constant (``"-"``,
            ``'"Paris"'`` with its quotation marks) or a variable named elsewhere in the graph.
    """

    variable: str
    concept: str
    edges: "tuple[tuple[str, GraphNode | str], ...]" = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """A sentence's graph.

    Attributes:
        identifier: the corpus's own.
        sentence: tokenised, as the corpus has it.
        root: the top node.
    """

    identifier: str
    sentence: str
    root: GraphNode

    def concepts(self) -> dict[str, str]:
        """Return the concept of each variable."""
        by_variable: dict[str, str] = {}
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            by_variable[node.variable] = node.concept
            waiting += [target for _, target in node.edges if isinstance(target, GraphNode)]
        return by_variable


def read_graphs(path: Path) -> list[Graph]:
    """Return the graphs of a file.

    Raises:
        DataError: for the first graph that is malformed, with the line on which it begins.
    """
    graphs: list[Graph] = []
    comments: list[str] = []
    lines: list[tuple[int, str]] = []
    for number, line in enumerate([*read_text_lines(path), ""], start=1):
        if line.startswith("#"):
            comments.append(line)
        elif line.strip():
            lines.append((number, line))
        else:
            if lines:
                graphs.append(_graph(comments, lines, path))
            comments, lines = [], []
    return graphs


def _graph(comments: list[str], lines: list[tuple[int, str]], path: Path) -> Graph:
    where = f"{path}:{lines[0][0]}"
    sentence = next((c[len(SENTENCE) :] for c in comments if c.startswith(SENTENCE)), "")
    named = [m.group(1) for c in comments if (m := IDENTIFIER.match(c))]
    return Graph(
        named[0] if named else "", sentence, parse_graph(" ".join(text for _, text in lines), where)
    )


def parse_graph(text: str, where: str = "graph") -> GraphNode:
    """Return the root of one graph.

    Args:
        text: ``(v / concept :role target …)``.
        where: file and line, for the error's message.

    Raises:
        DataError: if it is malformed.

    Example:
        >>> parse_graph("(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))").concept
        'want-01'
    """
    tokens = _TOKEN.findall(text)
    try:
        root, end = _node(tokens, 0)
    except (IndexError, ValueError) as error:
        raise DataError(f"{where}: the graph is malformed ({error}); it is damaged") from error
    if end != len(tokens):
        raise DataError(f"{where}: something stands behind the graph's end; it is damaged")
    return root


def _node(tokens: list[str], start: int) -> tuple[GraphNode, int]:
    opening, variable, slash, concept = tokens[start : start + 4]
    if opening != "(" or slash != "/":
        raise ValueError(f"expected (variable / concept, found {opening} {variable} {slash}")
    place = start + 4
    edges: list[tuple[str, GraphNode | str]] = []
    while tokens[place] != ")":
        role = tokens[place]
        if not role.startswith(":"):
            raise ValueError(f"expected a role, found {role}")
        if tokens[place + 1] == "(":
            target, place = _node(tokens, place + 1)
            edges.append((role, target))
        else:
            edges.append((role, tokens[place + 1]))
            place += 2
    return GraphNode(variable, concept, tuple(edges)), place + 1
