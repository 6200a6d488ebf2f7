import pytest

from xlrepro.tasks.source import Source
from xlrepro.tasks.tagging import split_of


@pytest.fixture
def read(monkeypatch):
    """Note which splits are read."""
    original, parts = Source.sentences, []

    def spy(source, language, split):
        parts.append((language, split))
        return original(source, language, split)

    monkeypatch.setattr(Source, "sentences", spy)
    split_of.cache_clear()
    yield parts
    split_of.cache_clear()
