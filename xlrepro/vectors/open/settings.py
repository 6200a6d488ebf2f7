"""The settings of the open word vectors, read from ``open_vectors.yaml`` beside this file."""

from functools import lru_cache
from importlib import resources

from xlrepro.checked import Checked
from xlrepro.errors import SettingsError
from xlrepro.vectors.open.skipgram import SkipGram
from xlrepro.yaml_files import read_model


class LanguageSources(Checked):
    """What there is for one language; an absent code means that there is no such file.

    Attributes:
        muse: code of the MUSE dictionary from English.
        wiktionary: code of the Wiktionary dictionary from English.
        parallel: codes of the Tatoeba and TICO-19 files.
        frequency: code of the word frequency list.
        relatives: close languages whose dictionaries serve for words spelt the same.
        articles: whether the language has articles; if not, English ones align with nothing.
    """

    muse: str | None = None
    wiktionary: str | None = None
    parallel: tuple[str, ...] = ()
    frequency: str | None = None
    relatives: tuple[str, ...] = ()
    articles: bool = True


class LexiconSettings(Checked):
    """How dictionaries and aligned text are mixed (`translation_tables.mix`).

    Attributes:
        iterations: of EM for IBM model 1.
        trust: count at which aligned text weighs as much as the dictionaries.
        least_count: smaller expected counts are noise.
        least_share: translations with a smaller share of a word's count are noise.
        most: translations kept per word.
        seed_share: least weight of a translation in a seed dictionary made from the table.
        seed_words: most frequent words that such a seed dictionary is made from.
    """

    iterations: int
    trust: float
    least_count: float
    least_share: float
    most: int
    seed_share: float
    seed_words: int


class OpenSettings(Checked):
    """Everything, besides the data, that decides the open word vectors.

    Attributes:
        version: raised when the code changes the vectors.
        source: the language in whose space all vectors lie.
        languages: of the vector sets, per language what it is built from.
        more_languages: likewise, of languages that have vectors and are in no set: a trial that
            reads one names it (`open_vectors.recipe_hash`), and no other trial is another for it.
        clitics: per language words that no dictionary lists, with their English translations.
        repeats: how often a line of each text source is read.
        treebanks: per language a treebank whose word forms are read as text.
        english: skip-gram of the source language.
        others: skip-gram of the other languages, for the mapped vectors.
        lexicon: how translation tables are made.
        refinements: rounds of refinement of a mapping.
    """

    version: int
    source: str
    languages: dict[str, LanguageSources]
    more_languages: dict[str, LanguageSources]
    clitics: dict[str, dict[str, tuple[str, ...]]]
    repeats: dict[str, int]
    treebanks: dict[str, str]
    english: SkipGram
    others: SkipGram
    lexicon: LexiconSettings
    refinements: int


@lru_cache(maxsize=1)
def open_settings() -> OpenSettings:
    """Return the settings that this version of xlrepro builds its open vectors with."""
    return read_model(resources.files(__package__) / "open_vectors.yaml", OpenSettings)


def language_sources(language: str, settings: OpenSettings | None = None) -> LanguageSources:
    """Return what there is for a language.

    Raises:
        SettingsError: for a language without open vectors.
    """
    settings = settings or open_settings()
    known = settings.languages | settings.more_languages
    if language not in known:
        raise SettingsError(
            f"no open word vectors for language {language!r}; there are: {', '.join(known)}"
        )
    return known[language]
