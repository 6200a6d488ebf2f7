"""With one sense the model is the plain language model: losses, gradients, weights, ten steps."""

import copy

import pytest
import torch
from torch import nn

from tests.papers.sense_alignment.small_models import BERT, corpus, settings
from xlrepro.papers.sense_alignment.pretraining.training import Run
from xlrepro.training.steps import adamw

STEPS = 10
CLOSE = {"rtol": 0, "atol": 1e-12}


class PlainLanguageModel(nn.Module):
    """An ordinary biLM: the encoder, and a linear layer with cross-entropy per direction."""

    def __init__(self, model):
        super().__init__()
        self.encoder = copy.deepcopy(model.encoder)
        self.characters = model.characters
        self.outputs = nn.ParameterList(
            part.vectors.values.view(part.words, part.slots, -1)[:, 0].clone()
            for part in model.parts()
        )

    def forward(self, words, targets, state, samples=None):
        vectors = self.encoder.words(self.characters)[words]
        layers, state = self.encoder(vectors[:, :, :-1], state)
        losses = []
        for d in range(2):
            scores, gold = (layers[-1][d] @ self.outputs[d].T).flatten(0, 1), targets[d, :, 1:]
            if samples is not None:  # all but the sample and each token's own word leave the sum
                kept = nn.functional.one_hot(gold.flatten(), scores.shape[1]).bool()
                kept[:, samples[d]] = True
                scores = scores.masked_fill(~kept, -torch.inf)
            losses.append(nn.functional.cross_entropy(scores, gold.flatten()))
        return sum(losses) / 2, [(h.detach(), c.detach()) for h, c in state]


SAMPLED = {"kind": "sampled", "negatives": 5}
# In its warm-up the sense-aware model is the plain one, too.
ONE_SENSE = {
    "no choice": {"senses": 1},
    "warm-up": {"senses": 3, "warmup_steps": 99},
    "no choice, sampled": {"senses": 1, "softmax": SAMPLED},
    "warm-up, sampled": {"senses": 3, "warmup_steps": 99, "softmax": SAMPLED},
}


@pytest.mark.parametrize("norm", [10.0, 0.05])  # the latter cuts every gradient
@pytest.mark.parametrize("senses", ONE_SENSE.values(), ids=ONE_SENSE)
def test_ten_steps_with_one_sense_are_those_of_the_plain_model(senses, norm):
    run = Run(settings(senses, training={"steps": STEPS, "clip_norm": norm}), corpus(), "cpu")
    plain = PlainLanguageModel(run.model)
    optimizer = torch.optim.Adagrad(plain.parameters(), lr=0.2, initial_accumulator_value=1.0)
    state = None
    for step in range(STEPS):
        words, samples = run.batches.window(step), None
        if run.settings.senses.softmax.kind == "sampled":
            drawn = [
                part.sampler().draw([0, step, d])[0] for d, part in enumerate(run.model.parts())
            ]
            samples = [senses // run.model.parts()[0].slots for senses in drawn]
        loss, state = plain(words, run._targets[words], state, samples)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(plain.parameters(), norm)
        gradients = [p.grad.clone() for p in plain.encoder.parameters()]
        optimizer.step()
        assert run.update(step) == pytest.approx(loss.item(), abs=1e-12)
        ours = [p.grad for p in run.model.encoder.parameters()]
        for mine, theirs in zip(ours, gradients, strict=True):
            torch.testing.assert_close(mine, theirs, **CLOSE)
    for mine, theirs in zip(
        run.model.encoder.parameters(), plain.encoder.parameters(), strict=True
    ):
        torch.testing.assert_close(mine, theirs, **CLOSE)
    for part, theirs in zip(run.model.parts(), plain.outputs, strict=True):
        mine = part.vectors.values.view(part.words, part.slots, -1)[:, 0]
        torch.testing.assert_close(mine, theirs.data, **CLOSE)


def test_one_sampled_step_with_one_sense_is_torchs_cross_entropy_over_the_sample():
    chosen = {"senses": 1, "softmax": {"kind": "sampled", "negatives": 5}}
    run = Run(settings(chosen), corpus(), "cpu")
    plain = PlainLanguageModel(run.model)
    words = run.batches.window(0)
    targets = run._targets[words][:, :, 1:]
    layers, _ = plain.encoder(plain.encoder.words(plain.characters)[words][:, :, :-1], None)
    losses = []
    for d, part in enumerate(run.model.parts()):
        negatives, _ = part.sampler().draw([0, 0, d])
        for state, target in zip(layers[-1][d].flatten(0, 1), targets[d].flatten(), strict=True):
            kept = [int(target), *(n for n in negatives.tolist() if n != target)]
            logits = plain.outputs[d][kept] @ state
            losses.append(nn.functional.cross_entropy(logits, torch.tensor(0)))
    assert run.update(0) == pytest.approx(torch.stack(losses).mean().item(), abs=1e-12)


@pytest.mark.parametrize("senses", [{"senses": 1}, {"warmup": "tied", "warmup_steps": 99}])
def test_ten_steps_of_a_bert_with_one_sense_are_those_of_the_masked_language_model(senses):
    from xlrepro.nn.bert import BertSizes, MaskedLanguageModel

    text = corpus()
    run = Run(settings(senses, {**BERT, "dropout": 0.0}, {"steps": STEPS}), text, "cpu")
    sizes = {k: v for k, v in BERT.items() if k != "family"}
    plain = MaskedLanguageModel(BertSizes(text.known, **sizes, dropout=0.0)).double()
    plain.bert.load_state_dict(run.model.encoder.state_dict())
    for name in ("transform", "norm"):
        getattr(plain, name).load_state_dict(getattr(run.model, name).state_dict())
    names = {"bert": "encoder", "transform": "transform", "norm": "norm"}
    optimizer, ours = adamw(plain.parameters(), 0.003), dict(run.model.named_parameters())
    for step in range(STEPS):
        batch = run.batches.masked(step, text.known)
        loss = nn.functional.cross_entropy(plain(batch.ids, batch.hidden), batch.gold)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(plain.parameters(), run.settings.training.clip_norm)
        for group in optimizer.param_groups:
            group["lr"] = run._rate(step)
        optimizer.step()
        assert run.update(step) == pytest.approx(loss.item(), abs=1e-12)
        for name, theirs in plain.named_parameters():
            first, _, rest = name.partition(".")
            mine = ours[".".join([names.get(first, first), rest]).rstrip(".")]
            torch.testing.assert_close(mine.grad, theirs.grad, **CLOSE)
            torch.testing.assert_close(mine, theirs, **CLOSE)
