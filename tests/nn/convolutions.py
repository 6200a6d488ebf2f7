"""What a convolution with ReLU and maximum gives, text by text, by torch's own."""

import torch
from torch.nn import functional


def by_torch(text, maps, widths):
    """Return what the filters find in a text, ``(filters of all widths,)``.

    Args:
        text: a vector per item. ``(length, dim)``
        maps: a linear layer per width, of a window's items side by side.
        widths: of the windows; one begins at each item.
    """
    found = []
    for width, linear in zip(widths, maps, strict=True):
        kernel = linear.weight.view(-1, width, text.shape[1]).transpose(1, 2)
        padded = functional.pad(text.T[None], (0, width - 1))
        found.append(functional.conv1d(padded, kernel, linear.bias).relu().amax(2)[0])
    return torch.cat(found)


def gradients(found, expected, inputs):
    """Return both results' gradients, weighted so that no two entries can change places."""
    weights = torch.linspace(-1, 2, found.numel(), dtype=found.dtype).view(found.shape)
    return [torch.autograd.grad((x * weights).sum(), inputs, retain_graph=True)
            for x in (found, expected)]  # fmt: skip
