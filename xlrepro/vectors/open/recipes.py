"""Which registered files the open word vectors are built from; nothing is read or built."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from xlrepro.vectors.open.registered import file_hash, registered_paths
from xlrepro.vectors.open.settings import OpenSettings, language_sources, open_settings


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


def parallel_files(language: str, settings: OpenSettings | None = None) -> list[str]:
    """Return the English-foreign sentence pairs of a language; for English those of all languages.

    Tatoeba and TICO-19 only: FLORES devtest, XNLI and the IWSLT tests are test sets.
    """
    settings = settings or open_settings()
    codes = language_sources(language, settings).parallel
    files = []
    for path in registered_paths("parallel/tatoeba/") + registered_paths("parallel/tico19/"):
        code = path.rsplit("/", 1)[1].removeprefix("eng-").removesuffix(".tsv.xz")
        if code in codes or language == settings.source:
            files.append(path)
    return files


def text_files(language: str, settings: OpenSettings | None = None) -> list[TextFile]:
    """Return all running text of a language: monolingual, its side of the parallel text, and for
    English the training treebank.
    """
    settings = settings or open_settings()
    files = []
    for path in registered_paths(f"mono-text/{language}/"):
        source = path.rsplit("/", 1)[1].removesuffix(".txt.xz")
        files.append(TextFile(path, settings.repeats.get(source, 1)))
    column = 0 if language == settings.source else 1
    repeat = settings.repeats["parallel"]
    files += [TextFile(path, repeat, column) for path in parallel_files(language, settings)]
    if language in settings.treebanks:
        path = settings.treebanks[language]
        files.append(TextFile(path, settings.repeats["treebank"], treebank=True))
    return files


def text_recipe(language: str, settings: OpenSettings | None = None) -> list[list[str | int]]:
    """Return what decides a language's text: path, content hash and repeats of every file."""
    return [
        [file.path, file_hash(file.path), file.repeat] for file in text_files(language, settings)
    ]


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
