"""Load a registered file: fetch it, and read it by its data set's reader."""

from pathlib import Path

from xlrepro.data import registry
from xlrepro.data.readers.columns import read_columns, read_conllu
from xlrepro.data.readers.text_files import read_rows
from xlrepro.data.sentences import Sentence


def load(name: str, file_id: str) -> list[Sentence]:
    """Return the sentences of a registered treebank, entity or slot corpus.

    Args:
        name: of the data set, ``"ud-r2.2"``.
        file_id: of the file, ``"en/train"``.

    Raises:
        SettingsError: for an unknown name or file id.
        DataError: if the file cannot be had, or is malformed.
    """
    return read_sentences(name, registry.fetch(name, file_id))


def read_sentences(name: str, path: Path) -> list[Sentence]:
    """Return the sentences of a file that is like those of a data set, wherever it lies.

    Raises:
        SettingsError: for an unknown name.
        DataError: if the file is malformed.
    """
    reader = registry.dataset(name).reader
    if reader.format == "conllu":
        return read_conllu(path)
    return read_columns(path, **reader.model_dump(exclude={"format"}))


def load_rows(name: str, file_id: str) -> list[tuple[str, ...]]:
    """Return the rows of a registered table: dictionary, sentence pairs, word counts.

    ``dataset(name).reader.columns`` says what each cell holds.

    Raises:
        SettingsError, DataError: as ``load``.
    """
    reader, path = registry.dataset(name).reader, registry.fetch(name, file_id)
    return read_rows(path, len(reader.columns), reader.separator)
