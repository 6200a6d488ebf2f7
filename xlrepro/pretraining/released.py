"""Released encoders: a name becomes a network, a tokenizer and a table of positions.

Their files are registered like corpora (``data/registry/``): fetched, checked by SHA-256, and only
then read. No code of the packages that carry them runs.

    multilingual-e5-small  12 layers, 384 wide, about 100 languages, weights in 4 bits
    all-minilm-l6-v2        6 layers, 384 wide, English, full precision

Neither uses segments here: the vector of segment 0 is added to the table of positions, once.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from xlrepro.data import registry
from xlrepro.errors import DataError
from xlrepro.nn.bert import Bert, BertSizes
from xlrepro.pretraining.bert_weights import load_layers
from xlrepro.pretraining.pieces import EngineTokenizer, unigram, wordpiece
from xlrepro.pretraining.quantised import QuantisedEmbedding, QuantisedFile
from xlrepro.pretraining.recipes import check_name

MINILM = BertSizes(30522, dim=384, layers=6, heads=12, ff_dim=1536, positions=512)


@dataclass(frozen=True)
class ReleasedEncoder:
    """An encoder with weights that others trained.

    Attributes:
        name: one of ``NAMES``.
        network: ready for use, not for training; ``hidden_states`` gives all layers.
        tokenizer: words and text to numbers of pieces.
        begin: number of the piece that a sequence begins with (``[CLS]``, ``<s>``).
        end: number of the piece that it ends with (``[SEP]``, ``</s>``).
        pad: number of the padding piece; what stands there changes nothing.
        unknown: number of the unknown piece.
        mask: number of the mask piece; None where it has none.
    """

    name: str
    network: Bert
    tokenizer: EngineTokenizer
    begin: int
    end: int
    pad: int
    unknown: int
    mask: int | None

    @property
    def position_table(self) -> Tensor:
        """Its table of positions, a parameter of ``network``. ``(limit, dim)``."""
        return self.network.positions.weight

    @property
    def dim(self) -> int:
        """Width of its states."""
        return self.network.sizes.dim

    @property
    def layers(self) -> int:
        """Number of its layers; layer 0 are the embeddings."""
        return self.network.sizes.layers

    @property
    def limit(self) -> int:
        """Longest sequence of pieces, the first and the last among them."""
        return self.network.sizes.positions


def load(name: str, dense: bool = False) -> ReleasedEncoder:
    """Return an encoder, fresh: what is trained further is no one else's.

    Args:
        name: ``"multilingual-e5-small"`` or ``"all-minilm-l6-v2"``.
        dense: multilingual-e5-small: all piece vectors in memory as parameters (384 MB), to train
            them too; else they stay in 4 bits on the disk and are decoded when looked up.

    Raises:
        SettingsError: for an unknown name.
        DataError: if its files cannot be had, or are not what they should be.

    Example:
        >>> encoder = load("all-minilm-l6-v2")  # doctest: +SKIP
        >>> encoder.tokenizer.numbers("unbelievable")  # doctest: +SKIP
        [23653]
    """
    check_name(name)
    weights = registry.fetch(name, "weights")
    if name == "multilingual-e5-small":
        return _from_quantised(name, weights, dense)
    return _from_safetensors(name, weights, registry.fetch(name, "tokenizer"))


def _from_quantised(name: str, path: Path, dense: bool) -> ReleasedEncoder:
    file = _quantised_file(path)
    _check_count(name, "tensors", len(file.names))
    _check_count(name, "pieces", len(file.pieces))
    network = quantised_network(file, dense)
    tokenizer = _unigram(path)
    special, mask = file.special, tokenizer.number("<mask>")
    return ReleasedEncoder(
        name, network, tokenizer, special.begin, special.end, special.pad, special.unknown, mask
    )


@lru_cache(maxsize=2)
def _quantised_file(path: Path) -> QuantisedFile:
    return QuantisedFile(path)


@lru_cache(maxsize=2)
def _unigram(path: Path) -> EngineTokenizer:
    file = _quantised_file(path)
    return unigram(file.pieces, file.special.unknown, file.normaliser)


def quantised_network(file: QuantisedFile, dense: bool = False) -> Bert:
    """Return the network in a file of 4 bits.

    Args:
        file: the file.
        dense: decode all piece vectors into a parameter.
    """
    sizes = file.sizes
    network = _empty(sizes if dense else sizes._replace(vocabulary=1))
    network.sizes = sizes
    layers = [
        {part: file.tensor(f"l{i}.{short}") for part, short in _SHORT.items()}
        for i in range(sizes.layers)
    ]
    with torch.no_grad():
        positions = file.tensor("emb.pos").view(-1, sizes.dim)
        segment = file.tensor("emb.type").view(-1, sizes.dim)[0]
        network.positions.weight.copy_(positions + segment)
        network.norm.weight.copy_(file.tensor("emb.ln.w"))
        network.norm.bias.copy_(file.tensor("emb.ln.b"))
        if dense:
            network.pieces.weight.copy_(file.tensor("emb.word").view(-1, sizes.dim))
        load_layers(network, layers)
    if not dense:
        network.pieces = QuantisedEmbedding(file.rows("emb.word", sizes.dim))  # type: ignore[assignment]
    return network.eval()


# What the parts of a layer are called: in BERT's checkpoints, and in the file of 4 bits.
_SHORT = {
    f"{part}.{kind}": f"{short}.{kind[0]}"
    for part, short in (
        ("attention.self.query", "q"),
        ("attention.self.key", "k"),
        ("attention.self.value", "v"),
        ("attention.output.dense", "ao"),
        ("attention.output.LayerNorm", "aln"),
        ("intermediate.dense", "fi"),
        ("output.dense", "fo"),
        ("output.LayerNorm", "oln"),
    )
    for kind in ("weight", "bias")
}


def _from_safetensors(name: str, weights: Path, tokenizer: Path) -> ReleasedEncoder:
    from safetensors.torch import load_file

    state = load_file(weights)
    _check_count(name, "tensors", len(state))
    engine = _wordpiece(tokenizer)
    if len(engine) != registry.dataset(name).file("tokenizer").counts["pieces"]:
        raise DataError(f"the tokenizer of {name} has {len(engine):,} pieces: fetch it again")
    network = network_of(state, MINILM)
    begin, end, pad, unknown, mask = (
        engine.known_number(piece) for piece in ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")
    )
    return ReleasedEncoder(name, network, engine, begin, end, pad, unknown, mask)


@lru_cache(maxsize=2)
def _wordpiece(path: Path) -> EngineTokenizer:
    return wordpiece(json.loads(path.read_text("utf-8")))


def network_of(state: Mapping[str, Tensor], sizes: BertSizes) -> Bert:
    """Return the network whose weights a checkpoint of BERT names as transformers does.

    Args:
        state: name to tensor, without a prefix: ``embeddings.word_embeddings.weight`` and so on.
        sizes: of the network.
    """
    network = _empty(sizes._replace(dropout=0.0))
    layers = [_below(state, f"encoder.layer.{i}.") for i in range(sizes.layers)]
    with torch.no_grad():
        network.pieces.weight.copy_(state["embeddings.word_embeddings.weight"])
        segment = state["embeddings.token_type_embeddings.weight"][0]
        network.positions.weight.copy_(state["embeddings.position_embeddings.weight"] + segment)
        network.norm.weight.copy_(state["embeddings.LayerNorm.weight"])
        network.norm.bias.copy_(state["embeddings.LayerNorm.bias"])
        load_layers(network, layers)
    return network.eval()


def _empty(sizes: BertSizes) -> Bert:
    """Return a network whose weights are still to come; the random state stays as it was."""
    with torch.random.fork_rng(devices=[]):
        return Bert(sizes)


def _below(state: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    below: Iterable[str] = (key for key in state if key.startswith(prefix))
    return {key.removeprefix(prefix): state[key] for key in below}


def _check_count(name: str, unit: str, count: int) -> None:
    stated = registry.dataset(name).file("weights").counts[unit]
    if count != stated:
        raise DataError(
            f"{name} has {count:,} {unit} where the registry states {stated:,}: the registry or "
            "the reader is wrong; please report it"
        )
