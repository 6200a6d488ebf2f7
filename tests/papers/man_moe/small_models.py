"""Small settings and models for invented texts."""

import torch

from xlrepro.data.named import DOMAINS
from xlrepro.papers.man_moe.encoding import CharacterIds
from xlrepro.papers.man_moe.model import ManMoe
from xlrepro.papers.man_moe.settings import ModelSettings, TransferSettings

SIZES = {"extractor_dim": 4, "extractor_layers": 2, "expert_dim": 6, "dropout": 0.0}
SIZES |= {"character_embedding": 5, "character_filters": 3, "character_dim": 4}
SIZES |= {"discriminator_filters": 3, "discriminator_dim": 5}
WORDS, VECTOR_DIM, LABELS = 30, 7, 5


def make_settings(model=None, **changes):
    """Return settings of a small model; ``model`` changes its parts."""
    named = DOMAINS.get(changes.get("corpus"), ("Calendar",))
    domains = () if changes.get("task", "NER") == "NER" else named[:1]
    values = {"task": "NER", "domains": domains, "corpus": "artificial", "vectors": "dictionary"}
    values |= {"languages": ("en", "es", "nl", "de"), "targets": ("de",)}
    values |= {"lambda1": 0.3, "lambda2": 0.2, "discriminator_steps": 2, "learning_rate": 0.01}
    values |= {"batch_size": 3, "epochs": 2, "train_sentences": 12, "test_sentences": 32}
    values["model"] = ModelSettings(**{"characters": True, **SIZES, **(model or {})})
    return TransferSettings(**{**values, **changes})


def make_model(settings, seed=0, pooled=False):
    """Return a model for three sources and the invented words."""
    torch.manual_seed(seed)
    return ManMoe(settings.model, VECTOR_DIM, len(character_ids()), 3, LABELS, pooled)


def character_ids():
    return CharacterIds("abcdefg")
