import shlex
from dataclasses import replace
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from tests.made_up_records import with_details
from xlrepro.cli import build_app
from xlrepro.data.registry import current_data
from xlrepro.evidence.provenance import command_of, total_cost
from xlrepro.experiments import experiment, is_outdated, own_records
from xlrepro.pages.tables import provenance_table
from xlrepro.paths import data_dir
from xlrepro.store import RecordStore
from xlrepro.trials import Record
from xlrepro.values import canonical_json


def test_the_total_cost_is_the_sum(record):
    records = [record(seed=s, wall_seconds=30.0, training_tokens=500_000) for s in range(4)]
    cost = total_cost(records)
    assert (cost.trials, cost.wall_seconds, cost.training_tokens) == (4, 120.0, 2_000_000)
    assert str(cost) == "4 trials, 2 min, 2.0 million training tokens or examples, on a CPU"
    assert str(total_cost([])).startswith("0 trials, 0.0 s")


def test_a_record_that_several_experiments_share_costs_once(record):
    shared = record(wall_seconds=30.0)
    seen = shared.model_copy(update={"experiment": "word_order/table6"})
    assert total_cost([shared, seen, record(seed=1, wall_seconds=5.0)]).wall_seconds == 35.0


def test_a_language_model_costs_once_and_only_where_no_trial_trained_it(record):
    def reading(seed, wall_seconds, *models):
        logs = [{"loss_curve": [[1, float(m)]], "seconds": 60.0 * m} for m in models]
        details = dict(zip(("language_model", "source model"), logs, strict=False))
        made = record(seed=seed, wall_seconds=wall_seconds)
        return made.model_copy(update={"details": details})

    shared = [reading(0, 30.0, 2), reading(1, 30.0, 2, 3)]
    assert total_cost(shared).pretraining_seconds == 300.0
    told = "2 trials, 1 min, 5 min of training language models before them"
    assert str(total_cost(shared)).startswith(told)
    trained = reading(2, 181.0, 3)
    assert total_cost([*shared, trained]).pretraining_seconds == 120.0
    assert "pretraining" not in str(total_cost([trained]))


def test_records_of_the_same_systems_and_code_share_a_row_with_their_command(record):
    records = [record(seed=s, started=f"2026-01-0{s + 1}T00:00:00+00:00",
                      peak_memory_bytes=(s + 1) * 2**30) for s in (0, 1)]  # fmt: skip
    frame = provenance_table([*records, record(seed=2, commit=None)]).frame
    assert list(frame["seeds"]) == ["0, 1", "2"]
    assert (frame["peak GiB"][0], frame["started (UTC)"][0]) == (2.0, "2026-01-01 00:00")
    assert [cell.text for cell in frame["commit"]] == ["a" * 10, "none"]
    assert frame["systems"][0].detail.endswith("--seeds 0,1 --again")
    html = provenance_table(records)._repr_html_()
    assert [f'id="r-{r.key[:10]}"' in html for r in records] == [True, True]


def test_the_command_of_a_record_is_one_that_the_program_takes(record):
    parts = shlex.split(command_of([record()]))
    outcome = CliRunner().invoke(build_app(), [*parts[1:], "--help"])
    assert (parts[0], outcome.exit_code) == ("xlrepro", 0)


@pytest.mark.parametrize("key", ["man_moe/figure4", "word_order/table5"])
def test_the_command_of_a_shared_record_names_the_experiment_that_trains_it(key):
    shown = own_records(key, "open", RecordStore(root=data_dir() / "no-local-records"))
    shared = [record for record in shown if record.trained_in]
    assert shared
    assert not any("trained_in" in record.to_json() for record in shared)
    for record in shared:
        _, _, experiment_key, *_, systems, _, seeds, _ = shlex.split(command_of([record]))
        trials = experiment(experiment_key).trials("open", systems.split(","), [int(seeds)])
        wanted = {(t.systems, t.columns, t.settings_json) for t in trials}  # outdated ones too
        assert (record.systems, record.columns, canonical_json(record.settings)) in wanted


def trained(best, scores, name="dev_f1"):
    settings = {"patience": None}
    return {"best_epoch": best, name: scores, "train_loss": [3.0, 2.0], "settings": settings}


def test_trainings_that_stopped_by_themselves_or_were_best_at_their_end_are_counted(record):
    parts = {"de": trained(1, [50.0, 60.0]), "es": trained(0, [60.0, 50.0])}
    several = {"experiments": parts, "settings": {"patience": None}}
    records = with_details(
        record,
        trained(2, [1.0, 2.0, 3.0], "dev_accuracy"),
        several,
        {},
        trained(0, [3.0, 2.0, 1.0]) | {"settings": {"patience": 2}},
        trained(1, [2.0, 3.0, 1.0]) | {"settings": {"patience": 2}},
        {"heads": {"fr": trained(0, [3.0, 2.0])}, "settings": {"head": {"patience": 1}}},
        trained([0, 1], [[3.0, 2.0], [2.0, 3.0]]) | {"settings": {"head": {"patience": 1}}},
        trained(2, [3.0, 3.001, 3.002]) | {"settings": {"patience": 2}},  # level since the first
        {"loss_curve": [3.0, 2.0], "seconds": 4.0},
    )
    assert provenance_table(records).caption.endswith(
        "Of 6 trainings with early stopping 4 ended after no gain of a thousandth on dev for as "
        "long as it waits. Of the other 2, 1 still gained that much at the end. "
        "3 trainings had no early stopping; 2 still gained a thousandth on dev at the end. "
        "1 language model trained for a fixed number of updates."
    )
    assert "epoch" not in provenance_table([record()]).caption


def test_a_record_of_data_that_are_not_those_at_hand_is_outdated(record):
    known = {"artificial": current_data("artificial"), "not/here": "0" * 64}
    assert not is_outdated(record(data=known))
    assert is_outdated(record(data=known | {"artificial": "0" * 64}))


def test_records_of_another_version_are_shown_as_outdated_and_those_of_other_settings_not():
    shown = experiment("word_order/table2")
    (trial,) = shown.trials("open", ["word:ORT"], [0])
    old = replace(trial, version=trial.version - 1)
    tried = [old, replace(old, settings_json='{"epochs": 1}')]
    records = [Record.model_construct(**t.fields, key=t.key, cells=(), details={}) for t in tried]
    store = SimpleNamespace(records=lambda of, _: records if of == shown.key else [])
    (found,) = own_records(shown.key, "open", store)
    assert found.key == old.key
    assert is_outdated(found)
