"""The paper's own English models, BERT and RoBERTa, from a folder as they are published.

    FOLDER/config.json, tokenizer.json, model.safetensors     (transformers' names of tensors)

Both are read into the same network; they differ in names, in where RoBERTa's positions begin (its
first two rows are for padding), and in how pieces are spelt. No code of a published model runs.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from xlrepro.errors import DataError
from xlrepro.nn.bert import BertSizes, MaskedLanguageModel
from xlrepro.papers.ramen.encoders.pieces import Pieces, Special
from xlrepro.papers.ramen.recipes import supplied_folder
from xlrepro.pretraining.pieces import EngineTokenizer
from xlrepro.pretraining.released import network_of


class Kind(NamedTuple):
    """How a kind of model names its parts.

    Attributes:
        prefix: of the encoder's tensors.
        transform, norm, bias: of the masked-language-model head.
        first_position: row of the position table that the first piece takes.
        special: the pieces that begin, end, pad, are unknown, and mask.
        space: put before a word, because its pieces spell the space.
    """

    prefix: str
    transform: str
    norm: str
    bias: str
    first_position: int
    special: tuple[str, ...]
    space: str


HEAD = "cls.predictions"
KINDS = {
    "bert": Kind(
        "bert.",
        f"{HEAD}.transform.dense",
        f"{HEAD}.transform.LayerNorm",
        f"{HEAD}.bias",
        0,
        ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"),
        "",
    ),
    "roberta": Kind(
        "roberta.",
        "lm_head.dense",
        "lm_head.layer_norm",
        "lm_head.bias",
        2,
        ("<s>", "</s>", "<pad>", "<unk>", "<mask>"),
        " ",
    ),
}


def _kind(config: Mapping[str, Any], root: Path) -> Kind:
    kind = KINDS.get(str(config.get("model_type")))
    if kind is None:
        raise DataError(f"{root} holds a {config.get('model_type')!r}: take BERT or RoBERTa")
    return kind


def model(name: str, dropout: float) -> MaskedLanguageModel:
    """Return a supplied model with its head.

    Args:
        name: of its folder.
        dropout: while tuning.

    Raises:
        DataError: if files or tensors are missing, or it is neither BERT nor RoBERTa.
    """
    from safetensors.torch import load_file

    root = supplied_folder(name)
    config = json.loads((root / "config.json").read_text("utf-8"))
    kind, state = _kind(config, root), load_file(root / "model.safetensors")
    sizes = BertSizes(
        config["vocab_size"],
        config["hidden_size"],
        config["num_hidden_layers"],
        config["num_attention_heads"],
        config["intermediate_size"],
        config["max_position_embeddings"] - kind.first_position,
        0.0,
        config["layer_norm_eps"],
    )
    try:
        return _filled(state, kind, sizes, dropout)
    except KeyError as error:
        raise DataError(f"{root}/model.safetensors has no tensor {error}") from error


def _filled(
    state: Mapping[str, Tensor], kind: Kind, sizes: BertSizes, dropout: float
) -> MaskedLanguageModel:
    encoder = {
        key.removeprefix(kind.prefix): value
        for key, value in state.items()
        if key.startswith(kind.prefix)
    }
    positions = "embeddings.position_embeddings.weight"
    encoder[positions] = encoder[positions][kind.first_position :]
    with torch.random.fork_rng(devices=[]):
        whole = MaskedLanguageModel(sizes)
    whole.bert = network_of(encoder, sizes)
    with torch.no_grad():
        parts: tuple[tuple[torch.nn.Linear | torch.nn.LayerNorm, str], ...] = (
            (whole.transform, kind.transform),
            (whole.norm, kind.norm),
        )
        for part, at in parts:
            part.weight.copy_(state[f"{at}.weight"])
            part.bias.copy_(state[f"{at}.bias"])
        whole.bias.copy_(state[kind.bias])
    for module in whole.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    whole.bert.sizes = sizes._replace(dropout=dropout)  # models made of it are built from these
    return whole


def pieces(name: str) -> Pieces:
    """Return a supplied model's pieces.

    Raises:
        DataError: if files are missing, or it is neither BERT nor RoBERTa.
    """
    from tokenizers import Tokenizer

    root = supplied_folder(name)
    config = json.loads((root / "config.json").read_text("utf-8"))
    kind = _kind(config, root)
    described = json.loads((root / "tokenizer.json").read_text("utf-8"))
    described |= {"padding": None, "truncation": None, "post_processor": None}
    engine = Tokenizer.from_str(json.dumps(described))
    numbers: dict[str, int] = engine.get_vocab()
    if missing := [piece for piece in kind.special if piece not in numbers]:
        raise DataError(f"{root}/tokenizer.json has no piece {missing[0]}: is it the model's own?")
    begin, end, pad, unknown, mask = (numbers[piece] for piece in kind.special)
    split = EngineTokenizer(engine, unknown)
    # Ordinary pieces begin after [MASK] in BERT; RoBERTa's mask is its last row.
    first = 1 + max((begin, end, pad, unknown) if kind.space else (begin, end, pad, unknown, mask))
    return Pieces(
        lambda word: split.numbers(kind.space + word),
        Special(begin, end, pad, unknown, mask, first),
        config["vocab_size"],
    )
