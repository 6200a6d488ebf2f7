"""Words with their WordNet senses: SemCor, Senseval, SemEval, and the sense inventory."""

from dataclasses import dataclass
from pathlib import Path

from xlrepro.data.readers.text_files import malformed, read_text_lines
from xlrepro.errors import SettingsError

# Layouts of the files: SemCor and SemEval-2007, and the sets of the unified framework.
NAF = ("token", "lemma", "pos", "senses", "synset", "instance")
UNIFIED = ("token", "lemma", "pos", "instance", "senses")
LAYOUTS = {"naf": NAF, "unified": UNIFIED}
NOTHING = "_"


@dataclass(frozen=True, slots=True)
class SenseSentence:
    """A sentence some of whose words have senses.

    Attributes:
        tokens: the words; parts of one of several words are joined by an underscore.
        lemmas: of each word.
        tags: part of speech of each word, as its corpus has them.
        senses: sense keys of each word, none where it has no annotation; any of several is right.
        instances: the name of each annotated word where its corpus has names, else None.
    """

    tokens: tuple[str, ...]
    lemmas: tuple[str, ...]
    tags: tuple[str, ...]
    senses: tuple[tuple[str, ...], ...]
    instances: tuple[str | None, ...]

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.tokens)


def read_senses(path: Path, layout: str) -> list[SenseSentence]:
    """Return the sentences of a file of words with senses.

    Args:
        path: a word a line, columns separated by tabs, a blank line between sentences; lines that
            begin with ``#`` before a sentence are comments. Several keys are joined by ``|``.
        layout: ``"naf"`` or ``"unified"``: the order of the columns.

    Raises:
        SettingsError: for an unknown layout.
        DataError: for the first line with another number of columns.
    """
    if layout not in LAYOUTS:
        raise SettingsError(f"layout {layout!r} of senses is not one of {', '.join(LAYOUTS)}")
    columns = LAYOUTS[layout]
    sentences: list[SenseSentence] = []
    rows: list[dict[str, str]] = []
    for number, line in enumerate([*read_text_lines(path), ""], start=1):
        if line == "":
            if rows:
                sentences.append(_sentence(rows))
            rows = []
        elif rows or not line.startswith("# "):
            cells = line.split("\t")
            if len(cells) != len(columns):
                raise malformed(path, number, f"expected {len(columns)} columns: {columns}")
            rows.append(dict(zip(columns, cells, strict=True)))
    return sentences


def _sentence(rows: list[dict[str, str]]) -> SenseSentence:
    return SenseSentence(
        tokens=tuple(row["token"] for row in rows),
        lemmas=tuple(row["lemma"] for row in rows),
        tags=tuple(row["pos"] for row in rows),
        senses=tuple(
            () if row["senses"] == NOTHING else tuple(row["senses"].split("|")) for row in rows
        ),
        instances=tuple(None if row["instance"] == NOTHING else row["instance"] for row in rows),
    )


def lemma_of(sense: str) -> str:
    """Return the lemma of a sense key.

    Example:
        >>> lemma_of("take_place%2:30:00::")
        'take_place'
    """
    return sense.partition("%")[0]
