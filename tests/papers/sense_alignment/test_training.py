"""Training: the plain model's steps, warm-ups, resuming to the same bits, finished models."""

import copy

import pytest
import torch
from torch import nn

from tests.papers.sense_alignment.small_models import BERT, BILM, corpus, same_bits, settings
from xlrepro.papers.sense_alignment import softmax, text, training
from xlrepro.papers.sense_alignment.text import Corpus
from xlrepro.papers.sense_alignment.training import Run, pretrain

FAILING = {"every": 1, "after": 1, "window": 3, "frequency": 1.0}  # all senses but the best one
KINDS = {
    "biLM": settings({"pruning": FAILING}, {**BILM, "dropout": 0.1}),
    "from states": settings({"begin": "states", "warmup": "copied", "warmup_steps": 5}),
    "BERT": settings({"warmup": "tied"}, {**BERT, "dropout": 0.1}),
    "BERT from states": settings({"begin": "states", "warmup": "tied", "warmup_steps": 5}, BERT),
    "two languages as at open": settings(  # translations, empty states at each window, sampling
        {"warmup": "copied", "negatives": 9, "pruning": FAILING},
        training={"stateful": False},
        joint=True,
        dictionary=True,
    ),
}


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    """A checkpoint every three steps."""
    monkeypatch.setattr(training, "CHECKPOINT_EVERY", 3)


def broken(monkeypatch, at, *given):
    """Train until step ``at``, in which the process breaks off."""
    whole = Run.step

    def step(self, number):
        if number == at:
            raise KeyboardInterrupt
        return whole(self, number)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "step", step)
        with pytest.raises(KeyboardInterrupt):
            pretrain(*given)


@pytest.mark.parametrize("chosen", KINDS.values(), ids=KINDS)
def test_interrupted_and_resumed_training_ends_with_the_same_bits(tmp_path, monkeypatch, chosen):
    read = text.read(chosen, ("en", "de")) if chosen.joint else corpus()
    whole, undisturbed = pretrain(chosen, read, tmp_path / "whole.pt")
    for stop in (4, 7):  # one step after a checkpoint
        broken(monkeypatch, stop, chosen, read, tmp_path / "broken.pt")
    resumed, progress = pretrain(chosen, read, tmp_path / "broken.pt")
    assert progress.step_losses == undisturbed.step_losses
    assert resumed.alive == whole.alive
    assert same_bits(whole.model, resumed.model)
    if chosen.senses.pruning:
        assert not bool(whole.model.parts()[0].on[:, 1:].all())


def test_the_seed_decides_initial_weights_and_what_is_read():
    runs = [Run(settings(seed=seed), corpus(), "cpu") for seed in (0, 0, 1)]
    first, again, other = (run.text.window(0) for run in runs)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert same_bits(runs[0].model, runs[1].model)
    assert not same_bits(runs[0].model, runs[2].model)


def test_berts_warm_up_is_tied_and_then_all_senses_begin_as_its_word_vectors():
    run = Run(settings({"warmup": "tied", "warmup_steps": 3}, BERT), corpus(), "cpu")
    for number in range(3):
        run.step(number)
    embedding = run.model.encoder.words.weight.detach().clone()
    run._begin(3)
    for vectors in run.model.output.vectors.values.view(19, 3, -1).unbind(1):
        assert torch.equal(vectors, embedding)
    assert run._optimizer.state == {}
    # Linear from the first step on, of eight steps at first, then of the five that are left.
    shares = [run._rate(number) / 0.003 for number in range(8)]
    assert shares == pytest.approx([1, 1, 6 / 7, 1, 1, 3 / 4, 2 / 4, 1 / 4])


@pytest.mark.parametrize("stateful", [True, False])
def test_a_window_begins_with_an_empty_state_unless_it_is_carried_over(stateful):
    """The loss of a later window is that of its text read for itself, or it is not."""
    chosen = settings({"senses": 1}, training={"stateful": stateful, "learning_rate": 1e-9})
    run = Run(chosen, corpus(), "cpu")
    run.step(0)
    words = run.text.window(1)
    alone, _ = run.model.loss(words, run._targets[words], None, 1, chosen.seed)
    assert (run.step(1).loss == pytest.approx(float(alone.detach()), abs=1e-9)) is not stateful


def test_held_out_text_costs_what_is_predicted_from_the_words_before_and_behind():
    """Each word from a text that ends before it: an explicit loop, in either direction."""
    run = Run(settings(), corpus(known=5, unknown=3), "cpu")
    for step in range(4):  # senses are several by then
        run.step(step)
    model, sentence = run.model.eval(), [5, 11, 7, 4]  # 11 is predicted as unknown
    losses = []
    for d, line in enumerate(([0, *sentence, 1], [1, *sentence[::-1], 0])):
        part = model.parts()[d]
        vectors = part.vectors.values.view(part.words, part.slots, -1)
        for k in range(1, len(line)):
            read = torch.tensor(line[:k]).expand(2, 1, -1)
            state = model.encoder(model.encoder.vectors(read, model.characters))[0][-1][d, 0, -1]
            scores = (vectors @ state).exp() * part.on
            word = line[k] if line[k] < run.text.corpus.known else 2
            losses.append(-(scores[word].sum() / scores.sum()).log())

    def cost(*texts):
        held_out = Corpus.of([], run.text.corpus.known, [[1]], held_out={"en": list(texts)})
        return torch.tensor(training.held_out(model, held_out, "en"), dtype=torch.double)

    expected = [float(torch.stack(losses).detach().sum()) / 2, 5]
    assert cost(sentence).tolist() == pytest.approx(expected, abs=1e-4)
    others = [5, 6], [4] * 9  # beside them it is padded
    alone = sum(map(cost, (sentence, *others)))
    torch.testing.assert_close(cost(sentence, *others), alone, rtol=0, atol=1e-3)


@pytest.mark.parametrize("network", [BILM, BERT], ids=["biLM", "BERT"])
def test_a_kept_model_is_the_trained_one(tmp_path, network):
    tied = {"warmup": "tied"} if network is BERT else {}
    chosen = settings({"pruning": FAILING, **tied}, network)
    kept = training.load(chosen, ("en",))
    corpus = text.read(chosen, ("en",))
    run, _ = pretrain(chosen, corpus, tmp_path / "again.pt")
    assert same_bits(kept.model, run.model)
    assert torch.equal(kept.parts[0].on, run.model.parts()[0].on)
    assert not kept.model.training
    assert kept.vocabulary == corpus.words[: corpus.known]


# With one sense the model is the plain language model: losses, gradients, weights, ten steps.

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


# In its warm-up the sense-aware model is the plain one, too.
ONE_SENSE = {
    "no choice": {"senses": 1},
    "warm-up": {"senses": 3, "warmup_steps": 99},
    "no choice, sampled": {"senses": 1, "negatives": 5},
    "warm-up, sampled": {"senses": 3, "warmup_steps": 99, "negatives": 5},
}


@pytest.mark.parametrize("norm", [10.0, 0.05])  # the latter cuts every gradient
@pytest.mark.parametrize("senses", ONE_SENSE.values(), ids=ONE_SENSE)
def test_ten_steps_with_one_sense_are_those_of_the_plain_model(monkeypatch, senses, norm):
    """The code's factor on the loss, the words of a window, counts before gradients are cut."""
    monkeypatch.setitem(training.CLIP_NORM, "bilm", norm)
    run = Run(settings(senses, training={"steps": STEPS}), corpus(), "cpu")
    plain = PlainLanguageModel(run.model)
    optimizer = torch.optim.Adagrad(plain.parameters(), lr=0.2, initial_accumulator_value=1.0)
    state = None
    for step in range(STEPS):
        words, samples = run.text.window(step), None
        if run.settings.senses.negatives:
            drawn = [part.negatives([0, step, d]) for d, part in enumerate(run.model.parts())]
            samples = [senses // run.model.parts()[0].slots for senses in drawn]
        loss, state = plain(words, run._targets[words], state, samples)
        optimizer.zero_grad()
        (4 * loss).backward()
        nn.utils.clip_grad_norm_(plain.parameters(), norm)
        gradients = [p.grad.clone() for p in plain.encoder.parameters()]
        optimizer.step()
        assert run.step(step).loss == pytest.approx(loss.item(), abs=1e-12)
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


# In mixed precision, which a CPU can compute too; tasks ask for a GPU, where it is fast.


def test_mixed_precision_halves_the_networks_products_alone(monkeypatch):
    """Not cells, what is known of senses, the sampled softmax, its loss, nor any gradient."""
    seen = []
    whole = softmax.joint_loss

    def loss(states, own, own_vectors, negatives, negative_vectors, two):
        seen.extend((states, own_vectors, negative_vectors))
        assert not torch.is_autocast_enabled("cpu")
        seen.append(whole(states, own, own_vectors, negatives, negative_vectors, two))
        return seen[-1]

    monkeypatch.setattr(softmax, "joint_loss", loss)
    run = Run(settings({"negatives": 9}, precision="mixed"), corpus(), "cpu")
    for number in range(4):
        run.step(number)
    for hidden, cell in run._carried:
        assert (hidden.dtype, cell.dtype) == (torch.bfloat16, torch.float32)
    seen += [p.grad for p in run.model.parameters()]
    seen += [b for b in run.model.buffers() if b.is_floating_point()]
    assert {x.dtype for x in seen} == {torch.float32}
