"""The translation table of each language from the registered dictionaries and parallel text."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from xlrepro.artefacts import built
from xlrepro.vectors.normalise import fold, word_form
from xlrepro.vectors.open.ibm1 import translation_counts
from xlrepro.vectors.open.recipes import (
    aligned_recipe,
    frequency_path,
    muse_path,
    parallel_files,
    wiktionary_path,
)
from xlrepro.vectors.open.registered import local_path
from xlrepro.vectors.open.settings import language_sources, open_settings
from xlrepro.vectors.open.tokenise import words_of
from xlrepro.vectors.open.translation_tables import (
    TranslationTable,
    mix,
    parallel_pairs,
    read_pairs,
    read_wiktionary,
    split_by_rank,
    without_source_words,
)

_ARTICLES = frozenset({"the", "a", "an"})


def muse(language: str) -> tuple[list, list, list]:
    """Return the MUSE pairs (English, foreign) of a language: train, test and rest by rank.

    Three empty lists where MUSE has no dictionary.
    """
    path = muse_path(language)
    if path is None:
        return [], [], []
    return split_by_rank(read_pairs(local_path(path), language))


@cache
def test_source_words(language: str) -> frozenset[str]:
    """Return the English words at a language's MUSE test ranks."""
    return frozenset(english for english, _ in muse(language)[1])


def dictionary_pairs(language: str) -> list[tuple[str, str]]:
    """Return all dictionary pairs of a language but those of its tested source words."""
    train, _, rest = muse(language)
    pairs = train + rest
    path = wiktionary_path(language)
    if path is not None:
        pairs += read_wiktionary(local_path(path), language)
    # The same word form may stand at a train and at a test rank: out with it everywhere.
    return without_source_words(pairs, test_source_words(language))


def aligned_counts(language: str) -> list[tuple[str, str, float]]:
    """Return (English, foreign, expected count) from the parallel text; cached."""

    def build(folder: Path) -> None:
        paths = [local_path(path) for path in parallel_files(language)]
        dropped = frozenset() if language_sources(language).articles else _ARTICLES
        pairs = [
            (
                _content(words_of(english, open_settings().source), dropped),
                _content(words_of(foreign, language)),
            )
            for english, foreign in parallel_pairs(paths)
        ]
        counts = translation_counts(pairs, open_settings().lexicon.iterations)
        with open(folder / "counts.tsv", "w", encoding="utf-8") as out:
            for english, foreign, count in counts:
                out.write(f"{english}\t{foreign}\t{count:.6g}\n")

    folder = built("aligned", language, aligned_recipe(language), build)
    with open(folder / "counts.tsv", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [(english, foreign, float(count)) for english, foreign, count in rows]


def _content(words: list[str], dropped: frozenset[str] = frozenset()) -> list[str]:
    """Return the words that have letters: punctuation and numbers map to themselves anyway."""
    return [
        word
        for word in words
        if word not in dropped and any(character.isalpha() for character in word)
    ]


def frequent_words(language: str) -> list[str]:
    """Return the words of a language's frequency list in stored form, most frequent first."""
    with open(local_path(frequency_path(language)), encoding="utf-8") as lines:
        words = (word_form(line.split(" ")[0], language) for line in lines)
        return [word for word in dict.fromkeys(words) if word and " " not in word]


def _mixed(
    language: str, known: frozenset[str], removed: frozenset[str] = frozenset()
) -> TranslationTable:
    settings = open_settings().lexicon
    return mix(
        without_source_words(dictionary_pairs(language), removed),
        aligned_counts(language),
        known,
        trust=settings.trust,
        least_count=settings.least_count,
        least_share=settings.least_share,
        most=settings.most,
    )


def table(language: str, known: frozenset[str]) -> TranslationTable:
    """Return a language's translation table.

    Clitics of the settings are added. A frequent word without translations takes those of its
    twin in the first relative that has one (:func:`twins`); the language's own tested source words
    are removed from the relatives' dictionaries too.

    Args:
        language: its code.
        known: English words that have a vector.
    """
    mixed = _mixed(language, known)
    for word, choices in open_settings().clitics.get(language, {}).items():
        if word not in mixed.translations:
            mixed.translations[word] = {english: 1 / len(choices) for english in choices}
    missing = [word for word in frequent_words(language) if word not in mixed.translations]
    for relative in language_sources(language).relatives:
        theirs = _mixed(relative, known, test_source_words(language)).translations
        equal = twins(missing, list(theirs))
        mixed.translations.update({word: theirs[twin] for word, twin in equal.items()})
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


def seed_pairs(language: str, known: frozenset[str], words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the (English, foreign) pairs that a mapping is learnt from.

    The MUSE training ranks (first 5,000 source words) where there are any; else the heaviest
    translation of each of the language's most frequent words.
    """
    train = without_source_words(muse(language)[0], test_source_words(language))
    if train:
        return train
    translations = table(language, known).translations
    pairs = []
    settings = open_settings().lexicon
    for word in words[: settings.seed_words]:
        choices = translations.get(word)
        if choices:
            english, weight = max(choices.items(), key=lambda item: (item[1], item[0]))
            if weight >= settings.seed_share:
                pairs.append((english, word))
    return pairs
