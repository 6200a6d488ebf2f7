"""Trials of Tables 3 to 5: heads, what they read, and which language model each row has."""

import json
from types import SimpleNamespace

import pytest
import torch

from xlrepro.experiments import experiment
from xlrepro.papers.sense_alignment import data, transfer, vectors
from xlrepro.papers.sense_alignment.settings import TransferSettings
from xlrepro.tasks import classification
from xlrepro.tasks.tagging import span_tags
from xlrepro.training.settings import HeadSettings
from xlrepro.trials import TrialContext

SCHUSTER = "main:ELMo+Proj (Schuster et al., 2019)"
QUICK = {"model.training.steps": 3, "head.epochs": 1, "parts": ["de"]}


def test_a_tagger_learns_what_a_vector_says():
    torch.manual_seed(0)
    vectors = [torch.randn(5, 3, dtype=torch.double) for _ in range(60)]
    tags = [["B-X" if x > 0 else "O" for x in v[:, 0].tolist()] for v in vectors]
    head = HeadSettings(hidden_dim=8, dropout=0.0, learning_rate=0.03, epochs=6)
    known, none = span_tags(tags), (torch.zeros(3), torch.ones(3))
    both = transfer.tagged(vectors, tags, known, none)
    model, fit = transfer.train_tagger(both, both, known, head, 0, TrialContext())
    assert transfer.f1(model, both, known, "cpu") > 90
    assert fit.best_epoch == fit.dev_scores.index(max(fit.dev_scores))
    still = head.model_copy(update={"epochs": 1, "learning_rate": 1e-12})
    first, again, other = (
        transfer.train_tagger(both, both, known, still, seed, TrialContext())[0].linear.weight
        for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.allclose(first, other, atol=1e-3)


def test_each_character_stands_in_its_word():
    words, places = transfer.words_of_characters(list("我爱北京"), "zh")
    assert "".join(words) == "我爱北京"
    assert len(words) < 4
    assert "".join(words[p] for p in dict.fromkeys(places)) == "我爱北京"
    traditional, same = transfer.words_of_characters(list("我愛這裡"), "zh")
    assert ("".join(traditional), len(same)) == ("我爱这里", 4)


@pytest.mark.mirror
def test_no_premise_of_the_held_out_pairs_is_trained_on():
    train, dev = (data._xnli_and_sick(split) for split in ("train", "dev"))
    assert not {row[0] for row in train} & {row[0] for row in dev}
    assert len(dev) == pytest.approx(0.2 * 2490, rel=0.02)
    assert {row[2] for row in train} == {row[2] for row in dev} == set(data.NLI)


@pytest.mark.parametrize(
    ("table", "system", "task", "room"),
    [
        ("table3", SCHUSTER, "entities", (transfer, "train_tagger")),
        ("table4", "sentiment:Joint-ELMo", "sentiment", (classification, "train")),
        ("table5", "xnli:Bi-SaELMo+Proj", "inference", (classification, "train")),
    ],
)
def test_no_target_text_is_read_before_the_head_is_chosen(monkeypatch, table, system, task, room):
    trial = experiment(f"sense_alignment/{table}").trials("smoke", [system], overrides=QUICK)[0]
    settings, train, drawn = trial.typed(TransferSettings), getattr(*room), data._artificial
    heads = enumerate(settings.domains or ("",))  # a table of reviews has one per domain
    asked, layers, examples, kept = set(), set(), data.examples, vectors.kept

    def trained(train_set, dev_set, *arguments):
        before, (head, domain) = drawn.cache_info().misses, next(heads)
        english = [data.examples(task, settings, "en", s, domain) for s in ("train", "dev")]
        assert before == drawn.cache_info().misses == 3 * head + 2  # these two, and no target
        counts = [len(getattr(s, "encoded", None) or s.labels) for s in (train_set, dev_set)]
        assert counts == list(map(len, english))
        assert counts[0] != counts[1]
        return train(train_set, dev_set, *arguments)

    drawn.cache_clear()
    monkeypatch.setattr(*room, trained)
    monkeypatch.setattr(data, "examples", lambda *g: asked.add(g[2:4]) or examples(*g))
    monkeypatch.setattr(vectors, "kept", lambda *g: layers.add(g[3]) or kept(*g))
    getattr(transfer, task)(trial, TrialContext())
    assert drawn.cache_info().misses == 3 * len(trial.columns)
    assert not list(heads)
    assert (asked, layers) == ({("en", "train"), ("en", "dev"), ("de", "test")}, {"mean"})


def test_systems_with_projection_alone_have_w_which_leads_into_english(monkeypatch):
    asked = []
    monkeypatch.setattr(vectors, "projection", lambda *a: asked.append(a) or torch.eye(2))
    for trial in experiment("sense_alignment/table3").trials("smoke", seeds=[0]):
        chosen = trial.typed(TransferSettings)
        assert ["+Proj" in system for system in trial.systems] == [False, True]
        for system in trial.systems:
            found = transfer.maps_of(chosen, system, TrialContext())
            assert (found is not None) == ("+Proj" in system)
        ((model, target, *_),) = asked
        assert (model, target) == (chosen.model, trial.columns[0])
        asked.clear()


def test_vectors_of_all_languages_are_standardised_by_those_of_english_training_texts(monkeypatch):
    trial = experiment("sense_alignment/table3").trials(
        "smoke", ["main:Joint-ELMo"], seeds=[0], overrides=QUICK
    )[0]
    seen, made = [], transfer.tagged

    def tagged(vectors, *more):
        seen.append((vectors, made(vectors, *more)))
        return seen[-1][1]

    monkeypatch.setattr(transfer, "tagged", tagged)
    transfer.entities(trial, TrialContext())
    english = torch.cat(seen[0][0])
    for given, found in seen:
        expected = (torch.cat(given) - english.mean(0)) / english.std(0)
        torch.testing.assert_close(found.encoded.table[1:], expected)
        assert not found.encoded.table[0].any()


def test_all_sets_of_a_classifier_are_standardised_by_english_training_texts(monkeypatch):
    system, seen = ["xnli:Bi-SaELMo+Proj"], []
    trial = experiment("sense_alignment/table5").trials("smoke", system, overrides=QUICK)[0]
    train, predicted = classification.train, classification.predicted
    monkeypatch.setattr(classification, "train", lambda *g: seen.append(g[0]) or train(*g))
    monkeypatch.setattr(classification, "predicted", lambda *g: seen.append(g[1]) or predicted(*g))
    transfer.inference(trial, TrialContext())
    assert len({id(examples) for examples in seen}) == 2 + len(trial.systems)  # a test set each
    assert all(examples.spread is seen[0].spread for examples in seen)


def test_every_row_has_the_language_model_that_its_name_says():
    for name in ("table3", "table4", "table5"):
        table = experiment(f"sense_alignment/{name}")
        trials = table.all_trials("open", [0])
        rows = {system.identifier for system in table.systems}
        assert {system for trial in trials for system in trial.systems} == rows
        for trial in trials:
            settings = trial.typed(TransferSettings)
            model, (row, *_) = settings.model, trial.systems
            assert model.joint == (":ELMo" not in row)
            assert (settings.map == "orthogonal") == ("orthogonal" in row)
            assert model.dictionary == ("Bi-SaELMo" in row)
            several = "Bi-SaELMo" in row and "one sense" not in row
            assert model.senses.senses == (3 if several else 1)
            assert (model.senses.begin == "states") == ("from states" in row)
            assert settings.target == trial.columns[0].partition("/")[0]


def test_supplied_reviews_and_pairs_are_read_with_their_labels(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    settings = SimpleNamespace(corpus="cls-acl10", train_sentences=None, test_sentences=None)
    file = tmp_path / "cls-acl10/de/books/test.tsv"
    file.parent.mkdir(parents=True)
    file.write_text("positive\tGut gemacht\npositive\t\u200d\u200f\n", "utf-8")  # no word
    (found,) = data.examples("sentiment", settings, "de", "test", "books")
    assert found.labels == ("positive",)
    pairs = tmp_path / "multinli_1.0/multinli_1.0_dev_matched.jsonl"
    pairs.parent.mkdir()
    names = ("sentence1", "sentence2", "gold_label")
    rows = [("A dog .", "A cat .", "contradiction"), ("A dog .", "It .", "-"),
            ("A dog .", "\u200d", "neutral")]  # fmt: skip
    said = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    pairs.write_text("\n".join(said) + "\n", "utf-8")
    settings.corpus = "multinli"
    (found,) = data.examples("inference", settings, "en", "dev")
    assert found.labels == ("contradiction",)
