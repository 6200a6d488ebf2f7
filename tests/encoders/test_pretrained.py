"""Released encoders and the tiny one: what is read is what is in the files, states are kept.

The oracles are written out here in numpy, or are brute force; the small file is made here, the real
ones are read where they can be had.
"""

import math
import unicodedata
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import torch
from scipy.special import erf

from tests.artificial.processes import printed
from tests.encoders import quantised_files
from xlrepro.data import registry
from xlrepro.encoders import LAYERS, pretrained
from xlrepro.encoders.pretrained import Encoder, QuantisedFile, load, unigram, write_quantised
from xlrepro.encoders.subwords import Special, Subwords, learnt, read
from xlrepro.errors import DataError
from xlrepro.precision import computing


def real(name):
    """Bring a released encoder's files, or skip the test and say why they cannot be had."""
    try:
        for file_id in registry.dataset(name).files:
            registry.fetch(name, file_id)
    except DataError as error:
        pytest.skip(str(error))
    return name


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return QuantisedFile(quantised_files.write(tmp_path_factory.mktemp("small") / "small.bin"))


@pytest.fixture(scope="module")
def folder(small, tmp_path_factory):
    path = tmp_path_factory.mktemp("written")
    write_quantised(small, path)
    return path


def encoder_of(folder):
    transformers = pretrained.quiet_transformers()
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    return Encoder("small", model, pretrained.subwords_of(folder))


def decoded_by_hand(block):
    """The 32 weights of a block of 18 bytes, one after the other."""
    scale = float(np.frombuffer(block[:2], dtype="<f2")[0])
    low = [(byte % 16 - 8) * scale for byte in block[2:]]
    high = [(byte // 16 - 8) * scale for byte in block[2:]]
    return low + high


def normed(x, file, name, eps):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    weight, bias = (file.tensor(f"{name}.{kind}", 0).numpy().astype(float) for kind in "wb")
    return (x - mean) / np.sqrt(variance + eps) * weight + bias


def written_out(file, ids):
    """The states of all layers of one sequence, each (length, dim): BERT, in float64 numpy."""
    dim, heads = file.sizes["hidden_size"], file.sizes["num_attention_heads"]
    eps, head = file.sizes["layer_norm_eps"], dim // heads

    def linear(x, name):
        bias = file.tensor(f"{name}.b", 0).numpy().astype(float)
        return x @ file.tensor(f"{name}.w", x.shape[-1]).numpy().astype(float).T + bias

    rows = file.tensors["emb.word"][1].reshape(-1, dim // 32, 18)[ids]
    x = np.array([[w for block in row for w in decoded_by_hand(bytes(block))] for row in rows])
    x += file.tensor("emb.pos", dim).numpy()[: len(ids)] + file.tensor("emb.type", dim).numpy()[0]
    states = [normed(x, file, "emb.ln", eps)]
    for i in range(file.sizes["num_hidden_layers"]):
        x = states[-1]
        mixed = np.zeros_like(x)
        q, k, v = (linear(x, f"l{i}.{part}") for part in "qkv")
        for h in range(heads):
            part = slice(h * head, (h + 1) * head)
            scores = q[:, part] @ k[:, part].T / math.sqrt(head)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            mixed[:, part] = weights / weights.sum(-1, keepdims=True) @ v[:, part]
        x = normed(x + linear(mixed, f"l{i}.ao"), file, f"l{i}.aln", eps)
        wide = linear(x, f"l{i}.fi")
        wide = wide * 0.5 * (1 + erf(wide / math.sqrt(2)))
        states.append(normed(x + linear(wide, f"l{i}.fo"), file, f"l{i}.oln", eps))
    return states


def test_every_layer_is_the_forward_pass_written_out(folder, small):
    ids = [0, 5, 9, 10, 15, 2]
    with torch.inference_mode():
        found = encoder_of(folder).model(input_ids=torch.tensor([ids]), output_hidden_states=True)
    expected = written_out(small, ids)
    assert len(found.hidden_states) == small.sizes["num_hidden_layers"] + 1
    for layer, (ours, theirs) in enumerate(zip(found.hidden_states, expected, strict=True)):
        np.testing.assert_allclose(ours[0].numpy(), theirs, atol=1e-4, err_msg=f"layer {layer}")


def test_the_normaliser_is_the_files_table():
    file = QuantisedFile(registry.cached_path(real("multilingual-e5-small"), "weights"))
    normalise = unigram(file).normalizer.normalize_str
    for code, text in file.normaliser.items():
        assert normalise(f"a{chr(code)}") == unicodedata.normalize("NFC", f"a{text}"), hex(code)
    assert normalise("～") == "～"  # which NFKC alone would change
    assert file.sizes["num_hidden_layers"] == LAYERS["multilingual-e5-small"]


def test_english_subwords_of_minilm():
    assert load(real("all-minilm-l6-v2")).subwords.numbers("Unbelievable") == [23653]


@pytest.mark.parametrize(
    ("word", "expected", "read_from"),
    [("undo", "▁un do", "▁un"), ("ﬁ我", "▁ fi 我", "fi"), ("un\u200bdo", "▁un do", "▁un"),
     ("我们", "▁ 我 们", "我"), ("☃", "▁ <unk>", "<unk>"), ("", "<unk>", "<unk>")],
)  # fmt: skip
def test_a_word_is_read_from_its_first_subword_but_a_bare_marker(word, expected, read_from, folder):
    """The most probable of all splits: of "undo" two subwords, -8.5 against -9.5 of one."""
    subwords = pretrained.subwords_of(folder)
    numbers = subwords.numbers(word)
    spelt = [subwords.engine.id_to_token(number) for number in numbers]
    assert spelt == expected.split()
    assert spelt[subwords.first(numbers)] == read_from


def test_vectors_of_positions_have_that_of_the_first_segment_in_them(folder, small):
    expected = small.tensor("emb.pos", 64) + small.tensor("emb.type", 64)[0]
    torch.testing.assert_close(encoder_of(folder).position_table, expected)


# ---- subwords that are learnt

LINES = [["low", "lower", "lowest"], ["new", "newer"], ["low", "newest", "zß"]] * 9


def test_learnt_subwords_are_the_same_in_every_process(tmp_path):
    code = (
        "from xlrepro.encoders.subwords import learnt; "
        f"made = learnt({LINES}, 40, 9).engine; "
        "print(sorted(made.get_vocab().items(), key=lambda item: item[1]))"
    )
    assert len(printed(code)) == 1
    made = learnt(LINES, 40, 9)
    made.engine.save(str(tmp_path / "subwords.json"))
    assert read(tmp_path / "subwords.json").numbers("lower") == made.numbers("lower")


def test_the_alphabet_is_the_most_frequent_characters():
    made = learnt(LINES, 100, 6)  # e, w, l, o, n, s or r
    assert {"z", "ß"}.isdisjoint(made.engine.get_vocab())
    assert made.special.unknown in made.numbers("zß")
    assert made.special[:5] == (2, 3, 0, 1, 4)
    assert len(made) <= 100


# ---- sentences and kept states

SEQUENCES = [[0, 5, 6, 2], [0, 7, 2], [0, 8, 8, 8, 8, 2]]
READS = [[1, 2], [1], [4, 1]]


@pytest.fixture
def encoder(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    return encoder_of(folder)


def expected_states(encoder):
    found = []
    for ids, places in zip(SEQUENCES, READS, strict=True):
        with torch.inference_mode():
            states = encoder(torch.tensor([ids]))[0]
        found += [states[place].numpy() for place in places]
    return np.array(found)


def test_kept_states_are_those_of_the_model_in_half_precision(encoder):
    found = encoder.kept_states(SEQUENCES, READS)
    assert (found.dtype, type(found)) == (np.float16, np.memmap)
    np.testing.assert_allclose(found, expected_states(encoder), atol=3e-3)
    means = encoder.kept_states(SEQUENCES, READS, mean=True)
    by_hand = expected_states(encoder)
    by_hand = [by_hand[:2].mean(0), by_hand[2], by_hand[3:].mean(0)]
    np.testing.assert_allclose(means, by_hand, atol=3e-3)


def test_double_precision_is_kept(encoder):
    with computing("double"):
        encoder.model.double()
        found = encoder.kept_states(SEQUENCES, READS)
        np.testing.assert_allclose(found, expected_states(encoder), atol=1e-12)
    encoder.model.float()


def test_batches_and_padding_change_nothing(encoder, monkeypatch):
    together = np.array(encoder.kept_states(SEQUENCES, READS, mean=True))
    monkeypatch.setattr(pretrained, "BATCH_SUBWORDS", 1)
    alone = Encoder("one by one", encoder.model, encoder.subwords)
    np.testing.assert_allclose(alone.kept_states(SEQUENCES, READS, mean=True), together, atol=3e-3)


def test_states_are_computed_once_for_weights_text_and_places(encoder):
    class Silent(torch.nn.Module):
        config = encoder.model.config

        def forward(self, *given, **more):
            raise AssertionError("computed again")

    first = np.array(encoder.kept_states(SEQUENCES, READS))
    silent = Encoder(encoder.identity, Silent(), encoder.subwords)
    np.testing.assert_array_equal(silent.kept_states(SEQUENCES, READS), first)
    for identity, text, reads in (
        ("other", SEQUENCES, READS),
        (encoder.identity, [[0, 5, 7, 2], *SEQUENCES[1:]], READS),
        (encoder.identity, SEQUENCES, [[1, 3], *READS[1:]]),
    ):
        with pytest.raises(AssertionError, match="computed again"):
            Encoder(identity, Silent(), encoder.subwords).kept_states(text, reads)


class Spelt(Subwords):
    """Subwords of a toy: ``ab`` begins with a bare marker."""

    known: ClassVar = {"ab": [9, 1, 2], "c": [3], "d": [4, 5], "long": [6] * 40}

    def __init__(self):
        self.special, self._marker = Special.of(7, 8, 0, 10, 11), 9

    def numbers(self, word):
        return self.known[word]


class Limited(torch.nn.Module):
    def __init__(self, positions):
        super().__init__()
        self.config = SimpleNamespace(max_position_embeddings=positions, model_type="bert")


@pytest.mark.parametrize(
    ("positions", "words", "ids", "places"),
    [
        (20, ["c", "ab", "d"], [7, 3, 9, 1, 2, 4, 5, 8], [1, 3, 4, 5, 6]),
        (6, ["c", "ab", "d"], [7, 3, 9, 1, 2, 8], [1, 3, 4]),
        (4, ["c", "ab"], [7, 3, 9, 8], [1]),
        (20, [], [7, 8], [0]),
    ],
)
def test_of_a_text_no_marker_that_stands_alone_is_read(positions, words, ids, places):
    assert Encoder("toy", Limited(positions), Spelt()).text(words) == (ids, places)


def test_a_sentence_over_the_limit_is_cut_at_words():
    framed = Encoder("toy", Limited(7), Spelt()).framed([["c", "ab", "d", "long"], ["c"]])
    assert framed.ids == [[7, 3, 9, 1, 2, 8], [7, 4, 5, 8], [7, *[6] * 5, 8], [7, 3, 8]]
    assert framed.reads == [[1, 3], [1], [1], [1]]
    assert framed.sentence == [0, 0, 0, 1]


# ---- the tiny encoder


def test_the_tiny_encoder_is_the_same_wherever_it_is_made(tmp_path, monkeypatch):
    states = []
    for name in ("one", "two"):
        monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / name))
        torch.manual_seed(len(states))
        encoder = load("tiny")
        with torch.inference_mode():
            states.append(encoder(torch.tensor([encoder.text(["a", "ba"])[0]])))
    assert torch.equal(*states)
    assert encoder.model.config.num_hidden_layers == LAYERS["tiny"]
