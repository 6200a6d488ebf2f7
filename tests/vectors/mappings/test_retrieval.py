import numpy as np
import pytest
import torch

from xlrepro.vectors.mappings import csls
from xlrepro.vectors.mappings.csls import neighbour_mean, translate
from xlrepro.vectors.mappings.retrieval import csls_retrieve, precision_at_1
from xlrepro.vectors.open.dictionary import unit_rows


def csls_by_hand(queries, targets, sources, k):
    """All scores by the definition, one pair at a time."""
    scores = np.zeros((len(queries), len(targets)))
    for i, query in enumerate(queries):
        r_query = np.mean(sorted((query @ t for t in targets), reverse=True)[:k])
        for j, target in enumerate(targets):
            r_target = np.mean(sorted((target @ s for s in sources), reverse=True)[:k])
            scores[i, j] = 2 * (query @ target) - r_query - r_target
    return scores


@pytest.mark.parametrize("block", [3, 512])
def test_csls_agrees_with_brute_force(monkeypatch, block):
    monkeypatch.setattr(csls, "BLOCK", block)
    rng = np.random.default_rng(0)
    sources, targets = (unit_rows(rng.normal(size=(n, 5))) for n in (40, 31))
    queries = sources[:17]
    expected = csls_by_hand(queries, targets, sources, 10).argmax(axis=1)
    assert csls_retrieve(queries, targets, sources).tolist() == expected.tolist()


def test_csls_differs_from_the_nearest_neighbour_where_there_is_a_hub():
    # The hub lies in the middle, near to every query; each query's own target lies further out.
    queries = unit_rows(np.array([[1, 0.35], [1, -0.35], [1, 0.36], [1, -0.36]]))
    targets = unit_rows(np.array([[1, 0.0], [1, 1.3], [1, -1.3]]))
    assert (queries @ targets.T).argmax(axis=1).tolist() == [0, 0, 0, 0]
    assert csls_retrieve(queries, targets, k=3).tolist() == [1, 2, 1, 2]


def test_fewer_rows_than_neighbours_use_all():
    others = torch.from_numpy(unit_rows(np.random.default_rng(0).normal(size=(3, 4))))
    torch.testing.assert_close(neighbour_mean(others, others, 10), (others @ others.T).mean(1))


def test_mutual_neighbours_of_a_copy_are_the_rows_themselves():
    x = torch.from_numpy(unit_rows(np.random.default_rng(0).normal(size=(30, 6))))
    assert translate(x, x).mutual().tolist() == [[row, row] for row in range(30)]


def test_precision_counts_any_gold_translation_and_only_words_with_vectors():
    x = np.eye(3, dtype=np.float32)
    gold = {"a": {"x", "q"}, "b": {"z"}, "c": {"none"}, "unseen": {"x"}}
    share, asked = precision_at_1(gold, ["a", "b", "c"], x, ["x", "y", "z"], x, k=1)
    assert (share, asked) == (0.5, 2)


def test_no_word_to_ask_is_not_a_zero():
    x = np.eye(2, dtype=np.float32)
    share, asked = precision_at_1({"q": {"x"}}, ["a", "b"], x, ["x", "y"], x)
    assert np.isnan(share)
    assert asked == 0
