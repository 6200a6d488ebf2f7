"""Pretrained encoders, by transformers: words to subwords, sentences to states.

    subwords.py    tokenizers: those of an encoder, and those learnt from a text
    pretrained.py  folders with a model (released, supplied, tiny), and the states it gives
    words.py       word vectors from states

An encoder's name is one of::

    tiny                           random weights, words of the artificial languages: smoke
    multilingual-e5-small[@LAYER]  registered; 12 layers, 384 wide, about 100 languages, 4 bits
    all-minilm-l6-v2               registered; 6 layers, 384 wide, English
    supplied:FOLDER                a published BERT or RoBERTa below the folder of supplied files

Here is what is known of a name without torch.
"""

import json
from contextlib import suppress
from pathlib import Path

from xlrepro.artefacts import file_hash
from xlrepro.data import registry, supplied
from xlrepro.errors import SettingsError
from xlrepro.paths import supplied_dir

TINY, E5, MINILM = "tiny", "multilingual-e5-small", "all-minilm-l6-v2"
LAYERS = {TINY: 2, E5: 12, MINILM: 6}
RELEASED, SUPPLIED = "released:", "supplied:"  # how a name may begin
CONFIG, WEIGHTS, SUBWORDS = "config.json", "model.safetensors", "tokenizer.json"  # as published


def name_and_layer(name: str, layer: int | None = None) -> tuple[str, int | None]:
    """Split ``NAME@LAYER``, ``released:`` before it left out; without a layer it is the last.

    Args:
        name: of an encoder.
        layer: in place of that of the name.

    Raises:
        SettingsError: for an unknown name, or a layer that the encoder does not have.

    Example:
        >>> name_and_layer("released:multilingual-e5-small@5")
        ('multilingual-e5-small', 5)
    """
    plain, _, named = name.removeprefix(RELEASED).partition("@")
    below = plain.startswith(SUPPLIED) and Path(plain.removeprefix(SUPPLIED)).parts
    if plain not in LAYERS and (not below or {"..", "/"} & {*below}):
        known = ", ".join(LAYERS)
        raise SettingsError(f"no encoder is called {plain!r}: use {known} or {SUPPLIED}FOLDER")
    if named and not named.isdecimal():
        raise SettingsError(f"the encoder {name} names no layer: write {plain}@8")
    if layer is None and not named:
        return plain, None
    layer = int(named) if layer is None else layer
    # Of supplied files whoever reads them says that they are missing or damaged.
    with suppress(OSError, ValueError, LookupError, TypeError):
        if not (count := LAYERS.get(plain)):
            config = (supplied_dir() / supplied_files(plain)[0]).read_text("utf-8")
            count = json.loads(config)["num_hidden_layers"]
        if not 0 < layer <= count:
            raise SettingsError(f"{plain} has {count} layers, not {layer}")
    return plain, layer


def supplied_files(name: str) -> list[str]:
    """Return the files that an encoder needs below the folder of supplied files; none: it is had.

    Example:
        >>> supplied_files("supplied:bert-base-cased")
        ['bert-base-cased/config.json', 'bert-base-cased/model.safetensors',
         'bert-base-cased/tokenizer.json']
    """
    plain, _ = name_and_layer(name)
    if not plain.startswith(SUPPLIED):
        return []
    return [f"{plain.removeprefix(SUPPLIED)}/{file}" for file in (CONFIG, WEIGHTS, SUBWORDS)]


def identity(name: str) -> str:
    """Return what identifies an encoder's weights: their SHA-256.

    Raises:
        DataError: if supplied weights are not there.
    """
    plain, _ = name_and_layer(name)
    if plain == TINY:
        from xlrepro.artificial import VERSION

        return f"tiny, version 2, of artificial languages {VERSION}"  # its subwords are theirs
    if plain.startswith(SUPPLIED):
        _, weights, _ = supplied.files(supplied_files(plain))
        return file_hash(registry.note_supplied(weights))
    return registry.content_hash(plain, "weights")
