"""What of a batch must not matter to a text."""

import pytest
import torch

from tests.papers.man_moe.small_models import make_model, make_settings
from xlrepro.papers.man_moe.encoding import collate

pytestmark = pytest.mark.usefixtures("double_precision")


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("extractor", ["BiLSTM", "TRS", "ORT"])
def test_a_text_is_predicted_the_same_alone_and_among_other_languages(texts, extractor, pooled):
    model = make_model(make_settings({"extractor": extractor}), pooled=pooled).eval()
    one = (texts.labelled[1], [3])
    alone, among = (
        model.predict(model.words(batch.flat, texts.table), batch.packing).log_probabilities
        for batch in (collate([one]), collate([(texts.labelled[0], [0, 1, 2]), one]))
    )
    torch.testing.assert_close(alone, among[-len(alone) :])
