"""RAMEN's experiments: rows, trials, shared trainings, data that may be trained on."""

import pytest

from xlrepro.errors import DeviceError, SettingsError
from xlrepro.experiments import experiment
from xlrepro.papers.ramen import evaluation, experiments, recipes
from xlrepro.papers.ramen.data import labelled
from xlrepro.papers.ramen.fine_tuning import trial as fine_tuning
from xlrepro.papers.ramen.fine_tuning.settings import FineTuningSettings
from xlrepro.papers.ramen.settings import EvaluationSettings, validated
from xlrepro.papers.ramen.stages import adaptation
from xlrepro.trials.tasks import load_task
from xlrepro.trials.trial import TrialContext

KEYS = ("table1", "table2", "table3", "table4", "figure2")
STAGE = {"updates": 2, "sequences": 4, "length": 16}
ENGLISH = {"model": "own", "vocabulary": 150, "dim": 8, "layers": 1, "heads": 2, "ff_dim": 16}
TINY = {
    "targets": ("fr",),
    "words": 400,
    "pairs": 40,
    "vocabulary": 150,
    "train": 12,
    "test": 6,
    "english": {**ENGLISH, "positions": 96, "head": STAGE, "all": STAGE},
    "embeddings": STAGE,
    "bilingual": STAGE,
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path_factory.getbasetemp() / "ramen"))


def settings_of(trial):
    return validated(trial.settings, trial.label, EvaluationSettings)


@pytest.mark.parametrize("key", KEYS)
def test_every_trial_has_valid_settings_and_a_task(key):
    for profile in ("smoke", "open"):
        for trial in experiment(f"ramen/{key}").trials(profile):
            tuned = "-tuned:" in trial.systems[0]
            assert load_task(trial.task) is (fine_tuning.run if tuned else evaluation.run)
            kind = FineTuningSettings if tuned else EvaluationSettings
            assert validated(trial.settings, trial.label, kind).targets


def test_table_3_takes_its_rows_on_vectors_from_tables_1_and_2():
    table3 = experiment("ramen/table3")
    trials = table3.trials("smoke", ["xnli:RAMEN-BASE + RoBERTa, vec", "ud-ours:par"])
    own = {
        t.key for name in ("table1", "table2") for t in experiment(f"ramen/{name}").trials("smoke")
    }
    assert {t.key for t in trials} <= own
    filled = {address for t in trials for address in table3.fills(t)}
    assert ("xnli:RAMEN-BASE + RoBERTa, vec", "fr") in filled
    assert ("ud-ours:par", "hi") in filled


def test_rows_on_one_model_share_its_recipe_and_others_do_not():
    def made(key, system):
        trial, *_ = experiment(f"ramen/{key}").trials("smoke", [system], None, {"targets": ("fr",)})
        return dict(trial.data)["bilingual/fr"]

    mono = made("table1", "base:RAMEN-BASE + BERT (mono)")
    assert mono == made("table2", "base:RAMEN-BASE + BERT (mono)")
    assert mono == made("figure2", "checkpoints:RAMEN-BASE + RoBERTa")
    random = made("table3", "xnli:RAMEN-BASE + RoBERTa, rnd")
    parallel = made("table1", "base:RAMEN-BASE + BERT (parallel)")
    text = made("table3", "xnli-ours:rnd, spread of the text")
    assert len({mono, random, parallel, text}) == 4


@pytest.mark.parametrize(
    ("system", "key"),
    [
        ("base:RAMEN-BASE + BERT (mono)", "table2"),
        ("xnli:RAMEN-BASE + RoBERTa, rnd", "table3"),
        ("bert:RAMEN-BASE + BERT", "table4"),
        ("checkpoints:RAMEN-BASE + RoBERTa", "figure2"),
    ],
)
def test_a_trial_fills_its_cells(system, key):
    for trial in experiment(f"ramen/{key}").trials("smoke", [system], [0], TINY)[:2]:
        result = evaluation.run(trial, TrialContext())
        assert [(c.system, c.column) for c in result.cells] == [(system, c) for c in trial.columns]
        assert all(0 <= cell.value <= 100 for cell in result.cells)
        log = result.details["adaptation"]["fr"]
        assert log["end"]["pieces"] > 0


def test_a_trial_repeated_from_an_empty_cache_gives_the_same_numbers(tmp_path, monkeypatch):
    (trial,) = experiment("ramen/table2").trials(
        "smoke", ["base:RAMEN-BASE + BERT (parallel)"], [3], TINY
    )
    cells = []
    for name in ("one", "two"):
        monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / name))
        evaluation._bilingual.cache_clear()
        cells.append(evaluation.run(trial, TrialContext()).cells)
    assert cells[0] == cells[1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"no_such": 1},
        {"learning_rate": -1.0},
        {"vocabulary": 0},
        {"precision": "half"},
    ],
)
def test_unknown_or_impossible_settings_are_one_line(wrong):
    with pytest.raises(SettingsError) as error:
        experiment("ramen/table1").trials("smoke", None, [0], wrong)
    assert "\n" not in str(error.value)


def test_mixed_precision_on_a_cpu_is_one_line():
    (trial,) = experiment("ramen/table1").trials(
        "smoke", ["base:RAMEN-BASE + BERT (mono)"], [0], {**TINY, "words": 401}
    )
    settings = recipes.adaptation_of(settings_of(trial), "fr")
    with pytest.raises(DeviceError, match="CUDA"):
        adaptation.folder(settings.model_copy(update={"precision": "mixed"}))


@pytest.mark.parametrize("language", ["en", "fr", "hi"])
def test_labels_of_artificial_pairs_are_balanced_and_alike_in_every_language(language):
    pairs = labelled.inference("artificial", language, "test", 30)
    assert [p.label for p in pairs] == [0, 1, 2] * 10
    assert all(p.premise != p.hypothesis for p in pairs)


def test_every_row_has_all_six_languages():
    trials = experiment("ramen/table4").trials("open", None, [0])
    columns = {
        row: {c for t in trials if row in t.systems for c in t.columns}
        for row in experiments.TABLE4
    }
    assert columns["mbert:mBERT"] == {"fr", "ru", "ar", "hi", "vi", "zh"}
    assert columns["bert:RAMEN-BASE + BERT"] == columns["mbert:mBERT"]


@pytest.mark.mirror
@pytest.mark.parametrize("language", ["fr", "ru", "ar", "hi", "vi", "zh"])
def test_no_tree_is_in_two_splits_of_the_supervised_treebanks(language):
    splits = [labelled.trees("open", language, p, None, True) for p in ("train", "dev", "test")]
    forms = [{tuple(s.tokens) for s in split if len(s) > 5} for split in splits]
    assert all(len(split) >= 50 for split in splits)
    assert not forms[0] & forms[2] or len(forms[0] & forms[2]) < 0.01 * len(forms[2])


@pytest.mark.mirror
def test_no_english_premise_is_both_trained_on_and_selected_with():
    train, dev = (labelled.inference("open", "en", part, None) for part in ("train", "dev"))
    assert not {p.premise for p in train} & {p.premise for p in dev}
    assert len(dev) == pytest.approx(2490 / 5, abs=10)
    assert len(train) + len(dev) == 2490 + 5000
