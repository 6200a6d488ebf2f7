"""The profile ``paper``: its trials on made-up folders that look like the paper's, in small."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from xlrepro.data.loading import load_rows
from xlrepro.errors import DataError, DeviceError
from xlrepro.experiments import experiment
from xlrepro.papers.ramen.data import labelled, supplied_data, texts
from xlrepro.trials.tasks import load_task
from xlrepro.trials.trial import TrialContext

LETTERS = "abcdefghijklmnopqrstuvwxyz"
STAGE = {"updates": 1, "sequences": 4, "length": 12, "accumulation": 2}
SMALL = {
    "targets": ("fr",),
    "words": 300,
    "pairs": 20,
    "held_out": 2,
    "vocabulary": 120,
    "train": 16,
    "test": 6,
    "hidden": 8,
    "relation_hidden": 4,
    "tuned_epochs": 1,
    "embeddings": STAGE,
    "bilingual": STAGE,
}
SIZES = {
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
}


def bert(folder):
    import transformers

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{c}" for c in LETTERS)]
    numbers = {piece: i for i, piece in enumerate(pieces)}
    config = transformers.BertConfig(vocab_size=len(pieces), max_position_embeddings=300, **SIZES)
    model = {"type": "WordPiece", "unk_token": "[UNK]", "vocab": numbers}
    model |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    write_model(folder, transformers.BertForMaskedLM(config), model, {"type": "BertPreTokenizer"})


def roberta(folder):
    import transformers

    pieces = ["<s>", "<pad>", "</s>", "<unk>", "Ġ", *LETTERS, "<mask>"]
    numbers = {piece: i for i, piece in enumerate(pieces)}
    config = transformers.RobertaConfig(
        vocab_size=len(pieces), max_position_embeddings=302, type_vocab_size=1,
        layer_norm_eps=1e-5, **SIZES,
    )  # fmt: skip
    before = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    model = {"type": "BPE", "vocab": numbers, "merges": [], "unk_token": "<unk>"}
    write_model(
        folder, transformers.RobertaForMaskedLM(config), model, {**before, "use_regex": True}
    )


def write_model(folder, model, pieces, before):
    model.save_pretrained(folder, safe_serialization=True)
    described = {"version": "1.0", "added_tokens": [], "normalizer": None, "model": pieces}
    described |= {"pre_tokenizer": before, "decoder": None, "post_processor": None}
    (folder / "tokenizer.json").write_text(json.dumps(described), "utf-8")


def write_language(root, code):
    """Text, pairs, vectors and trees of a language, made up."""
    lines = [list(words) for words in texts.family().text(code, 400)]
    english = [list(words) for words in texts.family().text("en", 400)]
    words = sorted({word for line in lines for word in line if word.isalpha()})
    files = {
        f"wikipedia/{code}.txt": "\n".join(" ".join(line) for line in lines),
        f"ramen-parallel/{code}.tsv": "\n".join(
            f"{' '.join(one)}\t{' '.join(two)}" for one, two in zip(english, lines, strict=False)
        ),
        f"fasttext-aligned/wiki.{code}.align.vec": vectors(words),
    }
    for number, split in enumerate(("train", "dev", "test")):
        trees = labelled.trees("artificial", code, split, 24 - number)
        files[supplied_data.trees_path(code, split)] = "\n".join(conllu(tree) for tree in trees)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text + "\n", "utf-8")


def vectors(words):
    rows = np.random.default_rng(0).normal(size=(len(words), 6)).round(3)
    told = [f"{word} {' '.join(map(str, row))}" for word, row in zip(words, rows, strict=True)]
    return "\n".join([f"{len(words)} 6", *told])


def conllu(tree):
    rows = zip(tree.tokens, tree.heads, tree.deprels, strict=True)
    lines = [
        f"{i}\t{word}\t_\tX\t_\t_\t{head}\t{relation}\t_\t_"
        for i, (word, head, relation) in enumerate(rows, start=1)
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of supplied files: three models, two languages, and MultiNLI."""
    root = tmp_path_factory.mktemp("supplied")
    torch.manual_seed(0)
    for name, write in (
        ("bert-base-cased", bert),
        ("bert-base-multilingual-cased", bert),
        ("roberta-large", roberta),
    ):
        (root / name).mkdir()
        write(root / name)
    for code in ("en", "fr"):
        write_language(root, code)
    labels = ("entailment", "neutral", "contradiction", "-")
    rows = [
        {"sentence1": f"A man sees {i} dogs.", "sentence2": "He sees.", "gold_label": labels[i % 4]}
        for i in range(40)
    ]
    (root / "multinli_1.0").mkdir()
    (root / supplied_data.INFERENCE).write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return root


@pytest.fixture(autouse=True)
def _supplied(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(folder))
    monkeypatch.setattr(texts, "_words", texts._words.__wrapped__)


def trials(table, system, **changes):
    overrides = {**SMALL, "precision": "single", **changes}
    return experiment(f"ramen/{table}").trials("paper", [system], [0], overrides)


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("table", "system", "english"),
    [
        ("table2", "base:RAMEN-BASE + BERT (mono)", "supplied:bert-base-cased"),
        ("table1", "large:RAMEN-LARGE + RoBERTa (parallel)", "supplied:roberta-large"),
        ("table1", "prior:mBERT (Wu & Dredze, 2019) (mono)", None),
    ],
)
def test_a_trial_at_paper_runs_on_supplied_models_and_data(table, system, english, caplog):
    (trial,) = trials(table, system)
    result = load_task(trial.task)(trial, TrialContext())
    assert {cell.column.rpartition("/")[2] for cell in result.cells} == {"fr"}
    assert all(0 <= cell.value <= 100 for cell in result.cells)
    assert result.details["heads"]["fr"]["tuned"]["losses"]
    made = trial.settings.get("adaptation")
    assert (made and made["english"]["model"]) == english
    if made:
        assert result.details["adaptation"]["fr"]["end"]["updates"] == 1
        assert made["bilingual"]["accumulation"] == 2


@pytest.mark.mirror
def test_text_of_the_supplied_corpus_keeps_case_and_leaves_out_the_test_sets(folder):
    tree = labelled.trees("supplied", "fr", "test", 1)[0]
    path = folder / supplied_data.text_path("fr")
    before = path.read_text("utf-8")
    path.write_text(f"Une Ligne Rare\n{' '.join(tree.tokens)}\n", "utf-8")
    try:
        found = list(texts._supplied_lines("fr"))
    finally:
        path.write_text(before, "utf-8")
    assert found == [["Une", "Ligne", "Rare"]]
    line = SimpleNamespace(tokens=["Une", "Ligne"])
    assert labelled.tokens(line, "fr", "supplied") == ("Une", "Ligne")
    assert labelled.tokens(line, "fr", "open") == ("une", "ligne")


@pytest.mark.mirror
def test_supplied_pairs_leave_out_those_with_a_sentence_of_a_test_set(monkeypatch):
    english, foreign = (
        load_rows("xnli", f"{code}/test", progress=False)[0] for code in ("en", "fr")
    )
    supplied = [
        (english[0], "Une Ligne"),
        ("A Line", foreign[1].upper()),
        ("A Rare Line", "Une Ligne Rare"),
        ("Another", "Une autre"),
    ]
    monkeypatch.setattr(supplied_data, "pairs", lambda _: iter(supplied))
    settings = SimpleNamespace(corpus="supplied", target="fr", pairs=1)
    assert texts.pairs(settings) == [(["A", "Rare", "Line"], ["Une", "Ligne", "Rare"])]


def test_mixed_precision_is_the_default_and_needs_a_gpu():
    small = {name: value for name, value in SMALL.items() if name != "tuned_epochs"}
    (trial,) = experiment("ramen/table4").trials("paper", ["bert:RAMEN-BASE + BERT"], [0], small)
    assert trial.settings["adaptation"]["precision"] == "mixed"
    with pytest.raises(DeviceError, match="CUDA"):
        load_task(trial.task)(trial, TrialContext())


def test_a_missing_model_or_file_is_told_in_one_line(folder):
    with pytest.raises(DataError, match="bert-large-cased") as told:
        trials("table1", "large:RAMEN-LARGE + BERT (mono)")
    assert "\n" not in str(told.value)
    with pytest.raises(DataError, match=r"Russian-GSD|wikipedia/ru") as told:
        trials("table2", "base:RAMEN-BASE + BERT (mono)", targets=("ru",))
    assert "\n" not in str(told.value)


def test_multinli_without_an_agreed_label_is_left_out():
    found = labelled.inference("supplied", "en", "train", None)
    assert len(found) == 30
    assert found[0].premise[:2] == ("A", "man")


def test_the_papers_sizes_stand_in_its_settings():
    row = "base:RAMEN-BASE + BERT (mono)"
    (trial, *_) = experiment("ramen/table2").trials("paper", [row], [0], {"targets": ("fr",)})
    made = trial.settings["adaptation"]
    stages = [made[name] for name in ("embeddings", "bilingual")]
    assert [stage["updates"] for stage in stages] == [25_000, 150_000]
    assert {(stage["sequences"], stage["length"]) for stage in stages} == {(72, 256)}
    assert "learning_rate" not in stages[0]  # 1e-4, its default
    assert made["vocabulary"] == 32_000
    assert trial.settings["tuned_rate"] == 1e-5
