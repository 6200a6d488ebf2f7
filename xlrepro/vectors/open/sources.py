"""What the open word vectors are made of: registered files, running text.

Everything besides the data that decides the vectors stands in ``open_vectors.yaml`` beside this
file; for the vectors a registered file is named by its path below the mirror alone.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from xlrepro.data import registry
from xlrepro.data.readers.columns import read_conllu
from xlrepro.data.readers.text_files import malformed, numbered_lines
from xlrepro.errors import SettingsError
from xlrepro.values import read_yaml
from xlrepro.vectors.normalise import word_form
from xlrepro.vectors.open.tokenise import words_of

VERSION = 1  # raised when the code changes the vectors
SOURCE = "en"  # the language in whose space all vectors lie
# The data sets that word vectors may be built from.
DATASETS = (
    "mono-text", "muse-full", "wiktionary", "tatoeba", "tico19", "frequency-words", "ud-r2.2",
)  # fmt: skip


@lru_cache(maxsize=1)
def open_settings() -> dict[str, Any]:
    """Return what decides the open vectors besides the data, as ``open_vectors.yaml`` has it."""
    return dict(read_yaml(resources.files(__package__) / "open_vectors.yaml"))


def language_sources(language: str) -> dict[str, Any]:
    """Return what there is for a language; what the YAML does not name there is not.

    Raises:
        SettingsError: for a language without open vectors.
    """
    known = open_settings()["languages"] | open_settings()["more_languages"]
    if language not in known:
        raise SettingsError(f"no open word vectors of {language!r}; there are: {', '.join(known)}")
    return dict(known[language])


@lru_cache(maxsize=1)
def _by_path() -> dict[str, tuple[str, str]]:
    files = {name: registry.dataset(name).files.items() for name in DATASETS}
    return {entry.path: (name, key) for name, of in files.items() for key, entry in of}


def registered_paths(prefix: str) -> list[str]:
    """Return the paths of all registered files that begin with ``prefix``, sorted."""
    return sorted(path for path in _by_path() if path.startswith(prefix))


def local_path(path: str) -> Path:
    """Return the verified, unpacked file in the cache; bring it there if need be."""
    return registry.fetch(*_by_path()[path])


def registered_hash(path: str) -> str:
    """Return the SHA-256 of a file's content as the registry states it; reads no data."""
    return registry.content_hash(*_by_path()[path])


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
    codes = language_sources(language).get("parallel", ())
    paths = registered_paths("parallel/tatoeba/") + registered_paths("parallel/tico19/")
    if language == SOURCE:
        return paths
    return [path for path in paths if path.partition("/eng-")[2].removesuffix(".tsv.xz") in codes]


def text_files(language: str) -> list[TextFile]:
    """Return all running text of a language: monolingual, its side of the parallel text, and for
    English the training treebank.
    """
    repeats, treebanks = open_settings()["repeats"], open_settings()["treebanks"]
    files = []
    for path in registered_paths(f"mono-text/{language}/"):
        source = path.rsplit("/", 1)[1].removesuffix(".txt.xz")
        files.append(TextFile(path, repeats.get(source, 1)))
    column = 0 if language == SOURCE else 1
    files += [TextFile(path, repeats["parallel"], column) for path in parallel_files(language)]
    if language in treebanks:
        files.append(TextFile(treebanks[language], repeats["treebank"], treebank=True))
    return files


def raw_lines(file: TextFile) -> Iterator[str]:
    """Yield a file's texts as they are; a treebank's sentences with spaces between words.

    Raises:
        DataError: if the file cannot be read; names the line.
    """
    path = local_path(file.path)
    if file.treebank:
        for sentence in read_conllu(path):
            yield " ".join(sentence.tokens)
        return
    for number, line in numbered_lines(path):
        cells = [line] if file.column is None else line.split("\t")
        if len(cells) <= (file.column or 0):
            raise malformed(path, number, f"expected {(file.column or 0) + 1} columns")
        yield cells[file.column or 0]


def shuffled_lines(files: Iterable[TextFile], seed: str) -> list[str]:
    """Return all lines of some files in random order; a repeated line counts once."""
    lines = list(dict.fromkeys(line.strip() for file in files for line in raw_lines(file)))
    random.Random(seed).shuffle(lines)
    return lines


def muse_path(language: str) -> str | None:
    """Return the registered MUSE dictionary of a language; ``None`` where there is none."""
    code = language_sources(language).get("muse")
    return f"dictionaries/muse-full/en-{code}.txt.xz" if code else None


def wiktionary_path(language: str) -> str | None:
    """Return the registered Wiktionary of a language; ``None`` where there is none."""
    code = language_sources(language).get("wiktionary")
    return f"dictionaries/wiktionary/en-{code}.tsv.xz" if code else None


def frequency_path(language: str) -> str:
    """Return the registered frequency list of a language."""
    return f"frequency-words/{language_sources(language)['frequency']}_50k.txt.xz"


def aligned_recipe(language: str) -> dict[str, Any]:
    """Return what decides a language's word counts from aligned text."""
    files = [[path, registered_hash(path)] for path in parallel_files(language)]
    articles = language_sources(language).get("articles", True)
    recipe = {"version": VERSION, "language": language, "articles": articles, "files": files}
    return recipe | {"iterations": open_settings()["lexicon"]["iterations"]}


@cache
def lexicon_recipe(language: str) -> dict[str, Any]:
    """Return what decides a language's translation table, its relatives' sources among it."""
    sources = {}
    for code in (language, *language_sources(language).get("relatives", ())):
        paths = [muse_path(code), wiktionary_path(code), frequency_path(code)]
        files = [[path, registered_hash(path)] for path in paths if path]
        sources[code] = {"files": files, "aligned": aligned_recipe(code)}
    clitics = open_settings()["clitics"].get(language, {})
    recipe = {"version": VERSION, "language": language, "clitics": clitics, "sources": sources}
    return recipe | {"mixing": open_settings()["lexicon"]}


def sentences(file: TextFile, language: str) -> Iterator[list[str]]:
    """Yield a file's lines as words in stored form, in order, each once."""
    if file.treebank:
        for sentence in read_conllu(local_path(file.path)):
            yield [word_form(token, language).replace(" ", "") for token in sentence.tokens]
        return
    yield from filter(None, (words_of(text, language) for text in raw_lines(file)))


def write_text(language: str, target: Path) -> None:
    """Write all text of a language, one sentence a line, words separated by single spaces.

    A sentence of the parallel files that was met before (Tatoeba pairs one English sentence with
    many languages) is written once only.
    """
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
