"""The auxiliary tasks' targets as tokens: constituency trees and meaning graphs.

Trees are written as by Vinyals et al. (2015, §2.2 and Figure 2): brackets carry their labels,
closing ones too; each part of speech becomes XX; words, traces, function tags and indices are
dropped. Graphs are written as by Konstas et al. (2017, §4), depth first: variables and their ``/``
are dropped, a variable named again becomes its concept (so that a re-entrancy is lost), links to
Wikipedia are dropped, quotation marks too. A node with edges stands in parentheses, one without is
its concept alone. Their anonymisation of names, dates and numbers is not done: with so few graphs
its gain is unsure.
"""

import re
from collections.abc import Mapping, Sequence

from xlrepro.artificial import Triple
from xlrepro.data.readers.trees import GraphNode, Tree
from xlrepro.data.sentences import Sentence

LEAF = "XX"
TRACE = "-NONE-"
WIKI = ":wiki"
_FUNCTION = re.compile(r"[-=].*$")


def cleaned(tree: Tree) -> Tree | None:
    """Return a tree without traces, function tags and outer bracket; ``None`` if it was all traces.

    Example:
        >>> noun = Tree("NP-SBJ-1", (Tree("NN", (), "rain"),))
        >>> cleaned(Tree("", (Tree("S", (noun, Tree("-NONE-", (), "*"))),))).children[0].label
        'NP'
    """
    if tree.word is not None:
        return None if tree.label == TRACE else tree
    children = tuple(kept for child in tree.children if (kept := cleaned(child)) is not None)
    if not children:
        return None
    if not tree.label and len(children) == 1:
        return children[0]
    label = tree.label if tree.label.startswith("-") else _FUNCTION.sub("", tree.label)
    return Tree(label or "TOP", children)


def linearised_tree(tree: Tree) -> list[str]:
    """Return a cleaned tree as tokens.

    Example:
        >>> noun = Tree("NP", (Tree("DT", (), "the"), Tree("NN", (), "rain")))
        >>> " ".join(linearised_tree(Tree("S", (noun, Tree("VBZ", (), "falls")))))
        '(S (NP XX XX )NP XX )S'
    """
    if tree.word is not None:
        return [LEAF]
    inside = [token for child in tree.children for token in linearised_tree(child)]
    return [f"({tree.label}", *inside, f"){tree.label}"]


def linearised_graph(node: GraphNode | str, concepts: Mapping[str, str]) -> list[str]:
    """Return a graph from a node on as tokens.

    Args:
        node: with all that it leads to; or a variable, or a constant.
        concepts: of the graph's variables.

    Example:
        >>> boy = GraphNode("b", "boy", ())
        >>> want = GraphNode("w", "want-01", ((":ARG0", boy), (":ARG1", "b"), (":polarity", "-")))
        >>> " ".join(linearised_graph(want, {"w": "want-01", "b": "boy"}))
        '( want-01 :ARG0 boy :ARG1 boy :polarity - )'
    """
    if isinstance(node, str):
        return [_token(concepts.get(node, node))]
    edges = [edge for edge in node.edges if edge[0] != WIKI]
    inside = [t for role, target in edges for t in (role, *linearised_graph(target, concepts))]
    concept = _token(node.concept)
    return ["(", concept, *inside, ")"] if edges else [concept]


def _token(text: str) -> str:
    """One token: no quotation marks, blanks or brackets; a constant is never a role's name."""
    plain = "_".join(text.strip('"').split()).replace("(", "[").replace(")", "]") or '""'
    return f"_{plain}" if plain.startswith(":") else plain


def constituents(sentence: Sentence) -> Tree:
    """Return a phrase for every word with dependents, labelled by the word's part of speech.

    Where dependencies cross, a phrase takes its parts in the order of their first words.

    Example:
        >>> tree = constituents(Sentence(("a", "b"), upos=("DET", "NOUN"), heads=(2, 0)))
        >>> tree.label, tree.words()
        ('NOUN-P', ('a', 'b'))
    """
    assert sentence.heads is not None
    assert sentence.upos is not None
    below: dict[int, list[int]] = {}
    for word, head in enumerate(sentence.heads, start=1):
        below.setdefault(head, []).append(word)
    return _phrase(below[0][0], below, sentence.tokens, sentence.upos)[1]


def _phrase(
    word: int, below: dict[int, list[int]], tokens: Sequence[str], upos: Sequence[str]
) -> tuple[int, Tree]:
    """The place of a phrase's first word, and the phrase."""
    leaf = Tree(upos[word - 1], (), tokens[word - 1])
    if word not in below:
        return word, leaf
    parts = [_phrase(part, below, tokens, upos) for part in below[word]]
    parts = sorted([*parts, (word, leaf)], key=lambda part: part[0])
    return parts[0][0], Tree(f"{upos[word - 1]}-P", tuple(tree for _, tree in parts))


def meaning_graph(triples: Sequence[Triple]) -> GraphNode:
    """Return a meaning's graph as a tree from its root; edges against the tree's way are ``-of``.

    Args:
        triples: of `xlrepro.artificial.graph`.

    Example:
        >>> meaning_graph([("x0", "instance", "run.verbs"), ("x0", "tense", "past")]).edges
        ((':tense', 'past'),)
    """
    concepts = {source: target for source, role, target in triples if role == "instance"}
    seen: set[str] = set()

    def node(name: str) -> GraphNode:
        seen.add(name)
        edges: list[tuple[str, GraphNode | str]] = []
        for source, role, target in triples:
            if role == "instance" or name not in (source, target):
                continue
            other, way = (target, f":{role}") if source == name else (source, f":{role}-of")
            if other not in seen:
                edges.append((way, node(other) if other in concepts else other))
        return GraphNode(name, concepts[name], tuple(edges))

    return node("x0")
