import numpy as np
import pytest
import torch

from tests.pretraining.small_runs import SEQUENCES, SMALL, same_bits, trained
from xlrepro.errors import DeviceError, SettingsError
from xlrepro.pretraining import building, multilingual_bert, recipes, training
from xlrepro.pretraining.settings import LANGUAGES, preset
from xlrepro.pretraining.text import lines
from xlrepro.pretraining.wordpiece import SPECIAL, WordPiece


def test_interrupted_and_resumed_training_ends_with_the_same_bits(tmp_path):
    whole, undisturbed = trained(tmp_path / "whole.pt")
    trained(tmp_path / "broken.pt", stop_after=4)  # one step after the checkpoint
    trained(tmp_path / "broken.pt", stop_after=8)
    resumed, progress = trained(tmp_path / "broken.pt")
    assert progress.losses == undisturbed.losses
    assert same_bits(whole, resumed)


def test_resuming_does_not_start_anew(tmp_path, monkeypatch):
    trained(tmp_path / "broken.pt", stop_after=7)
    steps = []
    original = training.batch_of
    monkeypatch.setattr(
        training, "batch_of", lambda *arguments: steps.append(arguments[-1]) or original(*arguments)
    )
    trained(tmp_path / "broken.pt")
    assert steps == [6, 7, 8, 9]


def test_a_kill_while_a_checkpoint_is_written_leaves_the_last_one(tmp_path, monkeypatch):
    trained(tmp_path / "one.pt", stop_after=3)
    before = (tmp_path / "one.pt").read_bytes()

    def dies(state, file):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", dies)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "one.pt")
    assert (tmp_path / "one.pt").read_bytes() == before


def test_an_epoch_reads_every_sequence_once():
    settings = SMALL.model_copy(update={"sequences": 10})
    numbered = np.repeat(np.arange(5, 35)[:, None], 16, 1).astype(np.uint16)
    read = []
    for step in range(3):
        batch = training.batch_of(numbered, 40, settings, step)
        read += np.where(batch.hidden, 0, batch.ids).max(1).tolist()
    assert sorted(read) == list(range(5, 35))


def test_another_seed_gives_other_batches():
    one = training.batch_of(SEQUENCES, 40, SMALL, 0)
    other = training.batch_of(SEQUENCES, 40, SMALL.model_copy(update={"seed": 2}), 0)
    assert not np.array_equal(one.ids, other.ids)


def test_packing_keeps_all_pieces_in_order():
    pieces = WordPiece([*SPECIAL, "a", "b", "##b"])
    rows = building.packed([["a", "ab"], ["b", "a"], ["a"]], pieces, length=5)
    assert rows.tolist() == [[2, 5, 5, 7, 3], [2, 6, 5, 5, 3]]


def test_held_out_lines_are_not_trained_on():
    for code in ("en", "th"):
        train_lines, held_out = lines(code, preset("smoke"))
        assert len(held_out) == preset("smoke").held_out
        assert (
            sum(map(len, train_lines)) >= preset("smoke").words["en" if code == "en" else "others"]
        )


@pytest.mark.mirror
def test_open_text_has_no_line_twice():
    settings = preset("cpu").model_copy(update={"words": {"en": 2000, "others": 2000}})
    train_lines, held_out = lines("la", settings)
    joined = [" ".join(line) for line in train_lines]
    assert not set(joined) & {" ".join(line) for line in held_out}


def test_accuracy_is_that_of_the_hidden_pieces(monkeypatch):
    class Always7(torch.nn.Module):
        def forward(self, ids, hidden):
            return torch.nn.functional.one_hot(torch.full((int(hidden.sum()),), 7), 40).float()

    rows = np.full((10, 16), 7, dtype=np.uint16)
    right, hidden = building.accuracy(Always7(), rows, 40)
    assert right == hidden > 0
    assert building.accuracy(Always7(), rows + 1, 40) == [0, hidden]


def test_a_model_comes_back_as_it_was_trained(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    first = multilingual_bert.load("smoke")
    again = multilingual_bert.load("smoke")
    ids = torch.arange(5, 20)[None]
    assert torch.equal(first.bert(ids), again.bert(ids))
    assert again.log["tokens"] == preset("smoke").steps * 8 * 48
    assert set(again.log["accuracy"]) == set(LANGUAGES)
    points = [loss for _, loss in again.log["loss_curve"]]
    assert points[-1] < points[0]


def test_a_gpu_model_fails_in_one_line_where_there_is_no_gpu(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DeviceError, match="CUDA"):
        building.build("gpu", tmp_path)


def test_an_unknown_model_is_one_line():
    with pytest.raises(SettingsError, match="'tpu'"):
        recipes.recipe_hash("tpu")
