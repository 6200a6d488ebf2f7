"""Each place where the paper's text and the authors' code differ has its deviation."""

import pytest

from xlrepro.data.loading import load
from xlrepro.evidence.deviations import load_deviations
from xlrepro.papers.man_moe.settings import ModelSettings, TransferSettings, presets
from xlrepro.paths import data_dir
from xlrepro.tasks.tagging import labels
from xlrepro.trials.store import RecordStore

# Topic -> (the deviation, words of its own that say what was chosen). The topics are the rows of
# the comparison of text and code that this paper was built from, in their order.
TOPICS = {
    "lambda1 of named entities": ("MM11", "0.0001, as printed"),
    "lambda2": ("MM12", "As printed"),
    "k": ("MM13", "As printed"),
    "hidden sizes of named entities": ("MM14", "128 and 256"),
    "vectors of named entities": ("MM15", "As in the text at paper"),
    "gate": ("MM16", "With a bias"),
    "gate gradient": ("MM17", "Detached"),
    "mixture in C": ("MM18", "Log-probabilities"),
    "token loss": ("MM19", "The mean"),
    "discriminator updates": ("MM20", "One loss, one update"),
    "sign of the discriminator's loss": ("MM21", "for every lambda1"),
    "what is frozen for the discriminator": ("MM22", "without a graph"),
    "epochs": ("MM23", "iterations per epoch"),
    "model selection": ("MM24", "sources' dev sets"),
    "decay of the learning rate": ("MM25", "None"),
    "seeds": ("MM26", "Three seeds"),
    "character vectors": ("MM27", "Fixed unit vectors"),
    "lower case": ("MM28", "German target"),
    "words without a vector": ("MM29", "Fixed random numbers"),
    "unlabelled text": ("MM30", "without their labels"),
    "dev set of the reviews": ("MM31", "own validation set"),
    "vector files": ("MM32", "All words"),
    "C's gate for classification": ("MM33", "One per text"),
    "dropout": ("MM34", "As in the code"),
    "masking in D": ("MM35", "A window begins at each token"),
    "attention": ("MM36", "over the tokens"),
    "further experts and gates": ("MM37", "Not there"),
}
# Deviation -> the setting it names, and the default that it describes.
DEFAULTS = {
    "MM16": ("gate_bias", True),
    "MM17": ("detach_gate", True),
    "MM18": ("mixture", "log"),
    "MM19": ("token_loss", "mean"),
    "MM23": ("min_iterations", 0),
    "MM24": ("select_on", "source_dev"),
    "MM27": ("train_character_vectors", False),
    "MM28": ("lowercase_characters", "german_target"),
    "MM29": ("unknown", "random"),
    "MM35": ("discriminator_windows", "tokens"),
    "MM41": ("character_windows", "characters"),
    "MM42": ("word_vectors", "standardised"),
}
KNOWN = {deviation.id: deviation for deviation in load_deviations()}


def test_no_two_topics_share_a_deviation():
    assert len({identifier for identifier, _ in TOPICS.values()}) == len(TOPICS) == 27


@pytest.mark.parametrize("topic", TOPICS)
def test_each_difference_of_text_and_code_says_what_was_chosen(topic):
    identifier, chosen = TOPICS[topic]
    assert chosen in KNOWN[identifier].here


@pytest.mark.parametrize("identifier", DEFAULTS)
def test_the_default_of_a_setting_is_the_choice_described(identifier):
    name, value = DEFAULTS[identifier]
    fields = {**TransferSettings.model_fields, **ModelSettings.model_fields}
    assert fields[name].default == value
    assert f"({name}" in KNOWN[identifier].here or f"{name})" in KNOWN[identifier].here


@pytest.mark.parametrize("preset", ["ner", "slots", "reviews"])
def test_every_preset_has_the_dropout_that_the_deviation_names(preset):
    assert "(dropout_at: code)" in KNOWN["MM34"].here
    assert {p: values["model"]["dropout_at"] for p, values in presets(preset).items()} == (
        dict.fromkeys(presets(preset), "code")
    )
    blocks = [b for values in presets(preset).values() for b in values.get("blocks", {}).values()]
    assert not [block for block in blocks if "dropout_at" in block]


def _share_seen(language, trained, tested):
    """Return how much of WikiANN's first test sentences stands in its first training sentences."""
    train, test = (
        [sentence.tokens for sentence in load("panx-wikiann", f"{language}/{split}")]
        for split in ("train", "test")
    )
    seen = set(map(tuple, train[:trained]))
    return sum(tuple(words) in seen for words in test[:tested]) / len(test[:tested])


@pytest.mark.mirror
def test_wikianns_repeated_sentences_are_counted_in_the_deviations():
    shares = [f"{_share_seen(code, 2_000, 1_000):.1%} ({code})" for code in ("de", "es", "nl")]
    shares += [f"{_share_seen(code, 5_000, 1_000):.1%} ({code})" for code in ("de", "es", "nl")]
    told = " ".join(KNOWN["MM44"].here.split())
    assert [share.replace("%", " %") in told for share in shares] == [True] * 6
    english = f"{_share_seen('en', 10_000, 10_000):.1%}".replace("%", " %")
    assert english in " ".join(KNOWN["W20"].effect.split())


REDIRECTS = {"es": "REDIRECCIÓN", "de": "WEITERLEITUNG", "nl": "DOORVERWIJZING"}


def _begin_with(language, split, count, word):
    first = list(load("panx-wikiann", f"{language}/{split}"))[:count]
    return first, [sentence for sentence in first if sentence.tokens[0] == word]


def _entities(sentences):
    return sum(tag.startswith("B-") for s in sentences for tag in labels(s, "NER"))


@pytest.mark.mirror
def test_wikianns_redirects_are_counted_in_the_deviation():
    told = " ".join(KNOWN["MM03"].here.split())
    found = {c: _begin_with(c, "test", 1_000, word) for c, word in REDIRECTS.items()}
    whole, redirects = found["es"]
    small = [s for s in whole if s.tokens[0] == REDIRECTS["es"].lower()]
    _, trained_on = _begin_with("es", "train", 5_000, REDIRECTS["es"])
    for said in (
        f"{len(redirects)} of the first 1,000 Spanish test sentences begin with {REDIRECTS['es']}",
        f"{_entities(redirects)} of their {_entities(whole):,} entities",
        f"German WEITERLEITUNG {len(found['de'][1])}, Dutch DOORVERWIJZING {len(found['nl'][1])}",
        f"{len(small)} more begin with the word in small letters",
        f"Of the first 5,000 Spanish training sentences {len(trained_on):,} begin with it",
    ):
        assert said in told
    long = presets("ner")["open"]["blocks"]["long"]
    assert (long["left_out"], long["train_sentences"]) == ([REDIRECTS["es"]], 5_000)


def test_the_iterations_at_the_higher_rate_are_those_of_the_records():
    store, counts = RecordStore(root=data_dir() / "no-local-records"), set()
    for table in ("table2", "table3", "table4", "table5", "table6"):
        for record in store.records(f"man_moe/{table}", "open"):
            if record.settings.get("learning_rate") == 0.004:
                models = record.details.get("experiments", {}).values()
                counts |= {model["iterations"] for model in models}
    told = f"Adam at 0.004, for {min(counts):,} to {max(counts):,} iterations"
    assert told in " ".join(KNOWN["MM38"].here.split())
