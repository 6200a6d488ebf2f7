"""Shapes, padding, and which parts a system has."""

import pytest
import torch

from tests.papers.man_moe.small_models import make_model, make_settings
from xlrepro.experiments import experiment
from xlrepro.papers.man_moe.encoding import collate
from xlrepro.papers.man_moe.settings import TransferSettings

pytestmark = pytest.mark.usefixtures("double_precision")


@pytest.fixture
def batch(texts):
    return collate([(texts.labelled[0], [0, 1, 2]), (texts.labelled[1], [3])])


def represent(model, batch, texts):
    return model.words(batch.flat, texts.table)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("extractor", ["BiLSTM", "TRS", "ORT"])
def test_a_text_is_predicted_the_same_alone_and_among_other_languages(
    batch, texts, extractor, pooled
):
    model = make_model(make_settings({"extractor": extractor}), pooled=pooled).eval()
    among = model.predict(represent(model, batch, texts), batch.packing).log_probabilities
    alone = collate([(texts.labelled[1], [3])])
    found = model.predict(represent(model, alone, texts), alone.packing).log_probabilities
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


TABLES = {
    "MAN-MOE+CharCNN": "table4",
    **dict.fromkeys(["- Tagger MoE", "- Private MoE", "- MoE", "- MAN"], "table3"),
}


@pytest.mark.parametrize("row", PARTS)
def test_rows_have_the_parts_the_paper_names(row):
    of_row = experiment(f"man_moe/{TABLES.get(row, 'table2')}").trials("smoke", [row], [0])[0]
    model = make_model(of_row.typed(TransferSettings))
    has = (
        model.discriminator is not None,
        model.private is not None,
        model.predictor.gate is not None,
    )
    assert has == PARTS[row]
    assert (model.words.char_cnn is not None) == row.endswith("CharCNN")
