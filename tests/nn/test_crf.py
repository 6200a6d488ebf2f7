"""The CRF against enumeration and pytorch-crf; its padding holds what must reach no result."""

import itertools

import pytest
import torch
import torchcrf

from xlrepro.nn.crf import LinearChainCRF

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


def random_case(batch, length, n_tags, dtype=torch.float64, scale=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    crf = LinearChainCRF(n_tags).to(dtype)
    with torch.no_grad():
        for parameter in crf.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    emissions = scale * torch.randn(batch, length, n_tags, generator=generator).to(dtype)
    tags = torch.randint(0, n_tags, (batch, length), generator=generator)
    lengths = torch.randint(1, length + 1, (batch,), generator=generator)
    lengths[-1] = length
    mask = torch.arange(length) < lengths[:, None]
    emissions = emissions.masked_fill(~mask[..., None], torch.nan)
    return crf, emissions, tags.masked_fill(~mask, -7), mask


def sequence_score(crf, emissions, tags):
    """Add up the scores of one sequence, term by term, in Python numbers."""
    start, end, steps = crf.start.tolist(), crf.end.tolist(), crf.transitions.tolist()
    rows = emissions.tolist()
    score = start[tags[0]] + end[tags[-1]]
    score += sum(row[tag] for row, tag in zip(rows, tags))
    return score + sum(steps[i][j] for i, j in itertools.pairwise(tags))


def all_sequences(crf, emissions):
    """Score every tag sequence of one sentence."""
    return {
        tags: sequence_score(crf, emissions, tags)
        for tags in itertools.product(range(crf.n_tags), repeat=len(emissions))
    }


def peer_of(crf):
    peer = torchcrf.CRF(crf.n_tags, batch_first=True).to(crf.start.dtype)
    with torch.no_grad():
        peer.transitions.copy_(crf.transitions)
        peer.start_transitions.copy_(crf.start)
        peer.end_transitions.copy_(crf.end)
    return peer


def gradients(loss, inputs):
    return torch.autograd.grad(loss, inputs, allow_unused=True, materialize_grads=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize(("length", "n_tags"), [(1, 3), (4, 3), (5, 4), (6, 2), (4, 1)])
def test_loss_equals_enumeration(length, n_tags, scale, dtype):
    crf, emissions, tags, mask = random_case(5, length, n_tags, dtype, scale)
    loss = crf.losses(emissions, tags, mask)
    for i, n in enumerate(mask.sum(1).tolist()):
        scores = all_sequences(crf, emissions[i, :n])
        partition = torch.tensor(list(scores.values()), dtype=torch.float64).logsumexp(0)
        expected = float(partition) - scores[tuple(tags[i, :n].tolist())]
        assert float(loss[i].detach()) == pytest.approx(
            expected, rel=TOLERANCE[dtype], abs=TOLERANCE[dtype] * max(1.0, scale)
        )


@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize(("length", "n_tags"), [(1, 3), (4, 3), (5, 4), (6, 2), (4, 1)])
def test_decoding_equals_enumeration(length, n_tags, scale):
    crf, emissions, _, mask = random_case(5, length, n_tags, scale=scale)
    best = crf.decode(emissions, mask)
    for i, n in enumerate(mask.sum(1).tolist()):
        scores = all_sequences(crf, emissions[i, :n])
        assert tuple(best[i, :n].tolist()) == max(scores, key=scores.get)
        assert best[i, n:].tolist() == [-1] * (length - n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0])
@pytest.mark.parametrize(("batch", "length", "n_tags"), [(3, 1, 4), (32, 40, 9), (8, 120, 17)])
def test_gradients_equal_pytorch_crf(batch, length, n_tags, scale, dtype):
    crf, emissions, tags, mask = random_case(batch, length, n_tags, dtype, scale, seed=2)
    weights = torch.linspace(0.5, 2.0, batch, dtype=dtype)
    emissions.requires_grad_()
    inputs = [emissions, crf.transitions, crf.start, crf.end]
    ours = gradients((weights * crf.losses(emissions, tags, mask)).sum(), inputs)
    peer, tags = peer_of(crf.double()), tags.clamp(min=0)
    wide = emissions.detach().double().nan_to_num().requires_grad_()  # it cannot see past padding
    inputs = [wide, peer.transitions, peer.start_transitions, peer.end_transitions]
    loss = -(weights.double() * peer(wide, tags, mask, reduction="none")).sum()
    for gradient, expected in zip(ours, gradients(loss, inputs), strict=True):
        torch.testing.assert_close(
            gradient.double(), expected, rtol=TOLERANCE[dtype], atol=10 * TOLERANCE[dtype]
        )


@pytest.mark.parametrize("length", [3, 400])
def test_long_sentences_neither_overflow_nor_underflow(length):
    crf, emissions, tags, mask = random_case(2, length, 6, torch.float32, scale=5.0)
    loss = crf.losses(emissions + 1000.0, tags, mask)
    expected = crf.double().losses((emissions + 1000.0).double(), tags, mask)
    torch.testing.assert_close(loss.double(), expected, rtol=1e-5, atol=1e-5)


def test_of_equally_good_sequences_the_first_tags_are_decoded():
    crf = LinearChainCRF(4)
    with torch.no_grad():
        for parameter in crf.parameters():
            parameter.zero_()
    mask = torch.tensor([[True] * 5, [True, True, False, False, False]])
    assert crf.decode(torch.zeros(2, 5, 4), mask).tolist() == [[0] * 5, [0, 0, -1, -1, -1]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mask": [[True, False, True]]}, "padding before a token"),
        ({"mask": [[False, False, False]]}, "without tokens"),
        ({"tags": [[0, -1, 1]]}, "tags run from -1 to 1"),
    ],
)
def test_wrong_input_is_named(change, message):
    given = {"tags": [[0, 1, 0]], "mask": [[True, True, True]]} | change
    with pytest.raises(ValueError, match=message):
        LinearChainCRF(2)(torch.zeros(1, 3, 2), **{k: torch.tensor(v) for k, v in given.items()})
