"""What the translation loss chooses (Eq. 5 to 7) is the sense that the other language tells apart.

Lists of nouns of one kind in two artificial languages, of which English has one word for both
concepts of a pair and the other two words. Their scripts differ, so that spelling does not tell
which word translates which: a model that is trained without the loss has no way to know.
"""

from dataclasses import replace
from functools import lru_cache

import torch

from tests.papers.sense_alignment.small_models import settings
from xlrepro.artificial import lists
from xlrepro.papers.sense_alignment import text
from xlrepro.papers.sense_alignment.training import Run

OTHER, STEPS = "zh", 400
TEXT = {
    "source": "lists",
    "ambiguous": 12,
    "words": 3600,
    "vocabulary": 1000,
    "held_out": 10,
}
SENSES = {
    "senses": 2,
    "warmup_steps": STEPS // 2,
    "warmup": "copied",
    "rate": 0.1,
    "sigma": 0.3,
    "projection_dim": 4,
    "projection_every": 10,
    "queue": 1500,
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
TRAINING = {"steps": STEPS, "streams": 8, "unroll": 12}
FAMILY = text.family(TEXT["ambiguous"])
PAIRED = {key for pair in FAMILY.pairs for key in pair}


@lru_cache(maxsize=1)
def read(seed):
    """The settings, and both languages' text with its dictionary."""
    chosen = settings(SENSES, NETWORK, TRAINING, joint=True, dictionary=True, text=TEXT, seed=seed)
    return chosen, text.read(chosen, ("en", OTHER))


def trained(seed, with_the_loss):
    chosen, corpus = read(seed)
    run = Run(chosen, corpus if with_the_loss else replace(corpus, translations=None), "cpu")
    for number in range(STEPS):
        run.step(number)
    return run.model.eval()


@torch.no_grad()
def chosen_words(model, corpus):
    """Uses of ambiguous words in new lists: the word, the right translation, and those chosen.

    A translation is chosen by each direction, as Eq. 5 chooses the one that must be predicted.
    """
    number = {word: i for i, word in enumerate(corpus.words)}
    translated = FAMILY.language(OTHER).stems
    uses = []
    for made in lists(FAMILY, "en", 300, seed=1):
        ids = torch.tensor([0, *(number[w.form] for w in made.words), 1])
        both = torch.stack((ids, ids.flip(0)))[:, None]
        ahead, behind = model.encoder(model.encoder.vectors(both, model.characters))[0][-1][:, 0]
        candidates = corpus.translations[ids[1:-1]]
        chosen = [
            part.centres.choose_translation(candidates, own, part.projection.project, part.on)
            for part, own in zip(model.parts(), (ahead[1:-1], behind.flip(0)[1:-1]), strict=True)
        ]
        for place, word in enumerate(made.words):
            if word.sense in PAIRED:
                found = [int(senses[place]) // model.senses.slots for senses in chosen]
                uses.append((word.form, number[translated[word.sense]], found))
    return uses


def right(uses):
    """Percent of choices that are right, the mean of both directions."""
    hits = [choice == truth for _, truth, found in uses for choice in found]
    return 100 * sum(hits) / len(hits)


def majority(uses):
    """Percent that would be right if a word were always translated as it is most often."""
    truths = {}
    for word, truth, _ in uses:
        truths.setdefault(word, []).append(truth)
    return 100 * sum(max(map(t.count, t)) for t in truths.values()) / len(uses)


def test_the_translation_loss_picks_the_sense_that_the_other_language_tells_apart():
    """First words of a list, too, count, whose sense nothing tells one of the directions."""
    # Seeds 0 to 4: 80, 79, 87, 83, 76 %, without the loss 57, 48, 60, 55, 59, with the dictionary's
    # rows shuffled 59, 53, 41, 64, 51; the majority is 62.5.
    _, corpus = read(seed=0)
    found = chosen_words(trained(0, with_the_loss=True), corpus)
    without = chosen_words(trained(0, with_the_loss=False), corpus)
    assert right(found) > majority(found) + 8
    assert right(found) > right(without) + 12
