"""Released encoders: what is read from the files is what is in them, and computes what it should.

The oracles are written out here in numpy, or are other libraries; the small file is made here, the
real ones are read where they can be had.
"""

import functools
import math

import numpy as np
import pytest
import torch
from scipy.special import erf

from tests.pretraining import quantised_files
from xlrepro.data import registry
from xlrepro.errors import DataError, SettingsError
from xlrepro.pretraining import released
from xlrepro.pretraining.pieces import unigram
from xlrepro.pretraining.quantised import QuantisedFile, decode

TEN_SCRIPTS = {
    "Latin": "The café’s ﬁnest crème brûlée costs 3½ euros.",
    "Cyrillic": "Сегодня вечером мы пойдём в театр.",
    "Greek": "Η θάλασσα είναι ήρεμη σήμερα το πρωί.",
    "Arabic": "ذهب الولد إلى المدرسة في الصباح الباكر.",
    "Hebrew": "הילדים משחקים בגן ליד הבית.",
    "Devanagari": "बच्चे बगीचे में खेल रहे हैं।",
    "Thai": "เด็กๆ กำลังเล่นอยู่ในสวน",
    "Han": "孩子们在花园里玩耍。",
    "Kana": "子どもたちはにわであそんでいます。",
    "Hangul": "아이들이 정원에서 놀고 있습니다.",
}


def real(name):
    """Bring a released encoder's files, or skip the test and say why they cannot be had."""
    try:
        for file_id in registry.dataset(name).files:
            registry.fetch(name, file_id, progress=False)
    except DataError as error:
        pytest.skip(str(error))
    return name


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return QuantisedFile(quantised_files.write(tmp_path_factory.mktemp("small") / "small.bin"))


@pytest.fixture(scope="module")
def real_file():
    name = real("multilingual-e5-small")
    return QuantisedFile(registry.cached_path(name, "weights"))


def decoded_by_hand(block):
    """The 32 weights of a block of 18 bytes, one after the other."""
    scale = float(np.frombuffer(block[:2], dtype="<f2")[0])
    low = [(byte % 16 - 8) * scale for byte in block[2:]]
    high = [(byte // 16 - 8) * scale for byte in block[2:]]
    return low + high


@pytest.mark.parametrize("which", ["small", "real_file"])
def test_blocks_decode_to_scale_times_bits(which, request):
    blocks = request.getfixturevalue(which).rows("emb.word", 32)[:40].reshape(-1, 18)
    by_hand = [decoded_by_hand(bytes(block)) for block in blocks]
    np.testing.assert_array_equal(decode(blocks), np.array(by_hand, dtype=np.float32))


def normed(x, file, name, eps):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    weight, bias = (file.tensor(f"{name}.{kind}").numpy().astype(float) for kind in "wb")
    return (x - mean) / np.sqrt(variance + eps) * weight + bias


def written_out(file, ids):
    """The states of all layers of one sequence, each (length, dim): BERT, in float64 numpy."""
    sizes = file.sizes
    head = sizes.dim // sizes.heads

    def linear(x, name):
        bias = file.tensor(f"{name}.b").numpy().astype(float)
        return x @ file.tensor(f"{name}.w").numpy().astype(float).reshape(len(bias), -1).T + bias

    rows = file.rows("emb.word", sizes.dim)[ids]
    x = np.array([[w for block in row for w in decoded_by_hand(bytes(block))] for row in rows])
    x = x + file.tensor("emb.pos").numpy().reshape(-1, sizes.dim)[: len(ids)]
    x = x + file.tensor("emb.type").numpy().reshape(-1, sizes.dim)[0]
    states = [normed(x, file, "emb.ln", sizes.eps)]
    for i in range(sizes.layers):
        x = states[-1]
        mixed = np.zeros_like(x)
        q, k, v = (linear(x, f"l{i}.{part}") for part in "qkv")
        for h in range(sizes.heads):
            part = slice(h * head, (h + 1) * head)
            scores = q[:, part] @ k[:, part].T / math.sqrt(head)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            mixed[:, part] = weights / weights.sum(-1, keepdims=True) @ v[:, part]
        x = normed(x + linear(mixed, f"l{i}.ao"), file, f"l{i}.aln", sizes.eps)
        wide = linear(x, f"l{i}.fi")
        wide = wide * 0.5 * (1 + erf(wide / math.sqrt(2)))
        states.append(normed(x + linear(wide, f"l{i}.fo"), file, f"l{i}.oln", sizes.eps))
    return states


@pytest.mark.parametrize(
    ("which", "ids"),
    [("small", [0, 5, 9, 10, 15, 2]), ("real_file", [0, 35378, 8999, 38, 111, 57818, 5, 2])],
)
def test_every_layer_is_the_forward_pass_written_out(which, ids, request):
    file = request.getfixturevalue(which)
    network = released.quantised_network(file)
    with torch.inference_mode():
        found = network.hidden_states(torch.tensor([ids]))
    expected = written_out(file, ids)
    assert len(found) == file.sizes.layers + 1
    for layer, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(ours[0].numpy(), theirs, atol=1e-4, err_msg=f"layer {layer}")


def test_dense_and_looked_up_rows_give_the_same_states(small):
    ids = torch.tensor([[0, 3, 3, 15, 2]])
    with torch.inference_mode():
        found = [released.quantised_network(small, dense)(ids) for dense in (False, True)]
    torch.testing.assert_close(*found)


def test_loading_draws_no_random_numbers(small):
    torch.manual_seed(3)
    first = torch.rand(1)
    torch.manual_seed(3)
    released.quantised_network(small)
    assert torch.equal(torch.rand(1), first)


@functools.cache
def tables(file):
    """Piece to (log probability, number); what an unknown character costs; the longest piece."""
    known = {piece: (score, i) for i, (piece, score) in enumerate(file.pieces)}
    return known, min(score for score, _ in known.values()) - 10, max(map(len, known))


def best_by_search(text, file):
    """The most probable split of a normalised word, by dynamic programming over characters."""
    known, lowest, longest = tables(file)
    unknown = file.special.unknown
    best = [(0.0, [])] + [(-math.inf, [])] * len(text)
    for end in range(1, len(text) + 1):
        for start in range(max(0, end - longest), end):
            piece = text[start:end]
            if piece in known and known[piece][1] != unknown:
                new, names = known[piece][0], [known[piece][1]]
            elif end - start == 1:
                new, names = lowest, [unknown]
            else:
                continue
            if best[start][0] + new > best[end][0]:
                best[end] = (best[start][0] + new, best[start][1] + names)
    found = best[-1][1]
    return [n for i, n in enumerate(found) if n != unknown or i == 0 or found[i - 1] != unknown]


@pytest.mark.parametrize("script", TEN_SCRIPTS)
def test_pieces_are_the_most_probable_ones(script, real_file):
    engine = released._unigram(registry.cached_path("multilingual-e5-small", "weights"))
    for word in TEN_SCRIPTS[script].split():
        text = "▁" + "".join(real_file.normaliser.get(ord(c), c) for c in word).replace(" ", "▁")
        assert engine.numbers(word) == best_by_search(text, real_file)


def test_pieces_of_the_small_file_are_the_most_probable_ones(small):
    engine = unigram(small.pieces, small.special.unknown, small.normaliser)
    for word, text in (
        ("undo", "▁undo"),
        ("ﬁ我", "▁fi我"),
        ("да?!", "▁да?!"),
        ("un\u200bdo", "▁undo"),
    ):
        assert engine.numbers(word) == best_by_search(text, small)


def test_running_text_is_its_words_one_after_the_other(small):
    engine = unigram(small.pieces, small.special.unknown, small.normaliser)
    words = ["undo", "да", "我们"]
    assert engine.of_text("undo \u2003 да 我们") == [n for w in words for n in engine.numbers(w)]


@pytest.mark.parametrize(("word", "read"), [("我们", "我"), ("undo", "▁un"), ("▁", "▁")])
def test_a_word_is_read_from_its_first_piece_that_is_no_bare_marker(word, read, small):
    engine = unigram(small.pieces, small.special.unknown, small.normaliser)
    numbers = engine.numbers(word)
    assert engine.piece(numbers[engine.first(numbers)]) == read


def test_a_word_of_nothing_has_one_piece_and_an_empty_text_none(small):
    engine = unigram(small.pieces, small.special.unknown, small.normaliser)
    assert engine.numbers("\u200b") == [small.special.unknown]
    assert engine.of_text("") == []


@pytest.mark.parametrize("spoilt", [{"magic": b"E5S2"}, {"cut": 900}])
def test_a_file_of_another_kind_or_cut_short_is_one_line(spoilt, tmp_path):
    with pytest.raises(DataError, match="not an encoder in 4 bits") as error:
        QuantisedFile(quantised_files.write(tmp_path / "bad.bin", **spoilt))
    assert "\n" not in str(error.value)


def test_unknown_encoder_is_one_line_that_names_the_known_ones():
    with pytest.raises(SettingsError, match=r"'m-bert'.*multilingual-e5-small"):
        released.load("m-bert")


def test_states_of_minilm_are_those_of_transformers():
    transformers = pytest.importorskip("transformers")
    encoder = released.load(real("all-minilm-l6-v2"))
    from safetensors.torch import load_file

    config = transformers.BertConfig(
        vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
        intermediate_size=1536,
    )  # fmt: skip
    other = transformers.BertModel(config, add_pooling_layer=False).eval()
    state = load_file(registry.cached_path("all-minilm-l6-v2", "weights"))
    missing, _ = other.load_state_dict(state, strict=False)
    assert not [name for name in missing if "position_ids" not in name]
    text = "Transferring an English encoder to another language."
    ids = torch.tensor([[encoder.begin, *encoder.tokenizer.of_text(text), encoder.end]])
    with torch.inference_mode():
        theirs = other(ids, output_hidden_states=True).hidden_states
        ours = encoder.network.hidden_states(ids)
    for one, two in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, two, atol=1e-5, rtol=0)


def test_pieces_of_minilm_are_those_of_transformers():
    transformers = pytest.importorskip("transformers")
    encoder = released.load(real("all-minilm-l6-v2"))
    path = registry.cached_path("all-minilm-l6-v2", "tokenizer")
    other = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
    for text in TEN_SCRIPTS.values():
        other_ids = other(text, add_special_tokens=False, truncation=False, padding=False)
        assert encoder.tokenizer.of_text(text) == other_ids["input_ids"]


def test_translations_are_closer_than_other_sentences():
    encoder = released.load(real("multilingual-e5-small"))

    def vector(text):
        ids = torch.tensor([[encoder.begin, *encoder.tokenizer.of_text(text), encoder.end]])
        with torch.inference_mode():
            mean = encoder.network(ids)[0].mean(0)
        return mean / mean.norm()

    english, german, other = map(
        vector, ("The weather is lovely today.", "Das Wetter ist heute schön.", "Prices fell.")
    )
    assert english @ german > 0.85 > english @ other
