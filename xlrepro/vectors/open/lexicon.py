"""Translation tables, and vectors of foreign words as weighted means of their translations'.

Which English words, with what weight, does a foreign word stand for? Three sources are mixed: the
MUSE dictionaries, Wiktionary, and IBM model 1 on parallel text. For honest dictionary induction the
source words at the MUSE test ranks are removed from both dictionaries before anything is built;
parallel text stays (a named choice).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import regex

from xlrepro.artefacts import built
from xlrepro.data.readers.text_files import numbered_lines, read_rows
from xlrepro.precision import working_dtype
from xlrepro.vectors.normalise import fold, word_form
from xlrepro.vectors.open import sources
from xlrepro.vectors.open.ibm1 import translation_counts
from xlrepro.vectors.open.tokenise import words_of

# Conneau et al. (2018): the first 5,000 source words train, the next 1,500 test.
TRAIN_RANKS = range(5000)
TEST_RANKS = range(5000, 6500)
# A seed dictionary made from a table: of the most frequent words, translations of such a weight.
SEED_WORDS, SEED_SHARE = 10_000, 0.3

_SPACES = regex.compile(r"\s{2,}")


Pairs = list[tuple[str, str]]  # (English, foreign)
# Per foreign word its English translations and their weights, which sum to 1.
Table = dict[str, dict[str, float]]


def read_pairs(path: Path, language: str) -> Pairs:
    """Read ``english foreign`` pairs of a MUSE dictionary, in its order, in stored form.

    Raises:
        DataError: for a line that is not two words.
    """
    rows = read_rows(path, 2, None)
    return [(word_form(row[0], "en"), word_form(row[1], language)) for row in rows]


def split_by_rank(pairs: Iterable[tuple[str, str]]) -> tuple[Pairs, Pairs, Pairs]:
    """Split dictionary pairs by the rank of their source word into train, test and rest.

    The rank of a source word is the number of other source words that come before it.
    """
    ranks: dict[str, int] = {}
    train, test, rest = Pairs(), Pairs(), Pairs()
    for pair in pairs:
        rank = ranks.setdefault(pair[0], len(ranks))
        (train if rank in TRAIN_RANKS else test if rank in TEST_RANKS else rest).append(pair)
    return train, test, rest


def without_source_words(pairs: Iterable[tuple[str, str]], removed: frozenset[str]) -> Pairs:
    """Return the pairs whose source word is not among ``removed``."""
    return [pair for pair in pairs if pair[0] not in removed]


def read_wiktionary(path: Path, language: str) -> Pairs:
    """Read (English, foreign) single-word pairs of a Wiktionary export, in stored form.

    Entries of several words on either side are left out; ``to`` before a verb does not count.

    Raises:
        DataError: for a line without three tab-separated fields.
    """
    pairs: dict[tuple[str, str], None] = {}
    for headword, _, translations in read_rows(path, 3):
        english = word_form(headword.removeprefix("to "), "en")
        for entry in _SPACES.split(translations):
            foreign = word_form(entry.strip().strip("-"), language)
            if english and foreign and " " not in english and " " not in foreign:
                pairs[english, foreign] = None
    return list(pairs)


def parallel_pairs(paths: Iterable[Path]) -> list[tuple[str, ...]]:
    """Return the distinct (English, foreign) sentence pairs of tab-separated files, in order.

    Raises:
        DataError: for a line without two fields.
    """
    return list(dict.fromkeys(pair for path in paths for pair in read_rows(path, 2)))


def mix(
    dictionary: Iterable[tuple[str, str]],
    aligned: Iterable[tuple[str, str, float]],
    known: frozenset[str],
    *,
    trust: float = 5.0,
    least_count: float = 0.5,
    least_share: float = 0.05,
    most: int = 8,
) -> Table:
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
    frequent = (each for each in aligned if each[2] >= least_count)
    counts = _grouped((foreign, english, count) for english, foreign, count in frequent)
    table: Table = {}
    for foreign in dict.fromkeys([*entries, *counts]):
        total = sum(counts.get(foreign, {}).values())
        by_dictionary = _shares(entries.get(foreign, {}), known)
        by_text = _shares(counts.get(foreign, {}), known, least_share)
        weight = total / (total + trust) if by_dictionary and by_text else float(bool(by_text))
        mixed: dict[str, float] = defaultdict(float)
        for part, shares in ((1.0 - weight, by_dictionary), (weight, by_text)):
            for english, share in shares.items():
                mixed[english] += part * share
        heaviest = sorted(mixed.items(), key=lambda item: (-item[1], item[0]))[:most]
        if heaviest:
            sum_kept = sum(share for _, share in heaviest)
            table[foreign] = {word: share / sum_kept for word, share in heaviest}
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


def unit_rows(matrix: np.ndarray) -> np.ndarray:
    """Return the rows at length 1; a zero row stays zero. Same shape, of the working precision."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(lengths > 0, lengths, 1.0), dtype=working_dtype())


def centred_unit_rows(matrix: np.ndarray) -> np.ndarray:
    """Return the rows at length 1, centred, and at length 1 again.

    The normalisation before mapping of Artetxe et al. (2018), A robust self-learning method for
    fully unsupervised cross-lingual mappings of word embeddings, §3.1.
    """
    unit = unit_rows(matrix)
    return unit_rows(unit - unit.mean(axis=0, keepdims=True))


def pair_rows(
    pairs: Iterable[tuple[str, str]], foreign_words: Sequence[str], source_words: Sequence[str]
) -> np.ndarray:
    """Return the pairs whose words both have vectors as rows, int64 ``(pairs, 2)``.

    Args:
        pairs: (English, foreign).
        foreign_words: one per row.
        source_words: English ones, one per row.

    Returns:
        (row of the foreign word, row of the English word), in the order of ``pairs``.

    Example:
        >>> pair_rows([("tree", "baum"), ("sky", "himmel")], ["haus", "baum"], ["tree", "sky"])
        array([[1, 0]])
    """
    rows = {word: row for row, word in enumerate(foreign_words)}
    source_rows = {word: row for row, word in enumerate(source_words)}
    known = [(rows[f], source_rows[e]) for e, f in pairs if f in rows and e in source_rows]
    return np.array(known, dtype=np.int64).reshape(-1, 2)


def dictionary_vectors(
    table: Table, source_rows: Mapping[str, int], source_matrix: np.ndarray
) -> tuple[list[str], np.ndarray]:
    """Give every foreign word of a table the weighted mean of its translations' vectors.

    Args:
        table: weights; translations without a vector must not be in it.
        source_rows: row of each English word.
        source_matrix: their vectors, rows of length 1, ``(words, dim)``.

    Returns:
        The foreign words in the table's order, and their vectors at length 1.
    """
    words = list(table)
    weighted = [(row, *each) for row, word in enumerate(words) for each in table[word].items()]
    entries = [(row, source_rows[english], weight) for row, english, weight in weighted]
    rows, columns, weights = zip(*entries, strict=True)
    from scipy import sparse  # only here: most readers of this module centre vectors

    # Entry (i, j): weight of English word j among the translations of foreign word i.
    shape = (len(words), len(source_matrix))
    kept = np.array(weights, dtype=working_dtype())
    mixture = sparse.csr_matrix((kept, (rows, columns)), shape=shape)
    return words, unit_rows(mixture @ source_matrix)


def shared_strings(
    words: Sequence[str], table: Table, source_words: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return entries for words that are written the same in the source language.

    Only words the table does not know; with letters, only from four letters up (short strings are
    different words in different languages). Strings without letters, such as punctuation and
    numbers, are shared whether or not they are among ``words``.
    """
    known = set(source_words)
    # Punctuation keeps its own vector even where aligned text has led it astray.
    shared = [word for word in source_words if not any(sign.isalpha() for sign in word)]
    shared += [word for word in words if len(word) >= 4 and word in known and word not in table]
    return {word: {word: 1.0} for word in shared}


_ARTICLES = frozenset({"the", "a", "an"})


def muse(language: str) -> tuple[Pairs, Pairs, Pairs]:
    """Return the MUSE pairs (English, foreign) of a language: train, test and rest by rank.

    Three empty lists where MUSE has no dictionary.
    """
    path = sources.muse_path(language)
    if path is None:
        return [], [], []
    return split_by_rank(read_pairs(sources.local_path(path), language))


@cache
def test_source_words(language: str) -> frozenset[str]:
    """Return the English words at a language's MUSE test ranks."""
    return frozenset(english for english, _ in muse(language)[1])


def muse_untested(language: str) -> Pairs:
    """Return the MUSE pairs of a language but those of its tested source words, in their order."""
    train, _, rest = muse(language)
    # The same word form may stand at a train and at a test rank: out with it everywhere.
    return without_source_words(train + rest, test_source_words(language))


def dictionary_pairs(language: str) -> Pairs:
    """Return all dictionary pairs of a language but those of its tested source words."""
    path = sources.wiktionary_path(language)
    more = [] if path is None else read_wiktionary(sources.local_path(path), language)
    return muse_untested(language) + without_source_words(more, test_source_words(language))


def aligned_counts(language: str) -> list[tuple[str, str, float]]:
    """Return (English, foreign, expected count) from the parallel text; cached."""

    def build(folder: Path) -> None:
        paths = [sources.local_path(path) for path in sources.parallel_files(language)]
        articles = sources.language_sources(language).get("articles", True)
        dropped = frozenset() if articles else _ARTICLES
        pairs = []
        for english, other in parallel_pairs(paths):
            words = _content(words_of(english, sources.SOURCE), dropped)
            pairs.append((words, _content(words_of(other, language))))
        counts = translation_counts(pairs, sources.open_settings()["lexicon"]["iterations"])
        with open(folder / "counts.tsv", "w", encoding="utf-8") as out:
            for english, foreign, count in counts:
                out.write(f"{english}\t{foreign}\t{count:.6g}\n")

    folder = built("aligned", language, sources.aligned_recipe(language), build)
    with open(folder / "counts.tsv", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [(english, foreign, float(count)) for english, foreign, count in rows]


def _content(words: list[str], dropped: frozenset[str] = frozenset()) -> list[str]:
    """Return the words that have letters: punctuation and numbers map to themselves anyway."""
    return [word for word in words if word not in dropped and any(map(str.isalpha, word))]


def frequent_words(language: str) -> list[str]:
    """Return the words of a language's frequency list in stored form, most frequent first."""
    lines = numbered_lines(sources.local_path(sources.frequency_path(language)))
    words = (word_form(line.split(" ")[0], language) for _, line in lines)
    return [word for word in dict.fromkeys(words) if word and " " not in word]


def _mixed(language: str, known: frozenset[str], removed: frozenset[str] = frozenset()) -> Table:
    settings = {k: v for k, v in sources.open_settings()["lexicon"].items() if k != "iterations"}
    pairs = without_source_words(dictionary_pairs(language), removed)
    return mix(pairs, aligned_counts(language), known, **settings)


def table(language: str, known: frozenset[str]) -> Table:
    """Return a language's translation table.

    Clitics of the settings are added. A frequent word without translations takes those of its
    twin in the first relative that has one (:func:`twins`); the language's own tested source words
    are removed from the relatives' dictionaries too.

    Args:
        language: its code.
        known: English words that have a vector.
    """
    mixed = _mixed(language, known)
    for word, choices in sources.open_settings()["clitics"].get(language, {}).items():
        if word not in mixed:
            mixed[word] = {english: 1 / len(choices) for english in choices}
    missing = [word for word in frequent_words(language) if word not in mixed]
    for relative in sources.language_sources(language).get("relatives", ()):
        theirs = _mixed(relative, known, test_source_words(language))
        equal = twins(missing, list(theirs))
        mixed |= {word: theirs[twin] for word, twin in equal.items()}
        missing = [word for word in missing if word not in equal]
    return mixed


def twins(words: Sequence[str], theirs: Sequence[str]) -> dict[str, str]:
    """Return for words of one language their likely counterparts in a close language.

    The same word; else the same but for diacritics. (On languages with dictionaries of their own
    the translations of such twins agree in 44 to 86 and 16 to 79 of 100 cases; those of words that
    differ in one letter in 10 to 35, too few.)

    Example:
        >>> twins(["áno", "deň"], ["ano"])
        {'áno': 'ano'}
    """
    exact = set(theirs)
    folded: dict[str, str] = {}
    for word in theirs:
        folded.setdefault(fold(word), word)  # of several words of one key, the first stays
    by_word = {word: word if word in exact else folded.get(fold(word)) for word in words}
    return {word: twin for word, twin in by_word.items() if twin is not None}


def seed_pairs(language: str, known: frozenset[str], words: Sequence[str]) -> Pairs:
    """Return the (English, foreign) pairs that a mapping is learnt from.

    The MUSE training ranks (first 5,000 source words) where there are any; else the heaviest
    translation of each of the language's most frequent words.
    """
    train = without_source_words(muse(language)[0], test_source_words(language))
    if train:
        return train
    translations = table(language, known)
    pairs = []
    for word in words[:SEED_WORDS]:
        choices = translations.get(word)
        if choices:
            english, weight = max(choices.items(), key=lambda item: (item[1], item[0]))
            if weight >= SEED_SHARE:
                pairs.append((english, word))
    return pairs
