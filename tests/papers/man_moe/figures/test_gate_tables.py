"""Chance beside the gates' weights, gates that are right, and rows without redirects."""

from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View
from xlrepro.papers.man_moe.figures.gate_tables import (
    CHANCE,
    accuracy_of_gates,
    average_weights,
    weights_beside_chance,
)
from xlrepro.papers.man_moe.figures.redirects import without_redirects
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell


class Weights:
    """A view with the weights of one target."""

    profile, systems = "open", ["gates:NER"]

    def of(self, system):
        class One:
            def __init__(self, column, mean):
                self.column, self.mean = column, mean

        return [One("es/en", 0.5), One("es/de", 0.3), One("es/nl", 0.2)]


def record(seed, accuracy=None, without=None, value=50.0):
    report = {"gate_accuracy": accuracy, "without_left_out": without}
    return Record.model_construct(
        systems=("long:MAN-MOE+CharCNN",),
        seed=seed,
        cells=[Cell("long:MAN-MOE+CharCNN", "es", value, "F1")],
        details={"experiments": {"es": {k: v for k, v in report.items() if v}}},
    )


def texts(table):
    return [[entry.text for entry in row] for row in table.rows]


def test_chance_is_an_equal_share_of_the_target_s_sources():
    rows = texts(weights_beside_chance(Weights()))
    assert rows[0] == ["NER", "es", "en", "0.500", "0.333", "+0.167"]
    assert [row[4] for row in rows] == ["0.333"] * 3


GATES = {
    ("gates:NER", "de/en"): {0: 0.2, 1: 0.4},
    ("gates:NER", "de/nl"): {0: 0.8, 1: 0.6},
    ("gates:NER", "nl/de"): {0: 0.9, 1: 0.9},
    ("gates:NER", "nl/en"): {0: 0.1, 1: 0.1},
}


def test_weights_stand_target_by_target_beside_an_equal_share(numbers):
    found = numbers(GATES, "man_moe/figure4", metric="gate weight")
    plot = average_weights(View("man_moe/figure4", "open", found))
    assert [(row.group, row.label, row.text) for row in plot.rows] == [
        ("NER", "de", "most nl: 0.70"),
        ("NER", "nl", "most de: 0.90"),
    ]
    named = {look: name for name, look in plot.key}
    (chance, *marks) = plot.rows[0].marks
    assert (chance.value, chance.look) == (0.5, CHANCE)
    assert [(named[mark.look], round(mark.value, 2)) for mark in marks] == [
        ("en", 0.3),
        ("nl", 0.7),
    ]


def test_without_weights_there_is_nothing_to_draw():
    plot = average_weights(View("man_moe/figure4", "open", ReproducedNumbers([])))
    assert "nothing was run" in plot.alt


def test_accuracy_of_gates_is_a_mean_over_seeds_beside_chance():
    right = [{"en": 40.0, "de": 50.0}, {"en": 60.0, "de": 70.0}]
    records = [record(i, accuracy) for i, accuracy in enumerate(right)] + [record(2)]
    (row,) = texts(accuracy_of_gates(records, "open"))
    assert row == ["MAN-MOE+CharCNN", "es", "2", "en 50.0, de 60.0", "55.0", "50.0"]


def test_a_row_is_shown_with_and_without_what_is_left_out():
    without = {"score": 44.0, "sentences": 272}
    records = [record(0, without=without), record(1, without=without, value=52.0), record(2)]
    (row,) = texts(without_redirects(records, "open"))
    assert row == ["MAN-MOE+CharCNN", "es", "2", "51.00", "44.00", "272"]
