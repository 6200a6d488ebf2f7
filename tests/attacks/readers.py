"""Every reader against damaged files: whatever is done to a file, it is read, or refused by a
DataError of one line that names it. A damage is made again from its reader and seed.
"""

import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from xlrepro.data.readers.columns import read_columns, read_conll_ner, read_conllu, read_senses
from xlrepro.data.readers.labelled import read_pairs, read_reviews
from xlrepro.data.readers.text_files import numbered_lines, read_rows, read_text_lines
from xlrepro.data.readers.trees import read_graphs, read_trees
from xlrepro.data.readers.vec import read_vec
from xlrepro.data.registry import Dataset
from xlrepro.errors import DataError
from xlrepro.values import read_model
from xlrepro.vectors.open import lexicon

CONLLU = "# sent_id = 1\n" + "".join(
    f"{n}\tÄpfel{n}\t_\tNOUN\t_\t_\t{n - 1}\tdep\t_\t_\n" for n in range(1, 6)
)
CONLL = "-DOCSTART- O\n\nMuñoz I-PER\nin O\n\nZürich B-LOC\n\n"
SENSES = "A\ta\tDT\t_\t_\t_\nbanks\tbank\tNN\tbank%1:1\tx\td0.t1\n\n"
JSON = '{"sentence1": "a", "sentence2": "é", "gold_label": "neutral"}\n'
VECTORS = "3 2\nä 0.1 0.2\nb 1e-3 -4\ncd 0 1\n"
UTTERANCE = "# text: a\n1\ta\tx/y\tB-z\n2\tb\tx/y\tO\n\n"
FB = ("index", "token", "intent", "slot")
TREES = "( (S (NP (DT the) (NN rain)) (VP (VBZ falls)) (. .)) )\n( (X (UH yes)) )"
GRAPHS = """# AMR release; 2 graphs

# ::id one.1 ::date 2020
# ::snt The boy wants to go .
(w / want-01
      :ARG0 (b / boy)
      :ARG1 (g / go-02
            :ARG0 b))

# ::id one.2
# ::snt "Paris"
(c / city :name (n / name :op1 "Pa ris (x)"))
"""
REGISTRY = f"""name: attacked
title: Äpfel
home: https://example.org
licence: CC0
redistributable: yes
citation: nobody
languages: [en, "no"]
reader: {{format: conllu}}
files:
  en/train: {{path: a/b.conllu.xz, sha256: "{"0" * 64}", bytes: 12, counts: {{sentences: 3}}}}
"""


class Reader(NamedTuple):
    """A reader, an undamaged file of its format, and how that file's name ends."""

    read: Callable[[Path], Any]
    content: bytes
    suffix: str = ".txt"


READERS = {
    "conllu": Reader(read_conllu, (CONLLU + "\n" + CONLLU).encode()),
    "conll": Reader(read_conll_ner.__wrapped__, CONLL.encode()),
    "conll in Latin-1": Reader(read_conll_ner.__wrapped__, CONLL.encode("latin-1")),
    "columns": Reader(lambda p: read_columns(p, FB, comment="#"), (UTTERANCE * 2).encode()),
    "senses": Reader(lambda p: read_senses(p, "naf"), (SENSES * 2).encode()),
    "rows": Reader(lambda p: read_rows(p, 2), b"the\tder\nrain\tRegen\n"),
    "lines": Reader(read_text_lines, "the\nräin\n".encode()),
    "long text": Reader(lambda p: list(numbered_lines(p)), "the\nräin\n".encode()),
    "penn": Reader(lambda p: read_trees("\n".join(read_text_lines(p)), str(p)), TREES.encode()),
    "penman": Reader(read_graphs, GRAPHS.encode()),
    "pairs in JSON": Reader(read_pairs, (JSON * 2).encode(), ".jsonl"),
    "reviews": Reader(read_reviews, b"positive\tgut\nnegative\tschlecht\n"),
    "vectors": Reader(read_vec, VECTORS.encode()),
    "dictionary": Reader(
        lambda p: lexicon.read_pairs(p, "de"), "house haus\ntree bäume\n".encode()
    ),
    "Wiktionary": Reader(
        lambda p: lexicon.read_wiktionary(p, "de"), "house\tnoun\tHäuser; Haus\n".encode()
    ),
    "parallel text": Reader(lambda p: lexicon.parallel_pairs([p]), "a b\tä b\nc\td\n".encode()),
    "registry": Reader(lambda p: read_model(p, Dataset), REGISTRY.encode(), ".yaml"),
}
PIECES = [b"\0", b"\xff", b"\xc3", b"\t", b"\n", b"\n\n", b"\r", b" ", b"(", b")", b'"', b"{", b"[",
          b"_", b"-", b"0", b"1-2", b"-1", b"9" * 5000, b"1e999", b"nan", b"\xe2\x80\xa8",
          b"\xef\xbb\xbf", b"null", b"2001-99-99", b"!!bool x", b"!!binary x", b"&a [*a]",
          b"\\ud800", b"../../x"]  # fmt: skip
ENCODINGS = ("latin-1", "utf-16", "utf-8-sig", "cp1252", "utf-32")


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Return a file's bytes with one to four damages of the kinds that happen."""
    for damage in chance.choices(DAMAGES, k=chance.randint(1, 4)):
        content = damage(content, chance)
    return content


def _span(content: bytes, chance: random.Random) -> bytes:
    start, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    span = content[start:end]  # lost, zeros as after a crash, doubled, or something before it
    ways = (b"", bytes(len(span)), 2 * span, chance.choice(PIECES) + span)
    return content[:start] + chance.choice(ways) + content[end:]


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _flipped(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content or b"x")
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _swapped(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    one, other = (chance.randrange(len(lines)) for _ in range(2))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _field(content: bytes, chance: random.Random) -> bytes:
    fields = re.split(rb"([\t \n,:]+)", content)  # one is lost, or another takes its place
    fields[chance.randrange(len(fields))] = chance.choice([b"", *PIECES, chance.choice(fields)])
    return b"".join(fields)


def _recoded(content: bytes, chance: random.Random) -> bytes:
    return content.decode("utf-8", "replace").encode(chance.choice(ENCODINGS), "replace")


DAMAGES = (_cut, *[_span] * 4, _flipped, _swapped, _field, _recoded)


def attack(name: str, seeds: Iterable[int], folder: Path) -> tuple[int, list[str]]:
    """Try a reader on its file with the damages of some seeds.

    Returns:
        How many it refused, and what else it did wrong, a line each with the damage's seed.
    """
    reader, refused, faults = READERS[name], 0, []
    path = folder / f"attacked{reader.suffix}"
    path.write_bytes(reader.content)
    reader.read(path)
    for seed in seeds:
        path.write_bytes(damaged(reader.content, random.Random(seed)))
        try:
            reader.read(path)
        except DataError as error:
            refused += 1
            message = str(error)
            if str(path) not in message or "\n" in message or len(message) > 2000:
                faults.append(f"{name}, seed {seed}: says {message[:200]!r}")
        except Exception as error:
            faults.append(f"{name}, seed {seed}: {type(error).__name__}: {error}"[:300])
    return refused, faults
