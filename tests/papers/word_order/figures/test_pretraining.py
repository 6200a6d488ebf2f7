"""What the page of the pretrained BERT tells from its record."""

import pytest

from xlrepro.papers.word_order.figures.pretraining import loss_curve, recipe_table

DETAILS = {
    "sizes": {"dim": 128, "layers": 3, "heads": 4, "ff_dim": 512, "positions": 64},
    "vocabulary": 12000,
    "parameters": 2176224,
    "text_words": {"en": 500, "de": 120},
    "text_pieces": {"en": 700, "de": 250},
    "tokens": 4000,
    "steps": 50,
    "seconds": 80.0,
    "loss_curve": [[2000, 9.5], [4000, 6.25]],
}


@pytest.fixture
def trained(record):
    found = record("mlm:small", experiment="word_order/pretraining", wall_seconds=0.1)
    return found.model_copy(update={"details": DETAILS})


def test_the_curve_goes_through_the_recorded_losses(trained):
    (axes,) = loss_curve([trained], "open").drawing.axes
    (line,) = axes.lines
    assert list(line.get_xdata()) == [0.002, 0.004]
    assert list(line.get_ydata()) == [9.5, 6.25]
    assert line.get_label() == "small"


def test_the_curve_says_its_ends(trained):
    alt = loss_curve([trained], "open").alt
    assert "small: from 9.50 after 2,000 pieces to 6.25 after 4,000." in alt


def test_the_cost_is_that_of_the_training_and_not_of_the_trial_that_read_the_model(trained):
    facts = {row[0].text: row[1].text for row in recipe_table([trained], "open").rows}
    assert facts["time of the training steps"] == "1 min"
    assert facts["speed"] == "50 pieces a second"
    assert facts["training"] == "4,000 pieces in 50 steps"


def test_the_table_has_a_column_per_model(trained):
    large = trained.model_copy(update={"systems": ("mlm:large",)})
    table = recipe_table([trained, large], "open")
    assert [heading.text for heading in table.headings] == ["", "small", "large"]
    assert [entry.text for entry in table.rows[0]] == ["layers", *(["3 of width 128"] * 2)]


def test_text_of_all_languages_is_counted(trained):
    facts = {row[0].text: row[1].text for row in recipe_table([trained], "open").rows}
    assert (facts["languages"], facts["text"]) == ("2", "620 words, 950 pieces")


def test_without_records_there_is_nothing_to_draw():
    assert "nothing was run" in loss_curve([], "open").alt
    assert recipe_table([], "open").rows == ()
