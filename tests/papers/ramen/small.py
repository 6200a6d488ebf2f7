"""A small masked language model of transformers, untrained, and a bilingual model on it."""

import torch

from xlrepro.encoders.pretrained import quiet_transformers
from xlrepro.papers.ramen.model import BilingualModel, English

STAGES = ("english.head", "english.all", "embeddings", "bilingual")
SHORT = {"updates": 2, "sequences": 4, "length": 16}
TINY = {f"adaptation.{stage}.{name}": n for stage in STAGES for name, n in SHORT.items()}
TINY |= {"adaptation.words": 400, "adaptation.vocabulary": 150, "adaptation.pairs": 60}


def masked_lm(vocabulary, dim, positions, **more):
    torch.manual_seed(0)
    transformers = quiet_transformers()
    config = transformers.BertConfig(
        vocab_size=vocabulary, hidden_size=dim, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=2 * dim, max_position_embeddings=positions,
        attn_implementation="eager", **more,
    )  # fmt: skip
    return transformers.BertForMaskedLM(config)


def bilingual(whole, table, bias):
    transform = whole.cls.predictions.transform
    return BilingualModel(English(whole.bert, transform.dense, transform.LayerNorm, table, bias))
