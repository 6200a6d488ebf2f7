"""Tables 6 to 8 beside the presets: at paper scale as printed, or a deviation says why."""

import pytest
import torch

from xlrepro.evidence.deviations import load_deviations
from xlrepro.evidence.reported import load_reported
from xlrepro.nn.bert import BertSizes, MaskedLanguageModel
from xlrepro.papers.sense_alignment.figures.printed_settings import (
    BUILT_IN,
    EXPERIMENT,
    MODELS,
    NOT_HERE,
    PRODUCTS,
    SETTINGS,
    settings_table,
)
from xlrepro.papers.sense_alignment.language_model.word_encoder import CHARACTERS
from xlrepro.papers.sense_alignment.systems import language_model

PRINTED = load_reported().cells(EXPERIMENT, context=True)
ROWS = {(r[0].text, r[1].text): r[2:] for r in settings_table().rows}
# Setting that is not as printed at paper scale -> the deviation, and what it says is printed there.
DIFFER = {
    "attention_probs_dropout_prob": ("SA20", "50"),
    "vocab_size": ("SA45", "27,654"),
    "max_position_embeddings": ("SA46", "512"),
}


def test_every_printed_setting_has_its_row_or_is_a_factor_of_one():
    kept = [c for c in PRINTED if c.column not in PRODUCTS.values()]
    assert {c.name for c in kept} == set(MODELS)
    for cell in kept:
        factor = PRODUCTS.get(cell.column)
        label = f"{cell.column} × {factor}" if factor else cell.column
        assert ROWS[cell.name, label][0].text.startswith(cell.printed)
    assert len(ROWS) == len(kept)


def test_every_printed_setting_is_set_built_in_or_said_not_to_be_here():
    known = [*SETTINGS, *BUILT_IN, *NOT_HERE, *PRODUCTS.values()]
    assert len(known) == len(set(known))
    assert set(known) == {cell.column for cell in PRINTED}
    dashes = {name for (_, name), (*_, ours) in ROWS.items() if ours.text == "–" and ours.title}
    assert dashes == set(NOT_HERE)


def test_at_paper_scale_settings_are_as_printed_but_for_those_that_deviations_name():
    differ = {name: ours for (_, name), (*_, ours) in ROWS.items() if ours.detail}
    assert set(differ) == set(DIFFER)
    said = {d.id: d for d in load_deviations(EXPERIMENT) if "paper" in d.profiles}
    for name, ours in differ.items():
        deviation, printed = DIFFER[name]
        assert said[deviation].touches(EXPERIMENT, "alive:SaBERT-Tiny", "rare words")
        assert printed in said[deviation].paper
        assert ours.text in said[deviation].here
        assert deviation in settings_table().caption


def test_nothing_is_marked_where_models_are_smaller():
    assert not [entry for _, *ours, _ in ROWS.values() for entry in ours if entry.detail]


def test_what_is_built_in_is_so():
    assert BUILT_IN["char_cnn:n_characters"] == CHARACTERS
    torch.manual_seed(0)
    made = MaskedLanguageModel(BertSizes(500, dim=64, layers=1, heads=2, ff_dim=64, positions=9))
    assert abs(float(made.bert.pieces.weight.detach().std()) - BUILT_IN["initializer_range"]) < 1e-3


@pytest.mark.parametrize(
    ("name", "language"),
    [("ELMo", "en"), ("ELMo", "de"), ("Joint-ELMo", "de"), ("Bi-SaELMo", "zh")],
)
def test_at_paper_scale_all_language_models_of_the_tasks_have_as_many_steps_and_words(
    name, language
):
    model = language_model("paper", name, language)
    assert model.training.steps == 600_000  # §D.2, of all of them
    assert (model.training.unroll, model.text.words["others"]) == (12, 500_000_000)
