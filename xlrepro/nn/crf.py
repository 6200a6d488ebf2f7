"""Linear-chain conditional random field: exact batched loss, marginals and Viterbi decoding.

The score of a tag sequence is the sum of its emission, transition, start and end scores (Lafferty
et al. 2001; Lample et al. 2016, Eq. 1). The loss is the log-partition minus the score of the gold
sequence; for one sentence:

    alpha_1[j] = start[j] + e_1[j]
    alpha_t[j] = log Σ_i exp(alpha_{t−1}[i] + transitions[i, j]) + e_t[j]
    loss = log Σ_j exp(alpha_n[j] + end[j]) − score(gold)

It is computed in double precision, whatever its arguments are.
"""

import itertools

import torch
from torch import Tensor, nn

from xlrepro.nn.recurrent import mirrored_steps


class LinearChainCRF(nn.Module):
    """Scores tag sequences by emissions, transitions, and start and end scores.

    Args:
        n_tags: number of tags, at least 1.

    Attributes:
        transitions: ``(n_tags, n_tags)``; row i, column j scores tag i followed by tag j.
        start: ``(n_tags,)``; scores a sequence that begins with the tag.
        end: ``(n_tags,)``; scores a sequence that ends with the tag.

    Example:
        >>> crf = LinearChainCRF(3)
        >>> emissions, tags = torch.zeros(1, 2, 3), torch.tensor([[0, 1]])
        >>> crf(emissions, tags, torch.tensor([[True, True]])).shape
        torch.Size([])
    """

    def __init__(self, n_tags: int) -> None:
        super().__init__()
        self.n_tags = n_tags
        self.transitions = nn.Parameter(torch.empty(n_tags, n_tags))
        self.start = nn.Parameter(torch.empty(n_tags))
        self.end = nn.Parameter(torch.empty(n_tags))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)

    def forward(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return the mean negative log-likelihood per sequence; arguments as in `losses`."""
        return self.losses(emissions, tags, mask).mean()

    def losses(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return the negative log-likelihood of each sequence of tags, ``(batch,)``.

        Args:
            emissions: ``(batch, length, n_tags)``; what stands at padding is never read.
            tags: ``(batch, length)``, 0 … n_tags - 1; what stands at padding is never read.
            mask: ``(batch, length)`` bool, True at tokens; padding only on the right.

        Raises:
            ValueError: for padding that is not on the right, a sequence without tokens, or a tag
                out of range.
        """
        tags = tags.masked_fill(~mask, 0)
        emissions = emissions.masked_fill(~mask.unsqueeze(-1), 0)
        lengths = _lengths(mask)
        _check_tags(tags, self.n_tags)
        scores = (emissions, self.transitions, self.start, self.end)
        e, a, s, t = (score.double() for score in scores)
        gold = _gold_score(e, a, s, t, tags, mask, lengths)
        return (_log_partition(e, a, s, t, mask, lengths) - gold).to(emissions.dtype)

    @torch.no_grad()
    def decode(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Return the best tag sequence of each sentence, ``(batch, length)``, -1 at padding.

        Args and errors as in `losses`.
        """
        emissions = emissions.masked_fill(~mask.unsqueeze(-1), 0)
        scores = (emissions, self.transitions, self.start, self.end)
        return _viterbi(*scores, mask, _lengths(mask))


def _lengths(mask: Tensor) -> Tensor:
    """Return the number of tokens of each sequence, ``(batch,)``; check that padding is right."""
    # shape: (batch,); a sentence reaches as far as it is long unless padding stands inside
    lengths = mask.sum(1)
    reach = (mask * torch.arange(1, mask.shape[1] + 1, device=mask.device)).amax(1)
    shortest, gap = torch.stack((lengths.amin(), (reach - lengths).amax())).tolist()
    if shortest == 0:
        raise ValueError("the mask has a sequence without tokens: drop it before the CRF")
    if gap > 0:
        raise ValueError("the mask has padding before a token: pad sequences on the right only")
    return lengths


def _check_tags(tags: Tensor, n_tags: int) -> None:
    low, high = torch.stack((tags.amin(), tags.amax())).tolist()
    if low < 0 or high >= n_tags:
        raise ValueError(f"tags run from {low} to {high}, but the CRF has tags 0 to {n_tags - 1}")


def _gold_score(
    emissions: Tensor,
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    tags: Tensor,
    mask: Tensor,
    lengths: Tensor,
) -> Tensor:
    """Return the score of ``tags``, ``(batch,)`` float64; padded emissions must be zero."""
    # shape: (batch, length); the emission score of the tag at each token
    score = emissions.gather(-1, tags.unsqueeze(-1)).squeeze(-1).double().sum(1)
    # shape: (batch, length - 1); the score of stepping from one token's tag to the next one's
    steps = transitions[tags[:, :-1], tags[:, 1:]].double().masked_fill(~mask[:, 1:], 0)
    last = tags.gather(1, (lengths - 1).unsqueeze(1)).squeeze(1)
    return score + steps.sum(1) + start[tags[:, 0]] + end[last]


def _log_partition(
    emissions: Tensor,
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    mask: Tensor,
    lengths: Tensor,
) -> Tensor:
    """Return the log-partition, ``(batch,)``, by the forward recursion in log space."""
    # shape: (batch, tags); log of the summed scores of all prefixes that end in tag j
    alpha = start + emissions[:, 0]
    for t in range(1, int(lengths.max())):
        # shape: (batch, tags before, tags)
        paths = alpha.unsqueeze(2) + transitions
        following = paths.logsumexp(1) + emissions[:, t]
        # shape: (batch, tags); sentences that have ended stay as they are
        alpha = torch.where(mask[:, t].unsqueeze(1), following, alpha)
    return (alpha + end).logsumexp(1)


def _viterbi(
    emissions: Tensor,
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    mask: Tensor,
    lengths: Tensor,
) -> Tensor:
    """Return the best sequences, ``(batch, length)``, -1 at padding.

    Only best scores are kept; the best predecessor is looked for again on the way back, where one
    tag per sequence asks for it instead of all. The batch is the last dimension on the way there,
    so that the maximum over predecessors runs over whole vectors of numbers.
    """
    batch, length, n_tags = emissions.shape
    # shape: (length, tags, batch); the best score of a prefix that ends in tag j, filled below
    best = emissions.permute(1, 2, 0).contiguous()
    best[0] += start.unsqueeze(1)
    arriving = transitions.unsqueeze(2).contiguous()
    # shape: (tags before, tags, batch) and (tags, batch); room for one step
    paths, arrived = best.new_empty(n_tags, n_tags, batch), best.new_empty(n_tags, batch)
    prefixes = best.unbind(0)
    for before, now in itertools.pairwise(prefixes):
        torch.add(before.unsqueeze(1), arriving, out=paths)
        now.add_(torch.amax(paths, 0, out=arrived))
    # Backwards in time, with all last tokens at step 0.
    mirrored = mirrored_steps(lengths, length)
    column = torch.arange(batch, device=emissions.device)
    backwards = best[mirrored, :, column].unbind(0)
    into = transitions.T.contiguous()  # row j: scores of coming from each tag into j
    # shape of each: (batch,); the best tag, from the last token to the first
    path = [(backwards[0] + end).argmax(1)]
    for scores in backwards[1:]:
        path.append((into.index_select(0, path[-1]).add_(scores)).argmax(1))
    return torch.stack(path)[mirrored, column].T.masked_fill(~mask, -1)
