"""Zero resource: what training and selection may not see; scores, averages and gates of a trial."""

from dataclasses import replace

import pytest
import torch

from tests.papers.man_moe.small_models import make_settings
from xlrepro.papers.man_moe import data
from xlrepro.papers.man_moe import run as transfer
from xlrepro.papers.man_moe.data import POLARITY, Example
from xlrepro.trials import Trial, TrialContext

pytestmark = pytest.mark.usefixtures("invented_vectors")


def trial_of(settings, columns):
    return Trial.create(
        experiment="man_moe/table4", systems=("without:MAN-MoE",), columns=columns,
        settings=settings.model_dump(mode="json", exclude_defaults=True),
        profile="smoke", seed=0, task="man_moe/transfer",
    )  # fmt: skip


def trained(settings, seed=0):
    return transfer.train_transfer(transfer.transfers(settings)[0], seed, TrialContext())


def garbled(examples, classes=None):
    """Return the examples with each label turned into the next one of those that they have."""
    names = sorted(classes or {name for example in examples for name in example.gold})
    assert len(names) > 1
    following = dict(zip(names, names[1:] + names[:1], strict=True))
    return [Example(e.tokens, tuple(following[name] for name in e.gold)) for e in examples]


@pytest.fixture
def garble_target(monkeypatch):
    """Return a function that turns every label of the target into another, before anyone reads it.

    Labels leave ``data`` through one function alone.
    """
    labelled = data.labelled

    def turned(settings, language, *more):
        found = labelled(settings, language, *more)
        classes = POLARITY if settings.task == "reviews" else None
        return garbled(found, classes) if language == "de" else found

    return lambda: monkeypatch.setattr(data, "labelled", turned)


@pytest.fixture
def token_accuracy(monkeypatch):
    """Score spans by the share of right tags: a model that finds no span has F1 0 whatever is gold.

    So F1 of a small model would not move, were it to be taken of the wrong labels.
    """

    def share(gold, predicted):
        pairs = [pair for tags in zip(gold, predicted, strict=True) for pair in zip(*tags)]
        return 100 * sum(true == guessed for true, guessed in pairs) / len(pairs)

    monkeypatch.setattr(transfer.metrics, "span_f1", share)


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


TASKS = pytest.mark.parametrize(
    ("task", "domains"), [("NER", ()), ("SF", ("Calendar",)), ("reviews", ("books",))]
)


@TASKS
@pytest.mark.usefixtures("token_accuracy")
def test_no_label_of_the_target_reaches_training_or_selection(garble_target, task, domains):
    settings = make_settings(task=task, domains=domains)
    before = trained(settings)
    garble_target()
    after = trained(settings)
    assert after.fit.dev_scores == before.fit.dev_scores
    assert after.fit.best_epoch == before.fit.best_epoch
    assert torch.equal(weights(after.model), weights(before.model))


def test_selection_is_by_the_mean_score_of_all_sources_on_dev(monkeypatch):
    given, asked, labelled = iter([10.0, 20.0, 60.0] * 2), [], data.labelled
    monkeypatch.setattr(transfer, "score", lambda *_: next(given))
    monkeypatch.setattr(data, "labelled", lambda *g: asked.append((g[3], g[1])) or labelled(*g))
    settings = make_settings(epochs=1)
    found = trained(settings)
    assert asked == [(split, code) for split in ("train", "dev") for code in ("en", "es", "nl")]
    assert set(found.fit.dev_scores) == {30.0}
    found.model.train()
    transfer.evaluate(found, transfer.transfers(settings)[0])
    assert not found.model.training


@pytest.mark.parametrize("task", ["NER", "SF", "reviews"])
def test_a_trial_fills_its_columns_with_percentages(task):
    domains = () if task == "NER" else ("Files", "Calendar")
    settings = make_settings(task=task, domains=domains, epochs=1)
    columns = ("de", "avg") if task == "NER" else ("de/Files", "de/Calendar", "de/avg")
    result = transfer.transfer(trial_of(settings, columns), TrialContext())
    values = {c.column: c.value for c in result.cells}
    assert tuple(values) == columns
    assert all(0 <= value <= 100 for value in values.values())
    others = [value for column, value in values.items() if "avg" not in column]
    assert values[columns[-1]] == pytest.approx(sum(others) / len(others))
    assert result.training_tokens > 0
    assert {c.metric for c in result.cells} == set(result.signatures)


def test_gate_weights_are_means_over_tokens_then_texts(monkeypatch):
    settings = make_settings(epochs=1)
    of = transfer.transfers(settings)[0]
    model = trained(settings)
    all_texts = of.text("de", "dev")
    alone = []
    for one in all_texts:
        monkeypatch.setattr(data, "text", lambda *names, one=one: [one])
        alone.append(transfer.gate_weights(model, of)["es"])
    monkeypatch.setattr(data, "text", lambda *names: all_texts)
    expected = sum(alone) / len(alone)
    assert transfer.gate_weights(model, of)["es"] == pytest.approx(expected, abs=1e-6)


def test_initial_weights_follow_from_the_seed():
    still = make_settings(epochs=1, learning_rate=1e-12)
    first, again, other = (weights(trained(still, seed).model) for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.allclose(first, other, atol=1e-3)


def test_a_second_score_leaves_out_sentences_that_begin_with_a_word(monkeypatch):
    settings = make_settings(epochs=1)
    model, (of,) = trained(settings), transfer.transfers(settings)
    examples = of.labelled("de", "test")
    first = examples[0].tokens[0]
    others = [e for e in examples if e.tokens[0] != first]
    assert transfer.evaluate(model, of)[1] == {}
    leaving = replace(of, settings=settings.model_copy(update={"left_out": (first,)}))
    whole, without = transfer.evaluate(model, leaving)
    assert whole == transfer.evaluate(model, of)[0]
    assert without["sentences"] == len(examples) - len(others) > 0
    monkeypatch.setattr(data, "labelled", lambda *names: others)
    assert without["score"] == transfer.evaluate(model, of)[0]


def test_a_gate_is_right_where_a_token_s_own_expert_has_most_weight(monkeypatch):
    settings = make_settings(epochs=1)
    model, (of,) = trained(settings), transfer.transfers(settings)
    gate = model.model.private.gate.linear
    with torch.no_grad():
        gate.weight.zero_()
        gate.bias.copy_(torch.tensor([0.0, 1.0, 0.0]))
    assert transfer.gate_accuracy(model, of) == {"en": 0.0, "es": 100.0, "nl": 0.0}
