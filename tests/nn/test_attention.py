"""Self-attention against an explicit loop over tokens."""

import math

import pytest
import torch

from xlrepro.nn.transformer import RelativeSelfAttention, SelfAttention


def by_loop(attention, x, mask):
    """Compute attention token by token and head by head, as the equations stand in the paper."""
    dim, width = x.shape[-1], attention.head_dim
    w_q, w_k, w_v = attention.project.weight.split(dim)
    b_q, b_k, b_v = attention.project.bias.split(dim)
    relative = isinstance(attention, RelativeSelfAttention)
    out = torch.zeros_like(x)
    for sentence, n in enumerate(mask.sum(1).tolist()):
        tokens = x[sentence, :n]
        for head in range(attention.heads):
            part = slice(head * width, (head + 1) * width)
            q = tokens @ w_q[part].T + b_q[part]
            k = tokens @ w_k[part].T + b_k[part]
            v = tokens @ w_v[part].T + b_v[part]
            for i in range(n):
                scores, values = [], []
                for j in range(n):
                    key, value = k[j], v[j]
                    if relative:
                        r = min(abs(i - j), attention.max_distance)
                        key = key + attention.distance_keys[r]
                        value = value + attention.distance_values[r]
                    scores.append(q[i] @ key / math.sqrt(width))
                    values.append(value)
                weights = torch.stack(scores).softmax(0)
                mixed = sum(w * value for w, value in zip(weights, values, strict=True))
                out[sentence, i, part] = mixed
    return out @ attention.output.weight.T + attention.output.bias


@pytest.mark.parametrize("max_distance", [None, 0, 1, 3, 10])
def test_attention_equals_an_explicit_loop(max_distance):
    torch.manual_seed(0)
    if max_distance is None:
        attention = SelfAttention(8, 2)
    else:
        attention = RelativeSelfAttention(8, 2, max_distance)
    attention = attention.double()
    x = torch.randn(3, 6, 8, dtype=torch.float64)
    mask = torch.arange(6) < torch.tensor([6, 4, 1])[:, None]
    found = attention(x, mask)[mask]
    torch.testing.assert_close(found, by_loop(attention, x, mask)[mask], rtol=1e-10, atol=1e-10)


def test_relative_attention_makes_no_tensor_of_distance_vectors():
    """No intermediate holds length x length x head_dim numbers per sentence."""
    length, heads = 40, 2
    attention = RelativeSelfAttention(64, heads, 10)
    sizes = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            sizes.extend(r.numel() for r in [result] if isinstance(r, torch.Tensor))
            return result

    with Watch():
        attention(torch.randn(1, length, 64), torch.ones(1, length, dtype=torch.bool))
    assert 0 < max(sizes) < length * length * attention.head_dim


def test_distances_share_one_table_over_heads():
    attention = RelativeSelfAttention(8, 4, 10)
    assert attention.distance_keys.shape == attention.distance_values.shape == (11, 2)
