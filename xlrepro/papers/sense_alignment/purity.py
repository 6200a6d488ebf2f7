"""What becomes of senses: how many stay alive, in use, and whether they separate (Tables 6-8,
Figures 4-7).

Purity: each sense that the model gives a word counts for the true sense that it stands for most
often. A word that is always given one sense has the purity of its majority sense; many senses are
purer by chance alone, so that the purity of senses dealt out at random stands beside it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from xlrepro.artificial import Realisation, lists
from xlrepro.errors import SettingsError
from xlrepro.papers.sense_alignment import text, training
from xlrepro.papers.sense_alignment.bert import WholeWordBert
from xlrepro.papers.sense_alignment.network import BiLM
from xlrepro.papers.sense_alignment.settings import (
    BANDS,
    SOURCE,
    GrowthSettings,
    NeighbourSettings,
    PuritySettings,
)
from xlrepro.papers.sense_alignment.text import MASK
from xlrepro.papers.sense_alignment.training import LanguageModel, alive_by_thirds
from xlrepro.trials import Cell, Trial, TrialContext, TrialResult

# Columns of Tables 6 to 8, beside BANDS ...
TOP = "uses of the top sense"
STEPS = "steps of the printed epochs"
EPOCHS = "epochs of the stated steps"
# ... and of Figures 4 to 7: purities (percent), and the share of own senses (percent).
PURITY, MAJORITY, DEALT = "purity", "majority sense", "purity of senses dealt out"
OWN = "own senses among the nearest"

SENTENCES = 1000  # of the training text, in which uses are counted
FEWEST_USES = 10  # of a word that counts
SIGNATURES = {
    PURITY: "purity|words:known pairs|direction:mean of both|v:1",
    OWN: "share|of a word's other senses|nearest:cosine of sense vectors|v:2",
}
# Per word: (sense that the model gives, true sense) of each of its occurrences.
Occurrences = Mapping[str, Sequence[tuple[int, str]]]


# -- Tables 6 to 8


def growth(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the arithmetic of steps and epochs, or the mean number of senses per word at the end,
    and how often a word's uses choose its top sense.

    Details of a language model: ``alive``, ``[step, senses of frequent, middling, rare words]``.
    """
    settings = trial.typed(GrowthSettings)
    (system,) = trial.systems
    if settings.arithmetic is not None:
        cells = [Cell(system, c, v, c, "count") for c, v in counted(settings.arithmetic).items()]
        return TrialResult(cells, signatures={STEPS: "count|v:1", EPOCHS: "count|v:1"})
    assert settings.model is not None  # see `OfSenses`
    model = training.of_trial(settings.model, trial, context)
    # The log's last look may be before the last pruning.
    left = zip(BANDS, alive_by_thirds(model.parts[0].on.cpu()), strict=True)
    cells = [Cell(system, band, value, "senses per word", "count") for band, value in left]
    signatures = {
        "senses per word": "mean|of:words of a third of the vocabulary|v:1",
        TOP: f"share|words:used {FEWEST_USES} times or more|direction:mean of both|v:1",
    }
    cells.append(Cell(system, TOP, top_share(model), TOP))
    return model.result(cells, model.curves, signatures)


def top_share(model: LanguageModel) -> float:
    """Return how many percent of uses choose the sense that is chosen most for their word.

    100 where each word has one sense in use. NaN where no word is used often enough.
    """
    numbers, settings = model.numbers, model.settings
    sentences = text.training_sentences(
        model.languages[0], settings.text, not settings.joint, SENTENCES
    )
    known = [[i for i, word in enumerate(s) if word in numbers] for s in sentences]
    uses = Counter(s[i] for s, places in zip(sentences, known) for i in places)
    known = [[i for i in at if uses[s[i]] >= FEWEST_USES] for s, at in zip(sentences, known)]
    chosen = [Counter[tuple[int, int]]() for _ in model.parts]
    for i, states in choosing_states(model, sentences, known):
        words = torch.tensor([numbers[sentences[i][at]] for at in known[i]], device=states.device)
        for counts, part, top in zip(chosen, model.parts, states, strict=True):
            counts.update(zip(words.tolist(), part.choose(words, top).tolist(), strict=True))
    total = sum(counts.total() for counts in chosen)
    # Of each word the largest count: the rarest sense comes first, so that the top one stays.
    top_ones = [{w: n for (w, _), n in reversed(counts.most_common())} for counts in chosen]
    return 100.0 * sum(sum(top.values()) for top in top_ones) / total if total else float("nan")


def counted(printed: Mapping[str, float]) -> dict[str, float]:
    """Return the steps of the printed epochs, and the epochs of the stated steps.

    Args:
        printed: ``tokens`` of an epoch, ``gpus``, ``streams`` each, ``unroll`` words a step, the
            printed ``epochs`` and the stated ``steps``.

    Example:
        >>> counts = counted({"tokens": 1000, "gpus": 1, "streams": 10, "unroll": 5, "epochs": 2,
        ...                   "steps": 100})
        >>> list(counts.values())
        [40.0, 5.0]
    """
    step = printed["gpus"] * printed["streams"] * printed["unroll"]
    return {
        STEPS: printed["epochs"] * printed["tokens"] / step,
        EPOCHS: printed["steps"] * step / printed["tokens"],
    }


# -- Figures 4 to 7


def purity(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill purities (percent), the mean of both directions, on text with known senses."""
    settings = trial.typed(PuritySettings)
    (system,) = trial.systems
    model = training.of_trial(settings.model, trial, context)
    directions = occurrences(model, settings.sentences)
    scores = [purities(uses_of, trial.seed) for uses_of in directions]
    means = {c: sum(score[c] for score in scores) / len(scores) for c in trial.columns}
    cells = [Cell(system, column, mean, PURITY) for column, mean in means.items()]
    uses = directions[0]
    counts = {"occurrences": sum(map(len, uses.values())), "words": len(uses)}
    return model.result(cells, {"language_model": model.curves, **counts}, SIGNATURES)


def neighbourhood(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the share of own senses, percent: of a word's other senses, those nearest to each.

    All where they lie together. Words with one sense left have no other.

    Details: per chosen word and sense the nearest sense vectors and their places in two dimensions,
    a plane per word.
    """
    settings = trial.typed(NeighbourSettings)
    (system,) = trial.systems
    model = training.of_trial(settings.model, trial, context)
    family = text.family(settings.model.text.ambiguous)
    stems = family.language(SOURCE).stems
    words = settings.words or [stems[first] for first, _ in family.pairs[:2]]
    shown = {word: neighbours(model, word, settings.neighbours) for word in words}
    known = {word: senses for word, senses in shown.items() if senses}
    if not known:
        raise SettingsError(f"words: the vocabulary has none of {', '.join(words)}")
    details = {"language_model": model.curves, "neighbours": known}
    shares = [s["own"] for senses in shown.values() for s in senses if s["own"] is not None]
    cells = [Cell(system, OWN, 100 * sum(shares) / len(shares), OWN)] if shares else []
    return model.result(cells, details, SIGNATURES)


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
    words, number = [[word.form for word in r.words] for r in drawn], model.numbers
    places = [
        [i for i, w in enumerate(r.words) if w.sense in known and w.form in number] for r in drawn
    ]
    directions: list[dict[str, list[tuple[int, str]]]] = [{} for _ in model.parts]
    for i, states in sorted(choosing_states(model, words, places), key=lambda pair: pair[0]):
        used = [drawn[i].words[at] for at in places[i]]
        forms = torch.tensor([number[word.form] for word in used], device=states.device)
        for uses, part, top in zip(directions, model.parts, states, strict=True):
            for word, sense in zip(used, part.choose(forms, top).tolist(), strict=True):
                uses.setdefault(word.form, []).append((sense, str(word.sense)))
    return [
        {w: u for w, u in uses.items() if len({true for _, true in u}) > 1} for uses in directions
    ]


def choosing_states(
    model: LanguageModel, sentences: Sequence[Sequence[str]], places: Sequence[Sequence[int]]
) -> Iterator[tuple[int, Tensor]]:
    """Yield the states that choose the senses of words, as in training.

    A biLM's are those of the words themselves. A BERT's are those that predict a hidden word: each
    is hidden in turn.

    Args:
        model: the language model.
        sentences: words.
        places: of the words in each sentence whose senses are asked for.

    Yields:
        The number of each sentence with such words, and ``(directions, places, dim)`` on the
        model's device.
    """
    asked = [i for i, at in enumerate(places) if at]
    if isinstance(model.encoder, BiLM):
        for k, states in model.states([sentences[i] for i in asked]):
            # shape: (places, 2 * dim)
            tops = states[-1, places[asked[k]]]
            yield asked[k], torch.stack(tops.chunk(2, -1))
        return
    assert isinstance(model.model, WholeWordBert)
    for i in asked:
        sentence = sentences[i]
        hidden = [[MASK if j == at else w for j, w in enumerate(sentence)] for at in places[i]]
        top_of = {k: states[0, places[i][k]] for k, states in model.states(hidden)}
        # shape: (places, dim)
        found = model.model.transform(torch.stack([top_of[k] for k in range(len(top_of))]))
        yield i, found[None]


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
    counts = Counter((word, *use) for word, uses in uses_of.items() for use in uses)
    # Of each sense of a word the commonest true sense comes last, and stays.
    right = {(word, given): n for (word, given, _), n in reversed(counts.most_common())}
    return 100.0 * sum(right.values()) / counts.total() if counts else float("nan")


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
    slots, vectors = part.on.shape[1], part.vectors.values.cpu().double()
    unit, alive = functional.normalize(vectors, dim=-1), part.on.cpu().flatten()
    senses = part.on[row].nonzero().flatten().tolist()
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


def _plane(vectors: Tensor) -> list[list[float]]:
    """Return the first two principal components of some vectors."""
    from sklearn.decomposition import PCA

    return PCA(2).fit_transform(vectors.numpy()).round(4).tolist()  # type: ignore[no-any-return]
