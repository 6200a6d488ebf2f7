"""Translation tables: which English words, with what weight, a foreign word stands for.

Three sources are mixed: the MUSE dictionaries, Wiktionary, and IBM model 1 on parallel text. For
honest dictionary induction the source words at the MUSE test ranks are removed from both
dictionaries before anything is built; parallel text stays (a named choice).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import regex

from xlrepro.errors import DataError
from xlrepro.vectors.normalise import word_form

# Conneau et al. (2018): the first 5,000 source words train, the next 1,500 test.
TRAIN_RANKS = range(5000)
TEST_RANKS = range(5000, 6500)

_SPACES = regex.compile(r"\s{2,}")


@dataclass
class TranslationTable:
    """Per foreign word its English translations and their weights, which sum to 1.

    Attributes:
        translations: foreign word to {English word: weight}.
    """

    translations: dict[str, dict[str, float]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of foreign words."""
        return len(self.translations)


def read_pairs(path: Path, language: str) -> list[tuple[str, str]]:
    """Read ``english foreign`` pairs of a MUSE dictionary, in its order, in stored form.

    Raises:
        DataError: for a line that is not two words.
    """
    pairs = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            words = line.split()
            if len(words) != 2:
                raise DataError(f"{path}:{number}: expected an English and a foreign word")
            pairs.append((word_form(words[0], "en"), word_form(words[1], language)))
    return pairs


def split_by_rank(
    pairs: Iterable[tuple[str, str]],
) -> tuple[list[tuple[str, str]], list[tuple[str, str]], list[tuple[str, str]]]:
    """Split dictionary pairs by the rank of their source word into train, test and rest.

    The rank of a source word is the number of other source words that come before it.
    """
    ranks: dict[str, int] = {}
    train: list[tuple[str, str]] = []
    test: list[tuple[str, str]] = []
    rest: list[tuple[str, str]] = []
    for pair in pairs:
        rank = ranks.setdefault(pair[0], len(ranks))
        chosen = train if rank in TRAIN_RANKS else test if rank in TEST_RANKS else rest
        chosen.append(pair)
    return train, test, rest


def without_source_words(
    pairs: Iterable[tuple[str, str]], removed: frozenset[str]
) -> list[tuple[str, str]]:
    """Return the pairs whose source word is not among ``removed``."""
    return [pair for pair in pairs if pair[0] not in removed]


def read_wiktionary(path: Path, language: str) -> list[tuple[str, str]]:
    """Read (English, foreign) single-word pairs of a Wiktionary export, in stored form.

    Entries of several words on either side are left out; ``to`` before a verb does not count.

    Raises:
        DataError: for a line without three tab-separated fields.
    """
    pairs: dict[tuple[str, str], None] = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            fields = line.rstrip("\n").split("\t")
            if len(fields) < 3:
                raise DataError(f"{path}:{number}: expected headword, part of speech, translation")
            english = word_form(fields[0].removeprefix("to "), "en")
            for entry in _SPACES.split(fields[2]):
                foreign = word_form(entry.strip().strip("-"), language)
                if english and foreign and " " not in english and " " not in foreign:
                    pairs[english, foreign] = None
    return list(pairs)


def parallel_pairs(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield the distinct (English, foreign) sentence pairs of tab-separated files, in order.

    Raises:
        DataError: for a line without two fields.
    """
    seen = set()
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                fields = line.rstrip("\n").split("\t")
                if len(fields) < 2:
                    raise DataError(f"{path}:{number}: expected two tab-separated sentences")
                pair = (fields[0], fields[1])
                if pair not in seen:
                    seen.add(pair)
                    yield pair


def mix(
    dictionary: Iterable[tuple[str, str]],
    aligned: Iterable[tuple[str, str, float]],
    known: frozenset[str],
    *,
    trust: float = 5.0,
    least_count: float = 0.5,
    least_share: float = 0.05,
    most: int = 8,
) -> TranslationTable:
    """Mix dictionary entries with counts from aligned text into one table.

    A foreign word's weights are (1 − a) · dictionary + a · aligned, each a distribution over
    English words, where a = c / (c + ``trust``) grows with the word's count c in aligned text.
    A word that only one of the two knows takes it alone.

    Args:
        dictionary: (English, foreign); a pair named twice counts twice.
        aligned: (English, foreign, expected count).
        known: English words that have a vector; others are of no use.
        trust: count at which aligned text weighs as much as the dictionaries.
        least_count: aligned pairs with a smaller expected count are noise.
        least_share: translations with a smaller share of a word's aligned count are noise.
        most: translations kept per word, the heaviest.
    """
    entries = _grouped((foreign, english, 1.0) for english, foreign in dictionary)
    counts = _grouped(
        (foreign, english, count) for english, foreign, count in aligned if count >= least_count
    )
    table = TranslationTable()
    for foreign in dict.fromkeys([*entries, *counts]):
        total = sum(counts.get(foreign, {}).values())
        by_dictionary = _shares(entries.get(foreign, {}), known)
        by_text = _shares(counts.get(foreign, {}), known, least_share)
        weight = total / (total + trust) if by_dictionary and by_text else float(bool(by_text))
        mixed: dict[str, float] = defaultdict(float)
        for english, share in by_dictionary.items():
            mixed[english] += (1.0 - weight) * share
        for english, share in by_text.items():
            mixed[english] += weight * share
        heaviest = sorted(mixed.items(), key=lambda item: (-item[1], item[0]))[:most]
        if heaviest:
            sum_kept = sum(share for _, share in heaviest)
            table.translations[foreign] = {word: share / sum_kept for word, share in heaviest}
    return table


def _grouped(triples: Iterable[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    groups: dict[str, dict[str, float]] = {}
    for foreign, english, value in triples:
        group = groups.setdefault(foreign, {})
        group[english] = group.get(english, 0.0) + value
    return groups


def _shares(
    values: dict[str, float], known: frozenset[str], least_share: float = 0.0
) -> dict[str, float]:
    kept = {word: value for word, value in values.items() if word in known}
    total = sum(kept.values())
    kept = {word: value for word, value in kept.items() if value >= least_share * total}
    total = sum(kept.values())
    return {word: value / total for word, value in kept.items()}
