"""Trees and graphs written as tokens and read back: only what is dropped by design is lost."""

import re
from collections import Counter

import pytest

from xlrepro.artificial import Family
from xlrepro.artificial.semantics import graph
from xlrepro.data import loading, registry
from xlrepro.data.readers.penman import Graph, GraphNode, parse_graph
from xlrepro.data.readers.penn_trees import read_trees
from xlrepro.errors import DataError
from xlrepro.papers.routing_nmt.linearisers import graphs, trees
from xlrepro.papers.routing_nmt.linearisers.artificial import constituents, meaning_graph

TREE = "( (S (NP-SBJ-1 (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog)) (S (-NONE- *-1))) (. .)) )"
GRAPH = """(w / want-01 :ARG0 (b / boy :wiki "x") :ARG1 (g / go-02 :ARG0 b :polarity -)
    :op1 (n / name :op1 "New York"))"""


def test_a_tree_is_written_as_vinyals_et_al_print_it():
    (tree,) = read_trees(TREE, "here")
    assert (
        " ".join(trees.linearised_tree(trees.cleaned(tree)))
        == "(S (NP XX )NP (VP XX (NP XX XX )NP )VP XX )S"
    )
    assert trees.dropped_from_tree(tree) == {
        "words": 5,
        "parts of speech": 5,
        "traces": 1,
        "phrases of traces": 1,
        "function tags": 1,
        "outer brackets": 1,
    }


def test_a_graph_is_written_without_variables_and_links():
    kept = graphs.skeleton(Graph("", "", parse_graph(GRAPH)))
    assert " ".join(graphs.linearised_graph(kept)) == (
        "( want-01 :ARG0 boy :ARG1 ( go-02 :ARG0 boy :polarity - ) :op1 ( name :op1 New_York ) )"
    )
    dropped = graphs.dropped_from_graph(Graph("", "", parse_graph(GRAPH)))
    assert dropped == {
        "variables": 4,
        "re-entrancies": 1,
        "wiki links": 1,
        "quotation marks": 1,
    }


@pytest.mark.parametrize("tokens", ["(S XX", "(S XX )NP", "XX XX", ")S", "(S XX )S XX", "word"])
def test_tokens_that_are_no_tree_are_refused(tokens):
    with pytest.raises(DataError, match="linearised tree"):
        trees.parsed_tree(tokens.split())


@pytest.mark.parametrize("tokens", ["( a :b", "a b", ":a", "( a b c )", "( a :b )", ")"])
def test_tokens_that_are_no_graph_are_refused(tokens):
    with pytest.raises(DataError, match="linearised graph"):
        graphs.parsed_graph(tokens.split())


def test_artificial_trees_and_graphs_come_back():
    family = Family(3)
    for sentence in family.corpus("en", 30):
        tree = constituents(sentence)
        assert tree.words() == sentence.tokens
        assert trees.parsed_tree(trees.linearised_tree(tree)) == trees.skeleton(tree)
    for realisation in family.realisations("en", 30):
        triples = graph(realisation.meaning)
        part = meaning_graph(triples)
        assert graphs.parsed_graph(graphs.linearised_graph(part)) == part
        edges = sum(role != "instance" for _, role, _ in triples)
        assert len(graphs.linearised_graph(part)) >= edges + 1


def labels_above_words(tree):
    """The labels of an original tree's phrases that hold a word, from the top, left to right."""
    if tree.word is not None or all(leaf.label == "-NONE-" for leaf in tree.leaves()):
        return []
    below = [label for child in tree.children for label in labels_above_words(child)]
    return [*([re.split("[-=]", tree.label)[0]] if tree.label else []), *below]


def concepts_of(node):
    """The concept of each variable of an original graph."""
    below = [concepts_of(target) for _, target in node.edges if isinstance(target, GraphNode)]
    return {node.variable: node.concept} | {v: c for each in below for v, c in each.items()}


def walked(node, concepts):
    """The tokens of an original graph, in the order in which it names them."""
    if isinstance(node, str):
        return [concepts.get(node, node.strip('"').replace(" ", "_"))]
    edges = [edge for edge in node.edges if edge[0] != ":wiki"]
    inside = [token for role, target in edges for token in (role, *walked(target, concepts))]
    return ["(", node.concept, *inside, ")"] if edges else [node.concept]


@pytest.mark.mirror
def test_every_tree_of_the_sample_comes_back_but_for_what_is_dropped():
    lost: Counter[str] = Counter()
    for found in loading.load_trees("ptb-nltk-sample", "en/all").values():
        for tree in found:
            kept = trees.cleaned(tree)
            written = trees.linearised_tree(kept)
            assert trees.parsed_tree(written) == trees.skeleton(kept)
            # held against the original, not against what is kept of it
            assert written.count("XX") == sum(leaf.label != "-NONE-" for leaf in tree.leaves())
            opened = [token[1:] for token in written if token.startswith("(")]
            assert opened == labels_above_words(tree)
            lost += trees.dropped_from_tree(tree)
    assert lost == {
        "words": 94_084,
        "parts of speech": 94_084,
        "traces": 6_592,
        "phrases of traces": 5_223,
        "function tags": 20_662,
        "outer brackets": 3_914,
    }


@pytest.mark.mirror
def test_every_graph_of_the_little_prince_comes_back_but_for_what_is_dropped():
    lost: Counter[str] = Counter()
    for file in registry.dataset("amr-little-prince").files:
        for each in loading.load_graphs("amr-little-prince", file):
            kept = graphs.skeleton(each)
            written = graphs.linearised_graph(kept)
            assert graphs.parsed_graph(written) == kept
            # held against the original, not against what is kept of it
            assert written == walked(each.root, concepts_of(each.root))
            lost += graphs.dropped_from_graph(each)
    assert lost == {
        "variables": 10_528,
        "re-entrancies": 1_279,
        "wiki links": 64,
        "quotation marks": 98,
    }
