"""A token a line, an empty line between sentences: CoNLL-U, CoNLL columns, words with senses.

CoNLL-2002 and WikiANN have tags in BIO (every span begins with ``B-``), CoNLL-2003 as distributed
in IOB1 (``B-`` only where two spans of one type touch). The readers return BIO.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from xlrepro.data.readers.text_files import blocks, malformed, read_text_lines
from xlrepro.data.sentences import Sentence

CONLLU = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
# The universal tags; version 1 has CONJ for CCONJ.
UPOS = ("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
        "PUNCT", "SCONJ", "SYM", "VERB", "X")  # fmt: skip
KNOWN_UPOS = {*UPOS, "CONJ"}
# Tags by their column: entities of CoNLL (WikiANN has all but MISC), slots of any name.
ENTITY, SLOT = re.compile("O|[BI]-(PER|LOC|ORG|MISC)"), re.compile(r"O|[BI]-\S+")
RANGE = re.compile(r"([1-9][0-9]{0,5})-([1-9][0-9]{0,5})$")  # a multiword token
EMPTY_NODE = re.compile(r"(0|[1-9][0-9]{0,5})\.([1-9][0-9]{0,5})$")
DOCUMENT = "-DOCSTART-"  # a token of its own, or the first of a document's first sentence
NAF = ("token", "lemma", "pos", "senses", "synset", "instance")  # SemCor and SemEval-2007
UNIFIED = ("token", "lemma", "pos", "instance", "senses")  # the unified framework's sets
LAYOUTS = {"naf": NAF, "unified": UNIFIED}


def read_conllu(path: Path) -> list[Sentence]:
    """Return the sentences of a CoNLL-U file with tokens, UPOS, heads and relations.

    The tokens of a sentence are its syntactic words: the lines of multiword tokens (``1-2``) and
    of empty nodes (``1.1``) are dropped, as UD's own evaluation does. The English training treebank
    is read in 0.5 s; by the ``conllu`` package, against which the tests compare this reader, in
    5.9 s.

    Raises:
        DataError: for the first line that breaks the format or has no annotation, with its number
            and what was expected.
    """
    sentences = []
    for first, rows in _tables(path, read_text_lines(path), CONLLU, "\t", "#"):
        words: list[list[str]] = []
        numbers: list[int] = []
        for number, cells in enumerate(rows, start=first):
            if cells[0] == str(len(words) + 1):
                words.append(cells)
                numbers.append(number)
            elif not _may_be_dropped(cells[0], len(words)):
                expected = f"expected ID {len(words) + 1}, found {cells[0]!r}"
                raise malformed(path, number, expected)
        if not words:
            expected = "expected a sentence of at least one word"
            raise malformed(path, first + len(rows), expected)
        columns = dict(zip(CONLLU, zip(*words)))
        for name in ("UPOS", "DEPREL"):
            if "_" in columns[name]:
                number = numbers[columns[name].index("_")]
                raise malformed(path, number, f"expected a {name}, found '_'")
        for word, head in enumerate(columns["HEAD"], start=1):
            known = head.isdecimal() and len(head) < 7 and int(head) <= len(words)
            if not known or int(head) == word:
                expected = f"expected a HEAD from 0 to {len(words)}, not the word itself"
                raise malformed(path, numbers[word - 1], f"{expected}, found {head!r}")
        for number, tag in zip(numbers, columns["UPOS"], strict=True):
            if tag not in KNOWN_UPOS:
                raise malformed(path, number, f"expected a UPOS of UD, found {tag!r}")
        heads = tuple(map(int, columns["HEAD"]))
        if astray := _astray(heads):
            expected = "expected a tree: one root, to which the HEADs of all words lead"
            raise malformed(path, numbers[astray - 1], expected)
        sentences.append(Sentence(columns["FORM"], columns["UPOS"], heads, columns["DEPREL"]))
    return sentences


def _astray(heads: Sequence[int]) -> int:
    """Return the first word that does not lead to the root, or is a second one; 0: none."""
    for word in range(1, len(heads) + 1):
        at, left = word, len(heads)
        while at and left:
            at, left = heads[at - 1], left - 1
        if at:
            return word
    roots = [word for word, head in enumerate(heads, start=1) if not head]
    return roots[1] if len(roots) > 1 else 0


def _may_be_dropped(identifier: str, n_words: int) -> bool:
    """Whether an ID is that of a multiword token or an empty node behind so many words."""
    if match := RANGE.match(identifier):
        first, last = int(match.group(1)), int(match.group(2))
        return first == n_words + 1 and last >= first
    match = EMPTY_NODE.match(identifier)
    return match is not None and int(match.group(1)) == n_words


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
    *,
    separator: str | None = "\t",
    comment: str | None = None,
    tag_aliases: Mapping[str, str] | None = None,
    or_latin1: bool = False,
) -> list[Sentence]:
    """Return the sentences of a file with one token a line, tags as they are.

    A span that begins with ``I-`` stays so, and counts as a span in conlleval.

    Args:
        path: a text file.
        columns: what each column holds: ``token`` (needed), ``index`` (1, 2, … within the
            sentence), ``upos``, ``entity``, ``slot``, ``intent`` (the same on every line of a
            sentence); what has another name is not read.
        separator: between columns; ``None`` stands for any run of blanks and tabs.
        comment: what a comment line begins with. Only lines before a sentence's first token are
            comments.
        tag_aliases: tags that stand for another, such as ``{"NoLabel": "O"}``.
        or_latin1: as of `read_text_lines`.

    Raises:
        DataError: for the first malformed line, with its number and what was expected.
    """
    sentences = []
    lines = read_text_lines(path, or_latin1=or_latin1)
    for first, rows in _tables(path, lines, columns, separator, comment):
        layers = dict(zip(columns, zip(*rows)))
        for place, index in enumerate(layers.get("index", ())):
            if index != str(place + 1):
                expected = f"expected token number {place + 1}, found {index!r}"
                raise malformed(path, first + place, expected)
        intents = dict.fromkeys(layers.get("intent", ()))
        if len(intents) != 1 and "intent" in columns:
            raise malformed(path, first, f"expected one intent, found {', '.join(intents) or 0}")
        entities, slots = (
            _tags(path, first, layers.get(name), tag_aliases or {}, known)
            for name, known in (("entity", ENTITY), ("slot", SLOT))
        )
        tokens, upos, intent = layers["token"], layers.get("upos"), next(iter(intents), None)
        sentences.append(Sentence(tokens, upos, entities=entities, slots=slots, intent=intent))
    return sentences


def _tables(
    path: Path, lines: list[str], columns: Sequence[str], separator: str | None, comment: str | None
) -> Iterator[tuple[int, list[list[str]]]]:
    """Yield each sentence: the number of its first row, the cells of its rows."""
    for start, block in blocks(lines):
        size = 0
        while comment is not None and size < len(block) and block[size].startswith(comment):
            size += 1
        rows = [
            re.split(r"[ \t]+", line) if separator is None else line.split(separator)
            for line in block[size:]
        ]
        if not rows:
            raise malformed(path, start + size, "expected a sentence after the comment lines")
        for number, cells in enumerate(rows, start=start + size):
            empty = "" in cells
            if len(cells) != len(columns) or empty:
                found = "an empty one" if empty else str(len(cells))
                expected = f"expected {len(columns)} columns ({', '.join(columns)}), found {found}"
                raise malformed(path, number, expected)
        yield start + size, rows


def _tags(
    path: Path,
    first: int,
    tags: tuple[str, ...] | None,
    aliases: Mapping[str, str],
    known: re.Pattern[str],
) -> tuple[str, ...] | None:
    if tags is None:
        return None
    tags = tuple(aliases.get(tag, tag) for tag in tags)
    for place, tag in enumerate(tags):
        if not known.fullmatch(tag):
            raise malformed(path, first + place, f"expected a tag {known.pattern}, found {tag!r}")
    return tags


@lru_cache(maxsize=16)
def read_conll_ner(path: Path) -> tuple[Sentence, ...]:
    """Return the sentences of a CoNLL-2002 or CoNLL-2003 file, tags in BIO.

    The first column is the token, the last its tag in IOB1 or BIO (BIO is IOB1 in which every span
    begins with ``B-``); what stands between differs by language and is not read. The files are
    distributed in Latin-1, and many copies are in UTF-8.

    Raises:
        DataError: if the file is malformed, or of two encodings.
    """
    lines = read_text_lines(path, or_latin1=True)
    width = next((len(re.split(r"[ \t]+", line)) for line in lines if line.strip()), 0)
    columns = ("token", *["ignore"] * (width - 2), "entity")
    sentences = []
    for sentence in read_columns(path, columns, separator=None, or_latin1=True):
        skipped = int(sentence.tokens[0] == DOCUMENT)
        if len(sentence) > skipped:
            tags = iob1_to_bio((sentence.entities or ())[skipped:])
            sentences.append(Sentence(sentence.tokens[skipped:], entities=tags))
    return tuple(sentences)


@dataclass(frozen=True, slots=True)
class SenseSentence:
    """A sentence some of whose words have WordNet senses.

    Attributes:
        tokens: the words; parts of one of several words are joined by an underscore.
        lemmas: of each word.
        tags: part of speech of each word, as its corpus has them.
        senses: sense keys of each word, none where it has no annotation; any of several is right.
    """

    tokens: tuple[str, ...]
    lemmas: tuple[str, ...]
    tags: tuple[str, ...]
    senses: tuple[tuple[str, ...], ...]


def read_senses(path: Path, layout: str) -> list[SenseSentence]:
    """Return the sentences of a file of words with senses: SemCor, Senseval, SemEval.

    Args:
        path: a word a line, columns separated by tabs; lines that begin with ``#`` before a
            sentence are comments. Several keys are joined by ``|``.
        layout: ``"naf"`` or ``"unified"``: the order of the columns.

    Raises:
        DataError: for the first line with another number of columns.
    """
    columns, sentences = LAYOUTS[layout], []
    for _, rows in _tables(path, read_text_lines(path), columns, "\t", "# "):
        words = dict(zip(columns, zip(*rows)))
        senses = tuple(() if s == "_" else tuple(s.split("|")) for s in words["senses"])
        sentences.append(SenseSentence(words["token"], words["lemma"], words["pos"], senses))
    return sentences


def lemma_of(sense: str) -> str:
    """Return the lemma of a sense key.

    Example:
        >>> lemma_of("take_place%2:30:00::")
        'take_place'
    """
    return sense.partition("%")[0]
