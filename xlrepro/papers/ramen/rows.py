"""The rows of the tables, and what stands behind each."""

from collections.abc import Mapping
from typing import NamedTuple

from xlrepro.trials.experiment import System


class Row(NamedTuple):
    """What stands behind a row.

    Attributes:
        model: ``"mbert"`` or ``"shallow"`` of the preset; ``""``: a bilingual model.
        initialisation: settings of it that differ from the preset's.
        tuned: whether the encoder is tuned with the head.
        english: which of the paper's English models; ``""``: BERT base, or what stands in for all.
    """

    model: str = ""
    initialisation: Mapping[str, str] = {}
    tuned: bool = False
    english: str = ""


MBERT, SHALLOW = Row("mbert"), Row("shallow")
MONO, PARALLEL = Row("", {"kind": "mono"}), Row("", {"kind": "parallel"})
RANDOM = Row("", {"kind": "random"})
RANDOM_TEXT = Row("", {"kind": "random", "random_rows": "text"})

BASE = "base:RAMEN-BASE + BERT"
OURS = "ours:mBERT, as shallow as the English model"
ROBERTA = "RAMEN-BASE + RoBERTa"
# The English models that stand in a folder of the user's, at paper alone.
ENGLISH = {
    f"base:{ROBERTA}": "roberta-base",
    "large:RAMEN-LARGE + BERT": "bert-large",
    "large:RAMEN-LARGE + RoBERTa": "roberta-large",
}
SUPPLIED = {
    f"{name} ({start})": row._replace(english=english)
    for start, row in (("mono", MONO), ("parallel", PARALLEL))
    for name, english in ENGLISH.items()
}
ZERO_SHOT = {f"{BASE} (mono)": MONO, f"{BASE} (parallel)": PARALLEL, OURS: SHALLOW, **SUPPLIED}
TABLE1 = {"prior:mBERT (Wu & Dredze, 2019) (mono)": MBERT, **ZERO_SHOT}
TABLE2 = {"baseline:mBERT (mono)": MBERT, **ZERO_SHOT}
_TABLE3 = {
    "": {f"{ROBERTA}, rnd": RANDOM, f"{ROBERTA}, vec": MONO},
    "-ours": {"rnd, spread of the text": RANDOM_TEXT, "par": PARALLEL},
    "-tuned": {
        f"{ROBERTA}, rnd": RANDOM._replace(tuned=True),
        f"{ROBERTA}, vec": MONO._replace(tuned=True),
    },
}
TABLE3 = {
    f"{block}{kind}:{name}": row
    for kind, rows in _TABLE3.items()
    for block in ("xnli", "ud")
    for name, row in rows.items()
}
TABLE4 = {
    "mbert:mBERT": MBERT,
    "bert:RAMEN-BASE + BERT": MONO,
    f"roberta:{ROBERTA}": MONO._replace(english="roberta-base"),
    "bert:RAMEN-LARGE + BERT": MONO._replace(english="bert-large"),
    "roberta:RAMEN-LARGE + RoBERTa": MONO._replace(english="roberta-large"),
}
FIGURE2 = {f"checkpoints:{ROBERTA}": MONO}
# Rows of Table 3 that Tables 1 and 2 have trained already: those on RoBERTa where there is one.
SHARED = {"vec": "mono", "par": "parallel"}
TABLE_OF = {"xnli": ("table1", "XNLI"), "ud": ("table2", "UD")}


def systems_of(rows: Mapping[str, Row]) -> tuple[System, ...]:
    """Return the systems of a table; rows that a profile lacks, or that are rare, run by name."""
    systems = []
    for identifier in rows:
        block, _, name = identifier.partition(":")
        row = rows[identifier]
        ours = block.endswith(("-tuned", "ours"))
        if row.english:
            rare: tuple[str, ...] = ("smoke", "open")
        elif row.tuned or row == RANDOM_TEXT:
            rare = ("smoke", "paper")
        else:
            rare = ("paper",) if row == SHALLOW else ()
        systems.append(System(block, name, ours=ours, by_name_at=rare))
    return tuple(systems)
