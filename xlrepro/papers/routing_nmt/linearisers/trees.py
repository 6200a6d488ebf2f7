"""Constituency trees as sequences (Vinyals et al. 2015, §2.2 and Figure 2).

Brackets carry their labels, closing ones too; each part of speech becomes XX; words, traces,
function tags and indices are dropped.
"""

import re
from collections import Counter
from collections.abc import Sequence

from xlrepro.data.readers.penn_trees import Tree
from xlrepro.errors import DataError

LEAF = "XX"
TRACE = "-NONE-"
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
    return Tree(base_label(tree.label) or "TOP", children)


def base_label(label: str) -> str:
    """Return a label without function tags and indices: ``"NP"`` for ``"NP-SBJ-1"``."""
    return label if label.startswith("-") else _FUNCTION.sub("", label)


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


def parsed_tree(tokens: Sequence[str]) -> Tree:
    """Return the tree that tokens stand for, its parts of speech and words all ``XX``.

    Raises:
        DataError: where the tokens are no tree: closing brackets that do not fit, or a rest.
    """
    roots: list[Tree] = []
    open_labels: list[tuple[str, list[Tree]]] = []
    for token in tokens:
        inside = open_labels[-1][1] if open_labels else roots
        if token == LEAF:
            inside.append(Tree(LEAF, (), LEAF))
        elif token.startswith("("):
            open_labels.append((token[1:], []))
        elif token.startswith(")") and open_labels and open_labels[-1][0] == token[1:]:
            label, children = open_labels.pop()
            (open_labels[-1][1] if open_labels else roots).append(Tree(label, tuple(children)))
        else:
            raise DataError(f"a linearised tree has {token!r} where it does not fit")
    if open_labels or len(roots) != 1:
        raise DataError("a linearised tree must be one tree whose brackets are all closed")
    return roots[0]


def skeleton(tree: Tree) -> Tree:
    """Return a cleaned tree as `parsed_tree` gives it back: parts of speech and words ``XX``."""
    if tree.word is not None:
        return Tree(LEAF, (), LEAF)
    return Tree(tree.label, tuple(map(skeleton, tree.children)))


def dropped_from_tree(tree: Tree) -> Counter[str]:
    """Return how much of an original tree its sequence lacks, by kind.

    Words, the parts of speech above them, traces, phrases of traces alone, function tags, and the
    bracket without a label around a whole sentence.
    """
    lost: Counter[str] = Counter()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.word is not None:
            lost.update(["traces"] if node.label == TRACE else ["words", "parts of speech"])
            continue
        lost["function tags"] += base_label(node.label) != node.label
        lost["phrases of traces"] += not _has_word(node)
        lost["outer brackets"] += not node.label and sum(map(_has_word, node.children)) == 1
    return +lost


def _has_word(tree: Tree) -> bool:
    return any(leaf.label != TRACE for leaf in tree.leaves())
