import itertools
from collections import Counter

import pytest
import torch

from xlrepro.errors import DataError, SettingsError
from xlrepro.experiments import experiment
from xlrepro.papers.word_order import data, pos_tagging, training
from xlrepro.papers.word_order.experiments import tagging_settings
from xlrepro.papers.word_order.systems import ENCODERS
from xlrepro.trials.trial import TrialContext

SMALL = {"targets": ("de", "hi"), "train_sentences": 40, "test_sentences": 8, "epochs": 2}


def small_trial(row="word:ORT", seed=0, **overrides):
    (trial,) = experiment("word_order/table2").trials(
        "smoke", [row], [seed], {**SMALL, **overrides}
    )
    return trial


def cells(trial):
    result = pos_tagging.run(trial, TrialContext())
    return {(c.system, c.column): c.value for c in result.cells}


@pytest.fixture(scope="module")
def ort_cells():
    return cells(small_trial())


def test_the_same_seed_gives_the_same_numbers(ort_cells):
    assert cells(small_trial()) == ort_cells


def test_another_seed_gives_other_numbers(ort_cells):
    assert cells(small_trial(seed=1)) != ort_cells


def test_every_announced_cell_is_filled(ort_cells):
    trial = small_trial()
    assert set(ort_cells) == {(s, c) for s in trial.systems for c in trial.columns}


def test_avg_is_the_mean_over_targets_without_the_source(ort_cells):
    targets = [ort_cells["word:ORT", code] for code in ("de", "hi")]
    assert ort_cells["word:ORT", "avg"] == pytest.approx(sum(targets) / 2)


def test_training_and_selection_read_source_train_and_dev_only(monkeypatch):
    data.encoded.cache_clear()
    read = []
    original = data.sentences

    def spy(settings, language, split):
        read.append((language, split))
        return original(settings, language, split)

    monkeypatch.setattr(data, "sentences", spy)
    settings = tagging_settings("table2", "smoke", "BiLSTM", None, SMALL)
    pos_tagging.train_tagger(settings, seed=0)
    assert set(read) == {("en", "train"), ("en", "dev")}
    data.encoded.cache_clear()


def test_evaluation_reads_test_splits_only(monkeypatch):
    settings = tagging_settings("table2", "smoke", "BiLSTM", None, SMALL)
    tagger, _ = pos_tagging.train_tagger(settings, seed=0)
    data.encoded.cache_clear()
    read = []
    original = data.sentences

    def spy(settings, language, split):
        read.append((language, split))
        return original(settings, language, split)

    monkeypatch.setattr(data, "sentences", spy)
    pos_tagging.evaluate(tagger, settings, "cpu")
    assert set(read) == {(code, "test") for code in ("en", "de", "hi")}
    data.encoded.cache_clear()


def test_training_lowers_the_loss():
    settings = tagging_settings("table2", "smoke", "ORT", None, {**SMALL, "epochs": 5})
    _, fit = pos_tagging.train_tagger(settings, seed=0)
    assert fit.losses[-1] < 0.8 * fit.losses[0]


def test_the_best_dev_epoch_is_kept():
    settings = tagging_settings("table2", "smoke", "TRS", None, {**SMALL, "epochs": 4})
    tagger, fit = pos_tagging.train_tagger(settings, seed=0)
    dev = data.encoded(data.data_settings(settings), "en", "dev")
    assert pos_tagging.accuracy(dev.tags, training.predictions(tagger, dev, "cpu")) == max(
        fit.dev_scores
    )


def test_by_tag_counts_add_up_to_the_accuracy():
    result = pos_tagging.run(small_trial(), TrialContext())
    by_tag = result.details["by_tag"]["de"]
    right, total = (sum(n) for n in zip(*by_tag.values(), strict=True))
    (cell,) = [c for c in result.cells if c.column == "de"]
    assert cell.value == pytest.approx(100 * right / total)


def shuffled(epoch, seed=0, **overrides):
    settings = tagging_settings("table2", "smoke", "TRS w/ shuffled data", None, overrides | SMALL)
    split = data.encoded(data.data_settings(settings), "en", "train")
    return split, training.shuffled_copy(split, data.UPOS, settings, epoch, seed)


def test_shuffling_moves_tags_with_their_tokens():
    split, copy = shuffled(0)
    for i in range(len(split)):
        before = Counter(zip(split.rows[i].tolist(), split.tags[i].tolist(), strict=True))
        after = Counter(zip(copy.rows[i].tolist(), copy.tags[i].tolist(), strict=True))
        assert before == after
    assert any(not torch.equal(a, b) for a, b in zip(split.rows, copy.rows, strict=True))


def test_ten_copies_are_ten_and_then_repeat():
    orders = [tuple(map(tuple, (r.tolist() for r in shuffled(e)[1].rows))) for e in range(12)]
    assert len(set(orders)) == 10
    assert orders[10] == orders[0]


def test_copies_differ_between_seeds():
    assert any(
        not torch.equal(a, b)
        for a, b in zip(shuffled(0, seed=1)[1].rows, shuffled(0, seed=2)[1].rows, strict=True)
    )


def test_only_the_shuffled_rows_shuffle():
    for row in ENCODERS:
        assert not tagging_settings("table2", "smoke", row, None, {}).shuffle
    assert tagging_settings("table2", "smoke", "TRS w/ shuffled data", None, {}).shuffle


def test_warm_up_rises_to_one_and_decays_to_zero():
    factors = [training.warmup_then_linear(s, 4, 20) for s in range(21)]
    assert factors[:4] == [0.25, 0.5, 0.75, 1.0]
    assert factors[4] == 1.0
    assert factors[20] == 0.0
    assert all(a >= b for a, b in itertools.pairwise(factors[4:]))


def test_an_unknown_override_is_one_clear_line():
    with pytest.raises(SettingsError, match="kernel_sizes"):
        small_trial(kernel_sizes=3)


def test_an_encoder_size_can_be_overridden():
    assert small_trial(kernel_size=5).settings["encoder"]["kernel_size"] == 5


def test_a_setting_at_its_default_leaves_the_key_alone():
    assert small_trial(max_distance=10).key == small_trial().key
    assert small_trial(max_distance=11).key != small_trial().key


def test_missing_release_names_the_folder_and_the_way_out(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    with pytest.raises(DataError, match=r"ud-treebanks-v2\.2.*XLREPRO_SUPPLIED"):
        experiment("word_order/table2").trials("paper", ["word:ORT"], [0])
