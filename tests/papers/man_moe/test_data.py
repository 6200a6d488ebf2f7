"""What a zero-resource run reads of a language: texts with labels, and text without."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.papers.man_moe.small_models import make_settings
from xlrepro.artificial import family_of, sentiment
from xlrepro.artificial.sentences import Node
from xlrepro.data.sentences import Sentence
from xlrepro.experiments import experiment
from xlrepro.papers.man_moe import data
from xlrepro.papers.man_moe import run as transfer
from xlrepro.papers.man_moe.data import POLARITY
from xlrepro.papers.man_moe.settings import TransferSettings

pytestmark = pytest.mark.usefixtures("invented_vectors")


def invented_reviews(monkeypatch, third):
    """Let the tweets be three, the third of the given class: 0 negative, 1 neutral, 2 positive."""
    rows = [("0", "it was bad"), ("2", "it was good"), (third, "it was there")]
    monkeypatch.setattr("xlrepro.data.loading.load_rows", lambda corpus, name: rows)


def invented_statements(monkeypatch, third):
    """Let the statements of an artificial language be three; classes as above."""
    drawn = family_of(0).realisations("en", 99, kind="statements")
    by_side = {sentiment(one.meaning): one for one in drawn}
    pairs = [(-1, "bad"), (1, "good"), (int(third) - 1, "there")]
    said = [replace(by_side[side], words=[Node(word, "X")]) for side, word in pairs]
    family = SimpleNamespace(realisations=lambda *names: said)
    monkeypatch.setattr(data, "family_of", lambda seed: family)


REVIEWS = pytest.mark.parametrize(
    ("corpus", "invented"),
    [("artificial", invented_statements), ("sentiment-umsab", invented_reviews)],
)


@pytest.fixture
def last_words(monkeypatch):
    """Return a function to the last words of what is read, from the third review's class.

    They are of a domain of their own: what is read is kept by its name.
    """

    def words(read, corpus, invented, third):
        invented(monkeypatch, third)
        settings = make_settings(task="reviews", corpus=corpus)
        found = read(settings, "de", f"the third is {third}", "train")
        return [getattr(text, "tokens", text)[-1] for text in found]

    return words


@REVIEWS
def test_no_label_decides_which_reviews_are_text_without_labels(last_words, corpus, invented):
    for third in "012":
        assert last_words(data.text, corpus, invented, third) == ["bad", "good", "there"]


@REVIEWS
def test_a_neutral_review_is_no_labelled_one(last_words, corpus, invented):
    assert last_words(data.labelled, corpus, invented, "1") == ["bad", "good"]
    assert last_words(data.labelled, corpus, invented, "2") == ["bad", "good", "there"]


def test_every_language_s_neutral_reviews_reach_the_discriminator(monkeypatch):
    # Were only the target's to, it would know the target by them.
    settings = make_settings(task="reviews")
    (found, *_) = transfer.transfers(settings)
    labelled = {code: found.labelled(code, "train") for code in found.sources}
    texts, _ = transfer.training_texts(found, labelled, POLARITY)
    assert [t.language for t in texts.unlabelled] == [0, 1, 2, 3]
    labelled["de"] = found.labelled("de", "train")
    for code, plain in zip(found.languages, texts.unlabelled, strict=True):
        sided = {e.tokens for e in labelled[code]}
        read = set(found.text(code))
        assert read - sided  # neutral ones
        assert len(plain.rows) == len(found.text(code))


def test_unlabelled_requests_are_chosen_by_their_domain(monkeypatch):
    def words(intent):
        found = [
            Sentence(("wake", "me"), slots=("O", "O"), intent="alarm/set"),
            Sentence(("tell", "me"), slots=("O", "O"), intent=intent),
        ]
        corpus = SimpleNamespace(sentences=lambda language, split, limit: found)
        monkeypatch.setattr(data.named, "corpus", lambda name, task: corpus)
        settings = make_settings(task="SF", corpus="fb-multilingual-nlu")
        return [tokens[0] for tokens in data.text(settings, "es", "alarm")]

    assert words("alarm/tell") == ["wake", "tell"]
    assert words("weather/tell") == ["wake"]


def test_languages_do_not_say_the_same_sentence_by_sentence():
    settings = make_settings(task="SF")
    english, spanish = (
        [set(e.gold) for e in data.labelled(settings, code, "Calendar", "train")]
        for code in ("en", "es")
    )
    assert english != spanish


def test_supplied_reviews_are_read_with_their_labels_and_vectors_mapped_here(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    file = tmp_path / "cls-acl10/ja/dvd/test.tsv"
    file.parent.mkdir(parents=True)
    file.write_text("negative\tzu lang\npositive\tsehr gut\n", "utf-8")
    trials = experiment("man_moe/table5").trials("paper", ["without:MAN-MoE"], [0])
    (settings,) = (s for t in trials if (s := t.typed(TransferSettings)).targets == ("ja",))
    found = data.labelled(settings, "ja", "dvd", "test")
    assert [e.gold for e in found] == [("negative",), ("positive",)]
    files = {f"cls-acl10/{name}.tsv" for name in ("ja/dvd/test", "en/books/train")}
    assert files | {"fasttext-wiki/wiki.ja.vec"} <= set(settings.supplied())
