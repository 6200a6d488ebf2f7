import pytest

from xlrepro.errors import SettingsError
from xlrepro.tasks.source import Source

SMALL = Source("artificial", "POS", ("en", "de"), "dictionary", 20, 10)


def test_limits_cut_training_and_test_sentences_apart():
    assert [len(SMALL.sentences("de", split)) for split in ("train", "dev", "test")] == [20, 10, 10]


def test_a_corpus_must_be_of_the_task():
    with pytest.raises(SettingsError, match=r"'ud-r2.2' for NER; known: artificial, panx-wikiann"):
        Source("ud-r2.2", "NER", ("en",)).sentences("en", "train")


def test_only_requests_have_the_intents_of_requests():
    source = Source("artificial", "SF", ("en",), None, 30, 30)
    assert all(s.intent for s in source.sentences("en", "test"))
