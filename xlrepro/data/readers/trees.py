"""Trees in brackets: the Penn Treebank's constituents, and AMR graphs in PENMAN notation."""

import logging
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlrepro.data.readers.text_files import blocks, read_text_lines
from xlrepro.errors import DataError

BRACKETS = re.compile(r"[()]|[^\s()]+")
MOST_LEVELS = 200  # deeper brackets are damage: the Penn Treebank's deepest have 40


@dataclass(frozen=True, slots=True)
class Tree:
    """A constituent, or a word below its part of speech.

    Attributes:
        label: ``"NP-SBJ"``, or a part of speech; ``""`` for the bracket around a whole sentence.
        children: constituents, in order; empty above a word.
        word: the word below a part of speech, else ``None``.
    """

    label: str
    children: "tuple[Tree, ...]" = ()
    word: str | None = None

    def words(self) -> tuple[str, ...]:
        """Return the words, in order."""
        if self.word is not None:
            return (self.word,)
        return tuple(word for child in self.children for word in child.words())


def read_tree_file(path: Path) -> list[Tree]:
    """Return the trees of a file of bracketed trees; see `read_trees`."""
    return read_trees("\n".join(read_text_lines(path)), str(path))


def read_trees(text: str, where: str) -> list[Tree]:
    """Return the trees of a bracketed text.

    Args:
        text: any number of trees.
        where: file it is from, for the error's message.

    Raises:
        DataError: where brackets do not balance, or a bracket holds neither trees nor one word.

    Example:
        >>> read_trees("( (S (NP (DT a) (NN b))))", "x")[0].words()
        ('a', 'b')
    """
    trees: list[Tree] = []
    open_brackets: list[tuple[list[Tree], list[str]]] = []

    def at(found: re.Match[str]) -> str:
        return f"{where}:{text.count(chr(10), 0, found.start()) + 1}"

    for found in BRACKETS.finditer(text):
        token = found[0]
        if token == "(":
            open_brackets.append(([], []))
            if len(open_brackets) > MOST_LEVELS:
                raise DataError(f"{at(found)}: over {MOST_LEVELS} brackets are open; it is damaged")
        elif not open_brackets:
            raise DataError(f"{at(found)}: {token[:200]!r} stands outside any bracket")
        elif token != ")":
            open_brackets[-1][1].append(token)
        else:
            children, names = open_brackets.pop()
            if len(names) == 2 and not children:
                tree = Tree(names[0], (), names[1])
            elif len(names) > 1 or not children:
                held = f"{names}"[:200] if names else "nothing"
                raise DataError(f"{at(found)}: a bracket holds {held}; the file is damaged")
            else:
                tree = Tree(names[0] if names else "", tuple(children))
            (open_brackets[-1][0] if open_brackets else trees).append(tree)
    if open_brackets:
        raise DataError(f"{where}: {len(open_brackets)} brackets are never closed; it is damaged")
    return trees


def read_tree_zip(path: Path) -> dict[str, list[Tree]]:
    """Return the trees of each ``.mrg`` file of a zip, by the file's name, in their order.

    Raises:
        DataError: if a file is malformed.
    """
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".mrg"))
        texts = {name: archive.read(name).decode("utf-8") for name in names}
    return {Path(name).name: read_trees(text, f"{path}:{name}") for name, text in texts.items()}


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
    """A sentence's graph: the sentence as the corpus has it, tokenised, and the top node."""

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
        DataError: for the first graph that is malformed, with the line on which its block begins;
            if there is none.
    """
    graphs = []
    for start, block in blocks([line if line.strip() else "" for line in read_text_lines(path)]):
        if any(not line.startswith("#") for line in block):
            graphs.append(parse_graph("\n".join(block), f"{path}:{start}"))
            if not graphs[-1].sentence:
                raise DataError(f"{path}:{start}: the graph has no line # ::snt with its sentence")
    if not graphs:
        raise DataError(f"{path} has no graph: put the whole file there")
    return graphs


def parse_graph(text: str, where: str = "graph") -> Graph:
    """Return one graph.

    Args:
        text: ``(v / concept :role target …)``, behind comments such as ``# ::snt The sentence .``.
        where: file and line, for the error's message.

    Raises:
        DataError: if it is malformed.

    Example:
        >>> parse_graph("(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))").root.concept
        'want-01'
    """
    import penman

    logging.getLogger("penman").setLevel(logging.ERROR)  # what it warns of is refused below
    try:
        (tree,) = penman.iterparse(text)
        return Graph(tree.metadata.get("snt", ""), _node(tree.node))
    except (penman.DecodeError, ValueError, TypeError, RecursionError) as error:
        said = " ".join(str(error).split())[:200]
        raise DataError(f"{where}: the graph is malformed ({said}); it is damaged") from None


def _node(node: Any) -> GraphNode:
    variable, ((slash, concept), *edges) = node
    if slash != "/" or None in (concept, *(target for _, target in edges)):
        raise ValueError(f"a name, a concept or a target is missing at {variable}")
    below = ((role, _node(t) if isinstance(t, tuple) else t) for role, t in edges)
    return GraphNode(variable, concept, tuple(below))
