"""CoNLL columns: a token a line, a blank line between sentences, tags in IOB1 or BIO.

CoNLL-2002 and WikiANN use BIO (every span begins with ``B-``), CoNLL-2003 as distributed IOB1
(``B-`` only where two spans of one type touch). The reader returns BIO.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xlrepro.data.readers.text_files import malformed, read_text_lines
from xlrepro.data.sentences import Sentence
from xlrepro.errors import SettingsError

COLUMNS = ("token", "index", "upos", "entity", "slot", "intent", "ignore")
SCHEMES = ("bio", "iob1")
_TAG = re.compile(r"O$|[BI]-\S+$")


def iob1_to_bio(tags: Sequence[str]) -> tuple[str, ...]:
    """Return IOB1 tags as BIO: the first tag of every span becomes ``B-``.

    Example:
        >>> iob1_to_bio(["I-PER", "I-PER", "B-PER", "O", "I-LOC"])
        ('B-PER', 'I-PER', 'B-PER', 'O', 'B-LOC')
    """
    converted = []
    previous = "O"
    for tag in tags:
        begins = tag.startswith("I-") and previous[2:] != tag[2:]
        converted.append(f"B-{tag[2:]}" if begins else tag)
        previous = tag
    return tuple(converted)


def read_columns(
    path: Path,
    columns: Sequence[str],
    scheme: str = "bio",
    encoding: str = "utf-8",
    *,
    separator: str | None = "\t",
    comment: str | None = None,
    intent_comment: str | None = None,
    empty_tokens: bool = False,
    tag_aliases: Mapping[str, str] | None = None,
) -> list[Sentence]:
    """Return the sentences of a file with one token a line.

    Args:
        path: a plain text file.
        columns: what each column holds, of ``token`` (needed), ``index`` (1, 2, … within the
            sentence), ``upos``, ``entity``, ``slot``, ``intent`` (the same on every line of a
            sentence) and ``ignore``.
        scheme: of the entity and slot tags, ``"bio"`` or ``"iob1"``. BIO tags are left as they are:
            a span that begins with ``I-`` stays so, and counts as a span in conlleval.
        encoding: of the file, such as ``"latin-1"``.
        separator: between columns; ``None`` stands for any run of blanks and tabs.
        comment: what a comment line begins with. Only lines before a sentence's first token are
            comments.
        intent_comment: what the comment that names a sentence's intent begins with, such as
            ``"# intent ="``; every sentence must then have one.
        empty_tokens: whether a token may be an empty string; a fault of some corpora.
        tag_aliases: tags that stand for another, such as ``{"NoLabel": "O"}``.

    Raises:
        SettingsError: for an unknown column or scheme.
        DataError: for the first malformed line, with its number and what was expected.
    """
    _check_settings(columns, scheme)
    aliases = dict(tag_aliases or {})
    layout = _Layout(path, tuple(columns), scheme, separator, intent_comment, aliases, empty_tokens)
    sentences = []
    comments: list[str] = []
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate([*read_text_lines(path, encoding), ""], start=1):
        if line == "":
            if rows:
                sentences.append(layout.sentence(comments, rows))
            elif comments:
                raise malformed(path, number, "expected a sentence after the comment lines")
            comments, rows = [], []
        elif comment is not None and not rows and line.startswith(comment):
            comments.append(line)
        else:
            rows.append((number, layout.split(number, line)))
    return sentences


def _check_settings(columns: Sequence[str], scheme: str) -> None:
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown or "token" not in columns:
        raise SettingsError(
            f"columns are {list(columns)}: they must include 'token', the others be of "
            f"{', '.join(COLUMNS)}"
        )
    if scheme not in SCHEMES:
        raise SettingsError(f"tagging scheme {scheme!r} is not one of {', '.join(SCHEMES)}")


@dataclass(frozen=True)
class _Layout:
    """The columns of one file, and how a block of its lines becomes a sentence."""

    path: Path
    columns: tuple[str, ...]
    scheme: str
    separator: str | None
    intent_comment: str | None
    aliases: dict[str, str]
    empty_tokens: bool

    def split(self, number: int, line: str) -> list[str]:
        """Return the cells of a line, as many as there are columns none of them empty."""
        cells = re.split(r"[ \t]+", line) if self.separator is None else line.split(self.separator)
        empty = {name for name, cell in zip(self.columns, cells) if not cell}
        may_be_empty = {"token"} if self.empty_tokens else set()
        if len(cells) != len(self.columns) or not empty <= may_be_empty:
            names = ", ".join(self.columns)
            cells_here = "an empty one" if empty else str(len(cells))
            expected = f"expected {len(self.columns)} columns ({names}), found {cells_here}"
            raise malformed(self.path, number, expected)
        return cells

    def sentence(self, comments: list[str], rows: list[tuple[int, list[str]]]) -> Sentence:
        """Return the sentence that these comment lines and numbered rows hold."""
        layers = {
            name: tuple(cells[place] for _, cells in rows)
            for place, name in enumerate(self.columns)
        }
        numbers = [number for number, _ in rows]
        self._check_index(numbers, layers.get("index"))
        return Sentence(
            tokens=layers["token"],
            upos=layers.get("upos"),
            entities=self._tags(numbers, layers.get("entity")),
            slots=self._tags(numbers, layers.get("slot")),
            intent=self._intent(numbers, comments, layers.get("intent")),
        )

    def _check_index(self, numbers: list[int], indices: tuple[str, ...] | None) -> None:
        for place, index in enumerate(indices or (), start=1):
            if index != str(place):
                expected = f"expected token number {place}, found {index!r}"
                raise malformed(self.path, numbers[place - 1], expected)

    def _tags(self, numbers: list[int], tags: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if tags is None:
            return None
        tags = tuple(self.aliases.get(tag, tag) for tag in tags)
        for number, tag in zip(numbers, tags, strict=True):
            if not _TAG.match(tag):
                raise malformed(self.path, number, f"expected a tag O, B-… or I-…, found {tag!r}")
        return iob1_to_bio(tags) if self.scheme == "iob1" else tags

    def _intent(
        self, numbers: list[int], comments: list[str], intents: tuple[str, ...] | None
    ) -> str | None:
        """Return the intent that the sentence's comment or else its column names."""
        if self.intent_comment is not None:
            for line in comments:
                if line.startswith(self.intent_comment):
                    return line.removeprefix(self.intent_comment).strip()
            expected = f"expected a comment {self.intent_comment!r} before the sentence"
            raise malformed(self.path, numbers[0], expected)
        if intents is None:
            return None
        for number, intent in zip(numbers, intents, strict=True):
            if intent != intents[0]:
                expected = f"expected intent {intents[0]!r} as on the line before, found {intent!r}"
                raise malformed(self.path, number, expected)
        return intents[0]
