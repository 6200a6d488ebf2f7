"""Tables of what records tell beside their cells."""

import math
from types import SimpleNamespace

import pytest

from xlrepro.papers.sense_alignment.figures.instances import over_instances
from xlrepro.papers.sense_alignment.figures.pretraining import language_models
from xlrepro.papers.sense_alignment.figures.senses import (
    alive_along_the_training,
    near_the_senses,
)


def record(system, seed=0, value=0.5, **details):
    cells = [SimpleNamespace(system=system, column="SE2", value=value)]
    return SimpleNamespace(systems=(system,), seed=seed, cells=cells, details=details)


def test_the_interval_over_instances_stands_below_the_value():
    given = [
        record("wsd:ELMo", seed, value=seed / 10, bootstrap={"wsd:ELMo": {"SE2": [0.4, 0.6]}})
        for seed in (1, 0)
    ]
    (row,) = over_instances(given, "open").rows
    assert [entry.text for entry in row] == ["ELMo", "0.000"]
    assert row[1].detail == "0.400 to 0.600"


def test_a_language_model_that_two_records_used_is_listed_once():
    log = {
        "loss_curve": [[1, 2.0]],
        "tokens": 100,
        "vocabulary": 20,
        "seconds": 3.0,
        "held_out": {"en": [30.0, 10], "de": [10.0, 10]},
    }
    given = [record("alive:SaELMo", **log), record("wsd:SaELMo", language_model=log)]
    (row,) = language_models(given, "open").rows
    assert row[0].text == "SaELMo, seed 0"
    assert row[4].sort == pytest.approx(2.0)
    assert row[5].sort == pytest.approx(math.log(20))
    berts = [record("wsd:BERT-Tiny", language_model={**log, "held_out": {"en": [0, 0]}})]
    assert language_models(berts, "open").rows[0][4].text == "–"


def test_a_model_of_equal_time_is_told_from_that_of_equal_steps():
    log = {"tokens": 100, "vocabulary": 20, "seconds": 3.0, "held_out": {"en": [30.0, 10]}}
    given = [
        record(name, language_model={**log, "loss_curve": [[1, loss]]})
        for name, loss in (("wsd:SaELMo", 2.0), ("wsd-time:SaELMo", 2.1))
    ]
    names = {row[0].text for row in language_models(given, "open").rows}
    assert names == {"SaELMo, seed 0", "SaELMo at equal time, seed 0"}


def test_the_curve_of_senses_is_the_mean_of_the_seeds():
    runs = [[[10, 1, 1, 1], [20, 4, 5, 5]], [[10, 1, 1, 1], [20, 2, 5, 5]]]
    given = [record("alive:SaELMo", seed, alive=run) for seed, run in enumerate(runs)]
    given.append(record("arithmetic:bilingual"))
    drawn = alive_along_the_training(given, "open")
    (axes,) = drawn.drawing.axes
    frequent, middling, _ = axes.lines
    assert list(frequent.get_xdata()) == [10, 20]
    assert list(frequent.get_ydata()) == [1, 3]
    assert list(middling.get_ydata()) == [1, 5]


def test_variants_stand_below_their_model():
    names = ("SaELMo (from states)", "SaELMo", "Bi-SaELMo (from states)")
    given = [
        record(f"alive:{name}", alive=[[10, 1, 1, most]])
        for name, most in zip(names, (5, 5, 3), strict=True)
    ]
    drawing = alive_along_the_training(given, "open").drawing
    above, below = (
        [(axes.get_title(), axes.axison) for axes in drawing.axes[first : first + 2]]
        for first in (0, 2)
    )
    assert above == [("", False), ("SaELMo", True)]
    assert all(axes.get_ylim()[1] > 5 for axes in drawing.axes if axes.axison)
    assert below == [("Bi-SaELMo (from states)", True), ("SaELMo (from states)", True)]


def test_a_sense_has_the_colour_of_what_is_near_it():
    senses = [
        {"sense": s, "place": [s, 0.0], "own": 0.0, "nearest": [[f"w{s}", 0, 0.9, s, 1.0]]}
        for s in (1, 2)
    ]
    given = [record("vectors:SaELMo", neighbours={"bank": senses, "us": senses[:1]})]
    drawn = near_the_senses(given, "open")
    several, alone = drawn.drawing.axes
    assert several.get_title() == "SaELMo\nbank, 2 senses"
    assert alone.get_title() == "SaELMo\nus, 1 sense"
    dots = [dot.get_facecolor()[0].tolist() for dot in several.collections]
    assert dots[0] == dots[1] != dots[2] == dots[3]
    assert "SaELMo's bank, sense 2: w2" in drawn.alt


def test_the_model_of_two_languages_is_drawn_below_that_of_one():
    def sense(*near):
        return {"sense": 0, "place": [0.0, 0.0], "nearest": [[w, 0, 0.9, 1.0, 1.0] for w in near]}

    given = [
        record("vectors:Bi-SaELMo", seed, neighbours={"may": [sense("may", f"mai{seed}", "mai")]})
        for seed in (1, 0)
    ]
    given.append(record("vectors:SaELMo", neighbours={"us": [sense("me", "me", "him")]}))
    drawn = near_the_senses(given, "open")
    titles = [axes.get_title() for axes in drawn.drawing.axes]
    assert titles == ["SaELMo\nus, 1 sense", "", "", "Bi-SaELMo\nmay, 1 sense"]
    assert drawn.alt.endswith(
        "near SaELMo's us, sense 0: me, him; Bi-SaELMo's may, sense 0: mai0, mai."
    )
