"""Language models of seconds: settings that train in double precision on artificial text."""

import numpy as np
import torch

from xlrepro.experiments import experiment
from xlrepro.papers.sense_alignment.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.text import SPECIAL, Corpus

BILM = {"family": "bilm", "filters": ((1, 4), (2, 4)), "character_dim": 3, "highways": 1}
BILM |= {"dim": 6, "cells": 8, "dropout": 0.0}
BERT = {"family": "bert", "dim": 8, "layers": 1, "heads": 2, "ff_dim": 12, "positions": 7}
BERT |= {"dropout": 0.0}
SENSES = {"senses": 3, "negatives": None, "warmup_steps": 2, "projection_dim": 3, "queue": 40}
SENSES |= {"projection_every": 2, "sigma": 1.0, "rate": 0.1}
TRAINING = {"steps": 8, "streams": 3, "unroll": 4}
TEXT = {"source": "artificial", "words": 200, "vocabulary": 20}


def settings(senses=None, network=BILM, training=None, **more):
    """Return settings of a small language model; dictionaries are laid over the defaults."""
    rate = {"learning_rate": 0.003} if network["family"] == "bert" else {}
    values = {
        "network": network,
        "senses": SENSES | (senses or {}),
        "training": TRAINING | rate | (training or {}),
        "text": TEXT,
        "precision": "double",
    }
    return LanguageModelSettings.model_validate(values | more)


def corpus(known=15, unknown=4, sentences=40, translations=None, seed=0):
    """Return random text over made-up words."""
    random = np.random.default_rng(seed)
    words = [*SPECIAL, *(f"w{i}" for i in range(known + unknown))]
    drawn = [
        random.integers(len(SPECIAL), len(words), random.integers(3, 8)).astype(np.int32)
        for _ in range(sentences)
    ]
    return Corpus.of(words, known + len(SPECIAL), drawn, translations=translations)


def model_of(row, steps=3, profile="smoke"):
    """Return the settings of a row's language model, ``"table2 wsd:ELMo"``, at few steps."""
    table, _, system = row.partition(" ")
    changed = {"model.training.steps": steps} if steps else {}
    trial, *_ = experiment(f"sense_alignment/{table}").trials(profile, [system], [0], changed)
    return LanguageModelSettings.model_validate(trial.settings["model"])


def same_bits(one, other):
    """Return whether two models have the same weights and buffers, to the last bit."""
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)
