"""Tables of RAMEN's pages, on made-up records."""

import re

from xlrepro.papers.ramen.figures.adaptations import PAPER_PIECES, adaptations_table
from xlrepro.trials.record import Record


def record(target, kind, right, random_rows="code"):
    stage = {"pieces": 2048, "held_out": [right, 200], "seconds": 60.0}
    log = {
        "estimated": 70,
        "vocabulary": 8000,
        "initialisation_seconds": 30.0,
        "start": {"held_out": [3, 200]},
        "embeddings": stage,
        "end": {**stage, "pieces": 4096, "held_out": [right + 1, 200]},
        "english": {"all": {"held_out": [50, 200], "pieces": 307200}},
    }
    initialisation = {"kind": kind, "random_rows": random_rows}
    adaptation = {"initialisation": initialisation}
    return Record.model_construct(
        details={"settings": {"adaptation": adaptation}, "adaptation": {target: log}},
    )


def test_each_adaptation_is_shown_once_with_what_it_read_and_learnt():
    found = [record("fr", "mono", 40), record("fr", "random", 10), record("fr", "mono", 40)]
    table = adaptations_table(found, "open")
    rows = [[re.sub("<.*?>", "", str(entry.text)) for entry in row] for row in table.rows]
    assert rows == [
        ["fr", "random", "70 of 8,000", "2,048", "4,096", "1.5", "5.0", "5.5", "2.5"],
        ["fr", "mono", "70 of 8,000", "2,048", "4,096", "1.5", "20.0", "20.5", "2.5"],
    ]
    assert "read 6,144 pieces, both" in table.caption
    assert "25.0 % of English ones" in table.caption


def test_both_readings_of_random_rows_stand_apart():
    found = [record("ar", "random", 9), record("ar", "random", 8, "text")]
    shown = [row[1].text for row in adaptations_table(found, "open").rows]
    assert sorted(shown) == ["random", "random, text"]


def test_rows_on_a_multilingual_encoder_have_no_adaptation():
    plain = Record.model_construct(details={"settings": {"adaptation": None}})
    table = adaptations_table([plain], "open")
    assert not table.rows
    assert "No row" in table.caption


def test_the_papers_pieces_are_its_updates_times_its_batches():
    assert round(PAPER_PIECES / 1e9, 1) == 6.0
