"""What the open word vectors are made of: settings, registered files, running text.

Everything besides the data that decides the vectors stands in ``open_vectors.yaml`` beside this
file; for the vectors a registered file is named by its path below the mirror alone.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from xlrepro.checked import Checked
from xlrepro.data import registry
from xlrepro.data.readers.columns import read_conllu
from xlrepro.errors import SettingsError
from xlrepro.vectors.normalise import word_form
from xlrepro.vectors.open.skipgram import SkipGram
from xlrepro.vectors.open.tokenise import words_of
from xlrepro.yaml_files import read_model

# The data sets that word vectors may be built from.
DATASETS = (
    "mono-text",
    "muse-full",
    "wiktionary",
    "tatoeba",
    "tico19",
    "frequency-words",
    "ud-r2.2",
)


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
            reads one names it.
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


def language_sources(language: str) -> LanguageSources:
    """Return what there is for a language.

    Raises:
        SettingsError: for a language without open vectors.
    """
    known = open_settings().languages | open_settings().more_languages
    if language not in known:
        raise SettingsError(
            f"no open word vectors for language {language!r}; there are: {', '.join(known)}"
        )
    return known[language]


@lru_cache(maxsize=1)
def _by_path() -> dict[str, tuple[str, str]]:
    return {
        entry.path: (name, file_id)
        for name in DATASETS
        for file_id, entry in registry.dataset(name).files.items()
    }


def _registered(path: str) -> tuple[str, str]:
    if path not in _by_path():
        raise SettingsError(
            f"the word vectors need {path}, which none of the data sets {', '.join(DATASETS)} has: "
            "correct open_vectors.yaml or the registry"
        )
    return _by_path()[path]


def registered_paths(prefix: str) -> list[str]:
    """Return the paths of all registered files that begin with ``prefix``, sorted."""
    return sorted(path for path in _by_path() if path.startswith(prefix))


def local_path(path: str) -> Path:
    """Return the verified, unpacked file in the cache; bring it there if need be."""
    return registry.fetch(*_registered(path))


def file_hash(path: str) -> str:
    """Return the SHA-256 of a file's content as the registry states it; reads no data."""
    return registry.content_hash(*_registered(path))


@dataclass(frozen=True)
class TextFile:
    """A file of running text.

    Attributes:
        path: as the registry names it, below the mirror.
        repeat: how often each of its lines is read.
        column: of a tab-separated file the column that holds the text; None for plain lines.
        treebank: whether it is CoNLL-U, of which the word forms are read.
    """

    path: str
    repeat: int = 1
    column: int | None = None
    treebank: bool = False


def parallel_files(language: str) -> list[str]:
    """Return the English-foreign sentence pairs of a language; for English those of all languages.

    Tatoeba and TICO-19 only: FLORES devtest, XNLI and the IWSLT tests are test sets.
    """
    settings = open_settings()
    codes = language_sources(language).parallel
    files = []
    for path in registered_paths("parallel/tatoeba/") + registered_paths("parallel/tico19/"):
        code = path.rsplit("/", 1)[1].removeprefix("eng-").removesuffix(".tsv.xz")
        if code in codes or language == settings.source:
            files.append(path)
    return files


def text_files(language: str) -> list[TextFile]:
    """Return all running text of a language: monolingual, its side of the parallel text, and for
    English the training treebank.
    """
    settings = open_settings()
    files = []
    for path in registered_paths(f"mono-text/{language}/"):
        source = path.rsplit("/", 1)[1].removesuffix(".txt.xz")
        files.append(TextFile(path, settings.repeats.get(source, 1)))
    column = 0 if language == settings.source else 1
    repeat = settings.repeats["parallel"]
    files += [TextFile(path, repeat, column) for path in parallel_files(language)]
    if language in settings.treebanks:
        path = settings.treebanks[language]
        files.append(TextFile(path, settings.repeats["treebank"], treebank=True))
    return files


def text_recipe(language: str) -> list[list[str | int]]:
    """Return what decides a language's text: path, content hash and repeats of every file."""
    return [[file.path, file_hash(file.path), file.repeat] for file in text_files(language)]


def muse_path(language: str) -> str | None:
    """Return the registered MUSE dictionary of a language; ``None`` where there is none."""
    code = language_sources(language).muse
    return f"dictionaries/muse-full/en-{code}.txt.xz" if code else None


def wiktionary_path(language: str) -> str | None:
    """Return the registered Wiktionary of a language; ``None`` where there is none."""
    code = language_sources(language).wiktionary
    return f"dictionaries/wiktionary/en-{code}.tsv.xz" if code else None


def frequency_path(language: str) -> str:
    """Return the registered frequency list of a language."""
    return f"frequency-words/{language_sources(language).frequency}_50k.txt.xz"


def aligned_recipe(language: str) -> dict[str, Any]:
    """Return what decides a language's word counts from aligned text."""
    settings = open_settings()
    files = parallel_files(language)
    return {
        "version": settings.version,
        "language": language,
        "iterations": settings.lexicon.iterations,
        "articles": language_sources(language).articles,
        "files": [[path, file_hash(path)] for path in files],
    }


@cache
def lexicon_recipe(language: str) -> dict[str, Any]:
    """Return what decides a language's translation table, its relatives' sources among it."""
    settings = open_settings()
    sources = {}
    for code in (language, *language_sources(language).relatives):
        paths = [muse_path(code), wiktionary_path(code), frequency_path(code)]
        sources[code] = {
            "files": [[path, file_hash(path)] for path in paths if path],
            "aligned": aligned_recipe(code),
        }
    return {
        "version": settings.version,
        "language": language,
        "clitics": settings.clitics.get(language, {}),
        "mixing": settings.lexicon.model_dump(exclude={"seed_share", "seed_words"}),
        "sources": sources,
    }


def sentences(file: TextFile, language: str) -> Iterator[list[str]]:
    """Yield a file's lines as words in stored form, in order, each once."""
    if file.treebank:
        yield from _treebank_sentences(local_path(file.path), language)
        return
    with open(local_path(file.path), encoding="utf-8") as lines:
        for line in lines:
            text = line if file.column is None else line.rstrip("\n").split("\t")[file.column]
            words = words_of(text, language)
            if words:
                yield words


def _treebank_sentences(path: Path, language: str) -> Iterator[list[str]]:
    for sentence in read_conllu(path):
        yield [word_form(token, language).replace(" ", "") for token in sentence.tokens]


def write_text(language: str, target: Path) -> int:
    """Write all text of a language, one sentence a line, words separated by single spaces.

    A sentence of the parallel files that was met before (Tatoeba pairs one English sentence with
    many languages) is written once only.

    Returns:
        The number of words written.
    """
    written = 0
    seen: set[str] = set()
    with open(target, "w", encoding="utf-8") as out:
        for file in text_files(language):
            for words in sentences(file, language):
                line = " ".join(words) + "\n"
                if file.column is not None:
                    if line in seen:
                        continue
                    seen.add(line)
                out.write(line * file.repeat)
                written += len(words) * file.repeat
        out.flush()
        os.fsync(out.fileno())
    return written
