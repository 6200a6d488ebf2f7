"""Purity of centres that follow the states of a finished model: what Algorithm 1 can do by itself.

Beside the models whose senses are trained with them. The rate and the first centres' deviation are
chosen on half of the known pairs of concepts, on text of their own; the other half is judged on new
text. With labels, each sense's mean state tells how far states tell senses apart at all.
"""

from itertools import product
from typing import NamedTuple

import torch
from pydantic import Field
from torch import Tensor

from xlrepro.papers.sense_alignment import features
from xlrepro.papers.sense_alignment.language_model.centres import SenseCentres
from xlrepro.papers.sense_alignment.language_model.projection import QueueProjection
from xlrepro.papers.sense_alignment.pretraining import artefacts, text
from xlrepro.papers.sense_alignment.pretraining.artefacts import LanguageModel
from xlrepro.papers.sense_alignment.pretraining.text import SOURCE
from xlrepro.papers.sense_alignment.purity import SIGNATURES, purities
from xlrepro.papers.sense_alignment.settings import PuritySettings, validated
from xlrepro.papers.sense_alignment.systems import LABELLED, PURITY
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

FOLLOWED, CHOSEN_ON, JUDGED = "followed", "chosen on", "known senses"  # three texts
AT_ONCE = 96  # uses of ambiguous words between two choices, as a step of the training has


class FrozenSettings(PuritySettings):
    """A trial of this module; see :class:`PuritySettings`.

    Attributes:
        senses: S of each word.
        rates: a, of which one is chosen.
        sigmas: deviations of the first centres, of which one is chosen.
        reduced: d'.
        passes: how often centres follow the text.
    """

    senses: int = Field(3, ge=2)
    rates: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3)
    sigmas: tuple[float, ...] = (0.1, 0.3, 1.0)
    reduced: int = Field(16, ge=1)
    passes: int = Field(2, ge=1)


class Uses(NamedTuple):
    """Uses of ambiguous words in one text, in one direction.

    Attributes:
        forms: number of each word. ``(uses,)``
        states: its state. ``(uses, dim)``
        truths: keys of the concepts that are meant.
        halves: 0 where the pair of concepts is one to choose on, 1 where it is one to judge.
        every: states of all words of the text. ``(words, dim)``
    """

    forms: Tensor
    states: Tensor
    truths: list[str]
    halves: Tensor
    every: Tensor


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the purities of the judged half, percent, and the share told apart with labels.

    Details: purity of the other half by rate and deviation, and the chosen ones.
    """
    settings = validated(trial.settings, trial.label, FrozenSettings)
    (system,) = trial.systems
    chosen = settings.model.model_copy(update={"seed": trial.seed})
    model = artefacts.load(chosen, context.device)
    texts = {name: uses(model, settings.sentences, name) for name in (FOLLOWED, CHOSEN_ON, JUDGED)}
    tried = {
        (rate, sigma): _purities(settings, texts, CHOSEN_ON, 0, rate, sigma, trial.seed)[PURITY]
        for rate, sigma in product(settings.rates, settings.sigmas)
    }
    rate, sigma = max(tried, key=lambda pair: tried[pair])
    scores = _purities(settings, texts, JUDGED, 1, rate, sigma, trial.seed)
    both = zip(texts[FOLLOWED], texts[JUDGED], strict=True)
    scores[LABELLED] = sum(with_labels(known, new) for known, new in both) / 2
    return TrialResult(
        [Cell(system, column, scores[column], PURITY) for column in trial.columns],
        {
            "tried": {f"rate {r}, sigma {s}": round(score, 2) for (r, s), score in tried.items()},
            "chosen": {"rate": rate, "sigma": sigma},
            "uses": [int((new.halves == 1).sum()) for new in texts[JUDGED]],
            "language_model": {k: v for k, v in model.log.items() if k != "content"},
        },
        SIGNATURES,
        training_tokens=model.log["tokens"],
        training_seconds=model.log["seconds"],
        artefacts={"language model": model.content},
    )


def uses(model: LanguageModel, sentences: int, name: str) -> list[Uses]:
    """Return the uses of the ambiguous words in new artificial text, forward and backward."""
    family = text.family(model.settings.text.ambiguous)
    pair_of = {key: i for i, pair in enumerate(family.pairs) for key in pair}
    drawn = family.realisations(SOURCE, sentences, name)
    number = {word: i for i, word in enumerate(model.vocabulary)}
    tops = features.layers_of(model, [[w.form for w in r.words] for r in drawn], _top)
    places: list[int] = []
    forms, truths, at = [], [], 0
    for realised in drawn:
        for i, word in enumerate(realised.words):
            if word.sense in pair_of and word.form in number:
                places.append(at + i)
                forms.append(number[word.form])
                truths.append(str(word.sense))
        at += len(realised.words)
    # shape: (uses,)
    halves = torch.tensor([pair_of[key] % 2 for key in truths])
    return [
        Uses(torch.tensor(forms), every[places], truths, halves, every)
        for every in torch.cat(tops).chunk(2, -1)
    ]


def _top(states: Tensor) -> Tensor:
    return states[-1].clone()


def _purities(
    settings: FrozenSettings,
    texts: dict[str, list[Uses]],
    name: str,
    half: int,
    rate: float,
    sigma: float,
    seed: int,
) -> dict[str, float]:
    """Return the purities of one half of the pairs on a text, the mean of both directions."""
    scores = []
    for known, new in zip(texts[FOLLOWED], texts[name], strict=True):
        centres, projection = follow(settings, known, rate, sigma, seed)
        # shape: (words, senses)
        enabled = torch.ones(centres.values.shape[:2], dtype=torch.bool)
        senses = centres.choose(new.forms, new.states, projection.project, enabled).tolist()
        uses_of: dict[str, list[tuple[int, str]]] = {}
        for i in (new.halves == half).nonzero().flatten().tolist():
            uses_of.setdefault(str(int(new.forms[i])), []).append((senses[i], new.truths[i]))
        # Words that occur in one sense alone tell nothing.
        uses_of = {w: u for w, u in uses_of.items() if len({true for _, true in u}) > 1}
        scores.append(purities(uses_of, seed))
    return {column: sum(s[column] for s in scores) / len(scores) for column in scores[0]}


def follow(
    settings: FrozenSettings, known: Uses, rate: float, sigma: float, seed: int
) -> tuple[SenseCentres, QueueProjection]:
    """Let centres follow the states of a text; P is that of all its words, centred."""
    torch.manual_seed(seed)
    dim, words = known.states.shape[1], int(known.forms.max()) + 1
    projection = QueueProjection(dim, settings.reduced, len(known.every), centred=True)
    centres = SenseCentres(max(words, 1 << 12), settings.senses, dim, sigma, rate=rate)
    projection, centres = projection.to(known.states.dtype), centres.to(known.states.dtype)
    projection.add(known.every)
    projection.update()
    enabled = torch.ones(centres.values.shape[:2], dtype=torch.bool)
    for _ in range(settings.passes):
        for part, own in zip(known.forms.split(AT_ONCE), known.states.split(AT_ONCE), strict=True):
            centres.move(part, centres.choose(part, own, projection.project, enabled), own)
    return centres, projection


def with_labels(known: Uses, new: Uses) -> float:
    """Return how many uses of the judged half are nearest to the mean state of their own sense.

    Args:
        known: uses whose senses' means are taken.
        new: uses that are judged; those of words with one known sense are left out.

    Returns:
        Percent.
    """
    means: dict[int, dict[str, list[Tensor]]] = {}
    for form, state, true in zip(known.forms.tolist(), known.states, known.truths, strict=True):
        means.setdefault(form, {}).setdefault(true, []).append(state)
    right = total = 0
    for i in (new.halves == 1).nonzero().flatten().tolist():
        senses = means.get(int(new.forms[i]), {})
        if len(senses) < 2:
            continue
        far = {s: float((torch.stack(v).mean(0) - new.states[i]).norm()) for s, v in senses.items()}
        right += min(far, key=lambda s: far[s]) == new.truths[i]
        total += 1
    return 100.0 * right / total if total else float("nan")
