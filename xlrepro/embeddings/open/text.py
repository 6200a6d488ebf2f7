"""Which registered files the open word vectors read, and their lines as words."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xlrepro.embeddings.open.registered import file_hash, local_path, registered_paths
from xlrepro.embeddings.open.settings import OpenSettings, open_settings
from xlrepro.embeddings.open.tokenise import words_of
from xlrepro.embeddings.vectors.normalise import word_form


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
    codes = settings.languages[language].parallel
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
    from xlrepro.corpora.readers.conllu import read_conllu

    for sentence in read_conllu(path):
        yield [word_form(token, language).replace(" ", "") for token in sentence.tokens]


def write_text(language: str, target: Path, settings: OpenSettings | None = None) -> int:
    """Write all text of a language, one sentence a line, words separated by single spaces.

    A sentence of the parallel files that was met before (Tatoeba pairs one English sentence with
    many languages) is written once only.

    Returns:
        The number of words written.
    """
    written = 0
    seen: set[str] = set()
    with open(target, "w", encoding="utf-8") as out:
        for file in text_files(language, settings):
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
