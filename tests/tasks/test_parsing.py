"""Parsing: trees against all trees there are, scores against loops, the parser on toys."""

import itertools

import numpy as np
import pytest
import torch

from xlrepro.errors import DataError
from xlrepro.tasks import parsing


def is_tree(heads):
    """Whether every word reaches the root, and one alone hangs on it."""
    if heads.count(0) != 1:
        return False
    for word in range(1, len(heads) + 1):
        seen = set()
        while word and word not in seen:
            seen.add(word)
            word = heads[word - 1]
        if word:
            return False
    return True


def best_of_all(scores):
    """The best tree of all, by trying each."""
    n = len(scores)
    trees = (list(h) for h in itertools.product(range(n + 1), repeat=n) if is_tree(list(h)))
    return max(trees, key=lambda heads: sum(scores[i, h] for i, h in enumerate(heads)))


def random_scores(seed, n, root_bonus):
    scores = np.random.default_rng(seed).normal(size=(n, n + 1))
    scores[:, 0] += root_bonus
    scores[np.arange(n), np.arange(1, n + 1)] = -np.inf
    return scores


@pytest.mark.parametrize("root_bonus", [-1.0, 0.0, 6.0])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_decoded_trees_are_the_best_of_all_trees_with_one_root(n, root_bonus):
    for seed in range(12 if n < 5 else 3):
        scores = random_scores(seed, n, root_bonus)
        assert parsing.best_tree(scores).tolist() == best_of_all(scores)


def random_tree(draw, n):
    order = draw.permutation(n)
    heads = np.zeros(n, dtype=int)
    for place in range(1, n):
        heads[order[place]] = order[draw.integers(place)] + 1
    return heads


def test_a_test_set_of_punctuation_alone_is_an_error():
    with pytest.raises(DataError):
        parsing.words_right([([0], ["punct"])], [([0], ["punct"])])


def test_arcs_and_relations_are_the_equations_written_out():
    torch.manual_seed(0)
    parser = parsing.BiaffineParser(5, 4, 3, 2, dropout=0.0)
    for p in (parser.arc, parser.relation):
        torch.nn.init.normal_(p)
    states = torch.randn(1, 3, 5)
    arcs, relations = parser(states)
    nodes = [parser.root, *states[0]]

    def narrowed(linear, x):
        return torch.nn.functional.leaky_relu(linear.weight @ x + linear.bias, 0.1)

    for i, j in itertools.product(range(3), range(4)):
        d, h = narrowed(parser.dependents[0], nodes[i + 1]), narrowed(parser.heads[0], nodes[j])
        expected = d @ parser.arc[:-1] @ h + parser.arc[-1] @ h
        torch.testing.assert_close(arcs[0, i, j], expected)
        d, h = narrowed(parser.dependents[1], nodes[i + 1]), narrowed(parser.heads[1], nodes[j])
        one = torch.ones(1)
        for r in range(2):
            expected = torch.cat([d, one]) @ parser.relation[r] @ torch.cat([h, one])
            torch.testing.assert_close(relations[0, i, j, r], expected)


def batch(seed, sizes, dim=6):
    torch.manual_seed(seed)
    width = max(sizes)
    mask = torch.arange(width) < torch.tensor(sizes)[:, None]
    draw = np.random.default_rng(seed)
    heads, relations = torch.zeros(2, len(sizes), width, dtype=torch.long)
    for i, n in enumerate(sizes):
        heads[i, :n] = torch.from_numpy(random_tree(draw, n))
        relations[i, :n] = torch.from_numpy(draw.integers(0, 3, n))
    return torch.randn(len(sizes), width, dim), parsing.Trees(heads, relations, mask)


def trained_parser(states, gold, steps=150):
    torch.manual_seed(0)
    parser = parsing.BiaffineParser(states.shape[2], 16, 16, 3, dropout=0.0)
    adam = torch.optim.Adam(parser.parameters(), lr=0.03)
    for _ in range(steps):
        adam.zero_grad()
        loss = parsing.parsing_loss(*parser(states, gold.heads), gold)
        loss.backward()
        adam.step()
    return parser, float(loss.detach())


def test_a_parser_learns_the_trees_that_it_is_trained_on():
    states, gold = batch(1, [4, 6, 5])
    parser, loss = trained_parser(states, gold)
    assert loss < 0.1
    for i, (heads, relations) in enumerate(parsing.decode(*parser(states), gold.mask)):
        assert heads.tolist() == gold.heads[i, : len(heads)].tolist()
        assert relations.tolist() == gold.relations[i, : len(heads)].tolist()


def test_padding_changes_neither_loss_nor_trees():
    states, gold = batch(2, [3, 5])
    parser, _ = trained_parser(states, gold, steps=3)
    alone = parsing.Trees(*(part[:1, :3] for part in gold))
    wide = parsing.Trees(*(part[:1] for part in gold))
    one = parsing.parsing_loss(*parser(states[:1, :3], alone.heads), alone)
    torch.testing.assert_close(one, parsing.parsing_loss(*parser(states[:1], wide.heads), wide))
    ((heads, _),) = parsing.decode(*parser(states[:1, :3]), alone.mask)
    ((same, _),) = parsing.decode(*parser(states[:1]), wide.mask)
    assert heads.tolist() == same.tolist()


def test_no_word_is_its_own_head():
    """Neither in a tree nor among the heads that the loss chooses between."""
    _, gold = batch(4, [3])
    arcs, relations = torch.zeros(1, 3, 4), torch.zeros(1, 3, 4, 3)
    arcs[0, [0, 1, 2], [1, 2, 3]] = 50.0  # each word likes itself best
    ((heads, _),) = parsing.decode(arcs, relations, gold.mask)
    assert all(head != word for word, head in enumerate(heads, start=1))
    loss = parsing.parsing_loss(arcs, relations[:, :, 0], gold)
    # of four heads one is forbidden, of three relations none
    assert float(loss) == pytest.approx(2 * np.log(3), rel=1e-5)
