from xlrepro.tasks.source import Source

SMALL = Source("artificial", "POS", ("en", "de"), "dictionary", 20, 10)


def test_limits_cut_training_and_test_sentences_apart():
    assert [len(SMALL.sentences("de", split)) for split in ("train", "dev", "test")] == [20, 10, 10]


def test_only_requests_have_the_intents_of_requests():
    source = Source("artificial", "SF", ("en",), None, 30, 30)
    assert all(s.intent for s in source.sentences("en", "test"))
