"""Numbers that stand in words in deviations and findings are those of presets and records."""

import pytest

from xlrepro.book.verdicts import load_evidence
from xlrepro.evidence.deviations import load_deviations
from xlrepro.paths import project_root

TABLE = "routing_nmt/table1"
PAIRS = ("en-de-10k", "en-de-5k", "en-vi", "en-fa-small")
TRAININGS = 12  # of a pair: four systems, three seeds


def words(identifier, part="here"):
    (found,) = (d for d in load_deviations("routing_nmt/table1") if d.id == identifier)
    return " ".join(getattr(found, part).split())


@pytest.fixture(scope="module")
def records():
    """Return every record at open of the table's main rows, by pair."""
    found = {pair: [] for pair in PAIRS}
    for record in load_evidence().records:
        if (record.experiment, record.profile) != (TABLE, "open"):
            continue
        if all(system.startswith("translation:") for system in record.systems):
            found[record.settings["pair"]].append(record)
    assert {pair: len(of) for pair, of in found.items()} == dict.fromkeys(PAIRS, TRAININGS)
    return found


def one(values):
    (value,) = set(values)
    return value


def test_widths_epochs_and_updates_are_those_of_the_trainings(records):
    told, settings = words("T03"), {p: of[0].details["settings"] for p, of in records.items()}
    widths = {p: one(r.settings["model"]["hidden"] for r in of) for p, of in records.items()}
    persian = widths.pop("en-fa-small")
    assert f"{one(widths.values())} units, {persian} for Persian" in told
    updates = {p: one(r.details["updates"] for r in of) for p, of in records.items()}
    assert {pair: each["epochs"] for pair, each in settings.items()} == {
        "en-de-10k": 5, "en-de-5k": 10, "en-vi": 3, "en-fa-small": 5,
    }  # fmt: skip
    assert (
        f"five epochs of German at 10,000 pairs ({updates['en-de-10k']:,} updates), "
        f"ten at 5,000 ({updates['en-de-5k']:,}), three of Vietnamese ({updates['en-vi']:,}), "
        f"five of Persian ({updates['en-fa-small']:,})"
    ) in told


def test_vietnamese_pairs_and_their_longest_are_those_of_the_trainings(records):
    longest = one(r.details["settings"]["longest_words"] for r in records["en-vi"])
    pairs = one(r.details["data"]["translation"]["train"] for r in records["en-vi"])
    assert f"{pairs:,} pairs of at most {longest} words" in words("T01")
    page = (project_root() / "book" / "routing_nmt" / "findings.md").read_text(encoding="utf-8")
    assert (round(pairs, -3), longest) == (11_000, 20)
    assert "some eleven thousand sentences of at most twenty words" in page


def test_held_out_sentences_that_decide_on_halving_are_those_of_the_trainings(records):
    counts = [r.details["data"] for of in records.values() for r in of]
    entities, syntax, semantics = (
        one(each[task]["dev"] for each in counts if task in each)
        for task in ("ner", "syntax", "semantics")
    )
    assert (
        f"{entities} sentences of entities, {syntax} of syntax and {semantics} of semantics"
    ) in words("T03")


def test_halved_rates_are_counted(records):
    ends = [
        {
            task: r.details["rates"][task] / r.details["settings"]["learning_rate"]
            for task in r.details["rates"]
        }
        for of in records.values()
        for r in of
        if len(r.details["rates"]) > 1
    ]
    some = sum(min(rates.values()) < 1 for rates in ends)
    translation = sum(rates["translation"] < 1 for rates in ends)
    told = words("T11", "effect")
    assert f"At open {some} of {len(ends)} trainings" in told
    assert f"{translation} of them translation's" in told
    assert min(rate for rates in ends for rate in rates.values()) == 1 / 32


def test_how_often_no_four_tokens_match_is_counted(records):
    fours = {
        pair: [sum(row[5] for row in r.details["test_counts"]) for r in of]
        for pair, of in records.items()
    }
    none = {pair: counts.count(0) for pair, counts in fours.items()}
    assert none["en-de-10k"] == none["en-de-5k"] == 0
    told = "in {en-vi} of 12 Vietnamese trainings and in {en-fa-small} of 12 Persian ones"
    assert told.format(**none) in words("T18", "effect")
