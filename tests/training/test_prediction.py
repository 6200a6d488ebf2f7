import pytest
import torch

from xlrepro.papers.word_order.model import SequenceTagger
from xlrepro.papers.word_order.settings import ENCODERS, EncoderSettings
from xlrepro.training.batches import predicted_tags
from xlrepro.vectors.encoding import EncodedSplit

LENGTHS = (3, 1, 7, 7, 2, 12, 5, 1)
WORDS, TAGS, DIM = 40, 5, 8


@pytest.fixture
def split():
    torch.manual_seed(0)
    rows = [torch.randint(1, WORDS + 1, (n,)) for n in LENGTHS]
    return EncodedSplit("xx", torch.randn(WORDS + 1, DIM), rows, [r % TAGS for r in rows])


def tagger(kind):
    torch.manual_seed(1)
    settings = EncoderSettings(dim=8, heads=2, ff_dim=16, hidden_dim=6, layers=1, **ENCODERS[kind])
    return SequenceTagger(settings, DIM, TAGS, "crf")


@pytest.mark.parametrize("kind", ENCODERS)
def test_small_batches_predict_what_large_ones_do(kind, split):
    one = tagger(kind)
    expected = predicted_tags(one, split, "cpu")
    found = predicted_tags(one, split, "cpu", max_tokens=8)
    assert [t.tolist() for t in found] == [t.tolist() for t in expected]
    assert len({tuple(t.tolist()) for t in found}) > 3  # no constant prediction


def test_no_batch_is_larger_than_it_may_be(split):
    sizes = []

    class Spy(torch.nn.Module):
        def predict(self, batch, table):
            sizes.append(tuple(batch.mask.shape))
            return torch.zeros(batch.mask.shape, dtype=torch.long)

    predicted_tags(Spy(), split, "cpu", max_tokens=14)
    assert sizes == [(1, 12), (2, 7), (2, 5), (3, 2)]


def test_an_empty_split_has_no_predictions(split):
    empty = EncodedSplit("xx", split.table, [], [])
    assert predicted_tags(tagger("ORT"), empty, "cpu") == []
