"""Text of language models: words as numbers, dictionaries, and what a step reads."""

import numpy as np
import pytest

from tests.papers.sense_alignment.small_models import BERT, TEXT, corpus, settings
from xlrepro.errors import DataError
from xlrepro.papers.sense_alignment import text
from xlrepro.papers.sense_alignment.settings import TextSettings
from xlrepro.papers.sense_alignment.text import Batches


def laid_out(made, epoch):
    """A whole epoch, sentence by sentence: as it is read, and mirrored."""
    order, _ = made._order(epoch)
    ahead, behind = [], []
    for number in order:
        first, last = made.corpus.starts[number : number + 2]
        sentence = [0, *made.corpus.tokens[first:last], 1]
        ahead += sentence
        behind += sentence[::-1]
    return np.array([ahead, behind])


def test_an_epoch_reads_every_sentence_once_mirrored_for_the_backward_direction():
    made = Batches(corpus(), settings())
    order, _ = made._order(0)
    assert sorted(order.tolist()) == list(range(40))
    assert order.tolist() != made._order(1)[0].tolist()
    whole = made.at(3, np.arange(made.total))
    assert np.array_equal(whole, laid_out(made, 3))


def test_windows_follow_one_another_in_every_stream():
    made = Batches(corpus(), settings())
    whole = laid_out(made, 0)
    length = made.total // 3
    for step in range(made.per_epoch()):
        found = made.window(step).numpy()
        for stream in range(3):
            start = stream * length + 4 * step
            assert np.array_equal(found[:, stream], whole[:, start : start + 5])
    assert np.array_equal(made.window(made.per_epoch())[0, 0], laid_out(made, 1)[0, :5])
    short = Batches(corpus(sentences=2), settings(training={"streams": 9, "unroll": 11}))
    assert short.window(5).shape == (2, 9, 12)  # less text than a window is read round and round
    with pytest.raises(DataError, match=f"has {short.total} words, a batch needs 99"):
        Batches(corpus(sentences=2), settings(training={"streams": 99}))


def test_a_bert_reads_rows_of_an_epoch_and_unknown_words_as_such():
    read = corpus(known=5, unknown=9)
    made = Batches(read, settings(network=BERT))
    whole = laid_out(made, 0)[0]
    rows = whole[: len(whole) // 7 * 7].reshape(-1, 7)
    rows = {tuple(row) for row in np.where(rows >= read.known, 2, rows)}
    shown, hidden, gold = made.masked(0)
    shown[hidden] = gold
    assert {tuple(row) for row in shown.tolist()} <= rows


def test_each_step_draws_other_words_to_hide(monkeypatch):
    made, drawn, mask = Batches(corpus(), settings(network=BERT)), set(), text.mask_pieces
    monkeypatch.setattr(text, "mask_pieces", lambda *g: drawn.add(g[-1].random()) or mask(*g))
    assert len([made.masked(step) for step in range(3)]) == len(drawn)


def test_the_most_frequent_words_of_each_language_are_the_vocabulary():
    met, english, german = list("abcx"), np.array([3, 2, 2]), np.array([0, 0, 1, 9])
    words, known, number = text._by_frequency(met, [english, german], vocabulary=1)
    assert words == [*text.SPECIAL, "x", "a", "c", "b"]
    assert known == 4 + 2
    assert [words[i] for i in number] == met


def test_a_corpus_has_its_sentences_in_order_and_knows_no_word_of_held_out_text(monkeypatch):
    said = {"en": ["a b c", "a b d", "new b c"], "de": ["x y z", "x x x", "x y new"]}
    monkeypatch.setattr(
        text, "_artificial", lambda code, *_: map(str.split, [said[code][-1], *said[code][:-1]])
    )
    asked = {"source": "artificial", "words": 6, "held_out": 1, "vocabulary": 10}
    read = text.read(settings(joint=True, text=asked), ("en", "de"))

    def words(sentences):
        return [" ".join(read.words[i] for i in sentence) for sentence in sentences]

    assert words(np.split(read.tokens, read.starts[1:-1])) == [*said["en"][:2], *said["de"][:2]]
    assert words(read.held_out["en"]) == ["<UNK> b c"]
    assert words(read.held_out["de"]) == ["x y <UNK>"]


def test_so_many_words_are_read_and_the_first_sentences_are_held_out(monkeypatch):
    sentences = [[f"{i}", "of", "them"] for i in range(9)]
    monkeypatch.setattr(text, "_artificial", lambda *_: iter([["short"], *sentences]))
    asked = TextSettings(source="artificial", words=5, english_words=12, held_out=2, vocabulary=10)
    assert text.training_sentences("en", asked, True, 99) == sentences[2:6]
    assert text.training_sentences("en", asked, False, 99) == sentences[2:4]
    assert text.training_sentences("de", asked, True, 1) == sentences[2:3]


def test_two_languages_share_one_vocabulary_and_translate_each_other():
    chosen = settings(joint=True, dictionary=True, text={**TEXT, "vocabulary": 200})
    read = text.read(chosen, ("en", "de"))
    dictionary = set(text.seed_dictionary(chosen.text, "de"))
    found = 0
    for word, others in zip(read.words, read.translations, strict=False):
        for number in others[others >= 0].tolist():
            pair = (word, read.words[number])
            assert pair in dictionary or pair[::-1] in dictionary
            found += 1
    assert found
    assert len(read.translations) == read.known
    assert (type(read.tokens), read.tokens.dtype) == (np.memmap, np.int32)


def test_supplied_text_is_known_by_its_content_and_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    chosen = settings(text={"source": "supplied", "words": 9, "held_out": 0, "vocabulary": 10})
    assert chosen.supplied("de") == ["language-model-text/de.txt"]
    with pytest.raises(DataError, match=r"no language-model-text/de\.txt"):
        text.read(chosen, ("de",))
    file = tmp_path / "language-model-text" / "de.txt"
    file.parent.mkdir()
    file.write_text("Eins zwei drei\nvier fünf sechs\n", "utf-8")
    first = text.recipe(chosen, ("de",))
    read = text.read(chosen, ("de",))
    assert sorted(read.words[4:]) == ["drei", "eins", "fünf", "sechs", "vier", "zwei"]
    file.write_text("Eins zwei drei\nvier fünf siebn\n", "utf-8")  # as many bytes
    assert text.recipe(chosen, ("de",)) != first
    file.write_bytes(b"Eins zwei drei\nvier f\xfcnf sechs\n")
    with pytest.raises(DataError, match=r"de\.txt:2: expected text in UTF-8"):
        text.read(chosen, ("de",))
