"""On text whose ambiguous words have known senses, the senses that are chosen are the true ones."""

import numpy as np
import torch

from tests.papers.sense_alignment.small_models import settings
from xlrepro.corpora.artificial.ambiguity import AmbiguousFamily, lists
from xlrepro.papers.sense_alignment import purity
from xlrepro.papers.sense_alignment.pretraining.text import SPECIAL, Corpus
from xlrepro.papers.sense_alignment.pretraining.training import Run

FAMILY = AmbiguousFamily(0, 40)
SENSES = {
    "senses": 2,
    "warmup_steps": 500,
    "warmup": "own",
    "rate": 0.1,
    "sigma": 0.3,
    "projection_dim": 4,
    "projection_every": 10,
    "queue": 1500,
    "centred": True,
}
NETWORK = {
    "family": "bilm",
    "filters": ((1, 8), (2, 16), (3, 16)),
    "character_dim": 8,
    "highways": 1,
    "dim": 12,
    "cells": 24,
    "dropout": 0.0,
}
TRAINING = {"steps": 640, "streams": 8, "unroll": 12}


def corpus():
    made = lists(FAMILY, "en", 600)
    words = [*SPECIAL, *sorted({w.form for r in made for w in r.words})]
    number = {word: i for i, word in enumerate(words)}
    rows = [np.array([number[w.form] for w in r.words], dtype=np.int32) for r in made]
    return Corpus(words, len(words), {"en": rows}, {"en": []}, None)


def trained():
    run = Run(settings(SENSES, NETWORK, TRAINING), corpus(), "cpu")
    for _ in range(TRAINING["steps"]):
        run.step()
    run.model.eval()
    return run


@torch.no_grad()
def purities(run):
    """Senses chosen in new lists, of the ambiguous words, mean of both directions."""
    number = {word: i for i, word in enumerate(corpus().words)}
    paired = {key for pair in FAMILY.pairs for key in pair}
    found = []
    for direction, part in enumerate(run.model.parts()):
        uses = {}
        for made in lists(FAMILY, "en", 150, seed=1):
            words = made.words if direction == 0 else made.words[::-1]
            ids = torch.tensor([direction, *(number[w.form] for w in words)])
            vectors = run.model.encoder.vectors(ids, run.model.characters)
            states = run.model.encoder(vectors.expand(2, 1, -1, -1))[0][-1][direction, 0]
            senses = part.choose(ids[1:], states[1:]).tolist()
            for word, sense in zip(words, senses, strict=True):
                if word.sense in paired:
                    uses.setdefault(word.form, []).append((sense, word.sense))
        found.append(purity.purities(uses))
    return {key: np.mean([f[key] for f in found]) for key in found[0]}


def test_chosen_senses_are_purer_than_the_majority_sense_and_than_chance():
    """One sense per word has the purity of the majority sense."""
    found = purities(trained())
    assert found["purity"] > found["majority sense"] + 10
    assert found["purity"] > found["purity of senses dealt out"] + 8
