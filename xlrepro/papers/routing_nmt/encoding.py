"""Sentences as numbers: one source vocabulary for all tasks, a target vocabulary for each.

A source is the task's tag and the sentence's subwords. Targets of translation are subwords; tags,
brackets and concepts of the auxiliary tasks are tokens of their own.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlrepro.errors import DataError
from xlrepro.papers.routing_nmt import corpora
from xlrepro.papers.routing_nmt.corpora import Splits
from xlrepro.papers.routing_nmt.model import END, START, UNKNOWN
from xlrepro.papers.routing_nmt.settings import SPLITS, TRANSLATION, TranslationSettings
from xlrepro.papers.routing_nmt.text import Pair, Subwords

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")


class Vocabulary:
    """Numbers of tokens; the special ones first, the others sorted.

    Example:
        >>> Vocabulary(["b", "a"]).numbers(["a", "z"])
        [4, 3]
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = [*SPECIAL, *sorted(set(tokens) - set(SPECIAL))]
        self._numbers = {token: number for number, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.tokens)

    def numbers(self, tokens: Iterable[str]) -> list[int]:
        """Return the number of each token, that of ``<unk>`` for a strange one."""
        return [self._numbers.get(token, UNKNOWN) for token in tokens]


@dataclass(frozen=True)
class Example:
    """One encoded pair: the tag and the source's tokens; start, the target's tokens, end."""

    source: list[int]
    target: list[int]


@dataclass(frozen=True)
class TaskData:
    """One task's encoded examples and how to read its outputs.

    Attributes:
        train, dev, test: examples in the corpus's order.
        target: the target vocabulary.
        splits: the tokens that they encode, and lines as one reads them.
    """

    train: list[Example]
    dev: list[Example]
    test: list[Example]
    target: Vocabulary
    splits: Splits


class Encoded:
    """All tasks of a trial as numbers.

    Args:
        settings: of the trial; they name the corpora and cut them.

    Attributes:
        source: the source vocabulary.
        tasks: the data of each task.
        counts: sizes and what was left out, for the record.
    """

    def __init__(self, settings: TranslationSettings) -> None:
        self._settings = settings
        splits = {TRANSLATION: corpora.translation(settings)}
        splits |= {task: corpora.auxiliary(settings.corpus, task) for task in settings.auxiliary}
        splits = {task: _cut(task, whole, settings) for task, whole in splits.items()}
        kept = splits[TRANSLATION].train
        sides = [[source for source, _ in kept], [target for _, target in kept]]
        texts = [sides[0] + sides[1]] if settings.joint_bpe else sides
        learnt = [Subwords(text, settings.bpe_operations) for text in texts]
        self._subwords = learnt[0], learnt[-1]
        self.source = Vocabulary([*self._subwords[0].vocabulary, *map(_tag, settings.tasks)])
        self.counts: dict[str, dict[str, int]] = {}
        self.tasks = {task: self._task(task, split) for task, split in splits.items()}
        targets = {task: len(data.target) for task, data in self.tasks.items()}
        self.counts["vocabulary"] = {"source": len(self.source), **targets}

    def retagged(self, examples: Sequence[Example], task: str) -> list[Example]:
        """Return the same sources with the tag of another task."""
        (tag,) = self.source.numbers([_tag(task)])
        return [Example([tag, *example.source[1:]], example.target) for example in examples]

    def words(self, numbers: Sequence[int]) -> list[str]:
        """Return the words that output numbers of translation stand for."""
        tokens = self.tasks[TRANSLATION].target.tokens
        return self._subwords[1].joined([tokens[number] for number in numbers])

    def _task(self, task: str, splits: Splits) -> TaskData:
        settings = self._settings
        vocabulary = Vocabulary(self._target_tokens(task, splits.train))
        encoded = {
            name: [self._example(task, vocabulary, pair) for pair in getattr(splits, name)]
            for name in SPLITS
        }
        # behind a tag, and between start and end
        room = (settings.longest_pieces or math.inf) + 1
        train = encoded["train"]
        encoded["train"] = [e for e in train if max(len(e.source), len(e.target) - 1) <= room]
        if not encoded["train"]:
            raise DataError(f"{task}: no training pair has {room - 1} subwords or fewer")
        self.counts[task] = {
            **splits.counts,
            **{name: len(examples) for name, examples in encoded.items()},
            "target tokens": sum(len(e.target) - 1 for e in encoded["train"]),
        }
        return TaskData(**encoded, target=vocabulary, splits=splits)

    def _target_tokens(self, task: str, train: Sequence[Pair]) -> Iterable[str]:
        if task == TRANSLATION:
            return self._subwords[1].vocabulary
        counts = Counter(token for _, target in train for token in target)
        return [token for token, n in counts.items() if n >= self._settings.min_count]

    def _example(self, task: str, vocabulary: Vocabulary, pair: Pair) -> Example:
        source = self.source.numbers([_tag(task), *self._subwords[0].split(pair[0])])
        target = self._subwords[1].split(pair[1]) if task == TRANSLATION else pair[1]
        return Example(source, [START, *vocabulary.numbers(target), END])


def _tag(task: str) -> str:
    return f"<{task}>"


def _cut(task: str, splits: Splits, settings: TranslationSettings) -> Splits:
    """Leave out what is long, then cut to number.

    Of translation training pairs with a long side; held-out sentences stay, however long. Of other
    tasks long targets everywhere.
    """
    parts = [list(getattr(splits, name)) for name in SPLITS]
    if task == TRANSLATION:
        longest = settings.longest_words or math.inf
        parts[0] = [pair for pair in parts[0] if max(map(len, pair)) <= longest]
        most, held_out = settings.train_pairs, settings.test_pairs
    else:
        longest = settings.longest_auxiliary or math.inf
        parts = [[pair for pair in pairs if len(pair[1]) <= longest] for pairs in parts]
        most, held_out = settings.auxiliary_train, settings.auxiliary_dev
    train, dev, test = parts
    counts = splits.counts | {"long": len(splits.train) - len(train)}
    lines = {split: lines[:held_out] for split, lines in splits.lines.items()}
    return Splits(train[:most], dev[:held_out], test[:held_out], counts, lines)
