import math

import numpy as np
import pytest
import torch

from xlrepro.data.sentences import Sentence
from xlrepro.experiments import experiment
from xlrepro.papers.word_order import nlu
from xlrepro.papers.word_order.settings import NLUSettings
from xlrepro.tasks.source import Source
from xlrepro.trials import TrialContext
from xlrepro.vectors.encoding import EncodedSplit, TagSet

KEY = "word_order/table3"
SMALL = {"train_sentences": 40, "test_sentences": 8, "epochs": 2}
DIM, INTENTS, TAGS = 6, 3, 5
ROWS = {"BiLSTM": "nlu:Liu et al. (2019)"}
ROWS |= {name: f"{ROWS['BiLSTM']} using {name}" for name in ("TRS", "ORT")}


def settings(row="ORT", profile="smoke", **overrides):
    (trial,) = experiment(KEY).trials(profile, [ROWS[row]], [0], overrides)
    return trial.typed(NLUSettings)


def small_model(row="ORT"):
    torch.manual_seed(0)
    return nlu.NLUModel(settings(row).encoder, DIM, INTENTS, TAGS)


def batch(lengths=(5, 3, 2)):
    """Return word vectors, intents, tags and mask; the padding holds noise."""
    draw = torch.Generator().manual_seed(1)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    x = torch.randn(*mask.shape, DIM, generator=draw)
    tags = torch.randint(TAGS, mask.shape, generator=draw)
    return x, torch.arange(len(lengths)) % INTENTS, tags, mask


def test_noise_has_its_standard_deviation_in_training_only():
    model = small_model()
    model.dropout.p = 0.0
    seen = []
    model.encoder.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    x, mask = torch.zeros(50, 20, DIM), torch.ones(50, 20, dtype=torch.bool)
    model.train()(x, mask)
    model.eval()(x, mask)
    model.dropout.p = 1.0
    model.train()(x, mask)
    assert float(seen[0].std()) == pytest.approx(0.05, rel=0.05)
    assert [float(each.abs().max()) for each in seen[1:]] == [0, 0]


def test_latent_variable_has_half_the_deviation_of_its_variance():
    latent = nlu.LatentVariable(1).train()
    with torch.no_grad():
        for layer, value in ((latent.mean, 3.0), (latent.log_variance, math.log(16.0))):
            layer.weight.zero_()
            layer.bias.fill_(value)
        torch.manual_seed(0)
        z = latent(torch.zeros(400, 1))
    assert float(z.mean()) == pytest.approx(3.0, abs=0.05)
    assert float(z.std()) == pytest.approx(0.5 * 4.0, rel=0.02)
    assert latent.eval()(torch.zeros(1, 1)).tolist() == [[3.0] * nlu.LATENT_DIM]


@pytest.mark.parametrize("row", ["BiLSTM", "TRS", "ORT"])
def test_a_padded_sentence_has_the_intent_and_slot_scores_it_has_alone(row):
    model, (x, _, _, mask) = small_model(row).eval(), batch()
    together, slots = model(x, mask)
    for i, length in enumerate(mask.sum(1).tolist()):
        alone, of_words = model(x[i : i + 1, :length], mask[i : i + 1, :length])
        torch.testing.assert_close(alone[0], together[i])
        torch.testing.assert_close(of_words[0], slots[i, :length])


def test_slot_loss_is_a_sum_over_sentences_of_means_over_tokens():
    _, _, tags, mask = batch()
    scores = torch.randn(*mask.shape, TAGS)
    by_hand = sum(
        torch.nn.functional.cross_entropy(scores[i, :n], tags[i, :n])
        for i, n in enumerate(mask.sum(1).tolist())
    )
    torch.testing.assert_close(nlu.slot_loss(scores, tags, mask), by_hand)


def test_both_steps_take_gradients_of_the_same_forward_pass_each_its_own_head_s():
    model, (x, intents, tags, mask) = small_model().train(), batch()
    losses, parameters = model.losses(x, intents, tags, mask), dict(model.named_parameters())
    given = list(parameters.values())
    start = [p.detach().clone() for p in given]
    how = {"retain_graph": True, "allow_unused": True}
    wanted = [torch.autograd.grad(loss, given, **how) for loss in losses]
    nlu.two_steps(model, losses, torch.optim.SGD(given, lr=0.1))
    for name, before, *gradients in zip(parameters, start, *wanted, strict=True):
        moves = sum(gradient for gradient in gradients if gradient is not None)
        torch.testing.assert_close(parameters[name].detach(), before - 0.1 * moves)
        assert (gradients[0] is None) == name.startswith("slots")
        assert (gradients[1] is None) == name.startswith(("intent", "pooling"))


def test_every_sentence_is_scored_by_what_is_predicted_for_it_alone():
    model, lengths = small_model().eval(), (2, 5, 3, 1)
    rows = list(torch.arange(1, 1 + sum(lengths)).split(lengths))
    table = torch.randn(1 + sum(lengths), DIM)
    known = TagSet([f"i{n}" for n in range(INTENTS)]), TagSet([f"B-{n}" for n in range(TAGS)])
    alone = [model(table[row][None], torch.ones(1, len(row), dtype=torch.bool)) for row in rows]
    names = [
        [[kind.names[n] for n in scores.argmax(-1).flatten().tolist()] for scores in each]
        for kind, each in zip(known, zip(*alone, strict=True), strict=True)
    ]
    encoded = EncodedSplit(table, rows, [torch.zeros_like(row) for row in rows])
    split = nlu.NLUSplit(encoded, torch.zeros(4), [name for (name,) in names[0]], names[1])
    assert set(nlu.evaluated(model, split, known, "cpu").values()) == {100.0}


def test_a_trial_fills_its_columns():
    (trial,) = experiment(KEY).trials("smoke", [ROWS["ORT"]], [0], SMALL)
    result = nlu.run(trial, TrialContext())
    assert {c.column for c in result.cells} == set(trial.columns)
    assert {c.metric for c in result.cells} == set(result.signatures)


def test_the_same_seed_gives_the_same_losses_and_another_does_not():
    chosen, losses = settings(**SMALL), []
    for seed in (0, 0, 1):
        *_, curve = nlu.trained(chosen, Source.of(chosen, "SF"), seed, TrialContext())
        losses.append(curve.losses)
    assert losses[0] == losses[1] != losses[2]


def test_nothing_but_english_is_read_before_training_is_over(read, monkeypatch):
    monkeypatch.setattr(nlu, "evaluated", lambda *_: {nlu.INTENT: 1.0, nlu.SLOTS: 2.0})
    chosen = settings(**SMALL | {"epochs": 5, "patience": 1})
    *_, curve = nlu.trained(chosen, Source.of(chosen, "SF"), 0, TrialContext())
    assert curve.dev_scores == [2.0, 2.0]
    assert set(read) == {("en", "train"), ("en", "dev")}


def test_labels_that_only_a_target_has_are_counted_as_missed():
    known = nlu.known_labels([Sentence(("a", "b"), slots=("B-x", "O"), intent="i")])
    source = Source.of(settings(), "SF")
    new = Sentence(("12",), slots=("B-new",), intent="new")
    split = nlu.encoded(source, "es", [new], known)
    mark = nlu.WithMarks(source.vectors).marks["<NUMBER>"]
    assert split.encoded.table[1].tolist() == mark.tolist()
    assert split.intents.tolist() == [-1]
    assert split.encoded.tags[0].tolist() == [-1]
    model = nlu.NLUModel(settings().encoder, split.encoded.table.shape[1], *map(len, known))
    scores = nlu.evaluated(model, split, known, "cpu")
    assert scores == {"intent accuracy": 0.0, "slot F1": 0.0}


@pytest.mark.parametrize(
    ("language", "tokens", "wanted"),
    [
        ("en", "7pm 7.30 a.m. 20min 3rd", "<TIME> <TIME> <TIME> <LAST> <DATE>"),
        ("en", "94305 1234 zorpn't zorp's zorp", "<LOCATION> <NUMBER> not zorp zorp"),
        ("es", "730 20min zorp's", "<TIME> 20min zorp's"),
        ("th", "94305 730 7.30", "<NUMBER> <NUMBER> <TIME>"),
        ("th", "\u0e01\u0e012 2\u0e01", "<TIME> <TIME>"),
    ],
)
def test_marks(language, tokens, wanted):
    assert nlu.delexicalised(tokens.split(), language) == tuple(wanted.split())


class Ones:
    dim = 4

    def lookup(self, language, words):
        assert not {"", "<TIME>"} & set(words)
        return np.ones((len(words), 4), dtype=np.float32), np.ones(len(words), dtype=np.int8)


def test_a_mark_has_one_vector_in_all_languages_and_an_empty_token_has_none():
    vectors = nlu.WithMarks(Ones())
    first, kind = vectors.lookup("en", ["zorp", "<TIME>", "", "<NUMBER>"])
    second, _ = vectors.lookup("th", ["<NUMBER>", "<TIME>"])
    assert kind.tolist() == [1, 1, 0, 1]
    assert first[0].tolist() == [1, 1, 1, 1]
    assert first[2].tolist() == [0, 0, 0, 0]
    np.testing.assert_array_equal(first[[3, 1]], second)
    assert not np.array_equal(first[1], first[3])
