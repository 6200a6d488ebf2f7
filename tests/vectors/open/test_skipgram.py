import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xlrepro.errors import SettingsError
from xlrepro.vectors.open.skipgram import SkipGram, train

SMALL = SkipGram(dim=16, epochs=3, min_count=1, sample=0, seed=3)
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
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(400):
        animal = rng.random() < 0.5
        nouns, verbs = (
            (("dog", "cat"), ("runs", "eats")) if animal else (("car", "bus"), ("drives", "stops"))
        )
        lines.append(f"the {rng.choice(nouns)} {rng.choice(verbs)} here")
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_same_vectors_in_every_process_whatever_the_hash_seed(text: Path):
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(text)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_text_without_frequent_words_says_so(text):
    with pytest.raises(SettingsError, match="500 times"):
        train(text, SkipGram(min_count=500))
