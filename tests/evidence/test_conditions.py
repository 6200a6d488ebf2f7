"""Conditions of a verdict: declared in the catalog, computed from records."""

import numpy as np
import pytest

from xlrepro.evidence.catalog import Catalog, Need, load_catalog
from xlrepro.evidence.conditions import at_path, failed_conditions
from xlrepro.evidence.intervals import error_of_difference, error_of_items, item_error
from xlrepro.evidence.reproduced import gather
from xlrepro.trials import Items

KEY = "word_order/table2"


def catalog_with(*needs, items=None):
    """Return the catalog with conditions of ``KEY`` at open."""
    catalog = load_catalog()
    entry = catalog.experiment(KEY).model_copy(
        update={"conditions": {"open": needs}, "items": {"open": items or {}}}
    )
    return Catalog.model_construct(
        papers=catalog.papers, metrics=catalog.metrics,
        experiments={**catalog.experiments, KEY: entry},
    )  # fmt: skip


def judged(record, need, details=None, items=None, values=(60.0, 61.0), **more):
    """Return what fails and what is unknown; ``details`` of all records of a system, or each."""
    told = details if isinstance(details, list) else [details or {}] * len(values)
    records = [record(profile="open", seed=s, values={"de": v}, **more).model_copy(
        update={"details": of_one}) for s, (v, of_one) in enumerate(zip(values, told))]  # fmt: skip
    numbers = gather(records)
    cells = numbers.cells(KEY, "open")
    return failed_conditions(catalog_with(need, items=items), numbers, "open", cells)


def test_a_score_must_be_above_its_baseline_by_seeds_and_items(record):
    need = Need(what="at chance", above=50)
    assert judged(record, need, values=(60.0, 60.2, 60.1)) == ([], [])
    (failed,), _ = judged(record, need, values=(52.0, 49.0, 53.0))
    assert "baseline 50" in failed
    steady = (52.0, 52.1, 52.2)
    assert judged(record, need, values=steady) == ([], [])
    assert judged(record, need, values=steady, items={"*": 400})[0] != []
    assert judged(record, Need(what="x", above=50), values=(49.0,))[0] != []  # of one seed, too
    need, of = Need(what="at chance", above="by_tag"), {"NOUN": [9, 51], "VERB": [0, 49]}
    assert judged(record, need, {"by_tag": {"de": of}}, values=steady) == ([], [])
    beside = {"by_tag": {"de": of, "no": {"X": [0, 9]}}}  # a column's own, and no other's
    assert judged(record, need, beside, values=steady) == ([], [])
    of_mean = {"by_tag": {"no": of, "da": {"X": [0, 54], "NOUN": [0, 46]}, "en": {"X": [0, 9]}}}
    assert "baseline 52.5" in judged(record, need, of_mean, values=steady)[0][0]  # of the targets


def test_trainings_must_stop_by_themselves(record):
    need = Need(what="cut off", stopped=0.8)

    def ended(best, patience):
        settings = {"patience": patience}
        curve = [epoch * (epoch <= best) for epoch in range(4)]
        return {"best_epoch": best, "dev_f1": curve, "settings": settings}

    assert judged(record, need, ended(1, 2)) == ([], [])
    assert "2 of 2 were cut off" in judged(record, need, ended(1, 3))[0][0]
    assert judged(record, need, ended(1, None)) == ([], [])  # no patience: past its best
    assert "2 of 2 were cut off" in judged(record, need, ended(3, None))[0][0]
    stopped, cut = ended(1, 2), ended(1, 3)
    assert judged(record, need, [cut, *[stopped] * 4], values=range(60, 65)) == ([], [])
    assert judged(record, need, [cut, cut, *[stopped] * 3], values=range(60, 65))[0] != []
    several = [
        record(s, {"de": v}, v, profile="open") for s in ("word:A", "word:B") for v in range(5)
    ]
    of = [cut, cut, *[stopped] * 8]  # of each system: one's do not make up for another's
    told = [r.model_copy(update={"details": d}) for r, d in zip(several, of, strict=True)]
    numbers = gather(told)
    cells = numbers.cells(KEY, "open")
    (missed,), _ = failed_conditions(catalog_with(need), numbers, "open", cells)
    assert "A: 2 of 5 were cut off" in missed


def test_a_detail_must_be_in_its_bounds_and_is_unknown_where_no_record_has_it(record):
    need = Need(what="no spread", detail="routers.*.largest", at_most=0.9)
    assert judged(record, need, {"routers": {"forward": {"largest": 0.5}}}) == ([], [])
    assert judged(record, need, {"routers": {"forward": {"largest": 0.99}}})[0] != []
    assert judged(record, need, {"routers": {"forward": {"largest": 0.9}}}) == ([], [])
    assert judged(record, need) == ([], ["no spread"])


def test_a_setting_must_be_the_same(record):
    need = Need(what="rates differ", same="learning_rate")
    assert judged(record, need, settings={"learning_rate": 0.1}) == ([], [])
    assert judged(record, need, settings={"dim": 8}) == ([], ["rates differ"])
    records = [
        record(f"word:{name}", {column: 1.0}, profile="open", settings={"learning_rate": rate})
        for name, column, rate in (("ORT", "fr", 0.002), ("ORT", "de", 0.001), ("TRS", "de", 0.002))
    ]
    numbers, catalog = gather(records), catalog_with(need)
    (failed,), _ = failed_conditions(catalog, numbers, "open", numbers.cells(KEY, "open"))
    assert failed == "rates differ (ORT 0.001, TRS 0.002 in German)"  # column by column


def test_a_condition_is_asked_of_its_rows_alone(record):
    need = Need(what="at chance", above=90, rows=("word:TRS",))
    assert judged(record, need) == ([], [])


def test_conditions_of_every_experiment_that_a_claim_reads_are_asked(record):
    numbers = gather([record(experiment=key, profile="open") for key in ("word_order/table1", KEY)])
    need = Need(what="too low", above=90)
    assert failed_conditions(catalog_with(need), numbers, "open", [*numbers])[0] != []


def test_a_share_and_a_path_with_parts_of_any_name():
    details = {"a": {"x": {"held": [1, 4]}, "y": {"held": [3, 4]}}}
    assert list(at_path(details, "a.*.held")) == [25.0, 75.0]
    assert list(at_path(details, "b.held")) == []


def test_the_error_of_test_items_is_binomial_where_no_record_says_which_were_right(record):
    numbers = gather([record(values={"de": 80.0}, profile="open")])
    (cell,) = numbers
    assert item_error(catalog_with(items={"*": 400}), numbers, cell) == pytest.approx(2.0)
    assert error_of_items(catalog_with(items={"*": 400}), numbers, cell) == pytest.approx(2.0)
    assert error_of_items(catalog_with(), numbers, cell) == 0.0


def test_items_that_were_right_are_the_same_for_all_systems(record):
    rng, size = np.random.default_rng(0), 1000
    easy = rng.random(size)
    right = {s: [easy < share - 0.01 * seed for seed in (0, 1)]
             for s, share in (("word:ORT", 0.8), ("word:TRS", 0.7))}  # fmt: skip
    records = [
        record(system, {"de": 100 * of.mean()}, seed=seed, profile="open").model_copy(
            update={"items": {name: Items.packed(of)}}
        )
        for system, name in (("word:ORT", "de"), ("word:TRS", "word:TRS de"))
        for seed, of in enumerate(right[system])
    ]
    numbers = gather(records)
    first, second = (error_of_items(catalog_with(), numbers, cell) for cell in numbers)
    gap = np.mean(right["word:ORT"], axis=0) - np.mean(right["word:TRS"], axis=0)
    assert error_of_difference((first, second)) == pytest.approx(100 * gap.std() / size**0.5)
    unpaired = np.hypot(*(item_error(catalog_with(), numbers, cell) for cell in numbers))
    assert error_of_difference((first, second)) < unpaired / 1.5


def test_a_score_that_is_no_share_of_items_has_the_binomial_error(record):
    made = record(values={"de": 50.0}, profile="open")
    made = made.model_copy(update={"items": {"de": Items.packed([True, False, False, False])}})
    numbers = gather([made])
    assert error_of_items(catalog_with(), numbers, *numbers) == pytest.approx(25.0)


def test_every_condition_of_the_catalog_can_be_computed():
    for entry in load_catalog().experiments.values():
        for needs in entry.conditions.values():
            for need in needs:
                kinds = (need.above, need.stopped, need.same, need.detail, need.cell)
                assert sum(kind not in (None, "") for kind in kinds) == 1
