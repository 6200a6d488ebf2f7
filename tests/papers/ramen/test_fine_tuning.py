"""Heads with the encoder under them: what they read, what they tune, where they begin."""

import numpy as np
import pytest
import torch

from xlrepro.experiments import experiment
from xlrepro.papers.ramen import evaluation, reading, recipes
from xlrepro.papers.ramen.data import labelled
from xlrepro.papers.ramen.fine_tuning import trial as tuned_trial
from xlrepro.papers.ramen.fine_tuning.heads import layers_of, whole, words_of
from xlrepro.papers.ramen.fine_tuning.settings import FineTuningSettings
from xlrepro.papers.ramen.settings import validated
from xlrepro.trials.trial import TrialContext

STAGE = {"updates": 2, "sequences": 4, "length": 16}
ENGLISH = {"model": "own", "vocabulary": 150, "dim": 8, "layers": 2, "heads": 2, "ff_dim": 16}
TINY = {
    "targets": ("fr",),
    "words": 400,
    "pairs": 40,
    "vocabulary": 150,
    "train": 24,
    "test": 6,
    "english": {**ENGLISH, "positions": 96, "head": STAGE, "all": STAGE},
    "embeddings": STAGE,
    "bilingual": STAGE,
}
TUNED = {task: f"{task}-tuned:RAMEN-BASE + RoBERTa, rnd" for task in ("xnli", "ud")}
FROZEN = {task: f"{task}:RAMEN-BASE + RoBERTa, rnd" for task in ("xnli", "ud")}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path_factory.getbasetemp() / "ramen-tuned"))


def trial_of(system):
    (trial,) = experiment("ramen/table3").trials("smoke", [system], [0], TINY)
    return trial


def model_of(system):
    trial = trial_of(system)
    settings = validated(trial.settings, trial.label, FineTuningSettings)
    made = recipes.adaptation_of(settings, "fr")
    return reading.bilingual(made, "end")


@pytest.mark.parametrize("task", ["xnli", "ud"])
def test_a_trial_begins_where_the_tables_head_ends_and_fills_its_cell(task):
    trial = trial_of(TUNED[task])
    result = tuned_trial.run(trial, TrialContext())
    assert [(c.system, c.column) for c in result.cells] == [(TUNED[task], "fr")]
    curves = result.details["heads"]["fr"]
    frozen = evaluation.run(trial_of(FROZEN[task]), TrialContext()).details["heads"]["fr+end"]
    assert curves["frozen"]["dev_scores"] == frozen["dev"]
    assert len(curves["tuned"]["losses"]) == trial.settings["tuned_epochs"]
    assert curves["tuned"]["losses"][0] < curves["frozen"]["losses"][0]


@pytest.mark.parametrize("task", ["xnli", "ud"])
def test_layers_are_tuned_and_embeddings_of_both_languages_stay(task, monkeypatch):
    read, bilingual = [], reading.bilingual

    def kept(*arguments):
        read.append(bilingual(*arguments))
        return read[-1]

    monkeypatch.setattr(reading, "bilingual", kept)
    tuned_trial.run(trial_of(TUNED[task]), TrialContext())
    monkeypatch.undo()
    (after,), before = read, model_of(TUNED[task])
    changed = {
        name
        for language in ("en", "fr")
        for name, p in before.network(language).state_dict().items()
        if not torch.equal(p, after.network(language).state_dict()[name])
    }
    assert changed
    assert all(name.startswith("layers.") for name in changed)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_before_tuning_pieces_give_the_frozen_states(language):
    reader = model_of(TUNED["ud"])
    found = labelled.trees("artificial", language, "test", 5)
    words = [s.tokens for s in found]
    with torch.inference_mode():
        states = words_of(reader, language, words, 1).states(range(5))
        means = whole(reader, language, words, 1).means(range(5))
    expected = reader.words(language, words, 1)
    for i, sentence in enumerate(words):
        ours = states[i, : len(sentence)].numpy()
        np.testing.assert_allclose(ours, expected[i], atol=2e-3)
    np.testing.assert_allclose(means.numpy(), reader.texts(language, words, 1), atol=2e-3)


def test_a_sentence_too_long_keeps_a_piece_of_each_word():
    words = [["a" * 9, "b" * 9] * 20]  # 94 pieces at most
    texts = words_of(model_of(TUNED["ud"]), "en", words, 1)
    assert len(texts.reads[0]) == 40
    assert len(texts.ids[0]) <= 96
    assert texts.states([0]).shape[1] == 40


def test_layers_above_the_one_that_is_read_are_left_alone():
    network = model_of(TUNED["ud"]).network("en")
    layers_of(network, 1)
    tuned = {name for name, p in network.named_parameters() if p.requires_grad}
    assert tuned == {n for n, _ in network.named_parameters() if n.startswith("layers.0.")}


@pytest.mark.parametrize("name", ["rnd", "vec"])
def test_only_french_and_arabic_are_tuned_unless_others_are_named(name):
    table3 = experiment("ramen/table3")
    trials = table3.trials("open", [f"ud-tuned:RAMEN-BASE + RoBERTa, {name}"], [0])
    assert [t.columns for t in trials] == [("fr",), ("ar",)]
    assert {t.task for t in trials} == {"ramen/fine-tuning"}
    assert not any(trial.task == "ramen/fine-tuning" for trial in table3.trials("smoke"))
