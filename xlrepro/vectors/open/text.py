"""The lines of the registered files that the open word vectors read, as words."""

import os
from collections.abc import Iterator
from pathlib import Path

from xlrepro.vectors.normalise import word_form
from xlrepro.vectors.open.recipes import TextFile, text_files
from xlrepro.vectors.open.registered import local_path
from xlrepro.vectors.open.settings import OpenSettings
from xlrepro.vectors.open.tokenise import words_of


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
    from xlrepro.data.readers.columns import read_conllu

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
