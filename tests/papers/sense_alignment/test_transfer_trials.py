"""Trials of Tables 2 to 5: which language model, which map and which data each row has."""

import pytest

from xlrepro import experiments
from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.sense_alignment import transfer, transfer_data
from xlrepro.papers.sense_alignment.settings import DisambiguationSettings
from xlrepro.papers.sense_alignment.systems import (
    FROM_STATES,
    ONE_SENSE,
    ORTHOGONAL,
    TRANSFER,
    changes,
    language_model,
)


@pytest.mark.parametrize("name", ["table3", "table4", "table5"])
def test_every_system_has_the_language_model_that_its_name_says(name):
    table = experiments.experiment(f"sense_alignment/{name}")
    rows = [system.identifier for system in table.systems]
    trials = table.trials("open", rows, seeds=[0])
    assert {system for trial in trials for system in trial.systems} == set(rows)
    for trial in trials:
        (model,) = {TRANSFER[system.split(":", 1)[1]][0] for system in trial.systems}
        settings = transfer.validated(trial.settings, "test", transfer.TransferSettings)
        read = settings.source_model
        assert (settings.target_model is not None) == (model.removesuffix(ORTHOGONAL) == "ELMo")
        assert (settings.map == "orthogonal") == model.endswith(ORTHOGONAL)
        assert read.dictionary == model.startswith("Bi-SaELMo")
        several = model.startswith("Bi-SaELMo") and not model.endswith(ONE_SENSE)
        assert read.senses.senses == (3 if several else 1)
        assert (read.senses.begin == "states") == model.endswith(FROM_STATES)


def test_rows_of_table_2_have_the_language_model_that_their_name_says():
    table = experiments.experiment("sense_alignment/table2")
    rows = [s.identifier for s in table.systems if not s.identifier.startswith("baseline:")]
    trials = table.trials("open", rows, seeds=[0])
    assert {system for trial in trials for system in trial.systems} == set(rows)
    for trial in trials:
        (name,) = {system.split(":", 1)[1] for system in trial.systems}
        model = DisambiguationSettings.model_validate(trial.settings).model
        assert model.network.family == ("bert" if "BERT" in name else "bilm")
        assert model.senses.senses == (5 if name.startswith("Sa") else 1)
        assert (model.senses.begin == "states") == name.endswith(FROM_STATES)


def test_a_trial_fills_the_rows_with_and_without_w():
    """They share the head: W changes nothing in English."""
    table = experiments.experiment("sense_alignment/table3")
    trials = table.trials("smoke", seeds=[0])
    assert {len(trial.systems) for trial in trials} == {2}
    for trial in trials:
        assert [TRANSFER[s.split(":", 1)[1]][1] for s in trial.systems] == [False, True]


def test_one_target_alone_has_the_trials_that_it_has_among_all():
    table = experiments.experiment("sense_alignment/table3")
    every = table.trials("open", seeds=[0])
    german = table.trials("open", seeds=[0], overrides={"targets": "de"})
    assert {t.key for t in german} == {t.key for t in every if t.columns == ("de",)}
    with pytest.raises(SettingsError, match="are de, es, zh"):
        table.trials("open", overrides={"targets": "xx"})


def test_the_dictionary_of_w_is_among_the_data_whatever_the_language_model():
    for name in ("table3", "table4", "table5"):
        table = experiments.experiment(f"sense_alignment/{name}")
        for trial in table.trials("open", seeds=[0]):
            target = trial.settings["target"]
            assert f"muse-full/en-{target}" in dict(trial.data)


@pytest.mark.parametrize(
    ("table", "target", "files"),
    [
        ("table3", "de", ["conll-ner/en/train", "conll-ner/en/dev", "conll-ner/de/test"]),
        ("table4", "jp", [f"cls-acl10/{part}.tsv" for part in ("en/music/dev", "ja/dvd/test")]),
        ("table5", "zh", ["multinli/train.tsv", "multinli/dev.tsv"]),
    ],
)
def test_supplied_corpora_are_asked_for_by_name_and_then_name_the_trial(
    monkeypatch, tmp_path, table, target, files
):
    monkeypatch.setattr(transfer_data, "supplied_dir", lambda: tmp_path)
    monkeypatch.setattr(transfer_data.conll_ner, "supplied_dir", lambda: tmp_path)

    def trials():
        return experiments.experiment(f"sense_alignment/{table}").trials(
            "paper", seeds=[0], overrides={"targets": target}
        )

    with pytest.raises(DataError) as error:
        trials()
    for file in files:
        assert file.removeprefix("conll-ner/") in str(error.value)
    for code, split in [("en", "train"), ("en", "dev"), ("de", "test"), ("ja", "test")]:
        names = [f"conll-ner/{code}/{split}", f"multinli/{split}.tsv"]
        names += [f"cls-acl10/{code}/{d}/{split}.tsv" for d in ("books", "music", "dvd")]
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("x")
    before = trials()[0]
    (tmp_path / files[0]).write_text("xx")
    assert trials()[0].key != before.key


def test_changed_settings_reach_the_language_model_and_the_head():
    table = experiments.experiment("sense_alignment/table3")
    (trial, *_) = table.trials("smoke", overrides={"steps": 7, "epochs": 2, "longest": 9})
    settings = transfer.validated(trial.settings, "test", transfer.TransferSettings)
    assert settings.source_model.training.steps == 7
    assert settings.tagger.epochs == 2
    assert settings.longest == 9
    with pytest.raises(SettingsError, match="nonsense"):
        table.trials("smoke", overrides={"nonsense": 1})


def test_with_one_sense_nothing_but_the_dictionary_tells_bi_saelmo_from_joint_elmo():
    one, joint = (
        language_model("open", name, "de") for name in ("Bi-SaELMo (one sense)", "Joint-ELMo")
    )
    assert one.dictionary
    assert one.model_copy(update={"dictionary": False}) == joint


def test_the_softmax_is_one_setting_of_every_model():
    changed = changes({"softmax": {"kind": "full"}})
    for name in ("ELMo", "SaELMo", "Joint-ELMo", "Bi-SaELMo", "Bi-SaELMo (one sense)"):
        assert language_model("open", name, "de", changed).senses.softmax.kind == "full"


@pytest.mark.parametrize(
    ("table", "row", "overrides", "said"),
    [
        ("tables6_8", "alive:SaELMo", {"nonsense": 5}, "nonsense"),
        ("tables6_8", "arithmetic:bilingual", {"nonsense": 5}, "nonsense"),
        ("table2", "wsd-time:SaELMo", {"steps": 99}, "steps of their own"),
    ],
)
def test_a_setting_that_a_row_does_not_have_is_refused(table, row, overrides, said):
    experiment = experiments.experiment(f"sense_alignment/{table}")
    with pytest.raises(SettingsError, match=said):
        experiment.trials("open", [row], seeds=[0], overrides=overrides)
