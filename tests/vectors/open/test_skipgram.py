import pytest

from tests.artificial.processes import printed
from xlrepro.errors import SettingsError
from xlrepro.vectors.open.skipgram import SkipGram, train

SCRIPT = """
import sys, hashlib
from pathlib import Path
from xlrepro.vectors.open.skipgram import SkipGram, train
settings = SkipGram(dim=16, epochs=3, min_count=1, sample=0, seed=3)
words, matrix = train(Path(sys.argv[1]), settings)
print(hashlib.sha256(" ".join(words).encode() + matrix.tobytes()).hexdigest())
"""


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("the dog runs here\nthe cat eats\na car drives here\n" * 100, "utf-8")
    return path


def test_same_vectors_in_every_process_whatever_the_hash_seed(text):
    assert len(printed(SCRIPT, str(text))) == 1


def test_text_without_frequent_words_says_so(text):
    with pytest.raises(SettingsError, match="500 times"):
        train(text, SkipGram(min_count=500))
