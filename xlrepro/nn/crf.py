"""Linear-chain conditional random field: exact batched loss, marginals and Viterbi decoding.

The score of a tag sequence is the sum of its emission, transition, start and end scores (Lafferty
et al. 2001; Lample et al. 2016, Eq. 1). The loss is the log-partition minus the score of the gold
sequence; in its readable form, which `_log_partition` and `_gold_score` are, for one sentence:

    alpha_1[j] = start[j] + e_1[j]
    alpha_t[j] = log Σ_i exp(alpha_{t−1}[i] + transitions[i, j]) + e_t[j]
    loss = log Σ_j exp(alpha_n[j] + end[j]) − score(gold)

Its gradient is expected minus observed counts:

    d loss / d e_t[j]            = P(y_t = j) − [gold_t = j]
    d loss / d transitions[i, j] = Σ_t P(y_{t−1} = i, y_t = j) − [gold_{t−1} = i, gold_t = j]
    d loss / d start[j], end[j]  = those of e_1, e_n

with P from alpha and its mirror image beta. Both recursions run side by side, in probability space,
and the gradient is written out, so that no graph over time steps is ever built. Where scores are
spread so widely that probabilities could underflow, the form above takes over: both are exact.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from xlrepro.nn.recurrent import mirrored_steps

#: log of the smallest normal number of each dtype, with a margin of e^7 for sums and products.
_LOG_RANGE = {torch.float32: 80.0, torch.float64: 700.0}
Scores = Sequence[Tensor]  # emissions, then transitions, start and end of a `LinearChainCRF`


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
        spread = _spread(emissions, tags, tuple(self.parameters()))
        scores = (emissions, self.transitions, self.start, self.end)
        if spread < _LOG_RANGE.get(emissions.dtype, 0.0):
            return _NegativeLogLikelihood.apply(*scores, tags, mask, lengths, spread)
        exact = [score.double() for score in scores]
        log_partition = _log_partition(exact, mask, lengths)
        return (log_partition - _gold_score(exact, tags, mask, lengths)).to(emissions.dtype)

    @torch.no_grad()
    def decode(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Return the best tag sequence of each sentence, ``(batch, length)``, -1 at padding.

        Args and errors as in `losses`.
        """
        emissions = emissions.masked_fill(~mask.unsqueeze(-1), 0)
        scores = (emissions, self.transitions, self.start, self.end)
        return _viterbi(scores, mask, _lengths(mask))


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


def _spread(emissions: Tensor, tags: Tensor, parameters: Sequence[Tensor]) -> float:
    """Check the tags, and bound how widely scores of one step are spread.

    No two entries of one forward (or backward) vector differ by more than ``e ** bound``. All facts
    travel to the host at once.
    """
    spread = (emissions.detach().amax(-1) - emissions.detach().amin(-1)).amax()
    for parameter in parameters:
        spread = spread + (parameter.detach().amax() - parameter.detach().amin())
    facts = (tags.amin(), tags.amax(), spread)
    low, high, bound = torch.stack([fact.double() for fact in facts]).tolist()
    if low < 0 or high >= emissions.shape[-1]:
        raise ValueError(
            f"tags run from {int(low)} to {int(high)}, but the CRF has tags 0 to "
            f"{emissions.shape[-1] - 1}"
        )
    return bound if math.isfinite(bound) else math.inf


def _gold_score(scores: Scores, tags: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
    """Return the score of ``tags``, ``(batch,)`` float64; padded emissions must be zero."""
    emissions, transitions, start, end = scores
    # shape: (batch, length); the emission score of the tag at each token
    score = emissions.gather(-1, tags.unsqueeze(-1)).squeeze(-1).double().sum(1)
    # shape: (batch, length - 1); the score of stepping from one token's tag to the next one's
    steps = transitions[tags[:, :-1], tags[:, 1:]].double().masked_fill(~mask[:, 1:], 0)
    last = tags.gather(1, (lengths - 1).unsqueeze(1)).squeeze(1)
    return score + steps.sum(1) + start[tags[:, 0]] + end[last]


def _log_partition(scores: Scores, mask: Tensor, lengths: Tensor) -> Tensor:
    """Return the log-partition, ``(batch,)``, by the forward recursion in log space."""
    emissions, transitions, start, end = scores
    # shape: (batch, tags); log of the summed scores of all prefixes that end in tag j
    alpha = start + emissions[:, 0]
    for t in range(1, int(lengths.max())):
        # shape: (batch, tags before, tags)
        paths = alpha.unsqueeze(2) + transitions
        following = paths.logsumexp(1) + emissions[:, t]
        # shape: (batch, tags); sentences that have ended stay as they are
        alpha = torch.where(mask[:, t].unsqueeze(1), following, alpha)
    return (alpha + end).logsumexp(1)


class _NegativeLogLikelihood(torch.autograd.Function):
    """Loss of each sequence and its gradient, by scaled forward and backward recursions.

    With E_t = exp(emissions_t - max), T = exp(transitions - max), the forward vectors
    alpha_t = (alpha_{t-1} T) E_t and the backward vectors, emissions included,
    b_t = (b_{t+1} T') E_t have one form. So the backward one runs over the reversed sequence in
    the same batched product, and no step needs a mask: both start at an end that is aligned.
    """

    @staticmethod
    def forward(
        ctx: Any,
        emissions: Tensor,
        transitions: Tensor,
        start: Tensor,
        end: Tensor,
        tags: Tensor,
        mask: Tensor,
        lengths: Tensor,
        spread: float,
    ) -> Tensor:
        batch, length = mask.shape
        column = torch.arange(batch, device=emissions.device)
        mirrored = mirrored_steps(lengths, length)
        # shape: (batch, length, 1); what each token's factors were divided by, as a logarithm
        highest = emissions.amax(-1, keepdim=True)
        factors = (emissions - highest).exp_()
        # shape: (length, batch, tags), and (length, 2, batch, tags) with the sentences reversed
        ahead = factors.transpose(0, 1)
        both = torch.stack((ahead, ahead[mirrored, column]), 1)
        # shape: (tags, tags)
        matrix = (transitions - transitions.amax()).exp()
        states, log_scales = _scaled_recursion(both, matrix, start, end, spread)
        # shape of all: (batch,); log of the scaled sums, and of what they were divided by
        last = lengths - 1
        ends = (end - end.amax()).exp()
        inside = (states[last, 0, column] * ends).sum(1).double().log() + log_scales[last, column]
        divided = highest.squeeze(-1).double().masked_fill(~mask, 0).sum(1)
        divided += last * transitions.amax().double() + start.amax().double() + end.amax().double()
        gold = _gold_score((emissions, transitions, start, end), tags, mask, lengths)
        ctx.save_for_backward(states, factors, matrix, tags, mask, lengths, mirrored)
        return (inside + divided - gold).to(emissions.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        states, factors, matrix, tags, mask, lengths, mirrored = ctx.saved_tensors
        batch, _, n_tags = factors.shape
        column = torch.arange(batch, device=grad.device)
        # shape: (batch, length); the gradient of the sentence's loss, 0 at padding
        weight = grad.unsqueeze(1) * mask
        # shape: (batch, length, tags)
        # Between two rescalings both have shrunk, and the product of two small numbers may be no
        # number at all: so each vector is brought to a maximum of 1 first.
        alpha = _highest_is_one(states[:, 0].transpose(0, 1))
        beta = _highest_is_one(states[mirrored, 1, column].transpose(0, 1))
        # shape: (batch, length, tags); P(tag at token | sentence)
        inside = alpha * beta / factors
        marginal = inside / inside.sum(-1, keepdim=True)
        # shape of both: (batch, length, tags)
        observed = torch.nn.functional.one_hot(tags, n_tags).to(factors.dtype)
        surplus = (marginal - observed) * weight.unsqueeze(-1)
        # shape: (batch, length - 1, tags); rows scaled so that alpha T beta' sums to the weight
        following = beta[:, 1:]
        mass = ((alpha[:, :-1] @ matrix) * following).sum(-1, keepdim=True)
        leaving = alpha[:, :-1] * (weight[:, 1:].unsqueeze(-1) / mass)
        # shape of all: (tags, tags)
        expected = matrix * (leaving.reshape(-1, n_tags).T @ following.reshape(-1, n_tags))
        before = (observed[:, :-1] * weight[:, 1:].unsqueeze(-1)).reshape(-1, n_tags)
        steps = expected - before.T @ observed[:, 1:].reshape(-1, n_tags)
        ending = surplus[column, lengths - 1].sum(0)
        return surplus, steps, surplus[:, 0].sum(0), ending, None, None, None, None


def _highest_is_one(vectors: Tensor) -> Tensor:
    """Return each vector along the last dimension divided by its largest entry."""
    return vectors / vectors.amax(-1, keepdim=True)


def _scaled_recursion(
    both: Tensor, matrix: Tensor, start: Tensor, end: Tensor, spread: float
) -> tuple[Tensor, Tensor]:
    """Run forward and backward recursion side by side.

    Args:
        both: ``(length, 2, batch, tags)`` emission factors in (0, 1].
        matrix: ``(tags, tags)`` transition factors in (0, 1].
        start: ``(tags,)`` scores.
        end: ``(tags,)`` scores.
        spread: bound on the log ratio of the entries of one vector.

    Returns:
        The scaled vectors ``(length, 2, batch, tags)``, and the log of all that the forward ones
        were divided by, ``(length, batch)``.
    """
    length, _, batch, n_tags = both.shape
    # shape: (2, tags); (2, tags, tags); (length, 2, batch, tags)
    border = torch.stack((start - start.amax(), end - end.amax())).exp()
    steps = torch.stack((matrix, matrix.T))
    states = torch.empty_like(both)
    torch.mul(both[0], border.unsqueeze(1), out=states[0])
    # Entries stay above e^-(spread * steps): how many steps fit into the number range?
    stretch = spread + math.log(n_tags) + 1e-6
    every = max(1, int(_LOG_RANGE[both.dtype] / stretch) - 1)
    log_scales = torch.zeros(length, batch, dtype=torch.float64, device=both.device)
    vectors, factors = states.unbind(0), both.unbind(0)
    for t in range(1, length):
        torch.bmm(vectors[t - 1], steps, out=vectors[t])
        vectors[t].mul_(factors[t])
        if t % every == 0:
            # shape: (2, batch, 1)
            scale = vectors[t].sum(-1, keepdim=True)
            vectors[t].div_(scale)
            log_scales[t] = scale[0, :, 0].double().log()
    return states, log_scales.cumsum(0)


def _viterbi(scores: Scores, mask: Tensor, lengths: Tensor) -> Tensor:
    """Return the best sequences, ``(batch, length)``, -1 at padding.

    Only best scores are kept; the best predecessor is looked for again on the way back, where one
    tag per sequence asks for it instead of all. The batch is the last dimension on the way there,
    so that the maximum over predecessors runs over whole vectors of numbers.
    """
    emissions, transitions, start, end = scores
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
    for reached in backwards[1:]:
        path.append((into.index_select(0, path[-1]).add_(reached)).argmax(1))
    return torch.stack(path)[mirrored, column].T.masked_fill(~mask, -1)
