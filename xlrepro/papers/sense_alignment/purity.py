"""Figures 4 to 7: do the senses of a word separate? Purity where senses are known, and neighbours.

Purity: each sense that the model gives a word counts for the true sense that it stands for most
often. A word that is always given one sense has the purity of its majority sense; many senses are
purer by chance alone, so that the purity of senses dealt out at random stands beside it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from xlrepro.artificial.ambiguity import lists
from xlrepro.artificial.tree import Realisation
from xlrepro.papers.sense_alignment import features
from xlrepro.papers.sense_alignment.language_model.bilm import BiLM
from xlrepro.papers.sense_alignment.pretraining import artefacts, text
from xlrepro.papers.sense_alignment.pretraining.artefacts import LanguageModel
from xlrepro.papers.sense_alignment.pretraining.text import MASK, SOURCE
from xlrepro.papers.sense_alignment.settings import PuritySettings, validated
from xlrepro.papers.sense_alignment.systems import DEALT, MAJORITY, OWN, PURITY
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

SIGNATURES = {
    PURITY: "purity|words:known pairs|direction:mean of both|v:1",
    OWN: "share|of a word's other senses|nearest:cosine of sense vectors|v:2",
}
States = Callable[[list[int]], torch.Tensor]
# Per word: (sense that the model gives, true sense) of each of its occurrences.
Occurrences = Mapping[str, Sequence[tuple[int, str]]]


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill purities (percent) where text with known senses is named, else the share of own senses.

    That share is of a word's other senses, those among the nearest to each: all where they lie
    together. Words with one sense left have no other.

    Details: per chosen word and sense the nearest sense vectors and their places in two dimensions,
    a plane per word.
    """
    settings = validated(trial.settings, trial.label, PuritySettings)
    (system,) = trial.systems
    chosen = settings.model.model_copy(update={"seed": trial.seed})
    model = artefacts.load(chosen, context.device)
    cells: list[Cell] = []
    details: dict[str, Any] = {"language_model": _numbers(model)}
    if settings.sentences:
        directions = occurrences(model, settings.sentences)
        scores = [purities(uses_of, trial.seed) for uses_of in directions]
        for column in trial.columns:
            value = sum(score[column] for score in scores) / len(scores)
            cells.append(Cell(system, column, value, PURITY))
        details["occurrences"] = sum(map(len, directions[0].values()))
        details["words"] = len(directions[0])
    else:
        shown = {word: neighbours(model, word, settings.neighbours) for word in settings.words}
        details["neighbours"] = {word: senses for word, senses in shown.items() if senses}
        shares = [s["own"] for senses in shown.values() for s in senses if s["own"] is not None]
        if shares:
            cells.append(Cell(system, OWN, 100 * sum(shares) / len(shares), OWN))
    return TrialResult(
        cells,
        details,
        SIGNATURES,
        training_tokens=model.log["tokens"],
        training_seconds=model.log["seconds"],
        artefacts={"language model": model.content},
    )


def _numbers(model: LanguageModel) -> dict[str, Any]:
    return {k: v for k, v in model.log.items() if k != "content"}


def occurrences(model: LanguageModel, sentences: int) -> list[dict[str, list[tuple[int, str]]]]:
    """Return how known ambiguous words are used in new artificial text, per direction.

    Words count whose concepts are of one of the known pairs and that occur in both senses.
    """
    family = text.family(model.settings.text.ambiguous)
    known = {key for pair in family.pairs for key in pair}
    if model.settings.text.source == "lists":
        drawn: Sequence[Realisation] = lists(family, SOURCE, sentences, seed=1)
    else:
        drawn = family.realisations(SOURCE, sentences, "known senses")
    words = [[word.form for word in r.words] for r in drawn]
    number = {word: i for i, word in enumerate(model.vocabulary)}
    states = choosing_states(model, words)
    directions: list[dict[str, list[tuple[int, str]]]] = []
    for direction, part in enumerate(model.parts):
        uses: dict[str, list[tuple[int, str]]] = {}
        for realised, own in zip(drawn, states, strict=True):
            places = [
                i for i, w in enumerate(realised.words) if w.sense in known and w.form in number
            ]
            if not places:
                continue
            top = own(places)
            if isinstance(model.encoder, BiLM):
                top = top.chunk(2, -1)[direction]
            forms = [realised.words[i].form for i in places]
            senses = part.choose(torch.tensor([number[form] for form in forms]), top)
            for form, sense, place in zip(forms, senses.tolist(), places, strict=True):
                uses.setdefault(form, []).append((sense, str(realised.words[place].sense)))
        directions.append({w: u for w, u in uses.items() if len({true for _, true in u}) > 1})
    return directions


def choosing_states(model: LanguageModel, words: list[list[str]]) -> list[States]:
    """Return what gives the states that choose the senses of a sentence's words, as in training.

    A biLM's are those of the words themselves. A BERT's are those that predict a hidden word: each
    is hidden in turn.
    """
    if isinstance(model.encoder, BiLM):
        return [partial(_at, layers[-1]) for layers in features.layers_of(model, words)]
    return [partial(_hidden, model, sentence) for sentence in words]


def _at(top: torch.Tensor, places: list[int]) -> torch.Tensor:
    return top[places]


def _hidden(model: LanguageModel, sentence: list[str], places: list[int]) -> torch.Tensor:
    hidden = [[MASK if i == place else w for i, w in enumerate(sentence)] for place in places]
    assert model.head is not None
    tops = [states[0, i] for states, i in zip(features.layers_of(model, hidden), places)]
    return model.head(torch.stack(tops)).detach()


def purities(uses_of: Occurrences, seed: int = 0) -> dict[str, float]:
    """Return the purity, the majority sense's share, and the purity of dealt out senses, percent.

    Example:
        >>> purities({"bank": [(0, "a"), (0, "a"), (1, "b"), (1, "a")]})["purity"]
        75.0
    """
    random = np.random.default_rng([seed, 11])
    dealt = {
        word: list(zip(random.permutation([s for s, _ in uses]).tolist(), [t for _, t in uses]))
        for word, uses in uses_of.items()
    }
    majority = {word: [(0, true) for _, true in uses] for word, uses in uses_of.items()}
    return {PURITY: _purity(uses_of), MAJORITY: _purity(majority), DEALT: _purity(dealt)}


def _purity(uses_of: Occurrences) -> float:
    right = total = 0
    for uses in uses_of.values():
        groups: dict[int, Counter[str]] = {}
        for given, true in uses:
            groups.setdefault(given, Counter())[true] += 1
        right += sum(max(group.values()) for group in groups.values())
        total += len(uses)
    return 100.0 * right / total if total else float("nan")


def neighbours(model: LanguageModel, word: str, count: int) -> list[dict[str, Any]]:
    """Return the nearest sense vectors of each living sense of a word, of the forward direction.

    Returns:
        Per sense: its number, ``own``, the share of the word's other senses that are among the
        nearest (None where it has no other), and the nearest as (word, sense, cosine, x, y) with
        two principal components of all senses of the word and what is near them. Nothing for a word
        outside the vocabulary.
    """
    if word not in model.vocabulary or not model.parts:
        return []
    part, row = model.parts[0], model.vocabulary.index(word)
    # shape: (words * slots, dim)
    slots, vectors = part.alive.shape[1], part.vectors.flatten(0, 1).double()
    unit, alive = functional.normalize(vectors, dim=-1), part.alive.flatten()
    senses = part.alive[row].nonzero().flatten().tolist()
    groups = []
    for sense in senses:
        own = row * slots + sense
        # shape: (words * slots,)
        cosines = (unit @ unit[own]).masked_fill(~alive, -torch.inf)
        cosines[own] = -torch.inf
        near = cosines.topk(min(count, int(alive.sum()) - 1))
        groups.append((own, near.indices.tolist(), near.values.tolist()))
    plane = iter(_plane(vectors[[n for own, near, _ in groups for n in (own, *near)]]))
    neighbourhoods = []
    for sense, (_, neighbours, alike) in zip(senses, groups, strict=True):
        place = next(plane)
        nearest = [
            [model.vocabulary[n // slots], n % slots, round(cosine, 4), *next(plane)]
            for n, cosine in zip(neighbours, alike, strict=True)
        ]
        found, most = sum(n // slots == row for n in neighbours), min(count, len(senses) - 1)
        share = found / most if most else None
        neighbourhoods.append({"sense": sense, "place": place, "own": share, "nearest": nearest})
    return neighbourhoods


def _plane(vectors: torch.Tensor) -> list[list[float]]:
    """Return the first two principal components of some vectors."""
    # shape: (vectors, dim), then (vectors, 2)
    centred = vectors - vectors.mean(0)
    left, values, _ = torch.linalg.svd(centred, full_matrices=False)
    places = left[:, :2] * values[:2]
    return [[round(x, 4) for x in row] for row in places.tolist()]
