"""Load a registered file: fetch it, read it by its data set's reader, check the official counts."""

from pathlib import Path

from xlrepro.data import registry
from xlrepro.data.readers.columns import read_columns, read_conllu
from xlrepro.data.readers.text_files import read_rows, read_text_lines
from xlrepro.data.readers.trees import Graph, Tree, read_graphs, read_tree_zip
from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError


def load(name: str, file_id: str) -> list[Sentence]:
    """Return the sentences of a registered treebank, entity or slot corpus.

    Args:
        name: of the data set, ``"ud-r2.2"``.
        file_id: of the file, ``"en/train"``.

    Raises:
        SettingsError: for an unknown name or file id.
        DataError: if the file cannot be had, is malformed, or has other counts than the registry.
    """
    sentences = read_sentences(name, registry.fetch(name, file_id))
    _check_counts(name, file_id, sentences=len(sentences), tokens=sum(map(len, sentences)))
    return sentences


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
    rows = read_rows(path, len(reader.columns), reader.separator)
    _check_counts(name, file_id, rows=len(rows))
    return rows


def load_lines(name: str, file_id: str) -> list[str]:
    """Return the lines of a registered plain text, one sentence or short paragraph each.

    Raises:
        SettingsError, DataError: as ``load``.
    """
    lines = read_text_lines(registry.fetch(name, file_id))
    _check_counts(name, file_id, lines=len(lines))
    return lines


def load_trees(name: str, file_id: str) -> dict[str, list[Tree]]:
    """Return the constituency trees of a registered treebank, by its own files' names.

    Raises:
        SettingsError, DataError: as ``load``.
    """
    files = read_tree_zip(registry.fetch(name, file_id))
    trees = [tree for of_file in files.values() for tree in of_file]
    words = sum(leaf.label != "-NONE-" for tree in trees for leaf in tree.leaves())
    _check_counts(name, file_id, trees=len(trees), words=words)
    return files


def load_graphs(name: str, file_id: str) -> list[Graph]:
    """Return the graphs of a registered corpus of AMR.

    Raises:
        SettingsError, DataError: as ``load``.
    """
    graphs = read_graphs(registry.fetch(name, file_id))
    _check_counts(name, file_id, graphs=len(graphs))
    return graphs


def _check_counts(name: str, file_id: str, **counts: int) -> None:
    official = registry.dataset(name).file(file_id).counts
    for unit, number in counts.items():
        if official.get(unit, number) != number:
            raise DataError(
                f"{name} {file_id} has {number:,} {unit} where the registry states "
                f"{official[unit]:,}: the registry or the reader is wrong; please report it"
            )
