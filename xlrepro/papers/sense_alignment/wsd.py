"""Word sense disambiguation by the nearest centroid, with back-off (Table 2).

The centroid of a sense is the mean of the contextual vectors of the words annotated with it,
brought to length 1. A word gets the sense of the nearest centroid: of all senses there are, as the
script that the authors adapted does, or of its lemma's alone. A lemma that was never seen gets its
first sense in the inventory. The scorer is that of the unified framework.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from xlrepro.data.readers.columns import SenseSentence, lemma_of
from xlrepro.errors import DataError
from xlrepro.papers.sense_alignment import data, text, training, vectors
from xlrepro.papers.sense_alignment.settings import SOURCE, DisambiguationSettings
from xlrepro.trials import Cell, Trial, TrialContext, TrialResult

METRIC = "F1"
SIGNATURE = "f1|level:word sense|scorer:unified framework|totals:official|v:1"

# WordNet's kinds of words as sense keys name them; 5 is a satellite adjective.
KINDS = {"N": "1", "V": "2", "J": "35", "A": "35", "R": "4"}


class Instances(NamedTuple):
    """Annotated words.

    Attributes:
        vectors: contextual vectors. ``(instances, dim)``
        lemmas: of each.
        kinds: what may stand behind the ``%`` of its senses' keys: ``"1"`` noun, ``"2"`` verb,
            ``"35"`` adjective, ``"4"`` adverb; empty where the tag does not say.
        senses: right answers of each.
    """

    vectors: Tensor
    lemmas: list[str]
    kinds: list[str]
    senses: list[tuple[str, ...]]


def kind_of(tag: str) -> str:
    """Return the kinds of senses that a word with this part of speech may have.

    Example:
        >>> kind_of("NNS"), kind_of("ADJ"), kind_of("ADV"), kind_of("DET")
        ('1', '35', '4', '')
    """
    upper = tag.upper()
    if upper in ("ADV", "RB", "RBR", "RBS"):
        return "4"
    return KINDS.get(upper[:1], "") if upper not in ("ADP", "AUX") else ""


def words_of(sentence: SenseSentence) -> tuple[list[str], list[slice]]:
    """Return the words of a sentence, those joined by underscores apart, and where each stands.

    Example:
        >>> sentence = SenseSentence(("It", "took_place"), ("it", "take_place"), ("", ""),
        ...     ((), ("take_place%2",)))
        >>> words_of(sentence)
        (['It', 'took', 'place'], [slice(0, 1, None), slice(1, 3, None)])
    """
    words: list[str] = []
    places = []
    for token in sentence.tokens:
        parts = [part for part in token.split("_") if part] or [token]
        places.append(slice(len(words), len(words) + len(parts)))
        words += parts
    return words, places


def instances(sentences: Sequence[SenseSentence], vectors: Sequence[Tensor]) -> Instances:
    """Return the annotated words; one of several words has their mean.

    Args:
        sentences: words with senses.
        vectors: of the words that :func:`words_of` gives. ``(length, dim)`` per sentence
    """
    means: list[Tensor] = []
    lemmas, kinds, senses = [], [], []
    for sentence, states in zip(sentences, vectors, strict=True):
        _, places = words_of(sentence)
        for i, keys in enumerate(sentence.senses):
            if keys:
                means.append(states[places[i]].mean(0))
                lemmas.append(sentence.lemmas[i].lower())
                kinds.append(kind_of(sentence.tags[i]))
                senses.append(keys)
    if not means:
        raise DataError("there are no annotated words: is this a corpus of word senses?")
    return Instances(torch.stack(means), lemmas, kinds, senses)


class NearestCentroid:
    """Senses as centroids of annotated words.

    Args:
        training: annotated words; of several keys of a word all count.
        inventory: senses of each lemma in the inventory's order, for what was never seen.
    """

    def __init__(self, training: Instances, inventory: Mapping[str, Sequence[str]]) -> None:
        pairs = [(i, key) for i, keys in enumerate(training.senses) for key in keys]
        self.counts = Counter(key for _, key in pairs)
        self.senses = sorted(self.counts)
        self.inventory = inventory
        number = {sense: i for i, sense in enumerate(self.senses)}
        # shape: (senses, dim)
        total = training.vectors.new_zeros(len(self.senses), training.vectors.shape[1])
        rows = torch.tensor([number[key] for _, key in pairs])
        total.index_add_(0, rows, training.vectors[torch.tensor([i for i, _ in pairs])])
        # A sum and a mean point the same way.
        self.centroids = functional.normalize(total, dim=-1)
        self.of_lemma: dict[str, list[int]] = {}
        for i, sense in enumerate(self.senses):
            self.of_lemma.setdefault(lemma_of(sense), []).append(i)

    def among_all(self, words: Instances) -> list[str | None]:
        """Return the nearest sense of each word among all senses (the script)."""
        best: list[int] = []
        for part in words.vectors.split(256):
            best += (part @ self.centroids.T).argmax(-1).tolist()
        return [
            self.senses[place] if lemma in self.of_lemma else self.first_sense(lemma, kind)
            for place, lemma, kind in zip(best, words.lemmas, words.kinds, strict=True)
        ]

    def of_the_lemma(self, words: Instances) -> list[str | None]:
        """Return the nearest sense of each word among those of its lemma and part of speech."""
        return self._of_seen(words, lambda i, at: float(self.centroids[at] @ words.vectors[i]))

    def most_frequent(self, words: Instances) -> list[str | None]:
        """Return the sense that each lemma has most often in training.

        Of equals the one that the inventory has first.
        """

        def frequency(i: int, at: int) -> tuple[int, int]:
            sense, listed = self.senses[at], list(self.inventory.get(words.lemmas[i], ()))
            place = listed.index(sense) if sense in listed else len(listed)
            return self.counts[sense], -place

        return self._of_seen(words, frequency)

    def _of_seen(self, words: Instances, score: Callable[[int, int], Any]) -> list[str | None]:
        """Return the best sense of each word among those of its lemma and kind in training."""
        answers: list[str | None] = []
        for i, (lemma, kind) in enumerate(zip(words.lemmas, words.kinds, strict=True)):
            seen = [at for at in self.of_lemma.get(lemma, []) if _fits(self.senses[at], kind)]
            best = max(seen, key=lambda at: score(i, at), default=None)
            answers.append(self.first_sense(lemma, kind) if best is None else self.senses[best])
        return answers

    def first_senses(self, words: Instances) -> list[str | None]:
        """Return the first sense of each word in the inventory."""
        return [self.first_sense(*pair) for pair in zip(words.lemmas, words.kinds, strict=True)]

    def first_sense(self, lemma: str, kind: str) -> str | None:
        """Return the first sense of a lemma and part of speech; None where it has none."""
        listed = self.inventory.get(lemma, ())
        return next((s for s in listed if _fits(s, kind)), None)


def _fits(sense: str, kind: str) -> bool:
    """Tell whether a sense's key is of a kind; keys without one fit any."""
    return not kind or sense.partition("%")[2][:1] in kind or ":" not in sense


def f1(right_answers: int, answered: int, total: int) -> float:
    """Return the scorer's F1 as a fraction: precision over answers, recall over all instances.

    Args:
        right_answers: answers among the gold senses.
        answered: instances with an answer.
        total: instances of the official set, those without an answer here too.

    Example:
        >>> f1(50, 90, 110)
        0.5
    """
    # the harmonic mean of right / answered and right / total
    return 2 * right_answers / (answered + total)


# -- trials

# What a block of rows answers with. "wsd-time" and "lemma-time" answer as "wsd" and "lemma"; their
# models were trained for as long as the plain ones.
ANSWERS: dict[str, Callable[[NearestCentroid, Instances], list[str | None]]] = {
    "wsd": NearestCentroid.among_all,
    "lemma": NearestCentroid.of_the_lemma,
    "baseline:most frequent sense": NearestCentroid.most_frequent,
    "baseline:first sense": NearestCentroid.first_senses,
}


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill F1 as a fraction, per system of the trial and test set.

    Block ``wsd`` takes the nearest of all senses, ``lemma`` the nearest of the lemma's; so do
    ``wsd-time`` and ``lemma-time``, whose models differ. Details: how the
    language model was trained.
    """
    settings = trial.typed(DisambiguationSettings)
    pairs = settings.model.text.ambiguous if settings.model else 0
    learnt = data.sense_training(settings, pairs)  # read before a language model is trained
    tests = {name: data.sense_test(settings, pairs, name) for name in trial.columns}
    model = training.of_trial(settings.model, trial, context) if settings.model else None
    annotated = _read(model, learnt, context)
    classifier = NearestCentroid(annotated, data.inventory(settings.corpus, pairs))
    cells: list[Cell] = []
    items: dict[str, Sequence[bool]] = {}
    for number, (name, (sentences, total)) in enumerate(tests.items()):
        words = _read(model, sentences, context)
        for system in trial.systems:
            answer = ANSWERS.get(system) or ANSWERS[system.partition(":")[0].partition("-")[0]]
            answers = answer(classifier, words)
            # any of several keys is right, and no answer is wrong
            marks = [a in keys for a, keys in zip(answers, words.senses, strict=True)]
            value = f1(sum(marks), sum(a is not None for a in answers), total)
            cells.append(Cell(system, name, value, METRIC, "fraction"))
            items[f"{system} {name}"] = marks + [False] * (total - len(marks))
        context.progress((number + 1) / len(trial.columns), name)
    plain = settings.model_dump(mode="json", exclude={"model"})
    details: dict[str, Any] = {"settings": plain, "senses": len(classifier.senses)}
    if model is None:
        return TrialResult(cells, details, {METRIC: SIGNATURE}, items=items)
    details["language_model"] = model.curves
    return model.result(cells, details, {METRIC: SIGNATURE}, items=items)


def _read(
    model: training.LanguageModel | None, sentences: Sequence[SenseSentence], context: TrialContext
) -> Instances:
    """Return annotated words with the vectors of the top layer (script)."""
    as_read = [text.as_read(words_of(s)[0], SOURCE) for s in sentences]
    if model is None:
        return instances(sentences, [torch.zeros(len(w), 1) for w in as_read])
    found = vectors.kept(model.settings, model.languages, as_read, "top", device=context.device)
    return instances(sentences, found)
