"""Load a registered file: fetch it, and read it by its data set's reader."""

from pathlib import Path

from xlrepro.data import registry
from xlrepro.data.readers.columns import read_columns, read_conllu
from xlrepro.data.readers.text_files import read_rows, read_text_lines
from xlrepro.data.readers.trees import Graph, Tree, read_graphs, read_tree_zip
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


def load_lines(name: str, file_id: str) -> list[str]:
    """Return the lines of a registered plain text, one sentence or short paragraph each.

    Raises:
        SettingsError, DataError: as ``load``.
    """
    return read_text_lines(registry.fetch(name, file_id))


def load_trees(name: str, file_id: str) -> dict[str, list[Tree]]:
    """Return the constituency trees of a registered treebank, by its own files' names.

    Raises:
        SettingsError, DataError: as ``load``.
    """
    return read_tree_zip(registry.fetch(name, file_id))


def load_graphs(name: str, file_id: str) -> list[Graph]:
    """Return the graphs of a registered corpus of AMR.

    Raises:
        SettingsError, DataError: as ``load``.
    """
    return read_graphs(registry.fetch(name, file_id))
