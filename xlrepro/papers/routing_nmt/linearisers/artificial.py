"""Trees and graphs of the artificial languages, made from dependencies and meanings."""

from collections.abc import Sequence

from xlrepro.artificial.semantics import Triple
from xlrepro.data.readers.penn_trees import Tree
from xlrepro.data.sentences import Sentence
from xlrepro.papers.routing_nmt.linearisers.graphs import Part


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


def meaning_graph(triples: Sequence[Triple]) -> Part:
    """Return a meaning's graph as a tree from its root; edges against the tree's way are ``-of``.

    Args:
        triples: of `xlrepro.artificial.semantics.graph`.

    Example:
        >>> meaning_graph([("x0", "instance", "run.verbs"), ("x0", "tense", "past")]).edges
        ((':tense', Part(label='past', edges=())),)
    """
    concepts = {source: target for source, role, target in triples if role == "instance"}
    seen: set[str] = set()

    def part(name: str) -> Part:
        seen.add(name)
        edges = []
        for source, role, target in triples:
            if role == "instance" or name not in (source, target):
                continue
            other, way = (target, f":{role}") if source == name else (source, f":{role}-of")
            if other not in concepts:
                edges.append((way, Part(other)))
            elif other not in seen:
                edges.append((way, part(other)))
        return Part(concepts[name], tuple(edges))

    return part("x0")
