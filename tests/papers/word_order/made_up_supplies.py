"""Made-up files in the places where a user puts the official ones. All words are invented."""

import re

import numpy as np

from tests.vectors.written import write_vec
from xlrepro.data import loading
from xlrepro.data.sentences import Sentence

# one file per language, in the layout and encoding of the official ones
ENGLISH = (
    "-DOCSTART- -X- O O\n\n"
    "Zorp NNP I-NP I-PER\nQuax NNP I-NP I-PER\nBlim NNP I-NP B-PER\nvoo VB I-VP O\n"
    "Gleth NNP I-NP I-LOC\n\n"
    "wib DT I-NP O\nGleth NNP I-NP I-LOC\nvoo VB I-VP O\n\n"
)
CONLL = {
    "en": ENGLISH,
    "es": "Blimé B-PER\nvoo O\n\nwib O\nGleth B-LOC\n\n",
    "nl": "-DOCSTART- -DOCSTART- O\nwib Art O\nGleth N B-LOC\n\nvoo V O\nQuax N B-PER\n\n",
    "de": "-DOCSTART- -X- -X- -X- O\n\nGleth gleth NE I-NC I-LOC\nQuax quax NE I-NC I-PER\n\n",
}
TRAINING_UTTERANCES = (
    "1\tzorp\tsay/zorp\tB-x\n2\tblip\tsay/zorp\tNoLabel\n\n"
    "1\tquax\tsay/quax\tB-y\n2\tquax\tsay/quax\tI-y\n3\twib\tsay/quax\tNoLabel\n\n"
)
UTTERANCES = [
    Sentence(("wib", "zorp"), slots=("O", "B-x"), intent="say/zorp"),
    Sentence(("quax", "voo"), slots=("B-y", "O"), intent="say/quax"),
] * 10


def supply(root, monkeypatch):
    """Put every file there that the paper profile of the span tasks reads."""
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(root))
    monkeypatch.setenv("XLREPRO_DATA", str(root / "cache"))
    supply_entities(root)
    (root / "fb-multilingual-nlu").mkdir()
    utterances = root / "fb-multilingual-nlu" / "train-en.conllu"
    utterances.write_text(TRAINING_UTTERANCES, encoding="utf-8")
    # the other utterances are registered: no test without the mirror may fetch them
    monkeypatch.setattr(loading, "load", lambda name, file_id: UTTERANCES)
    supply_vectors(root)


def supply_entities(root):
    """Put the CoNLL files there, the same text in every split."""
    for language, text in CONLL.items():
        (root / "conll-ner" / language).mkdir(parents=True)
        for split in ("train", "dev", "test"):
            file = root / "conll-ner" / language / split
            file.write_text(text, encoding="latin-1")


def supply_vectors(root, path="fasttext-aligned/wiki.{}.align.vec"):
    """Put vectors of four dimensions there, the same for a word in every language."""
    text = " ".join([*CONLL.values(), TRAINING_UTTERANCES]).lower()
    words = sorted(set(re.findall(r"[^\W\d_]+", text)))
    rows = np.random.default_rng(0).normal(size=(len(words), 4)).round(3)
    for language in ("en", "es", "nl", "de", "th"):
        write_vec(root / path.format(language), words, rows)
