"""The biLM: projected LSTM, word encoder, reading directions."""

import pytest
import torch
from torch import nn

from tests.papers.sense_alignment.small_models import BILM, corpus, settings
from xlrepro.papers.sense_alignment import network
from xlrepro.papers.sense_alignment.settings import BiLMSizes
from xlrepro.papers.sense_alignment.training import Run


def test_without_clips_the_layer_is_torchs_lstm():
    torch.manual_seed(0)
    ours = network.ProjectedLSTM(4, 7, 3, clip=1e9).double()
    x = torch.randn(2, 2, 6, 4, dtype=torch.double)
    found, (h, c) = ours(x)
    for d in range(2):
        theirs = nn.LSTM(4, 7, proj_size=3, batch_first=True).double()
        theirs.weight_ih_l0.data = ours.inputs[d].T.clone()
        theirs.weight_hh_l0.data = ours.recurrent[d].T.clone()
        theirs.weight_hr_l0.data = ours.project[d].T.clone()
        theirs.bias_ih_l0.data = ours.bias[d, 0].clone()
        theirs.bias_hh_l0.data.zero_()
        expected, (last, cell) = theirs(x[d])
        torch.testing.assert_close(found[d], expected, rtol=0, atol=1e-14)
        torch.testing.assert_close(h[d], last[0], rtol=0, atol=1e-14)
        torch.testing.assert_close(c[d], cell[0], rtol=0, atol=1e-14)


def test_cells_and_states_are_clipped():
    torch.manual_seed(0)
    layer = network.ProjectedLSTM(4, 7, 3, clip=0.1)
    found, (_, c) = layer(10 * torch.randn(2, 3, 9, 4))
    assert float(c.detach().abs().max()) == pytest.approx(0.1)
    assert float(found.detach().abs().max()) == pytest.approx(0.1)


def test_a_words_vector_is_that_of_torchs_convolutions_maximum_and_highways():
    torch.manual_seed(0)
    sizes = BiLMSizes(family="bilm", filters=((1, 4), (3, 5)), highways=2, dim=6, character_dim=3)
    encoder = network.WordEncoder(sizes).double()
    words = ["a", "abcd", "ab"]
    ids = network.character_ids(words)
    # shape: (words, character_dim, width + 2); the widest filter may reach two places beyond
    padded = encoder.embedding(nn.functional.pad(ids.long(), (0, 2), value=260)).transpose(1, 2)
    for row, word in enumerate(words):
        begins = len(word) + 2  # windows begin at the word's characters and at its two ends
        features = torch.cat(
            [c(padded[row : row + 1])[0, :, :begins].amax(1) for c in encoder.convolutions]
        ).relu()
        for layer in encoder.highways:
            gate, new = layer(features).chunk(2)
            features = gate.sigmoid() * features + (1 - gate.sigmoid()) * new.relu()
        expected = encoder.output(features)
        torch.testing.assert_close(encoder(ids)[row], expected, rtol=0, atol=1e-14)


def test_from_the_second_layer_on_the_input_is_added_to_the_output():
    torch.manual_seed(0)
    sizes = BiLMSizes.model_validate(BILM)
    made, x = network.BiLM(sizes).double(), torch.randn(2, 2, 5, sizes.dim, dtype=torch.double)
    found, _ = made(x)
    first = made.layers[0](x)[0]
    second = made.layers[1](first)[0] + first
    for layer, expected in zip(found, (first, second), strict=True):
        torch.testing.assert_close(layer, expected, rtol=0, atol=0)


def test_dropout_hits_what_predicts_and_not_what_chooses(given):
    run = Run(settings(network={**BILM, "dropout": 0.5}), corpus(), "cpu")
    seen = given(run.model)
    run.step(0)
    for predicting, choosing, _ in seen:
        assert 0.3 < float((predicting == 0).double().mean()) < 0.7
        assert float((choosing == 0).double().mean()) == 0


def test_characters_are_bytes_between_begin_and_end():
    assert network.character_ids(["é", "<S>", "abcdef"], 5).tolist() == [
        [256, 0xC3, 0xA9, 257, 260],
        [256, 258, 257, 260, 260],
        [256, 97, 98, 99, 257],
    ]
    assert network.CHARACTERS == 261


def test_neither_direction_sees_the_word_that_it_predicts():
    run = Run(settings(), corpus(), "cpu")
    model, words = run.model.eval(), run.text.window(0)

    def predicting(words):
        vectors = encoded[words]  # once for all, so that unchanged words have the same bits
        return model.encoder(vectors[:, :, :-1])[0][-1].detach()

    encoded = model.encoder.words(model.characters)
    before = predicting(words)
    for k in range(1, words.shape[2]):  # the state at k - 1 predicts word k, in either direction
        changed = words.clone()
        changed[:, :, k] = (words[:, :, k] + 1) % len(run._targets)
        after = predicting(changed)
        assert torch.equal(after[:, :, :k], before[:, :, :k])
        if k < before.shape[2]:
            assert not torch.equal(after[:, :, k], before[:, :, k])


def test_senses_are_chosen_by_the_words_own_states(given):
    run = Run(settings(), corpus(), "cpu")
    seen = given(run.model)
    vectors = run.model.encoder.vectors(run.text.window(0), run.model.characters)
    whole = run.model.encoder(vectors)[0][-1].detach()
    run.step(0)
    for (_, choosing, _), states in zip(seen, whole, strict=True):
        found = choosing.view(len(states), -1, states.shape[-1])
        torch.testing.assert_close(found, states[:, 1:], rtol=0, atol=1e-13)
