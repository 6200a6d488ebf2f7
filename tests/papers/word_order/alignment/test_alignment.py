import numpy as np
import pytest

from xlrepro.errors import SettingsError
from xlrepro.experiments import experiment
from xlrepro.papers.word_order.alignment import data, tagging
from xlrepro.papers.word_order.alignment.data import Languages, Level
from xlrepro.trials.trial import TrialContext

KEY = "word_order/alignment_quality"
BY_ORDER = Languages(corpus="artificial", targets=data.ORDERS, by_order=True)
LEVELS = (
    Level(name="good"),
    Level(name="noise", noise=3.0, seed=1),
    Level(name="bad", wrong=0.9),
    Level(name="mapped", vectors="mapped"),
)


def trials(profile="smoke", systems=None, **overrides):
    return experiment(KEY).trials(profile, systems, [0], overrides)


def small(system="artificial:ORT", task="POS"):
    made = trials(systems=[system], train_sentences=20, test_sentences=5, epochs=1)
    return next(t for t in made if t.columns[0] == f"{task}/en")


@pytest.mark.parametrize("task", ["POS", "SF"])
def test_a_trial_fills_the_columns_it_announces(task):
    trial = small(task=task)
    result = tagging.run(trial, TrialContext())
    assert [c.column for c in result.cells] == list(trial.columns)


def test_no_target_sentence_is_read_before_training_is_over(monkeypatch):
    events = []
    read, train = data.test_sentences, tagging.trained

    def reading(training, languages, language):
        events.append(language)
        return read(training, languages, language)

    def training(*arguments):
        found = train(*arguments)
        events.append("trained")
        return found

    monkeypatch.setattr(data, "test_sentences", reading)
    monkeypatch.setattr(tagging, "trained", training)
    trial = small()
    tagging.run(trial, TrialContext())
    assert trial.settings["training"]["targets"] == []
    assert events == ["trained", "en", *data.ORDERS]


def test_every_level_has_the_same_english_vectors():
    words = [w for s in data.family(True).corpus("en", 20) for w in s.tokens]
    found = [data.vectors(BY_ORDER, level).lookup("en", words)[0] for level in LEVELS]
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_every_level_has_its_own_target_vectors():
    words = [w for s in data.family(True).corpus("order1", 20) for w in s.tokens]
    found = [data.vectors(BY_ORDER, level).lookup("order1", words)[0] for level in LEVELS]
    assert all(not np.allclose(found[0], other) for other in found[1:])


def test_english_is_the_same_in_both_families():
    one, two = (data.family(by).corpus("en", 20, split="test") for by in (True, False))
    assert [s.tokens for s in one] == [s.tokens for s in two]


def test_languages_by_order_differ_from_english_in_order_and_words_alone():
    english = data.family(False).typology("en")
    for language in data.order_typologies():
        for field in ("cases", "articles", "agreement", "tense", "plural", "pro_drop"):
            assert getattr(language, field) == getattr(english, field)


def test_the_distance_rises_from_step_to_step():
    trial = next(t for t in trials(systems=["measured:distance"]))
    values = [c.value for c in tagging.distances(trial, TrialContext()).cells]
    assert values[0] < 0.03
    assert values == sorted(values)
    assert values[-1] > 0.3


def test_induction_falls_with_wrong_entries():
    found = [
        data.p_at_1(BY_ORDER, Level(name="x", wrong=wrong), "order1") for wrong in (0.0, 0.5, 0.9)
    ]
    assert found[0] > 95
    assert found[0] > found[1] > found[2]


@pytest.mark.parametrize("profile", ["smoke", "open"])
def test_encoders_are_treated_alike_but_for_their_own_rate(profile):
    seen = {}
    for trial in trials(profile):
        if not trial.systems[0].startswith("measured"):
            rest = trial.settings
            encoder = rest["training"].pop("encoder")
            rest["training"].pop("learning_rate")
            encoder.pop("kind")
            encoder.pop("positions", None)
            seen.setdefault((trial.systems[0].split(":")[0], trial.columns), []).append(
                (rest, encoder)
            )
    assert len(seen) == 4
    for alike in seen.values():
        assert len(alike) == 4
        assert all(one == alike[0] for one in alike)


def test_scores_and_inductions_share_their_columns():
    found = {t.systems[0]: set() for t in trials()}
    for trial in trials():
        found[trial.systems[0]] |= set(trial.columns) - {"POS/en", "SF/en"}
    scores = found["word:ORT"] | found["artificial:ORT"]
    assert found["measured:P@1"] == scores


def test_the_encoder_s_level_is_trained_on_its_own_english_vectors_as_the_others_are():
    def one(block):
        (trial,) = (t for t in trials("open", [f"{block}:TRS"]) if t.columns[0] == "POS/en")
        return trial

    ours, theirs = (dict(one(b).settings["training"]) for b in ("word-encoder", "word"))
    assert ours.pop("vectors") == "encoder"
    assert theirs.pop("vectors") == "dictionary"
    assert ours == theirs
    assert [level["vectors"] for level in one("word-encoder").settings["levels"]] == ["encoder"]
    induced = {c for t in trials("open", ["measured:P@1"]) for c in t.columns}
    assert {c for c in one("word-encoder").columns if c != "POS/en"} <= induced


def test_an_encoder_s_vectors_are_refused_for_made_up_words():
    trial = trials(systems=["word-encoder:ORT"])[0]
    with pytest.raises(SettingsError, match="no artificial vector set is called 'encoder'"):
        tagging.run(trial, TrialContext())


def test_wrong_entries_are_for_artificial_languages():
    with pytest.raises(SettingsError, match="for artificial languages"):
        data.vectors(Languages(corpus="ud-r2.2", targets=("de",)), Level(name="x", wrong=0.5))


def test_targets_cannot_be_overridden():
    with pytest.raises(SettingsError, match="do not override"):
        trials(targets=["de"])
