"""Weights of BERT's layers into our network, whose query, key and value are one matrix."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from xlrepro.nn.bert import Bert, BertLayer


def load_layers(network: Bert, layers: Sequence[Mapping[str, Tensor]]) -> None:
    """Copy weights into all layers of a network.

    Args:
        network: changed in place.
        layers: per layer, name of the part as BERT's checkpoints have it
            (``attention.self.query.weight``) to a tensor; a flat one is taken row by row.
    """
    for layer, weights in zip(network.layers, layers, strict=True):
        assert isinstance(layer, BertLayer)
        for kind in ("weight", "bias"):
            parts = [weights[f"attention.self.{name}.{kind}"] for name in ("query", "key", "value")]
            _copy(getattr(layer.project, kind), torch.cat(parts))
            for name, module in (
                ("attention.output.dense", layer.output),
                ("attention.output.LayerNorm", layer.attention_norm),
                ("intermediate.dense", layer.widen),
                ("output.dense", layer.narrow),
                ("output.LayerNorm", layer.feed_forward_norm),
            ):
                _copy(getattr(module, kind), weights[f"{name}.{kind}"])


def _copy(parameter: Tensor, values: Tensor) -> None:
    with torch.no_grad():
        parameter.copy_(values.reshape(parameter.shape))
