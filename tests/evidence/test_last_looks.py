"""Deviations that say in how many trainings the last look at dev was the best: as records say."""

import re

import pytest

from xlrepro.evidence.deviations import load_deviations
from xlrepro.evidence.provenance import trainings_sentence
from xlrepro.paths import data_dir
from xlrepro.trials.store import RecordStore

ROWS = {  # deviation -> the words around a count, and the rows of published trials that are counted
    "W07": {
        "all {of} trials on mapped vectors": ["word_order/table2 word-mapped:"],
    },
    "W53": {
        "all {of} models with TRS or ORT": ["word_order/table4 ner:"],
        "all {of} with BiLSTM": ["man_moe/table4 without:MAN-MOE+CharCNN"],
    },
    "W63": {
        "all {of} fine-tunings": ["word_order/table1 finetune:", "word_order/table2 finetune:"]
    },
    "MM24": {
        "all {of} models": [
            "man_moe/table4 without:",
            "man_moe/table4 choice:",
        ]
    },
}
CASES = [(identifier, said) for identifier, counts in ROWS.items() for said in counts]


@pytest.mark.parametrize(("identifier", "said"), CASES)
def test_a_deviation_counts_the_trainings_whose_last_look_was_the_best(identifier, said):
    store = RecordStore(root=data_dir() / "no-local-records")
    counted = []
    for place in ROWS[identifier][said]:
        key, rows = place.split(" ", 1)
        records = store.records(key, "open")
        counted += [r for r in records if any(system.startswith(rows) for system in r.systems)]
    of, _, last = map(int, re.findall(r"\d+", trainings_sentence(counted)))
    (found,) = (d for d in load_deviations() if d.id == identifier)
    assert said.format(last=last, of=of) in " ".join(f"{found.here} {found.effect}".split())
    assert "{last}" in said or last == of
