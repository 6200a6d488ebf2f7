import pytest
import torch

from xlrepro.nn.bert import Bert, BertSizes, MaskedLanguageModel

pytestmark = pytest.mark.usefixtures("double_precision")

SIZES = BertSizes(50, dim=24, layers=2, heads=3, ff_dim=40, positions=12, dropout=0.0)


def with_weights_of(other, sizes):
    """Return our network with the weights of a transformers.BertModel of the same sizes."""
    bert, state = Bert(sizes), other.state_dict()
    ours = {
        "pieces.weight": state["embeddings.word_embeddings.weight"],
        "positions.weight": state["embeddings.position_embeddings.weight"]
        + state["embeddings.token_type_embeddings.weight"][0],
    }
    pairs = [("norm", "embeddings.LayerNorm")]
    for i in range(sizes.layers):
        there = f"encoder.layer.{i}."
        pairs += [
            (f"layers.{i}.output", there + "attention.output.dense"),
            (f"layers.{i}.attention_norm", there + "attention.output.LayerNorm"),
            (f"layers.{i}.widen", there + "intermediate.dense"),
            (f"layers.{i}.narrow", there + "output.dense"),
            (f"layers.{i}.feed_forward_norm", there + "output.LayerNorm"),
        ]
        for part in ("weight", "bias"):
            names = [there + f"attention.self.{n}.{part}" for n in ("query", "key", "value")]
            ours[f"layers.{i}.project.{part}"] = torch.cat([state[n] for n in names])
    for here, there in pairs:
        for part in ("weight", "bias"):
            ours[f"{here}.{part}"] = state[f"{there}.{part}"]
    bert.load_state_dict(ours)
    return bert.eval()


def test_outputs_are_those_of_transformers():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=SIZES.vocabulary,
        hidden_size=SIZES.dim,
        num_hidden_layers=SIZES.layers,
        num_attention_heads=SIZES.heads,
        intermediate_size=SIZES.ff_dim,
        max_position_embeddings=SIZES.positions,
    )
    other = transformers.BertModel(config).eval()
    for parameter in other.parameters():  # biases and norms start at 0 and 1: make them matter
        torch.nn.init.normal_(parameter, std=0.3)
    ids = torch.randint(0, 50, (3, 9))
    mask = torch.arange(9) < torch.tensor([[9], [5], [1]])
    with torch.inference_mode():
        expected = other(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        found = with_weights_of(other, SIZES)(ids, mask)
    torch.testing.assert_close(found[mask], expected[mask], rtol=1e-10, atol=1e-10)


def test_padding_changes_nothing():
    torch.manual_seed(0)
    bert = Bert(SIZES).eval()
    ids = torch.randint(0, 50, (2, 6))
    longer = torch.cat([ids, torch.randint(0, 50, (2, 4))], 1)
    mask = (torch.arange(10) < 6).expand(2, 10)
    torch.testing.assert_close(bert(longer, mask)[:, :6], bert(ids))


def test_scores_are_those_of_the_hidden_positions_in_order():
    torch.manual_seed(0)
    model = MaskedLanguageModel(SIZES).eval()
    ids = torch.randint(0, 50, (2, 6))
    everywhere = model(ids, torch.ones_like(ids, dtype=torch.bool)).view(2, 6, 50)
    hidden = torch.zeros_like(ids, dtype=torch.bool)
    hidden[0, 4] = hidden[1, 2] = True
    torch.testing.assert_close(
        model(ids, hidden), torch.stack([everywhere[0, 4], everywhere[1, 2]])
    )
