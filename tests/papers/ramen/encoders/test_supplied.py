"""The paper's own models from folders: same scores as transformers gives, errors in one line."""

import json

import numpy as np
import pytest
import torch

from xlrepro.errors import DataError
from xlrepro.papers.ramen import recipes
from xlrepro.papers.ramen.encoders import english, supplied
from xlrepro.papers.ramen.settings import EnglishSettings, StageSettings

PIECES = {
    "bert": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s", "sat"],
    "roberta": ["<s>", "<pad>", "</s>", "<unk>", "Ġthe", "Ġcat", "s", "Ġsat", "<mask>"],
}
SIZES = {
    "vocab_size": 9,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "hidden_act": "gelu",
}


def published(kind, folder):
    """A small model of a kind, written as transformers publishes it."""
    import transformers

    numbers = {piece: i for i, piece in enumerate(PIECES[kind])}
    torch.manual_seed(0)
    if kind == "bert":
        config = transformers.BertConfig(**SIZES, max_position_embeddings=10)
        whole = transformers.BertForMaskedLM(config)
        model = {"type": "WordPiece", "unk_token": "[UNK]", "vocab": numbers}
        model |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
        before = {"type": "BertPreTokenizer"}
    else:
        config = transformers.RobertaConfig(
            **SIZES, max_position_embeddings=12, type_vocab_size=1, layer_norm_eps=1e-5
        )
        whole = transformers.RobertaForMaskedLM(config)
        model = {"type": "BPE", "vocab": letters(numbers), "merges": []}
        before = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
        before["use_regex"] = True
    for parameter in whole.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    whole.save_pretrained(folder, safe_serialization=True)
    described = {"version": "1.0", "added_tokens": [], "normalizer": None, "model": model}
    described |= {"pre_tokenizer": before, "decoder": None, "post_processor": None}
    (folder / "tokenizer.json").write_text(json.dumps(described), "utf-8")
    return whole.eval()


def letters(numbers):
    """Without merges, byte-level pieces are single letters: as many as there are rows."""
    return {letter: i for i, letter in zip(numbers.values(), "abĠdefghm", strict=True)} | {
        piece: numbers[piece] for piece in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    }


@pytest.fixture(params=["bert", "roberta"])
def folder(request, tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    (tmp_path / "ours").mkdir()
    return request.param, published(request.param, tmp_path / "ours")


def test_scores_of_hidden_pieces_are_those_of_transformers(folder):
    _, theirs = folder
    ours = supplied.model("ours", dropout=0.0).eval()
    ids = torch.tensor([[3, 4, 5, 6, 7, 8, 3, 4], [8, 7, 6, 5, 4, 3, 5, 6]])
    hidden = torch.zeros_like(ids, dtype=torch.bool)
    hidden[:, [2, 5]] = True
    with torch.no_grad():
        expected = theirs(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[hidden]
        torch.testing.assert_close(ours(ids, hidden), expected, rtol=1e-4, atol=1e-5)


def test_pieces_are_numbered_as_the_folder_has_them(folder):
    kind, _ = folder
    pieces = english.pieces_of("supplied:ours")
    assert pieces.size == 9
    special = [PIECES[kind][n] for n in pieces.special[:5]]
    expected = {
        "bert": ["[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"],
        "roberta": ["<s>", "</s>", "<pad>", "<unk>", "<mask>"],
    }
    assert special == expected[kind]
    if kind == "bert":
        assert pieces.numbers("cats") == [6, 7]
    else:  # the space before a word is spelt
        assert pieces.numbers("a") == [2, 0]


def test_a_model_is_named_by_its_size_and_missing_files_in_one_line(folder, tmp_path):
    stage = StageSettings(updates=0, sequences=1, length=8)
    settings = EnglishSettings(model="supplied:ours", head=stage, all=stage)
    (told,) = recipes.start_recipe(settings).values()
    assert told.endswith(" bytes")
    (tmp_path / "ours" / "tokenizer.json").unlink()
    with pytest.raises(DataError, match=r"tokenizer\.json") as raised:
        supplied.pieces("ours")
    assert "\n" not in str(raised.value)


def test_another_kind_of_model_is_refused(folder, tmp_path):
    config = tmp_path / "ours" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "model_type": "gpt2"}))
    with pytest.raises(DataError, match="BERT or RoBERTa"):
        supplied.model("ours", 0.0)


def test_dropout_is_that_of_the_settings(folder):
    ours = supplied.model("ours", dropout=0.25)
    found = {m.p for m in ours.modules() if isinstance(m, torch.nn.Dropout)}
    assert found == {0.25}
    assert ours.bert.sizes.dropout == 0.25  # of which every later model is built
    assert np.isfinite(ours.bias.detach().numpy()).all()
