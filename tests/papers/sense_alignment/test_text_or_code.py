"""Where the paper's text and the authors' code differ, the choice matters on an artificial corpus.

Lists of things of one kind (``ambiguity.lists``), in which half of the words are rare. Each pair of
models differs in one setting.
"""

import numpy as np
import pytest
import torch

from tests.papers.sense_alignment.small_models import settings
from xlrepro.artificial.ambiguity import AmbiguousFamily, lists
from xlrepro.papers.sense_alignment.language_model.centres import SenseCentres
from xlrepro.papers.sense_alignment.pretraining.text import SPECIAL, Corpus
from xlrepro.papers.sense_alignment.pretraining.training import Run

RARE = 0.05  # share of a rare word's occurrences that the corpus keeps
STEPS = 100
SENSES = {
    "warmup_steps": 20,
    "rate": 0.05,
    "sigma": 0.3,
    "projection_dim": 4,
    "projection_every": 10,
    "queue": 1000,
    "centred": True,
}
NETWORK = {
    "family": "bilm",
    "filters": ((1, 8), (2, 8)),
    "character_dim": 6,
    "highways": 1,
    "dim": 10,
    "cells": 16,
    "dropout": 0.0,
}
TRAINING = {"steps": STEPS, "streams": 8, "unroll": 8, "times_unroll": True}


@pytest.fixture(scope="module")
def corpus():
    made = [[w.form for w in r.words] for r in lists(AmbiguousFamily(0, 40), "en", 500)]
    kinds = sorted({word for sentence in made for word in sentence})
    rare, random = set(kinds[::2]), np.random.default_rng(0)
    kept = [[w for w in s if w not in rare or random.random() < RARE] for s in made]
    words = [*SPECIAL, *(w for w in kinds if w not in rare), *(w for w in kinds if w in rare)]
    number = {word: i for i, word in enumerate(words)}
    rows = [np.array([number[w] for w in s], dtype=np.int32) for s in kept if len(s) > 2]
    return Corpus(words, len(words), {"en": rows}, {"en": []}, None)


def trained(corpus, **senses):
    """Train a model; return it and what its forward centres saw: words and states of each step."""
    run = Run(settings(SENSES | senses, NETWORK, TRAINING), corpus, "cpu")
    (forward, _), seen = run.model.parts(), []
    observe = forward.observe

    def watched(words, senses, states, step):
        seen.append((words, states))
        observe(words, senses, states, step)

    forward.observe = watched
    for number in range(STEPS):
        run.step(number)
    return run.model.eval(), seen


def test_by_the_codes_centres_one_use_turns_the_centre_of_a_rare_word(corpus):
    """All centres shrink between two uses of a word, so that the next state nearly replaces one.

    The same states move centres that began alike, by the one rule and by the other. How far a use
    turns its centre is one minus the cosine of the centre before and after it.
    """
    model, seen = trained(corpus)
    part, chosen, turned = model.parts()[0], {}, {}
    first_rare = len(SPECIAL) + (part.words - len(SPECIAL) + 1) // 2
    for decayed in (False, True):
        torch.manual_seed(1)
        centres = SenseCentres(part.words, part.slots, 10, 0.3, False, 0.05, decayed).double()
        senses, turns = [], []
        for words, states in seen:
            own = centres.choose(words, states, part.projection.project, torch.ones_like(part.on))
            before = centres.centres()[words, own]
            centres.move(words, own, states)
            after = centres.centres()[words, own]
            turns.append(1 - torch.cosine_similarity(before, after))
            senses.append(own)
        words = torch.cat([words for words, _ in seen])
        chosen[decayed], turned[decayed] = torch.cat(senses), torch.cat(turns)
    rare = words >= first_rare
    assert float(turned[True][rare].mean()) > 2 * float(turned[False][rare].mean())
    assert float((chosen[False] != chosen[True])[rare].double().mean()) > 0.1


def test_in_the_text_the_senses_of_a_word_compete_in_the_code_they_do_not(corpus):
    """Dropped from the sum, the other senses of the true word are not pushed away."""
    share = {}
    for kind in ("sum", "dropped"):
        model, _ = trained(corpus, softmax={"kind": "sampled", "negatives": 8, "own_senses": kind})
        part = model.parts()[0]
        window = run_window(model, corpus)
        x = model.encoder.vectors(window, model.characters)
        states = model.encoder(x[:, :, :-1])[0][-1][0].flatten(0, 1)
        own = model.encoder(x)[0][-1][0][:, 1:].flatten(0, 1)
        words = window[0, :, 1:].flatten()
        senses = part.choose(words, own)
        vectors = part.vectors.values.view(part.words, part.slots, -1)[words]
        scores = torch.einsum("nsd,nd->ns", vectors, states).masked_fill(
            ~part.on[words], -torch.inf
        )
        losses = scores.log_softmax(-1).gather(1, senses.unsqueeze(1))
        share[kind] = float(losses.exp().mean().detach())
    assert share["sum"] > share["dropped"] + 0.05


def run_window(model, corpus):
    rows = [r[:6] for r in corpus.sentences["en"] if len(r) >= 6][:60]
    ids = torch.from_numpy(np.stack(rows).astype(np.int64))
    return torch.stack((ids, ids.flip(1)))


def test_the_texts_pruning_gives_up_more_senses_than_the_codes(corpus):
    """A share below 0.1 is enough for the one, four times one of a hundred for the other."""
    alive = {}
    for rule in ("text", "code"):
        pruning = {"rule": rule, "every": 10, "after": 40}
        model, _ = trained(corpus, senses=4, pruning=pruning)
        alive[rule] = float(model.parts()[0].alive()[len(SPECIAL) :].double().mean())
    assert alive["text"] < alive["code"] - 0.3
