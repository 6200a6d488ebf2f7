"""Named entities of CoNLL-2003 (en, de) and CoNLL-2002 (es, nl), which the user supplies.

Below the folder of supplied files (``paths.supplied_dir``), their content as distributed:

    conll-ner/{en,es,nl,de}/{train,dev,test}

``train`` is their train, ``dev`` their testa, ``test`` their testb; only the files that a trial
reads must be there.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from xlrepro.data.readers.columns import read_columns
from xlrepro.data.readers.text_files import read_text_lines
from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError
from xlrepro.paths import supplied_dir

NAME = "conll-ner"
DOCUMENT = "-DOCSTART-"  # a token of its own, or the first of a document's first sentence


def files(wanted: Sequence[tuple[str, str]]) -> list[Path]:
    """Return the supplied CoNLL file of each (language, split).

    Raises:
        DataError: naming all that are not there.
    """
    root = supplied_dir() / NAME
    paths = [root / language / split for language, split in wanted]
    missing = [f"{file.parent.name}/{file.name}" for file in paths if not file.is_file()]
    if missing:
        raise DataError(
            f"no {', '.join(missing)} below {root}: put the files of CoNLL-2003 (en, de) and "
            "CoNLL-2002 (es, nl) there, train as LANGUAGE/train, testa as LANGUAGE/dev, testb as "
            f"LANGUAGE/test, or set XLREPRO_SUPPLIED to the folder above {NAME}/"
        )
    return paths


@lru_cache(maxsize=16)
def read(file: Path) -> tuple[Sentence, ...]:
    """Return the sentences of a CoNLL-2002 or CoNLL-2003 file, tags in BIO.

    The first column is the token, the last its tag in IOB1 or BIO (BIO is IOB1 in which every span
    begins with ``B-``); what stands between differs by language and is not read. The files are
    distributed in Latin-1, and many copies are in UTF-8: what is not UTF-8 is read as Latin-1.

    Raises:
        DataError: if the file is malformed or has no sentence.
    """
    try:
        lines, encoding = read_text_lines(file), "utf-8"
    except DataError:
        lines, encoding = read_text_lines(file, "latin-1"), "latin-1"
    width = next((len(line.split()) for line in lines if line.strip()), 0)
    columns = ("token", *["ignore"] * (width - 2), "entity")
    read = read_columns(file, columns, "iob1", encoding, separator=None)
    sentences = tuple(s for s in map(_without_document_mark, read) if s.tokens)
    if not sentences:
        raise DataError(f"{file} has no sentence: put the whole file there")
    return sentences


def _without_document_mark(sentence: Sentence) -> Sentence:
    if sentence.tokens[0] != DOCUMENT:
        return sentence
    return Sentence(sentence.tokens[1:], entities=(sentence.entities or ())[1:])
