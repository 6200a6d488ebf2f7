"""Nothing labelled of a target, and nothing of a test set, is in any text that is trained on; and
the paper's own files, made up in small.

What is forbidden is read here from the files as they are registered, by other code than that which
leaves it out.
"""

import json
import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.encoders import published
from tests.vectors.written import write_vec
from xlrepro.data import registry
from xlrepro.data.loading import load, load_rows
from xlrepro.data.sentences import Sentence
from xlrepro.encoders.words import plain_word
from xlrepro.engine import check_supplied
from xlrepro.experiments import experiment
from xlrepro.papers.ramen import data, run, supplied
from xlrepro.papers.ramen.settings import EvaluationSettings
from xlrepro.trials import TrialContext
from xlrepro.vectors.normalise import simplified

# Chinese is segmented, which takes a minute for all of it: a tenth of its text is looked at.
WORDS = {"zh": 30_000}


def settings_of(language):
    changes = {"adaptation.words": WORDS[language]} if language in WORDS else {}
    row = "base:RAMEN-BASE + BERT (parallel)"
    changes["parts"] = [language]
    (trial,) = experiment("ramen/table1").trials("open", [row], [0], changes)
    return trial.typed(EvaluationSettings).adaptation


def bare(text, language):
    """Letters and digits alone, in small letters, in the one spelling that models read."""
    return re.sub(r"[\W_]+", "", plain_word(text, language).lower())


@cache
def forbidden(language):
    """Premises and hypotheses of XNLI, and sentences of the treebanks' test and dev sets."""
    sentences = {
        bare(text, language)
        for part in ("dev", "test")
        if f"{language}/{part}" in registry.dataset("xnli").files
        for row in load_rows("xnli", f"{language}/{part}")
        for text in row[:2]
    }
    for name in registry.dataset("ud-r2.2").files:
        if name.startswith(language) and not name.endswith("train"):
            found = load("ud-r2.2", name)
            sentences |= {bare("".join(sentence.tokens), language) for sentence in found}
    return sentences - {""}


def count(lines, language):
    sentences = forbidden(language)
    assert len(sentences) > 5000  # XNLI's test set alone has as many
    return sum(bare("".join(line), language) in sentences for line in lines)


@pytest.mark.mirror
@pytest.mark.parametrize("language", ["hi", "zh"])  # as they are, and by segments and scripts
def test_no_sentence_of_a_test_set_is_in_a_languages_text(language):
    lines = data.words(settings_of(language), language)
    assert sum(map(len, lines)) >= WORDS.get(language, 300_000)
    assert count(lines, language) == 0


@pytest.mark.mirror
def test_no_sentence_of_a_test_set_is_in_parallel_text_and_pairs_are_as_many_as_told():
    pairs = data.pairs(settings_of("hi"), "hi")
    assert count([foreign for _, foreign in pairs], "hi") == 0
    assert count([english for english, _ in pairs], "en") == 0
    assert 0.98 * 7_100 < len(pairs) <= 7_100  # deviation R04, less those of a test set


@pytest.mark.mirror
def test_a_test_sentence_is_found_in_either_script():
    written = "".join(load("ud-r2.2", "zh/test")[0].tokens)
    simple = simplified(written, "zh")
    assert simple != written
    assert count([[written], [simple]], "zh") == 2
    assert data.fold([simple]) in data.test_sentences("zh", "open")


@pytest.mark.mirror
@pytest.mark.parametrize("language", ["fr", "ru", "ar", "hi", "vi", "zh"])
def test_no_tree_is_in_two_splits_of_the_supervised_treebanks(language):
    splits = [data.trees("open", language, p, None, True) for p in data.SPLITS]
    forms = [{tuple(s.tokens) for s in split if len(s) > 5} for split in splits]
    assert all(len(split) >= 50 for split in splits)
    assert len(forms[0] & forms[2]) <= 0.01 * len(forms[2])


@pytest.mark.mirror
def test_no_english_premise_is_both_trained_on_and_selected_with():
    train, dev = (data.inference("open", "en", part, None) for part in ("train", "dev"))
    assert not {p.premise for p in train} & {p.premise for p in dev}
    assert len(dev) == pytest.approx(2490 / 5, abs=10)
    assert len(train) + len(dev) == 2490 + 5000


@pytest.mark.parametrize("language", ["en", "fr", "hi"])
def test_labels_of_artificial_pairs_are_balanced_and_alike_in_every_language(language):
    pairs = data.inference("artificial", language, "test", 30)
    assert [p.label for p in pairs] == [0, 1, 2] * 10
    assert all(p.premise != p.hypothesis for p in pairs)


# ---- the paper's own files

STAGE = {"updates": 1, "sequences": 4, "length": 12, "accumulation": 2}
SMALL = {f"adaptation.{s}.{k}": v for s in ("embeddings", "bilingual") for k, v in STAGE.items()}
SMALL |= {"adaptation.words": 300, "adaptation.pairs": 20, "adaptation.held_out": 2}
SMALL |= {"adaptation.vocabulary": 120, "adaptation.precision": "single", "precision": "single"}
SMALL |= {"head.train": 16, "head.test": 6, "head.hidden": 8, "head.relation_hidden": 4}
SMALL |= {"tuned_epochs": 1, "parts": ["fr"]}


def write_language(root, code):
    """Text, pairs, vectors and trees of a language, made up."""
    lines, english = ([list(words) for words in data.family().text(c, 400)] for c in (code, "en"))
    words = sorted({word for line in lines for word in line if word.isalpha()})
    rows = np.random.default_rng(0).normal(size=(len(words), 6)).round(3)
    write_vec(root / f"fasttext-aligned/wiki.{code}.align.vec", words, rows)
    pairs = zip(english, lines, strict=False)
    files = {
        supplied.text_path(code): "\n".join(" ".join(line) for line in lines),
        supplied.parallel_path(code): "\n".join(f"{' '.join(a)}\t{' '.join(b)}" for a, b in pairs),
    }
    for number, split in enumerate(data.SPLITS):
        trees = data.trees("artificial", code, split, 24 - number)
        files[supplied.trees_path(code, split)] = "\n".join(map(conllu, trees))
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text + "\n", "utf-8")


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
    published.bert(root / "bert-base-cased", gamma=True)
    published.bert(root / "bert-base-multilingual-cased", gamma=True)
    published.roberta(root / "roberta-large")
    for code in ("en", "fr"):
        write_language(root, code)
    labels, said = ("entailment", "neutral", "contradiction", "-"), {"sentence2": "He sees."}
    rows = [said | {"sentence1": f"{i} dogs.", "gold_label": labels[i % 4]} for i in range(40)]
    (root / supplied.INFERENCE).parent.mkdir()
    (root / supplied.INFERENCE).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return root


@pytest.fixture
def paper(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(folder))
    monkeypatch.setattr("xlrepro.data.supplied._sets", lambda _: {})  # of a few invented lines
    return folder


def trial_of(table, system):
    changes = SMALL
    if "mBERT" in system:  # one head for all its targets
        kept = {k: v for k, v in SMALL.items() if not k.startswith(("adapt", "parts"))}
        changes = {**kept, "targets": ["fr"]}
    (trial,) = experiment(f"ramen/{table}").trials("paper", [system], [0], changes)
    return trial


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("table", "system"),
    [
        ("table2", "base:RAMEN-BASE + BERT (mono)"),
        ("table1", "large:RAMEN-LARGE + RoBERTa (parallel)"),
        ("table1", "prior:mBERT (Wu & Dredze, 2019) (mono)"),
    ],
)
def test_a_trial_at_paper_runs_on_supplied_models_and_data(table, system, paper):
    trial = trial_of(table, system)
    check_supplied([trial])
    result = run.run(trial, TrialContext())
    assert {cell.column.rpartition("/")[2] for cell in result.cells} == {"fr"}
    curves = result.details["heads"]["fr+end"]
    assert set(curves) == {"tuned", "english"} | ({"frozen"} if table == "table2" else set())
    if "mBERT" not in system:
        assert result.details["adaptation"]["fr"]["end"]["updates"] == 1


@pytest.mark.mirror
def test_text_of_the_supplied_corpus_keeps_case_and_leaves_out_the_test_sets(paper):
    tree = data.trees("supplied", "fr", "test", 1)[0]
    path = paper / supplied.text_path("fr")
    before = path.read_text("utf-8")
    path.write_text(f"Une Ligne Rare\n{' '.join(tree.tokens)}\n", "utf-8")
    try:
        assert list(data._lines("supplied", "fr", 9, 0)) == [["Une", "Ligne", "Rare"]]
    finally:
        path.write_text(before, "utf-8")
    read = data.recipe_of_text(SimpleNamespace(corpus="supplied"), "fr")
    assert supplied.trees_path("fr", "test") in read  # other test sets, other text
    line = Sentence(tokens=("Une", "Ligne"))
    assert data.tokens(line, "fr", "supplied") == ("Une", "Ligne")
    assert data.tokens(line, "fr", "open") == ("une", "ligne")
