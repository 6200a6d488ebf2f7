"""The paper's own text and labels, which the user supplies.

Below the folder of supplied files (``paths.supplied_dir``)::

    wikipedia/LANGUAGE.txt                       plain text, a sentence or paragraph a line
    ramen-parallel/LANGUAGE.tsv                  an English sentence, a tab, its translation
    fasttext-aligned/wiki.LANGUAGE.align.vec     aligned fastText vectors
    multinli_1.0/multinli_1.0_train.jsonl        MultiNLI's training set, as released
    ud-treebanks-v2.4/UD_…/…-ud-{train,dev,test}.conllu

XNLI's dev and test sets are open. The paper names no treebanks; these are the first of each
language's that have training data.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from xlrepro.data import supplied
from xlrepro.data.readers.conllu import read_conllu
from xlrepro.data.readers.text_files import read_text_lines
from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError
from xlrepro.paths import supplied_dir

RELEASE = "ud-treebanks-v2.4"
TREEBANKS = {
    "en": "English-EWT",
    "fr": "French-GSD",
    "ru": "Russian-GSD",
    "ar": "Arabic-PADT",
    "hi": "Hindi-HDTB",
    "vi": "Vietnamese-VTB",
    "zh": "Chinese-GSD",
}


def file(path: str) -> Path:
    """Return a supplied file.

    Raises:
        DataError: if it is not there.
    """
    location = supplied_dir() / path
    if not location.is_file():
        raise DataError(
            f"there is no {location}: put the paper's data there, or set XLREPRO_SUPPLIED to the "
            f"folder above {path.partition('/')[0]}/"
        )
    return location


def text_path(language: str) -> str:
    """Return where a language's text lies."""
    return f"wikipedia/{language}.txt"


def parallel_path(language: str) -> str:
    """Return where a language's sentence pairs lie."""
    return f"ramen-parallel/{language}.tsv"


def trees_path(language: str, split: str) -> str:
    """Return where a split of a language's treebank lies."""
    name = TREEBANKS[language]
    file_name = f"{language}_{name.partition('-')[2].lower()}-ud-{split}.conllu"
    return f"{RELEASE}/UD_{name}/{file_name}"


INFERENCE = "multinli_1.0/multinli_1.0_train.jsonl"


def size(path: str) -> str:
    """Return what identifies a supplied file; raises DataError if it is not there."""
    return supplied.size(file(path))


def text(language: str) -> Iterator[str]:
    """Yield the lines of a language's text that are not empty, one after the other."""
    with file(text_path(language)).open(encoding="utf-8") as lines:
        yield from (line for line in map(str.strip, lines) if line)


def pairs(language: str) -> Iterator[tuple[str, str]]:
    """Yield sentence pairs (English, foreign).

    Raises:
        DataError: for a line that is not two sentences and a tab between them.
    """
    path = file(parallel_path(language))
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            parts = line.rstrip("\n").split("\t")
            if len(parts) != 2:
                raise DataError(f"{path}, line {number}: {len(parts)} cells where 2 belong")
            yield parts[0], parts[1]


def trees(language: str, split: str) -> list[Sentence]:
    """Return a split of a language's treebank."""
    return read_conllu(file(trees_path(language, split)))


def multinli() -> Iterator[tuple[str, str, str]]:
    """Yield premise, hypothesis and label; pairs without an agreed label are left out."""
    for line in read_text_lines(file(INFERENCE)):
        row = json.loads(line)
        if row["gold_label"] != "-":
            yield row["sentence1"], row["sentence2"], row["gold_label"]
