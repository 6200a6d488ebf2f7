"""What only one paper's pages show: each figure and table from made-up records."""

from tests.made_up_records import with_details
from xlrepro.evidence.reproduced import View
from xlrepro.pages.tables import framed
from xlrepro.papers.man_moe import figures as man_moe
from xlrepro.papers.ramen import figures as ramen
from xlrepro.papers.routing_nmt import figures as routing_nmt
from xlrepro.papers.sense_alignment import figures as sense_alignment
from xlrepro.papers.word_order import figures as word_order


def test_the_majority_baseline_names_the_commonest_tag_throughout(record):
    tags = {
        "en": {"NOUN": [1, 1]},
        "de": {"NOUN": [10, 30], "VERB": [5, 10]},  # 15 of 40 right, 30 of 40 by the commonest
        "fr": {"NOUN": [20, 20], "VERB": [10, 20]},
    }
    table = word_order.majority_baseline(with_details(record, {"by_tag": tags}), "open")
    (row,) = table.frame.values.tolist()
    assert row[:2] == ["ORT", 2]
    assert [cell.text for cell in row[2:4]] == ["56.25", "62.50"]
    assert row[4] == 1


def test_gains_by_tag_stand_by_distance(numbers):
    values = {
        (f"{block}:{name}", f"{code}/{tag}"): {0: base, 1: base + 0.5}
        for block, codes in (("word", ("fr", "de")), ("distributional", ("fr",)))
        for name, base in (("ORT", 60.0), ("TRS", 58.0))
        for code in codes
        for tag in ("NOUN", "VERB")
    }
    key = "word_order/figure1"
    figure = word_order.gains_by_tag(View(key, "open", numbers(values, experiment=key)))
    panel = "ORT (word vectors) − TRS (word vectors)"
    assert f"{panel}, NOUN: 2.00 at 0.09 to 2.00 at 0.14" in figure.alt
    assert figure.title.endswith(
        "(open); dictionary vectors (for fastText's)"
    )  # one language: no panel


def test_gates_stand_above_an_equal_share(numbers):
    values = {("gates:MAN-MoE", f"de/{s}"): {0: w} for s, w in (("en", 0.75), ("fr", 0.25))}
    key = "man_moe/figure4"
    found = numbers(values, experiment=key, metric="weight", unit="fraction")
    assert "MAN-MoE, German, English: 0.250" in man_moe.gate_weights(View(key, "open", found)).alt


def test_sizes_of_corpora_stand_below_the_paper_s(numbers):
    key = "man_moe/table2"
    found = numbers({("corpus:th", "alarm/train"): {0: 99.0}}, experiment=key, metric="count",
                    unit="count")  # fmt: skip
    frame = man_moe.corpus_sizes(View(key, "open", found)).frame
    assert set(frame["corpus"]) == {"the paper", "here (open)"}
    assert [c.text for c in frame[frame["language"] == "Thai"]["train"]] == ["99"]


def test_use_of_blocks_is_a_heat_map_by_pair_and_task(numbers):
    values = {
        ("translation:MTL (Routing)", f"en-vi/same/ner/{block}"): {0: use}
        for block, use in ((1, 20.0), (2, 50.0), (3, 30.0))
    }
    key = "routing_nmt/figure2"
    figure = routing_nmt.block_usage(View(key, "open", numbers(values, experiment=key)))
    assert "Vietnamese, entities, block 2: 50" in figure.alt


def test_scores_along_updates_stand_beside_the_paper_s():
    names = ("column", "reported", "reproduced", "low", "high", "profile")
    rows = [(f"XNLI/fr/{k}k", 45.0 + k, 44.0, 43.0, 45.0, "open") for k in (0, 25)]
    alt = ramen.along_updates(framed(rows, *names)).alt
    assert "French, XNLI, the paper: 45.00 at 0.0 to 70.00 at 25.0" in alt
    assert "French, XNLI, ours: 44.00" in alt


def test_senses_alive_are_means_over_seeds(record):
    runs = [{"alive": [[10, 1.0, 2.0, 3.0], [20, 1.0, 2.0, last]]} for last in (3.0, 5.0)]
    records = with_details(record, *runs, system="alive:SaELMo")
    other = with_details(record, {"alive": [[20, 9.0, 9.0, 9.0]]}, system="factors:SaELMo")
    figure = sense_alignment.senses_along_training([*records, *other], "open")
    assert "to 4.00 at 20" in figure.alt


def test_senses_and_their_neighbours_are_named_once(record):
    near = [["bank", 0, 1.0, 0.1, 0.1], ["river", 0, 0.9, 0.2, 0.1], ["river", 1, 0.8, 0.2, 0.2],
            ["<UNK>", 0, 0.7, 0.0, 0.0], ["shore", 0, 0.6, 0.3, 0.1]]  # fmt: skip
    details = {"neighbours": {"bank": [{"sense": 0, "place": [0.0, 0.0], "nearest": near}]}}
    records = with_details(record, details, system="vectors:SaELMo")
    alt = sense_alignment.near_the_senses(records, "open").alt
    assert "SaELMo's bank, sense 0: river, shore" in alt


def test_without_records_a_figure_says_that_there_is_nothing():
    assert repr(sense_alignment.near_the_senses([], "open")).startswith("Figure: ")
