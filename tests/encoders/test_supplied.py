"""Published models in a folder: the states of transformers; what is damaged is one line."""

import json
import random
import socket

import pytest
import torch

from tests.attacks.readers import damaged
from tests.encoders import published
from xlrepro.encoders import identity
from xlrepro.encoders.pretrained import load
from xlrepro.errors import DataError, SettingsError

IDS = torch.tensor([[2, 7, 8, 9, 10, 3], [2, 11, 12, 13, 5, 3]])
MASK = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])


@pytest.fixture(params=["bert", "gamma", "roberta"])
def theirs(request, tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    if request.param == "roberta":
        return published.roberta(tmp_path / "model")
    return published.bert(tmp_path / "model", gamma=request.param == "gamma")


@pytest.fixture
def bert(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    published.bert(tmp_path / "model")
    return tmp_path / "model"


def test_states_are_those_of_transformers_however_layer_norms_are_called(theirs):
    ours = load("supplied:model")
    with torch.inference_mode():
        expected = theirs.base_model(IDS, attention_mask=MASK.long(), output_hidden_states=True)
        torch.testing.assert_close(ours(IDS, MASK)[MASK], expected.last_hidden_state[MASK])
        first = load("supplied:model@1")(IDS, MASK)
        torch.testing.assert_close(first[MASK], expected.hidden_states[1][MASK])
    assert ours.limit == 300


def test_subwords_are_numbered_as_the_folder_has_them(theirs):
    subwords = load("supplied:model").subwords
    found = subwords.special[:5], subwords.special.first_ordinary, subwords.numbers("ab")
    if theirs.config.model_type == "roberta":  # the space before a word is spelt
        assert found == ((0, 2, 1, 3, 31), 4, [4, 5, 6])
    else:
        assert found == ((2, 3, 0, 1, 4), 5, [5, 32])


def test_dropout_and_segments(theirs):
    model = load("supplied:model", dropout=0.25).model
    assert {m.p for m in model.modules() if isinstance(m, torch.nn.Dropout)} == {0.25}
    still = {name for name, p in model.named_parameters() if not p.requires_grad}
    assert still == {"embeddings.token_type_embeddings.weight"}


def test_loading_draws_no_random_numbers_and_asks_no_network(theirs, monkeypatch, capfd):
    def refused(*given, **more):
        raise AssertionError("asked the network")

    monkeypatch.setattr(socket, "socket", refused)
    torch.manual_seed(3)
    first = torch.rand(1)
    torch.manual_seed(3)
    load("supplied:model")
    assert torch.equal(torch.rand(1), first)
    assert capfd.readouterr().err == ""


def test_weights_are_known_by_their_content(bert):
    before = identity("supplied:model")
    assert len(before) == 64
    raw = bytearray((bert / "model.safetensors").read_bytes())
    raw[-1] ^= 1
    (bert / "model.safetensors").write_bytes(raw)  # of the same length
    assert identity("supplied:model") != before


def without(folder, name):
    (folder / name).unlink()


def of_another_kind(folder, kind):
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "model_type": kind}), "utf-8")


def of_another_model(folder, token):
    about = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    about["model"]["vocab"][token] = len(about["model"]["vocab"])
    (folder / "tokenizer.json").write_text(json.dumps(about), "utf-8")


def without_weights(folder, name):
    """Weights that are missing are not filled with random numbers."""
    from safetensors.torch import load_file, save_file

    state = load_file(folder / "model.safetensors")
    save_file({k: v for k, v in state.items() if k != name}, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("damage", "name", "said"),
    [
        (without, "config.json", r"model/config\.json.*XLREPRO_SUPPLIED"),
        (without, "model.safetensors", r"model/model\.safetensors.*XLREPRO_SUPPLIED"),
        (of_another_kind, "electra", "take BERT or RoBERTa"),
        (of_another_model, "zorp", "model has a subword number 57, and the model only 57"),
        (without_weights, "bert.encoder.layer.1.output.dense.weight", r"has no encoder\.layer\.1"),
    ],
)
def test_what_is_not_there_is_one_line_that_names_it(bert, damage, name, said):
    damage(bert, name)
    with pytest.raises(DataError, match=said) as error:
        load("supplied:model")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["config", "tokenizer", "tokenizer_config", "model.safetensors"])
def test_damaged_files_are_read_or_refused_in_one_line(bert, name):
    path = bert / (name if "." in name else f"{name}.json")
    whole = path.read_bytes()
    for seed in range(6):
        path.write_bytes(damaged(whole, random.Random(seed)))
        try:
            load("supplied:model")
        except (DataError, SettingsError) as error:  # the only ones it may raise
            assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("m-bert", "no encoder is called 'm-bert'"),
        ("multilingual-e5-small@last", "names no layer"),
        ("supplied:model@3", "has 2 layers, not 3"),
    ],
)
def test_a_name_of_nothing_is_refused(bert, name, said):
    with pytest.raises(SettingsError, match=said):
        load(name)
