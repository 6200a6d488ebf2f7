"""Zero resource: what training and selection may not see; scores, averages and gates of a trial."""

from dataclasses import replace

import pytest
import torch

from tests.papers.man_moe.small_models import make_settings
from xlrepro.papers.man_moe import data, sweep, transfer
from xlrepro.papers.man_moe.data import Example
from xlrepro.papers.man_moe.settings import transfer_settings
from xlrepro.trials.trial import Trial, TrialContext

pytestmark = pytest.mark.usefixtures("invented_vectors")


OTHER = {"positive": "negative", "negative": "positive", "B-LOC": "O"}


def trial_of(settings, columns, system="without:MAN-MoE"):
    return Trial.create(
        experiment="man_moe/table4",
        systems=(system,),
        columns=columns,
        profile="smoke",
        seed=0,
        settings=settings.model_dump(mode="json", exclude_defaults=True),
        data={},
        runner=transfer.__name__ + ":run",
    )


def trained(settings, seed=0):
    return transfer.train_transfer(transfer.transfers(settings)[0], seed)


@pytest.fixture
def garbled_target(monkeypatch):
    """Turn every label of the target, in every split, into another one."""
    plain = data.labelled

    def labelled(settings, language, domain, split):
        found = plain(settings, language, domain, split)
        if language != "de":
            return found
        return [Example(e.tokens, tuple(OTHER.get(tag, "B-LOC") for tag in e.gold)) for e in found]

    monkeypatch.setattr(data, "labelled", labelled)


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


@pytest.mark.parametrize("task", ["NER", "reviews"])
def test_no_label_of_the_target_reaches_training_or_selection(request, task):
    settings = make_settings(task=task)
    before = trained(settings)
    request.getfixturevalue("garbled_target")
    after = trained(settings)
    assert after.fit.dev_scores == before.fit.dev_scores
    assert torch.equal(weights(after.model), weights(before.model))


def test_labels_of_the_target_are_asked_for_only_to_score_its_test_set(monkeypatch):
    asked, plain = [], data.labelled
    monkeypatch.setattr(
        data,
        "labelled",
        lambda s, code, d, split: asked.append((code, split)) or plain(s, code, d, split),
    )
    transfer.run(trial_of(make_settings(epochs=1), ("de", "avg")), TrialContext())
    own = [(code, split) for code, split in asked if code == "de"]
    assert own == [("de", "test")]
    assert asked[-1] == ("de", "test")


def test_selection_on_target_dev_does_see_its_labels(request):
    settings = make_settings(task="reviews", select_on="target_dev")
    before = trained(settings).fit.dev_scores
    request.getfixturevalue("garbled_target")
    # Every label is turned round, and no prediction is: what was right is wrong.
    assert trained(settings).fit.dev_scores == [100 - score for score in before] != before


def test_text_without_labels_is_that_of_the_labelled_texts():
    settings = make_settings()
    labelled = data.labelled(settings, "de", None, "train")
    assert data.text(settings, "de", None) == [e.tokens for e in labelled]


def test_languages_do_not_say_the_same_sentence_by_sentence():
    settings = make_settings(task="SF")
    gold = [
        [e.gold for e in data.labelled(settings, code, "Calendar", "train")]
        for code in ("en", "es")
    ]
    assert [sorted(set(g)) for g in gold[0]] != [sorted(set(g)) for g in gold[1]]


def test_one_source_is_english_unless_told():
    settings = make_settings(single_source=True, single_sources={"en": "es"})
    assert settings.sources("de") == ("en",)
    assert settings.sources("en") == ("es",)
    assert make_settings().sources("de") == ("en", "es", "nl")


@pytest.mark.parametrize("task", ["NER", "SF", "reviews"])
def test_a_trial_fills_its_columns_with_percentages(task):
    domains = () if task == "NER" else ("Files", "Calendar")
    settings = make_settings(task=task, domains=domains, epochs=1)
    columns = ("de", "avg") if task == "NER" else ("de/Files", "de/Calendar", "de/avg")
    result = transfer.run(trial_of(settings, columns), TrialContext())
    values = {c.column: c.value for c in result.cells}
    assert tuple(values) == columns
    assert all(0 <= value <= 100 for value in values.values())
    others = [value for column, value in values.items() if "avg" not in column]
    assert values[columns[-1]] == pytest.approx(sum(others) / len(others))
    assert result.training_tokens > 0
    assert {c.metric for c in result.cells} == set(result.signatures)


def test_gate_weights_are_a_distribution_over_the_sources():
    settings = make_settings(epochs=1)
    found = transfer.gate_weights(trained(settings), transfer.transfers(settings)[0])
    assert list(found) == ["en", "es", "nl"]
    assert sum(found.values()) == pytest.approx(1.0)


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


def test_there_are_no_gate_weights_without_private_experts():
    settings = make_settings({"private_experts": False}, epochs=1)
    assert transfer.gate_weights(trained(settings), transfer.transfers(settings)[0]) == {}


def test_a_sweep_trial_gives_the_average_of_its_target_over_domains():
    settings = make_settings(task="SF", domains=("Files", "Calendar"), epochs=1)
    swept = trial_of(settings, ("0.3",), "sweep:lambda_1")
    plain = trial_of(settings, ("de/avg",))
    assert swept.settings == plain.settings
    (cell,) = sweep.run(swept, TrialContext()).cells
    (same,) = transfer.run(plain, TrialContext()).cells
    assert (cell.column, cell.value) == ("0.3", same.value)


def test_padding_of_evaluation_batches_changes_no_prediction(monkeypatch):
    settings = make_settings(epochs=1)
    model = trained(settings)
    of = transfer.transfers(settings)[0]
    score = transfer.evaluate(model, of)
    monkeypatch.setattr(transfer, "EVALUATION_TOKENS", 1)  # a text at a time
    assert transfer.evaluate(model, of) == pytest.approx(score)


def test_presets_of_model_settings_can_be_overridden_by_name():
    settings = transfer_settings("ner", "smoke", {}, {"expert_dim": 5, "lambda2": 3.0})
    assert (settings.model.expert_dim, settings.lambda2) == (5, 3.0)


def test_a_trial_is_repeated_exactly():
    trial = trial_of(make_settings(epochs=1), ("de", "avg"))
    first, second = (transfer.run(trial, TrialContext()) for _ in range(2))
    assert first.cells == second.cells
    again = transfer.run(replace(trial, seed=1), TrialContext())
    assert (
        again.details["experiments"]["de"]["losses"] != first.details["experiments"]["de"]["losses"]
    )
