"""Shapes, padding, and which parts a system has."""

import pytest
import torch
from torch.nn import functional

from tests.papers.man_moe.small_models import LABELS, make_model, make_settings
from xlrepro.papers.man_moe.encoding import collate
from xlrepro.papers.man_moe.model import language_mean
from xlrepro.papers.man_moe.systems import ABLATION_ROWS, NER_ROWS, SLOT_ROWS


@pytest.fixture
def batch(texts):
    return collate([(texts.labelled[0], [0, 1, 2]), (texts.labelled[1], [3])])


def represent(model, batch, texts):
    (words,) = model.words([batch.rows], texts.table)
    return words


def test_tagging_gives_a_distribution_per_token_and_gates_over_the_sources(batch, texts):
    model = make_model(make_settings({"mixture": "prob"}))
    found = model.predict(represent(model, batch, texts), batch.mask)
    tokens = int(batch.mask.sum())
    assert found.log_probabilities.shape == (tokens, LABELS)
    assert found.private_gate.shape == found.predictor_gate.shape == (tokens, 3)
    torch.testing.assert_close(found.log_probabilities.exp().sum(-1), torch.ones(tokens))


def test_classification_gives_one_distribution_and_one_predictor_gate_per_text(batch, texts):
    model = make_model(make_settings({"mixture": "prob"}), pooled=True)
    found = model.predict(represent(model, batch, texts), batch.mask)
    assert found.log_probabilities.shape == (4, LABELS)
    assert found.predictor_gate.shape == (4, 3)
    assert found.private_gate.shape == (int(batch.mask.sum()), 3)


@pytest.mark.parametrize("pooled", [False, True])
def test_padding_and_what_stands_there_change_no_prediction(batch, texts, pooled):
    model = make_model(make_settings(), pooled=pooled)
    words = represent(model, batch, texts)
    wider = functional.pad(
        words.masked_fill(~batch.mask.unsqueeze(-1), 5.0), (0, 0, 0, 4), value=8.0
    )
    expected = model.predict(words, batch.mask)
    found = model.predict(wider, functional.pad(batch.mask, (0, 4)))
    torch.testing.assert_close(found.log_probabilities, expected.log_probabilities)
    torch.testing.assert_close(found.predictor_gate, expected.predictor_gate)


def test_padding_changes_nothing_for_the_discriminator(batch, texts):
    model = make_model(make_settings())
    shared = model.shared(represent(model, batch, texts), batch.mask)
    wider = functional.pad(shared, (0, 0, 0, 4), value=8.0)
    torch.testing.assert_close(
        model.discriminator(wider, functional.pad(batch.mask, (0, 4))),
        model.discriminator(shared, batch.mask),
    )


def test_a_text_is_predicted_the_same_alone_and_among_other_languages(batch, texts):
    model = make_model(make_settings())
    among = model.predict(represent(model, batch, texts), batch.mask).log_probabilities
    alone = collate([(texts.labelled[1], [3])])
    found = model.predict(represent(model, alone, texts), alone.mask).log_probabilities
    torch.testing.assert_close(found, among[-len(found) :])


PARTS = {
    "BWE (3-to-1)": (False, False, False),
    "MAN": (True, False, False),
    "MAN-MoE": (True, True, True),
    "- Tagger MoE": (True, True, False),
    "- Private MoE": (True, False, True),
    "- MoE": (True, False, False),
    "- MAN": (False, True, True),
    "MAN-MOE+CharCNN": (True, True, True),
}


@pytest.mark.parametrize("row", PARTS)
def test_rows_have_the_parts_the_paper_names(row):
    changes = {**SLOT_ROWS, **ABLATION_ROWS, **NER_ROWS}[row]
    settings = make_settings({"characters": False, **changes})
    model = make_model(settings)
    has = (
        model.discriminator is not None,
        model.private is not None,
        model.predictor.gate is not None,
    )
    assert has == PARTS[row]
    assert (model.words.char_cnn is not None) == row.endswith("CharCNN")


def test_without_moe_is_man():
    assert ABLATION_ROWS["- MoE"] == SLOT_ROWS["MAN"]


def test_the_main_optimiser_gets_everything_but_discriminator_and_fixed_vectors():
    model = make_model(make_settings())
    ours = {id(p) for p in model.main_parameters()}
    left = {name for name, p in model.named_parameters() if id(p) not in ours}
    assert {name.split(".")[0] for name in left - {"words.char_cnn.embedding"}} == {"discriminator"}
    assert "words.char_cnn.embedding" in left


def test_a_language_mean_is_a_sum_of_means():
    losses = torch.tensor([1.0, 3.0, 10.0])
    assert float(language_mean(losses, torch.tensor([0, 0, 1]), 3)) == 2.0 + 10.0
