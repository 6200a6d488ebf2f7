"""On text whose ambiguous words have known senses, the senses that are chosen are the true ones.

Of the parts: centres follow the states of a model that was trained with one sense per word. Of the
whole: senses are trained with the model, once a warm-up has taught its states something. Rate and
deviation of the centres were chosen on lists like these.
"""

import numpy as np
import pytest
import torch

from tests.papers.sense_alignment.small_models import settings
from xlrepro.artificial.ambiguity import AmbiguousFamily, lists
from xlrepro.papers.sense_alignment import purity
from xlrepro.papers.sense_alignment.language_model.senses import SenseOutput
from xlrepro.papers.sense_alignment.language_model.settings import SenseSettings
from xlrepro.papers.sense_alignment.pretraining.text import SPECIAL, Corpus
from xlrepro.papers.sense_alignment.pretraining.training import Run

FAMILY = AmbiguousFamily(0, 40)
SENSES = {
    "senses": 2,
    "warmup_steps": 0,
    "warmup": "copied",
    "rate": 0.1,
    "sigma": 0.3,
    "projection_dim": 4,
    "queue": 1500,
    "softmax": {"kind": "full"},
    "pruning": {"rule": "none"},
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
TRAINING = {"steps": 500, "streams": 8, "unroll": 12, "times_unroll": True}
PAIRED = {key for pair in FAMILY.pairs for key in pair}


def corpus():
    made = lists(FAMILY, "en", 600)
    words = [*SPECIAL, *sorted({w.form for r in made for w in r.words})]
    number = {word: i for i, word in enumerate(words)}
    rows = [np.array([number[w.form] for w in r.words], dtype=np.int32) for r in made]
    return Corpus(words, len(words), {"en": rows}, {"en": []}, None)


def trained(senses):
    """A language model, and the numbers of its words."""
    read = corpus()
    run = Run(settings(senses, NETWORK, TRAINING), read, "cpu")
    for number in range(TRAINING["steps"]):
        run.step(number)
    return run.model.eval(), {word: i for i, word in enumerate(read.words)}


@pytest.fixture(scope="module")
def plain():
    """A language model with one sense."""
    return trained({"senses": 1})


@torch.no_grad()
def states_of(model_and_words, count, seed):
    """Forward states of the words of new lists: numbers, concepts, states."""
    model, number = model_and_words
    ids, concepts, states = [], [], []
    for made in lists(FAMILY, "en", count, seed):
        words = torch.tensor([0, *(number[w.form] for w in made.words)])
        vectors = model.encoder.vectors(words, model.characters)
        states.append(model.encoder(vectors.expand(2, 1, -1, -1))[0][-1][0, 0, 1:])
        ids.append(words[1:])
        concepts += [w.sense for w in made.words]
    return torch.cat(ids), concepts, torch.cat(states)


def purities(plain, centred):
    """Let centres follow the states of many lists, then choose the senses of new ones."""
    torch.manual_seed(0)
    chosen = SenseSettings.model_validate({**SENSES, "centred": centred})
    layer = SenseOutput(len(plain[1]), NETWORK["dim"], chosen).double().train()
    words, _, states = states_of(plain, 600, seed=5)
    layer.projection.add(states)
    layer.projection.update()
    for _ in range(3):
        for part, own in zip(words.split(96), states.split(96), strict=True):
            layer.observe(part, layer.choose(part, own), own, step=0)
    return purity.purities(uses_of(layer, states_of(plain, 150, seed=1)))


def uses_of(layer, found):
    """Ambiguous words' uses in new lists: the sense that a layer gives, and the true one."""
    words, concepts, states = found
    uses = {}
    for word, true, sense in zip(words.tolist(), concepts, layer.choose(words, states).tolist()):
        if true in PAIRED:
            uses.setdefault(word, []).append((sense, true))
    return uses


def test_senses_are_purer_than_the_majority_sense_and_than_chance(plain):
    """With one sense per word purity is the share of the majority sense."""
    found = purities(plain, centred=True)
    assert found["purity"] > found["majority sense"] + 10
    assert found["purity"] > found["purity of senses dealt out"] + 10


def test_centred_components_tell_more_senses_apart(plain):
    """States of one word share a large part; without it cosines differ more (code keeps it)."""
    assert purities(plain, centred=True)["purity"] > purities(plain, centred=False)["purity"] + 3


def test_senses_that_are_trained_with_the_model_are_purer_than_one_sense_and_than_chance():
    """They begin when half of the steps are done: before, states tell next to nothing."""
    model, number = trained(SENSES | {"warmup_steps": 250, "projection_every": 10})
    found = purity.purities(uses_of(model.parts()[0], states_of((model, number), 300, seed=1)))
    assert found["purity"] > found["majority sense"] + 8
    assert found["purity"] > found["purity of senses dealt out"] + 8
