"""Tagging the test sets of many languages, which takes as long as training unless it is cheap.

A batch is smaller than where one language's dev set is tagged after each epoch: what the encoder
computes of it then stays in a processor's cache. `benchmarks/zero_shot.py` measures it.
"""

from dataclasses import replace

import torch

from xlrepro.embeddings.vectors.encoding import EncodedSplit, ordered_batches
from xlrepro.papers.word_order import training
from xlrepro.papers.word_order.model import SequenceTagger

BATCH_TOKENS = 2048  # padded tokens


def predictions(tagger: SequenceTagger, split: EncodedSplit, device: str) -> list[torch.Tensor]:
    """Return the predicted tag numbers of each sentence of ``split``, in its order.

    The same as :func:`xlrepro.papers.word_order.training.predictions`, up to rounding where a
    sentence is padded less.
    """
    moved = replace(split, table=split.table.to(device))
    found: dict[int, torch.Tensor] = {}
    for batch in ordered_batches(split, BATCH_TOKENS):
        rows, tags = ([own[i] for i in batch.indices] for own in (split.rows, split.tags))
        part = replace(moved, rows=rows, tags=tags)
        found |= zip(batch.indices, training.predictions(tagger, part, device), strict=True)
    return [found[i] for i in range(len(split))]
