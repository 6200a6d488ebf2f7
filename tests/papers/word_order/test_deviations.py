"""Deviations of the rows on a released encoder: what they say is what presets and records say."""

import re

import pytest

from xlrepro.data import registry
from xlrepro.errors import DataError
from xlrepro.evidence.deviations import load_deviations
from xlrepro.papers.word_order.mbert import encoders
from xlrepro.papers.word_order.settings import presets
from xlrepro.paths import data_dir
from xlrepro.pretraining.recipes import (
    CENTRED_ON,
    MOST_OCCURRENCES,
    OCCURRENCES_IN,
    WORD_STATES_LAYER,
    WORD_STATES_OF,
)
from xlrepro.trials.store import RecordStore

KNOWN = {d.id: d for d in load_deviations()}
CHECKPOINT = presets("mbert")["open"]["checkpoint"]


def told(identifier):
    return " ".join(f"{KNOWN[identifier].here} {KNOWN[identifier].effect}".split())


def published(experiment):
    store = RecordStore(root=data_dir() / "no-local-records")
    return store.records(f"word_order/{experiment}", "open")


def test_one_layer_is_read_everywhere_and_it_is_the_best_on_english_dev():
    said = told("W90")
    accuracies = [float(a) for a in re.findall(r"\d\d\.\d+", said)]
    layer = int(re.search(r"after layer (\d+) of 12", said).group(1))
    assert f"released:{WORD_STATES_OF}@{layer}" == CHECKPOINT
    assert layer == WORD_STATES_LAYER
    assert len(accuracies) == 12
    assert accuracies[layer - 1] == max(accuracies)


def test_all_rows_on_the_encoder_were_made_at_that_layer():
    read = {
        record.settings["checkpoint"]
        for experiment in ("table1", "table2", "learning_rates")
        for record in published(experiment)
        if record.task == "word_order/mbert"
    }
    assert read == {CHECKPOINT}


def test_no_sentence_was_cut_as_the_deviation_says():
    cut = [
        record.details["cut_sentences"]
        for experiment in ("table1", "table2")
        for record in published(experiment)
        if record.task == "word_order/mbert"
    ]
    assert len(cut) == 54
    assert not any(count for by_language in cut for count in by_language.values())
    assert "no sentence was cut" in told("W62")


def test_the_positions_that_the_deviation_names_are_the_encoders():
    try:
        registry.fetch(WORD_STATES_OF, "weights", progress=False)
    except DataError as error:
        pytest.skip(str(error))
    assert f"the stand-in has {encoders.load_bert(CHECKPOINT).limit} positions" in told("W62")


def test_an_encoders_vectors_align_more_words_than_a_dictionary_as_the_deviation_says():
    found = {}
    for record in published("open_vectors"):
        for cell in record.cells:
            if cell.column.endswith("/P@1"):
                found.setdefault(cell.column, {})[cell.system] = cell.value
    assert len(found) == 9
    for by_set in found.values():
        dictionary, mapped = by_set["vectors:dictionary"], by_set["vectors:mapped"]
        assert by_set["vectors:encoder"] > dictionary > mapped
        assert mapped < 10
    assert "More translations are nearest neighbours in them" in " ".join(KNOWN["W91"].why.split())


def test_the_text_that_states_are_read_from_is_as_long_as_the_deviation_says():
    said = told("W91")
    others, english = OCCURRENCES_IN["others"], OCCURRENCES_IN["en"]
    assert f"in {others:,} words of open text (English: {english:,})" in said
    assert f"met {MOST_OCCURRENCES} times" in said
    assert f"{CENTRED_ON:,} most frequent words" in said
