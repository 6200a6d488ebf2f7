"""Constituency trees in the bracketed format of the Penn Treebank, in a zip of ``.mrg`` files."""

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from xlrepro.errors import DataError

_TOKEN = re.compile(r"[()]|[^\s()]+")


@dataclass(frozen=True, slots=True)
class Tree:
    """A constituent, or a word below its part of speech.

    Attributes:
        label: ``"NP-SBJ"``, or a part of speech; ``""`` for the bracket around a whole sentence.
        children: constituents, in order; empty above a word.
        word: the word below a part of speech, else ``None``.
    """

    label: str
    children: "tuple[Tree, ...]" = ()
    word: str | None = None

    def leaves(self) -> "list[Tree]":
        """Return the nodes above words, in order."""
        if self.word is not None:
            return [self]
        return [leaf for child in self.children for leaf in child.leaves()]

    def words(self) -> tuple[str, ...]:
        """Return the words, in order."""
        return tuple(str(leaf.word) for leaf in self.leaves())


def read_trees(text: str, where: str) -> list[Tree]:
    """Return the trees of a bracketed text.

    Args:
        text: any number of trees.
        where: file it is from, for the error's message.

    Raises:
        DataError: where brackets do not balance, or a bracket holds neither trees nor one word.

    Example:
        >>> read_trees("( (S (NP (DT a) (NN b))))", "x")[0].words()
        ('a', 'b')
    """
    trees: list[Tree] = []
    open_brackets: list[tuple[str, list[Tree], list[str]]] = []
    for token in _TOKEN.findall(text):
        if token == "(":
            open_brackets.append(("", [], []))
        elif not open_brackets:
            raise DataError(f"{where}: {token!r} stands outside any bracket; the file is damaged")
        elif token != ")":
            open_brackets[-1][2].append(token)
        else:
            tree = _closed(*open_brackets.pop()[1:], where)
            (open_brackets[-1][1] if open_brackets else trees).append(tree)
    if open_brackets:
        raise DataError(f"{where}: {len(open_brackets)} brackets are never closed; it is damaged")
    return trees


def _closed(children: list[Tree], names: list[str], where: str) -> Tree:
    if len(names) == 2 and not children:
        return Tree(names[0], (), names[1])
    if len(names) > 1 or not children:
        raise DataError(f"{where}: a bracket holds {names or 'nothing'}; the file is damaged")
    return Tree(names[0] if names else "", tuple(children))


def read_tree_zip(path: Path) -> dict[str, list[Tree]]:
    """Return the trees of each ``.mrg`` file of a zip, by the file's name, in their order.

    Raises:
        DataError: if the zip cannot be read or a file is malformed.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if name.endswith(".mrg"))
            texts = {name: archive.read(name).decode("utf-8") for name in names}
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as a zip of treebank files: {error}") from error
    return {Path(name).name: read_trees(text, f"{path}:{name}") for name, text in texts.items()}
