"""The `paper` profile of the span tasks: corpora and vectors that the user supplies."""

import pytest

from tests.papers.word_order.made_up_supplies import supply
from xlrepro.engine import check_supplied
from xlrepro.errors import DataError
from xlrepro.experiments import experiment
from xlrepro.papers.word_order import run as tagging
from xlrepro.papers.word_order.mbert import tagging as mbert_tagging
from xlrepro.papers.word_order.settings import TaggingSettings
from xlrepro.tasks.source import Source, word_vectors
from xlrepro.tasks.tagging import split_of, tag_set
from xlrepro.trials import TrialContext

SIZES = {"dim": 8, "heads": 2, "ff_dim": 8, "hidden_dim": 4, "layers": 1}
TINY = {**{f"encoder.{name}": size for name, size in SIZES.items()}, "epochs": 1}


@pytest.fixture
def supplied(tmp_path, monkeypatch):
    supply(tmp_path, monkeypatch)
    forget()
    yield tmp_path
    forget()


def forget():
    """Forget what was read: files of one name differ from test to test."""
    mbert = (mbert_tagging.frozen_encoder, mbert_tagging.features)
    for cached in (split_of, tag_set, word_vectors, *mbert):
        cached.cache_clear()


def paper_trial(key, system, task=None, **overrides):
    """Return the first paper trial of a row that runs on supplied data."""
    found = experiment(f"word_order/{key}").trials("paper", [system], [0], overrides)
    return next(t for t in found if task in (None, t.settings["task"]))


def test_the_official_split_of_the_slots_is_used(supplied):
    source = Source.of(paper_trial("table1", "word:ORT", "SF").typed(TaggingSettings), "SF")
    assert [s.slots for s in source.sentences("en", "train")] == [("B-x", "O"), ("B-y", "I-y", "O")]
    assert len(source.sentences("en", "test")) == 20


def test_the_line_names_just_the_files_that_a_trial_reads(supplied):
    for file in ("en/dev", "de/test", "de/train"):
        (supplied / "conll-ner" / file).unlink()
    with pytest.raises(DataError, match=r"^no conll-ner/en/dev, conll-ner/de/test below"):
        check_supplied([paper_trial("table1", "word:ORT")])
    (supplied / "fasttext-aligned" / "wiki.nl.align.vec").unlink()
    with pytest.raises(DataError, match=r", fasttext-aligned/wiki\.nl\.align\.vec below"):
        check_supplied([paper_trial("table1", "word:ORT")])


@pytest.mark.parametrize(
    ("key", "system", "task"),
    [
        ("table1", "word:BiLSTM w/ shuffled data", "NER"),
        ("table1", "word:RPT", "NER"),
        ("table5", "noisy:TRS", "SF"),
        ("table6", "ablation:ORT + Linear (PE -, FF Linear, k -)", "SF"),
    ],
)
def test_a_made_up_corpus_trains_for_an_epoch(supplied, key, system, task):
    trial = paper_trial(key, system, task, **TINY)
    result = tagging.tagging(trial, TrialContext())
    assert {c.column for c in result.cells} == set(trial.columns)
    assert len(result.details["train_loss"]) == 1
