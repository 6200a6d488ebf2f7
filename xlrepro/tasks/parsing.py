"""Dependency parsing: a deep biaffine parser, spanning trees with one root, LAS and UAS.

References:
    Dozat and Manning (2017), Deep biaffine attention for neural dependency parsing, Eq. 4 to 9.
    Chu and Liu (1965), Edmonds (1967): the best spanning tree, by ``ufal.chu_liu_edmonds``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.errors import DataError

ROOT = 0  # the head of the root word; words count from 1
PUNCTUATION = "punct"
# Of LAS and UAS as they are scored here, relations without their subtypes.
ATTACHMENT_SIGNATURE = "attachment|punct:excluded by gold relation|subtypes:cut|root:one|v:1"


class BiaffineParser(nn.Module):
    """Scores of heads and relations from states of words.

        arc[i, j] = h_i^dep U h_j^head + u h_j^head          word i has head j
        rel[i, j, r] = [h_i; 1] U_r [h_j; 1]                 with relation r

    Args:
        dim: width of the states.
        arc_dim: width of h for arcs.
        relation_dim: width of h for relations.
        n_relations: number of relations.
        dropout: of the states and of every h.

    Example:
        >>> parser = BiaffineParser(dim=8, arc_dim=4, relation_dim=3, n_relations=2, dropout=0.0)
        >>> arcs, relations = parser(torch.zeros(5, 6, 8))
        >>> arcs.shape, relations.shape
        (torch.Size([5, 6, 7]), torch.Size([5, 6, 7, 2]))
    """

    def __init__(
        self, dim: int, arc_dim: int, relation_dim: int, n_relations: int, dropout: float
    ) -> None:
        super().__init__()
        self.root = nn.Parameter(torch.zeros(dim))
        self.dropout = nn.Dropout(dropout)
        self.dependents = nn.ModuleList(nn.Linear(dim, d) for d in (arc_dim, relation_dim))
        self.heads = nn.ModuleList(nn.Linear(dim, d) for d in (arc_dim, relation_dim))
        self.arc = nn.Parameter(torch.zeros(arc_dim + 1, arc_dim))
        self.relation = nn.Parameter(torch.zeros(n_relations, relation_dim + 1, relation_dim + 1))
        nn.init.normal_(self.root, std=0.1)

    def forward(self, states: Tensor, at: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Score all heads of all words, and the relations to all heads or to given ones.

        Args:
            states: of the words, padded. ``(batch, words, dim)``
            at: a head of each word, such as the right one: training needs the relations to it
                alone, a hundredth of all. ``(batch, words)``

        Returns:
            Arcs ``(batch, words, words + 1)``, head 0 is the root; relations ``(batch, words,
            words + 1, relations)``, with ``at`` ``(batch, words, relations)``. What stands at
            padding means nothing.
        """
        # shape: (batch, words + 1, dim); the root first
        root = self.root.expand(len(states), 1, -1)
        heads = self.dropout(torch.cat([root, states], dim=1))
        words = heads[:, 1:]
        # shape: (batch, words, arc_dim) and (batch, words + 1, arc_dim)
        dependent = self._narrow(self.dependents[0], words)
        head = self._narrow(self.heads[0], heads)
        # shape: (batch, words, arc_dim + 1) x (arc_dim + 1, arc_dim) x (batch, arc_dim, words + 1)
        arcs = _with_one(dependent) @ self.arc @ head.transpose(1, 2)
        dependent = _with_one(self._narrow(self.dependents[1], words))
        head = self._narrow(self.heads[1], heads)
        if at is not None:
            # shape: (batch, words, relation_dim), of the given head
            head = head.gather(1, at[..., None].expand(-1, -1, head.shape[-1]))
            both = dependent, self.relation, _with_one(head)
            return arcs, torch.einsum("bwi,rij,bwj->bwr", *both)
        # shape: (batch, relations, words, words + 1)
        relations = dependent[:, None] @ self.relation @ _with_one(head)[:, None].transpose(2, 3)
        return arcs, relations.permute(0, 2, 3, 1)

    def _narrow(self, linear: nn.Module, x: Tensor) -> Tensor:
        return self.dropout(functional.leaky_relu(linear(x), 0.1))


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x, torch.ones_like(x[..., :1])], dim=-1)


class Trees(NamedTuple):
    """Trees of a batch, padded; ``mask`` is True at words.

    Attributes:
        heads: number of each word's head, 0 the root. ``(batch, words)``
        relations: number of each word's relation. ``(batch, words)``
        mask: ``(batch, words)``.
    """

    heads: Tensor
    relations: Tensor
    mask: Tensor


def parsing_loss(arcs: Tensor, relations: Tensor, gold: Trees) -> Tensor:
    """Return the mean negative log-likelihood of heads plus that of relations at gold heads.

    A word whose relation is negative (one that training never had) counts for its head alone.

    Args:
        arcs: ``(batch, words, words + 1)``.
        relations: to the gold heads. ``(batch, words, relations)``
        gold: of the batch.
    """
    arcs = _without_padding(arcs, gold.mask)
    loss = functional.cross_entropy(arcs[gold.mask], gold.heads[gold.mask])
    known = gold.mask & (gold.relations >= 0)
    return loss + functional.cross_entropy(relations[known], gold.relations[known])


def _without_padding(arcs: Tensor, mask: Tensor) -> Tensor:
    """Make padding no head of any word, and no word its own head."""
    # shape: (batch, words + 1), and (batch, words, words + 1)
    allowed = functional.pad(mask, (1, 0), value=True)
    itself = torch.eye(mask.shape[1], dtype=torch.bool, device=mask.device)
    forbidden = ~allowed[:, None, :] | functional.pad(itself, (1, 0))
    return arcs.masked_fill(forbidden, float("-inf"))


def decode(arcs: Tensor, relations: Tensor, mask: Tensor) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the best tree of each sentence, with one root.

    Args:
        arcs: ``(batch, words, words + 1)``.
        relations: ``(batch, words, words + 1, relations)``.
        mask: True at words. ``(batch, words)``

    Returns:
        Per sentence heads and relations, each ``(words,)``.
    """
    # shape: (batch, words, words + 1) both; log-probabilities of heads, best relation to each
    scores = _without_padding(arcs.detach(), mask).log_softmax(-1).double().cpu().numpy()
    best = relations.detach().argmax(-1).cpu().numpy()
    trees = []
    for sentence, length in enumerate(mask.sum(1).tolist()):
        heads = best_tree(scores[sentence, :length, : length + 1])
        trees.append((heads, best[sentence, np.arange(length), heads]))
    return trees


def best_tree(scores: np.ndarray) -> np.ndarray:
    """Return the heads of the best spanning tree in which one word alone hangs on the root.

    Chu-Liu-Edmonds lets several words hang on it. If its best tree has one, that is the answer;
    else the best of the trees that each word in turn is the root of.

    Args:
        scores: of word i + 1 having head j; -inf where it cannot. ``(words, words + 1)``

    Returns:
        ``(words,)``

    Example:
        >>> best_tree(np.array([[2.0, -np.inf, 0.0], [1.9, 0.0, -np.inf]])).tolist()
        [0, 1]
    """
    words = len(scores)
    heads, _ = _spanning_tree(scores)
    if (heads == ROOT).sum() == 1:
        return heads
    trees = []
    for root in range(words):
        if np.isneginf(scores[root, ROOT]):
            continue
        single = scores.copy()
        single[np.arange(words) != root, ROOT] = -np.inf
        trees.append(_spanning_tree(single))
    return max(trees, key=lambda tree: tree[1])[0]


def _spanning_tree(scores: np.ndarray) -> tuple[np.ndarray, float]:
    from ufal.chu_liu_edmonds import chu_liu_edmonds

    matrix = np.full((len(scores) + 1, len(scores) + 1), np.nan)
    matrix[1:] = np.where(np.isneginf(scores), np.nan, scores)
    heads, score = chu_liu_edmonds(matrix)
    return np.array(heads[1:]), score


Tree = tuple[Sequence[int], Sequence[str]]


def words_right(gold: Sequence[Tree], predicted: Sequence[Tree]) -> dict[str, list[bool]]:
    """Return which words have the right head and relation (LAS), or the right head (UAS).

    Those whose gold relation is ``punct`` do not count.

    Args:
        gold: heads and relations of each sentence.
        predicted: of the same sentences.

    Raises:
        DataError: if there is no word to score.

    Example:
        >>> gold = [([0, 1, 1], ["root", "obj", "punct"])]
        >>> words_right(gold, [([0, 1, 2], ["root", "nsubj", "punct"])])
        {'LAS': [True, False], 'UAS': [True, True]}
    """
    right: dict[str, list[bool]] = {"LAS": [], "UAS": []}
    for tree, found in zip(gold, predicted, strict=True):
        for head, relation, its_head, its_relation in zip(*tree, *found, strict=True):
            if relation == PUNCTUATION:
                continue
            right["UAS"].append(head == its_head)
            right["LAS"].append(head == its_head and relation == its_relation)
    if not right["UAS"]:
        raise DataError("there are no words to score: the test set is empty")
    return right
