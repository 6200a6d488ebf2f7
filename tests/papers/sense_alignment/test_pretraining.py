"""Training: resuming to the same bits, batches, mixing of languages, and the record of a run."""

import numpy as np
import pytest
import torch

from tests.papers.sense_alignment.small_models import ADAM, BERT, BILM, corpus, same_bits, settings
from xlrepro.papers.sense_alignment.language_model.bilm import Window
from xlrepro.papers.sense_alignment.pretraining import artefacts, text
from xlrepro.papers.sense_alignment.pretraining.batches import Batches
from xlrepro.papers.sense_alignment.pretraining.text import Corpus, TextSettings
from xlrepro.papers.sense_alignment.pretraining.training import Run, pretrain
from xlrepro.papers.sense_alignment.systems import language_model

# One failure is enough, so that senses are given up before the second checkpoint.
FAILING = {"rule": "code", "every": 2, "after": 2, "window": 3, "frequency": 0.4, "floor": 0.6}
PRUNED = {"pruning": FAILING}
KINDS = {
    "biLM": ({**PRUNED}, {**BILM, "dropout": 0.1}),
    "sampled": ({"softmax": {"kind": "sampled", "negatives": 9, "bias": True}}, BILM),
    "code's centres": ({"centres": "decayed", "warmup": "copied"}, BILM),
    "from states": ({"begin": "states", "warmup": "copied", "warmup_steps": 5}, BILM),
    "BERT": ({"warmup": "tied", "fresh_batch": True}, BERT),
    "BERT from states": ({"begin": "states", "warmup": "tied", "warmup_steps": 5}, BERT),
}


@pytest.mark.parametrize(("senses", "network"), KINDS.values(), ids=KINDS)
def test_interrupted_and_resumed_training_ends_with_the_same_bits(tmp_path, senses, network):
    chosen, read = settings(senses, network), corpus()
    whole, undisturbed = pretrain(chosen, read, tmp_path / "whole.pt")
    pretrain(chosen, read, tmp_path / "broken.pt", stop_after=4)  # one step after the checkpoint
    pretrain(chosen, read, tmp_path / "broken.pt", stop_after=7)
    resumed, progress = pretrain(chosen, read, tmp_path / "broken.pt")
    assert progress.losses == undisturbed.losses
    assert resumed.alive == whole.alive
    assert same_bits(whole.model, resumed.model)
    if senses == PRUNED:
        assert not bool(whole.model.parts()[0].on[:, 1:].all())


def test_so_does_that_of_two_languages_as_at_open(tmp_path):
    """Translations, a text by tosses of a coin, empty states, sampling, the text's pruning."""
    senses = {
        "warmup": "copied",
        "softmax": {"kind": "sampled", "negatives": 9},
        "pruning": {"rule": "text", "every": 3, "after": 3, "frequency": 0.4},
    }
    training = {"mixing": "coin", "stateful": False, "steps": 14}
    chosen = settings(senses, training=training, languages=("en", "de"), dictionary=True)
    read = text.read(chosen)
    whole, undisturbed = pretrain(chosen, read, tmp_path / "whole.pt")
    for steps in (4, 7, 10):
        pretrain(chosen, read, tmp_path / "broken.pt", stop_after=steps)
    resumed, progress = pretrain(chosen, read, tmp_path / "broken.pt")
    assert progress.losses == undisturbed.losses
    assert same_bits(whole.model, resumed.model)
    assert not bool(whole.model.parts()[0].on.all())


def test_the_loss_falls():
    run = Run(settings(training={"steps": 60}), corpus(sentences=8), "cpu")
    losses = [run.step(number) for number in range(60)]
    assert np.mean(losses[-10:]) < np.mean(losses[5:15]) - 0.3


def test_an_epoch_reads_every_sentence_once():
    made, read = Batches(corpus(), settings()), corpus()
    words = sorted(w for s in read.sentences["en"] for w in s.tolist())
    assert sorted(made.text(3)[0][made.text(3)[0] > 1].tolist()) == words
    assert made.order(0).tolist() != made.order(1).tolist()


def test_a_coin_gives_both_languages_as_many_sentences():
    rows = {"en": [np.array([4, 5, 6])] * 300, "de": [np.array([7, 8, 9])] * 20}
    read = Corpus(list("abcdefghij"), 10, rows, {}, None)
    share = {}
    for mixing in ("joined", "coin"):
        chosen = settings(training={"mixing": mixing}, languages=("en", "de"))
        order = Batches(read, chosen).order(0)
        share[mixing] = float((order >= 300).mean())
    assert share["joined"] == 20 / 320
    assert share["coin"] == pytest.approx(0.5, abs=0.1)


def test_words_outside_the_vocabulary_are_read_as_they_are_and_predicted_as_unknown():
    run = Run(settings(), corpus(known=5, unknown=9), "cpu")
    words = run.batches.window(0)
    targets = run._targets[words]
    assert bool((words >= 9).any())
    assert bool((targets[words >= 9] == 2).all())
    assert torch.equal(targets[words < 9], words[words < 9])


def test_two_languages_share_one_vocabulary_and_translate_each_other():
    chosen = settings(languages=("en", "de"), dictionary=True)
    read = text.read(chosen)
    dictionary = set(text.pairs(chosen))
    found = 0
    for word, others in zip(read.words, read.translations, strict=False):
        for number in others[others >= 0].tolist():
            pair = (word, read.words[number])
            assert pair in dictionary or pair[::-1] in dictionary
            found += 1
    assert found
    assert set(read.sentences) == {"en", "de"}


def test_a_limit_keeps_the_first_translations():
    whole = text.read(settings(languages=("en", "de"), dictionary=True)).translations
    cut = text.read(settings({"translations": 1}, languages=("en", "de"), dictionary=True))
    assert cut.translations.shape[1] == 1
    assert torch.equal(cut.translations[:, 0], whole[:, 0])


def test_berts_warm_up_is_tied_and_then_all_senses_begin_as_its_word_vectors():
    run = Run(settings({"warmup": "tied", "warmup_steps": 3}, BERT), corpus(), "cpu")
    for number in range(3):
        run.step(number)
    embedding = run.model.encoder.pieces.weight.detach().clone()
    run._begin(3)
    for vectors in run.model.output.vectors.values.view(run.known, 3, -1).unbind(1):
        assert torch.equal(vectors, embedding)
    assert run._optimizer.state == {}
    # Linear from the first step on, of eight steps at first, then of the five that are left.
    shares = [run._rate(number) / ADAM["learning_rate"] for number in range(8)]
    assert shares == pytest.approx([1, 1, 6 / 7, 1, 1, 3 / 4, 2 / 4, 1 / 4])


@pytest.mark.parametrize("stateful", [True, False])
def test_a_window_begins_with_an_empty_state_unless_it_is_carried_over(stateful):
    """The loss of a later window is that of its text read for itself, or it is not."""
    chosen = settings({"senses": 1}, training={"stateful": stateful, "learning_rate": 1e-9})
    run = Run(chosen, corpus(), "cpu")
    run.step(0)
    words = run.batches.window(1)
    alone, _ = run.model.loss(Window(words, run._targets[words], None, 1, chosen.seed))
    assert (run.update(1) == pytest.approx(float(alone.detach()), abs=1e-9)) is not stateful


@pytest.mark.parametrize("name", ["ELMo", "SaELMo"])
def test_open_models_are_trained_on_text_that_begins_as_it_is_read_later(name):
    """With the state carried over, backward states of sentences read for themselves broke down."""
    assert not [p for p in ("open", "known") if language_model(p, name).training.stateful]


def test_the_gradient_is_that_of_the_mean_loss_times_the_unrolled_steps(monkeypatch):
    gradients = []
    for times in (False, True):
        run = Run(settings(training={"times_unroll": times}), corpus(), "cpu")
        monkeypatch.setattr(run, "_clip", lambda: None)
        run._optimizer.step = lambda run=run: gradients.append(run.tables()[0].gradient.clone())
        run.update(0)
    unroll = run.settings.training.unroll
    torch.testing.assert_close(gradients[1], unroll * gradients[0], rtol=1e-12, atol=0)


@pytest.mark.parametrize("fresh", [False, True])
def test_centres_of_bert_follow_the_batch_or_in_the_code_another_one(monkeypatch, fresh):
    chosen = settings({"warmup": "tied", "warmup_steps": 0, "fresh_batch": fresh}, BERT)
    run, seen = Run(chosen, corpus(), "cpu"), []
    monkeypatch.setattr(run.model.output, "observe", lambda words, *_: seen.append(words))
    run.update(0)
    (words,) = seen
    trained = run.batches.masked(0, run.known).gold
    assert torch.equal(words, run.batches.masked(0, run.known, again=int(fresh)).gold)
    assert torch.equal(words, trained) is not fresh


def test_held_out_sentences_are_not_trained_on(monkeypatch):
    sentences = [[f"{i}", "of", "them"] for i in range(9)]
    monkeypatch.setattr(text, "_artificial", lambda *_: iter([["short"], *sentences]))
    asked = TextSettings(source="artificial", words={"en": 12}, held_out=2, vocabulary=10)
    assert text.split("en", asked) == (sentences[2:6], sentences[:2])


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
            word = line[k] if line[k] < run.known else 2
            losses.append(-(scores[word].sum() / scores.sum()).log())
    text_alone = Corpus([], run.known, {}, {}, None)
    total, words = artefacts._held_out(model, text_alone, [np.array(sentence)])
    assert words == 5
    assert total == pytest.approx(float(torch.stack(losses).sum().detach()) / 2, abs=1e-4)


@pytest.mark.parametrize("centred", [False, True])
def test_a_kept_model_chooses_senses_as_in_its_training(centred):
    run = Run(settings({"centred": centred, "centres": "decayed"}), corpus(), "cpu")
    for step in range(6):
        run.step(step)
    part = run.model.parts()[0]
    words = torch.arange(part.words).repeat(20)
    states = torch.randn(len(words), 6, dtype=torch.double)
    everything = part.choose(words, states)
    part.on[::2, 1] = False
    kept = artefacts.Senses(**artefacts._senses(part))
    found = kept.choose(words, states)
    assert torch.equal(found, part.choose(words, states))
    assert not torch.equal(found, everything)
