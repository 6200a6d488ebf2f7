"""The BERT over whole words: transformers' outputs, and with one sense a masked language model."""

import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel

from tests.papers.sense_alignment.small_models import BERT, corpus, settings
from xlrepro.papers.sense_alignment.training import Run
from xlrepro.training.optimiser import adamw


def transformers_twin(ours, words, sizes):
    """Return transformers' BERT with the weights of ours."""
    config = BertConfig(
        vocab_size=words, pad_token_id=None, hidden_size=sizes.dim,
        num_hidden_layers=sizes.layers, num_attention_heads=sizes.heads,
        intermediate_size=sizes.ff_dim, max_position_embeddings=sizes.positions,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    theirs = BertModel(config, add_pooling_layer=False).double().eval()
    embeddings = theirs.embeddings
    nn.init.zeros_(embeddings.token_type_embeddings.weight)  # a text is one segment
    pairs = [
        (embeddings.word_embeddings, ours.words),
        (embeddings.position_embeddings, ours.positions),
        (embeddings.LayerNorm, ours.norm),
    ]
    for layer, mine in zip(theirs.encoder.layer, ours.layers, strict=True):
        attention = layer.attention.self
        parts = zip(mine.project.weight.chunk(3), mine.project.bias.chunk(3), strict=True)
        for linear, (weight, bias) in zip(
            (attention.query, attention.key, attention.value), parts, strict=True
        ):
            linear.weight.data, linear.bias.data = weight.detach().clone(), bias.detach().clone()
        pairs += [
            (layer.attention.output.dense, mine.output),
            (layer.attention.output.LayerNorm, mine.attention_norm),
            (layer.intermediate.dense, mine.widen),
            (layer.output.dense, mine.narrow),
            (layer.output.LayerNorm, mine.feed_forward_norm),
        ]
    for part, mine in pairs:
        part.load_state_dict(mine.state_dict())
    return theirs


@pytest.mark.parametrize("senses", [{"senses": 1}, {"warmup": "tied", "warmup_steps": 99}])
def test_ten_steps_with_one_sense_are_those_of_a_masked_language_model(senses):
    text = corpus()
    run = Run(settings(senses, {**BERT, "layers": 2}, {"steps": 10}), text, "cpu")
    sizes = run.settings.network
    bert = transformers_twin(run.model.encoder, text.known, sizes).train()
    head = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8, eps=1e-12)).double()
    head.load_state_dict(run.model.transform.state_dict())
    bias = nn.Parameter(torch.zeros(text.known, dtype=torch.double))
    trained = [*(p for n, p in bert.named_parameters() if "token_type" not in n)]
    parameters = [*trained, *head.parameters(), bias]
    optimizer = adamw(parameters, 0.003)
    for step in range(10):
        ids, hidden, gold = run.text.masked(step)
        states = head(bert(ids).last_hidden_state[hidden])
        scores = states @ bert.embeddings.word_embeddings.weight.T + bias
        loss = nn.functional.cross_entropy(scores, gold)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        for group in optimizer.param_groups:
            group["lr"] = run._rate(step)
        optimizer.step()
        assert run.step(step).loss == pytest.approx(loss.item(), abs=1e-10)


def test_a_layer_drops_nothing_in_evaluation():
    run = Run(settings(network=BERT | {"dropout": 0.5}), corpus(), "cpu")
    layer, x = run.model.encoder.layers[0].eval(), torch.randn(2, 5, 8).double()
    assert torch.equal(layer(x), layer(x))


def test_the_hidden_words_own_state_predicts_and_chooses(given):
    run = Run(settings({"warmup": "tied", "warmup_steps": 0}, BERT), corpus(), "cpu")
    seen = given(run.model)
    ids, hidden, gold = run.text.masked(0)
    own = run.model.transform(run.model.encoder(ids)[hidden]).detach()
    run.step(0)
    ((predicting, choosing, words),) = seen
    assert torch.equal(words, gold)
    for states in (predicting, choosing):
        torch.testing.assert_close(states.detach(), own, rtol=0, atol=1e-13)
