"""What counts as a difference of two runs of one trial, and how a trial is shrunk."""

import pytest

from xlrepro.trials.witness.choice import shrunk
from xlrepro.trials.witness.comparison import differences


def result(value=90.0, unit="percent", **details):
    return {"cells": [["word:ORT", "en", value, "accuracy", unit]], "details": details}


def test_equal_results_have_no_difference():
    assert differences(result(curve=[1.0, 2.0]), result(curve=[1.0, 2.0])) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (result(90.0), result(90.0 + 2**-40), "cell word:ORT / en: 90.0 at the commit"),
        (result(dev_f1=[1.0, 2.0]), result(dev_f1=[1.0, 3.0]), "epoch 2 of dev_f1: 2.0"),
        (result(by_tag={"de": [1, 2]}), result(by_tag={"de": [1, 3]}), "detail by_tag.de[1]: 2"),
        (result(by_tag={"de": 1}), result(by_tag={}), "detail by_tag.de is gone"),
        (result(), result(parameters=3), "detail parameters is new"),
        (result(best=True), result(best=1), "detail best: True"),
    ],
)
def test_the_first_difference_is_named(old, new, said):
    assert differences(old, new)[0].startswith(said)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (result(seconds=1.0), result(seconds=2.0)),
        (result(de={"build_seconds": 1}), result(de={"build_seconds": 2})),
        (result(3.0, "seconds"), result(4.0, "seconds")),
        (result(settings={"dim": 8}), result(settings={"dim": 8, "precision": "single"})),
        (result(loss=float("nan")), result(loss=float("nan"))),
    ],
)
def test_seconds_and_new_settings_are_no_difference(old, new):
    assert differences(old, new) == []


def test_a_trial_is_shrunk_where_it_has_the_setting(record_of):
    settings = {"epochs": 9, "training": {"epochs": 1}, "languages": ["de", "fr"], "limit": None}
    small = {"epochs": 2, "training.epochs": 2, "languages": 1, "limit": 50, "other": 1, "a.b": 1}
    assert shrunk(record_of(settings=settings), small).settings == {
        "epochs": 2,
        "training": {"epochs": 1},
        "languages": ["de"],
        "limit": 50,
    }


def test_a_default_that_the_details_show_is_shrunk_too(record_of):
    record = record_of().model_copy(update={"details": {"settings": {"train_sentences": None}}})
    trial = shrunk(record, {"train_sentences": 500, "test_sentences": 50})
    assert trial.settings == {"train_sentences": 500}


def test_columns_of_targets_and_levels_cut_off_go_with_them(record_of):
    settings = {"targets": ["de", "fr", "fi"], "levels": [{"name": "right 9"}, {"name": "mapped"}]}
    record = record_of(settings=settings).model_copy(
        update={"columns": ("en", "de", "NER/fr", "fi/0.05", "fi", "right 9/de", "mapped/de")}
    )
    trial = shrunk(record, {"targets": 2, "levels": 1})
    assert trial.settings == {"targets": ["de", "fr"], "levels": [{"name": "right 9"}]}
    assert trial.columns == ("en", "de", "NER/fr", "right 9/de")
