"""Bounds of what ``--set`` may change."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from fake_experiments import FAKE
from pydantic import BaseModel

from xlrepro.errors import SettingsError
from xlrepro.experiments import all_experiments
from xlrepro.papers.man_moe import settings as man_moe
from xlrepro.papers.word_order import settings as word_order
from xlrepro.papers.word_order.mbert.settings import MbertSettings
from xlrepro.papers.word_order.nlu.settings import NLUSettings
from xlrepro.trials import overrides as overrides_module
from xlrepro.trials.overrides import BOUNDS, EMPTY, check_overrides, kinds_of

CLASSES: list[tuple[str, type[BaseModel]]] = [
    ("word_order", word_order.EncoderSettings),
    ("word_order", word_order.TaggingSettings),
    ("word_order", MbertSettings),
    ("word_order", NLUSettings),
    ("man_moe", man_moe.ModelSettings),
    ("man_moe", man_moe.TransferSettings),
]
PAPERS = ("man_moe", "ramen", "routing_nmt", "sense_alignment", "word_order")
# A number's kind, by its setting, in the two papers that most of these tests speak of.
KINDS = {**kinds_of("man_moe"), **kinds_of("word_order")}


def holds_numbers(annotation):
    return annotation in (int, float) or any(map(holds_numbers, get_args(annotation)))


# MAN-MoE's where 0 has a meaning: no weight, no least number of steps.
FROM_ZERO = {"lambda1", "lambda2", "discriminator_steps", "weight_decay", "min_iterations"}


@pytest.mark.parametrize(("paper", "settings"), CLASSES)
def test_every_number_among_the_settings_has_a_bound_of_its_field_or_of_its_name(paper, settings):
    numbers = {n: f for n, f in settings.model_fields.items() if holds_numbers(f.annotation)}
    without = {n for n, f in numbers.items() if "Ge(" not in repr(f) and "Gt(" not in repr(f)}
    assert without - set(kinds_of(paper)) - FROM_ZERO == set()


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_s_bounds_are_of_known_kinds_and_of_settings_that_it_has(paper):
    named = {
        name
        for each in all_experiments().values()
        if each.key.startswith(f"{paper}/")
        for trial in each.trials("smoke", seeds=[0])
        for name in re.findall(r'"(\w+)":', json.dumps(trial.settings))
    }
    kinds = kinds_of(paper)
    assert set(kinds.values()) <= {*BOUNDS, EMPTY}
    assert kinds["epochs"] == "epochs"
    assert named & set(kinds)


def test_trials_name_no_setting_of_a_paper():
    """Oracle: the names that papers' tables hold stand nowhere in the bounds' module."""
    text = Path(overrides_module.__file__).read_text("utf-8").partition("def check_overrides")[0]
    names = {name for paper in PAPERS for name in kinds_of(paper)} - set(BOUNDS)
    assert [name for name in names if f'"{name}"' in text] == []


def test_what_the_presets_use_is_within_the_bounds():
    checked = 0
    for each in all_experiments().values():
        if each.key in ("word_order/distances", "word_order/open_vectors"):
            continue  # no trainings
        for trial in each.trials("smoke", seeds=[0]):
            settings = trial.settings
            encoder = settings.pop("encoder", {})
            if "training" not in settings and "tasks" not in settings:
                kinds = kinds_of(each.key.split("/")[0])
                check_overrides({k: v for k, v in settings.items() if v not in ([], ())}, kinds)
                check_overrides({"encoder": encoder}, kinds)
                checked += 1
    assert checked > 50


@pytest.mark.parametrize(
    "overrides",
    [
        {"epochs": -3},
        {"epochs": 0},
        {"epochs": 10**12},
        {"dim": 10**9},
        {"layers": 10**6},
        {"warmup_steps": 1e300},
        {"epochs": True},
        {"epochs": "3"},
        {"epochs": {}},
        {"batch_size": 0},
        {"train_sentences": 0},
        {"kernel_sizes": [3, 0]},
        {"model": {"expert_dim": 0}},
        {"patience": -1},
        {"dropout": 1},
        {"word_dropout": -0.1},
        {"learning_rate": 0},
        {"learning_rate": float("nan")},
        {"clip_norm": float("inf")},
        {"a_new_setting": -1},
    ],
)
def test_impossible_numbers_are_refused_by_name(overrides):
    name = "expert_dim" if "model" in overrides else next(iter(overrides))
    with pytest.raises(SettingsError, match=f"setting {name} must be"):
        check_overrides(overrides, KINDS)


@pytest.mark.parametrize("name", ["targets", "languages", "domains"])
def test_an_empty_list_is_refused_by_name(name):
    with pytest.raises(SettingsError, match=f"setting {name} is an empty list"):
        check_overrides({name: []}, KINDS)


@pytest.mark.parametrize(
    "overrides",
    [
        {"warmup_steps": 0, "patience": 0, "min_iterations": 0, "max_distance": 0},
        {"shuffle_k": None, "train_sentences": None, "kernel_size": None, "predictor_dim": None},
        {"dropout": 0, "word_dropout": 0.0, "lambda1": 0, "lambda2": 10, "weight_decay": 0},
        {"few_shot_share": 1, "test_shuffles": [], "shuffle_k": 0, "discriminator_steps": 0},
        {"epochs": 1e1, "source": "de", "shuffle": True, "single_sources": {"en": "es"}},
    ],
)
def test_what_has_a_meaning_is_let_through(overrides):
    check_overrides(overrides, KINDS)


def test_no_trial_is_made_of_an_impossible_setting():
    with pytest.raises(SettingsError, match="setting sleep must be"):
        FAKE.trials("open", overrides={"sleep": -1})


@pytest.mark.parametrize(
    ("key", "profile", "overrides", "named"),
    [
        ("word_order/table2", "paper", {"source": "xx"}, "source=xx ('xx' is unknown)"),
        ("word_order/table2", "smoke", {"heads": 3}, "3 heads do not divide a width of"),
        ("word_order/table3", "smoke", {"heads": 3}, "3 heads do not divide a width of"),
    ],
)
def test_what_a_change_breaks_is_one_error_that_names_it(key, profile, overrides, named):
    with pytest.raises(SettingsError) as error:
        all_experiments()[key].trials(profile, overrides=overrides)
    assert named in str(error.value)


def test_an_error_of_our_own_is_not_blamed_on_the_user():
    def broken(*arguments):
        raise KeyError("ours")

    changed = FAKE.__class__(**{**FAKE.__dict__, "make_trials": broken})
    with pytest.raises(KeyError, match="ours"):
        changed.trials("open")


@pytest.mark.parametrize("seed", [2**32, -1, True, 1.5])
def test_a_seed_that_torch_does_not_take_is_refused(seed):
    with pytest.raises(SettingsError, match="whole numbers from 0 to 4294967295"):
        FAKE.trials("open", seeds=[seed])


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("word_order/table2", {"encoder": "garbage"}),
        ("man_moe/table3", {"model": {"characters": True}}),
        ("man_moe/table6", {"targets": ["de"]}),
    ],
)
def test_what_the_rows_decide_themselves_is_refused_not_ignored(key, changes):
    (name,) = changes
    with pytest.raises(SettingsError, match=f"{key} sets {name} itself in these rows"):
        all_experiments()[key].trials("smoke", overrides=changes)


def test_a_preset_s_own_value_may_be_given():
    own = all_experiments()["word_order/table2"].trials("smoke", ["ORT"])
    same = {"epochs": own[0].settings["epochs"]}
    assert all_experiments()["word_order/table2"].trials("smoke", ["ORT"], overrides=same) == own
