"""What findings and deviations say of the rows from states, and in words of records."""

from types import SimpleNamespace

import pytest

from xlrepro.book.findings import page
from xlrepro.book.findings.names import Findings
from xlrepro.book.templating import render
from xlrepro.book.verdicts import Evidence, load_evidence
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.papers.sense_alignment import transfer_data
from xlrepro.papers.sense_alignment.experiments import transfer_settings
from xlrepro.papers.sense_alignment.pretraining import text
from xlrepro.papers.sense_alignment.systems import FROM_STATES, changes, language_model

PAPER = "sense_alignment"
# Table -> (row whose variant from states is compared with it, columns, unit).
COMPARED = {
    "table2": ("lemma:SaELMo", ("SE2",), "fraction"),
    "table3": ("main:Bi-SaELMo", ("de", "es", "zh"), "percent"),
    "table4": ("sentiment:Bi-SaELMo", ("de/tweets", "es/tweets"), "percent"),
    "table5": ("xnli:Bi-SaELMo", ("de", "es", "zh"), "percent"),
}
AHEAD, BEHIND, EVEN = (3.0, 4.0, 5.0), (-3.0, -4.0, -5.0), (-1.0, 0.0, 1.0)


@pytest.fixture
def told(numbers):
    """Return the paragraph on the tasks, of differences by (table, column) over three seeds."""

    def paragraph(differences):
        cells = []
        for (table, column), by_seed in differences.items():
            row, columns, unit = COMPARED[table]
            assert column in columns
            plain = 0.5 if unit == "fraction" else 50.0
            factor = 0.01 if unit == "fraction" else 1.0
            rows = {
                (row, column): dict.fromkeys(range(3), plain),
                (row + FROM_STATES, column): {
                    seed: plain + factor * gain for seed, gain in enumerate(by_seed)
                },
            }
            cells += numbers(rows, f"{PAPER}/{table}", unit=unit)
        details = {"most_epochs": 6}
        behind = tuple(
            SimpleNamespace(key=key, details=details, experiment="", profile="open")
            for key in {key for cell in cells for key in cell.keys}
        )
        evidence = Evidence(load_catalog(), load_reported(), behind)
        evidence.__dict__["numbers"] = ReproducedNumbers(cells)
        source = (page.project_root() / "book" / PAPER / page.NAME).read_text(encoding="utf-8")
        shown = render(source, Findings(PAPER, "findings.md", evidence).names, "findings.md")
        after = shown.partition("**Where centres begin")[2].split("\n\n")
        return " ".join(after[1].split())

    return paragraph


PLACES = [(table, column) for table, (_, columns, _) in COMPARED.items() for column in columns]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "**Whether that helps in a task** was not run"),
        (dict.fromkeys(PLACES, EVEN), "makes no difference that seeds show"),
        (dict.fromkeys(PLACES, AHEAD), "**In the tasks it helps in 9 of 9 comparisons**"),
        (dict.fromkeys(PLACES, BEHIND), "**In the tasks it harms in 9 of 9 comparisons**"),
        (
            dict(zip(PLACES, (AHEAD, BEHIND, BEHIND, *[EVEN] * 6), strict=True)),
            "**In the tasks it helps in 1 and harms in 2 of 9 comparisons**",
        ),
    ],
)
def test_the_tasks_from_states_are_told_in_the_direction_that_came_back(told, given, said):
    assert said in told(given)


def test_every_difference_is_shown_in_its_table_and_language(told):
    shown = told(dict.fromkeys(PLACES, AHEAD))
    one = "+4.0 points (+1.5 to +6.5, n = 3)"
    three = f"German {one}, Spanish {one}, Chinese {one}."
    assert "in F1, which is 1 at most): +0.040 (+0.015 to +0.065, n = 3). Entities" in shown
    assert f"`Table 3 </sense_alignment/table3>`, Bi-SaELMo): {three} Sentiment" in shown
    assert f"tweets): German {one}, Spanish {one}. Inference" in shown
    assert f"`Table 5 </sense_alignment/table5>`): {three} Each is judged alone" in shown


@pytest.mark.parametrize("place", PLACES)
def test_one_comparison_alone_leaves_the_others_out(told, place):
    shown = told({place: AHEAD})
    assert "in 1 of 1 comparisons" in shown
    assert shown.count("n = 3") == 1
    assert "judged alone" not in shown


def records(table):
    key = f"{PAPER}/{table}"
    return [r for r in load_evidence().records if (r.experiment, r.profile) == (key, "open")]


@pytest.mark.parametrize("table", ["table3", "table4", "table5"])
def test_few_heads_were_best_after_their_last_epoch(table):
    """SA36 calls what stopping them changes small; the pages count them."""
    ends = [
        best + 1 == r.details["most_epochs"]
        for r in records(table)
        for best in r.details["best_epoch"]
    ]
    assert sum(ends) < 0.1 * len(ends)


def test_as_many_senses_are_drawn_a_step_as_sa04_says():
    shares = {}
    for table, name in (("table2", "language_model"), ("table3", "source model")):
        for r in records(table):
            model = r.settings.get("model") or r.settings.get("source_model")
            if model and model["network"]["family"] == "bilm":
                senses = r.details[name]["vocabulary"] * model["senses"].get("senses", 1)
                one_in = senses / model["senses"]["softmax"]["negatives"]
                system = f"{table} {r.systems[0].partition(':')[2]}"
                shares.setdefault(system, []).append(one_in)
    assert {round(x) for x in shares["table2 SaELMo"]} == {24}
    assert {round(x) for x in shares["table2 ELMo"]} == {5}
    assert {round(x) for x in shares["table3 Bi-SaELMo"]} == {29}
    assert {round(x) for x in shares["table3 Joint-ELMo"]} == {10}
    assert {round(x) for x in shares["table3 ELMo"]} == {5}


def test_purity_from_states_is_as_sa43_says():
    purity = {
        (system, r.seed): cell.value
        for r in records("figures4_7")
        for system in r.systems
        for cell in r.cells
        if cell.column == "purity"
    }
    gained = {}
    for (system, seed), value in purity.items():
        if system.endswith(FROM_STATES):
            plain = purity[system.removesuffix(FROM_STATES), seed]
            gained.setdefault(system.removesuffix(FROM_STATES), []).append(value - plain)
    assert {name for name, gains in gained.items() if min(gains) > 1} == {
        "purity:SaELMo", "purity:Bi-SaELMo", "lists:SaELMo", "lists:Bi-SaELMo", "lists:SaBERT-Tiny",
    }  # fmt: skip
    assert max(abs(gain) for gain in gained["purity:SaBERT-Tiny"]) < 0.1


@pytest.mark.mirror
def test_no_other_word_near_a_sense_translates_its_word():
    settings = language_model("open", "Bi-SaELMo", "de")
    pairs = set(text.pairs(settings))
    near = {
        (word, neighbour[0])
        for r in records("figures4_7")
        if r.systems == ("vectors:Bi-SaELMo",)
        for word, senses in r.details["neighbours"].items()
        for sense in senses
        for neighbour in sense["nearest"]
    }
    assert near
    assert {pair for pair in near & pairs if pair[0] != pair[1]} == set()


def test_the_senses_that_a_word_has_left_are_nearest_to_each_other_in_bi_saelmo():
    """SaELMo's are but for one word of one seed; of each model some words have several left."""
    shown = {"vectors:SaELMo": [], "vectors:Bi-SaELMo": []}
    for r in records("figures4_7"):
        if r.systems[0] in shown:
            for senses in r.details["neighbours"].values():
                shown[r.systems[0]] += [s["own"] for s in senses if s["own"] is not None]
    assert set(shown["vectors:Bi-SaELMo"]) == {1.0}
    assert shown["vectors:SaELMo"].count(1.0) > 5 * shown["vectors:SaELMo"].count(0.0)
    assert set(shown["vectors:SaELMo"]) == {0.0, 1.0}


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("code", "cut", "entities", "lost"),
    [("de", 0, 2734, 0), ("es", 0, 2436, 0), ("zh", 176, 2410, 83)],
)
def test_sentences_of_entities_are_cut_as_sa31_says(code, cut, entities, lost):
    settings = transfer_settings("table3", "open", "Joint-ELMo", code, changes({}))
    tags = [e.labels for e in transfer_data.examples("ner", settings, code, "test")]
    begun = [[i for i, tag in enumerate(each) if tag.startswith("B-")] for each in tags]
    assert len(tags) == 2000
    assert sum(len(each) > settings.longest for each in tags) == cut
    assert sum(map(len, begun)) == entities
    assert sum(i >= settings.longest for each in begun for i in each) == lost
