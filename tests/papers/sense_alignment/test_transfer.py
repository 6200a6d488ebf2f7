"""Vectors of words, the projection between languages, and the data of the heads."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from xlrepro import experiments
from xlrepro.artificial.ambiguity import AmbiguousFamily
from xlrepro.errors import DataError
from xlrepro.papers.sense_alignment import (
    anchors,
    features,
    frozen_centres,
    growth,
    purity,
    tagger,
    transfer,
    transfer_data,
    wsd,
)
from xlrepro.papers.sense_alignment.segmentation import words_of_characters
from xlrepro.papers.sense_alignment.settings import TaggerSettings
from xlrepro.papers.sense_alignment.systems import (
    changes,
    language_model,
)
from xlrepro.trials.trial import TrialContext


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLREPRO_DATA", str(tmp_path_factory.mktemp("cache")))
        yield


def small(name="ELMo", language="en"):
    return language_model("smoke", name, language, changes({"steps": 3}))


SENTENCES = [["a", "b", "c"], ["b"], ["c", "a", "b", "a"]]


def test_a_sentence_has_the_same_vectors_alone_and_beside_others():
    model = features.artefacts.load(small())
    together = features.layers_of(model, SENTENCES)
    for sentence, states in zip(SENTENCES, together, strict=True):
        (alone,) = features.layers_of(model, [sentence])
        assert states.shape == (3, len(sentence), 32)
        torch.testing.assert_close(states, alone, rtol=0, atol=1e-13)


def test_forward_states_know_the_words_before_and_backward_states_those_behind():
    model = features.artefacts.load(small())
    one, other = features.layers_of(model, [["a", "b", "c"], ["x", "b", "c"]])
    ahead, behind = (one[-1] - other[-1]).abs().chunk(2, -1)
    assert float(behind[1:].max()) < 1e-14
    assert float(ahead[1:].max()) > 0
    one, other = features.layers_of(model, [["a", "b", "c"], ["a", "b", "x"]])
    ahead, behind = (one[-1] - other[-1]).abs().chunk(2, -1)
    assert float(ahead[:2].max()) < 1e-14
    assert float(behind[:2].max()) > 0


def test_a_bert_reads_a_long_sentence_in_pieces():
    model = features.artefacts.load(small("BERT-Tiny"))
    (states,) = features.layers_of(model, [["a"] * 50])
    assert states.shape == (1, 50, 16)


def test_kept_vectors_are_those_computed_and_are_computed_once(monkeypatch):
    found = features.kept(small(), SENTENCES, "mean")
    model = features.artefacts.load(small())
    for kept, states in zip(found, features.layers_of(model, SENTENCES), strict=True):
        assert torch.equal(kept, states.mean(0))
    monkeypatch.delattr(features, "layers_of")
    again = features.kept(small(), SENTENCES, "mean")
    assert all(torch.equal(a, b) for a, b in zip(found, again))


def test_w_is_applied_to_each_layer_before_the_mean():
    states = [torch.randn(2, 3, 4)]
    maps = torch.randn(2, 4, 4)
    (found,) = features.mixed(states, "mean", maps)
    expected = (states[0][0] @ maps[0].T + states[0][1] @ maps[1].T) / 2
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("kind", ["least-squares", "orthogonal"])
def test_the_projection_finds_the_rotation_between_two_languages(kind):
    torch.manual_seed(0)
    rotation = torch.linalg.qr(torch.randn(2, 5, 5, dtype=torch.double)).Q
    source = {f"s{i}": torch.randn(2, 5, dtype=torch.double) for i in range(20)}
    target = {f"t{i}": torch.einsum("kde,kd->ke", rotation, source[f"s{i}"]) for i in range(20)}
    pairs = [(f"s{i}", f"t{i}") for i in range(20)] + [("s1", "missing")]
    found = anchors.fitted(target, source, pairs, kind)
    torch.testing.assert_close(found, rotation, rtol=0, atol=1e-10)


def test_words_of_both_languages_are_pairs_of_themselves():
    both = {w: torch.randn(1, 2, dtype=torch.double) for w in ("a", "b", "c")}
    found = anchors.fitted(both, both, [], "least-squares")
    torch.testing.assert_close(found[0], torch.eye(2, dtype=torch.double), rtol=0, atol=1e-12)
    with pytest.raises(DataError, match="no pair"):
        anchors.fitted(both, {"x": both["a"]}, [], "orthogonal")


def test_an_anchor_is_the_mean_of_a_words_vectors():
    model = features.artefacts.load(small())
    states = features.layers_of(model, SENTENCES)
    found = anchors.anchors(model, SENTENCES)
    every = [states[0][:, 0], states[2][:, 1], states[2][:, 3]]
    torch.testing.assert_close(found["a"], torch.stack(every).mean(0), rtol=0, atol=1e-13)


def test_a_tagger_learns_what_a_vector_says():
    torch.manual_seed(0)
    vectors = [torch.randn(5, 3, dtype=torch.double) for _ in range(60)]
    tags = [["B-X" if x > 0 else "O" for x in v[:, 0].tolist()] for v in vectors]
    settings = TaggerSettings(hidden_dim=8, dropout=0.0, learning_rate=0.03, epochs=6)
    known = tagger.tag_set(tags)
    both = tagger.tagged(vectors, tags, known)
    model, fit = tagger.train(both, both, known, settings, seed=0)
    assert tagger.f1(model, both, "cpu") > 90
    assert fit.best_epoch == fit.dev_scores.index(max(fit.dev_scores))


def test_each_character_stands_in_its_word():
    words, places = words_of_characters(list("我爱北京"), "zh")
    assert "".join(words) == "我爱北京"
    assert len(words) < 4
    assert "".join(words[p] for p in dict.fromkeys(places)) == "我爱北京"
    traditional, same = words_of_characters(list("我愛這裡"), "zh")
    assert ("".join(traditional), len(same)) == ("我爱这里", 4)
    assert words_of_characters(["two", "words"], "de") == (["two", "words"], [0, 1])


@pytest.mark.mirror
def test_no_premise_of_the_held_out_pairs_is_trained_on():
    train, dev = (transfer_data._xnli_and_sick(split) for split in ("train", "dev"))
    assert not {row[0] for row in train} & {row[0] for row in dev}
    assert len(dev) == pytest.approx(0.2 * 2490, rel=0.02)
    assert {row[2] for row in train} == {row[2] for row in dev} == set(transfer_data.NLI)


def test_artificial_pairs_have_every_label_as_often():
    settings = experiments.experiment("sense_alignment/table5").trials("smoke")[0].settings
    chosen = transfer.validated(settings, "test", transfer.TransferSettings)
    found = transfer_data.examples("inference", chosen, "de", "test")
    counts = {label: sum(e.labels == (label,) for e in found) for label in transfer_data.NLI}
    assert max(counts.values()) - min(counts.values()) <= 1


@pytest.mark.parametrize(
    ("table", "system", "task", "room"),
    [
        ("table3", "main:ELMo+Proj (Schuster et al., 2019)", "entities", tagger),
        ("table4", "sentiment:Joint-ELMo", "sentiment", transfer.classification),
        ("table5", "xnli:Bi-SaELMo+Proj", "inference", transfer.classification),
    ],
)
def test_no_target_text_is_read_before_the_head_is_trained_and_chosen_on_english(
    monkeypatch, table, system, task, room
):
    trial = experiments.experiment(f"sense_alignment/{table}").trials(
        "smoke", [system], overrides={"steps": 3, "epochs": 1, "targets": "de"}
    )[0]
    seen, sizes = [], {}
    examples, train = transfer_data.examples, room.train

    def watched(kind, settings, language, split, domain=""):
        seen.append(f"{language}/{split}")
        found = examples(kind, settings, language, split, domain)
        sizes[seen[-1]] = len(found)
        return found

    def trained(train_set, dev_set, *arguments):
        seen.append("train")
        counts = [len(getattr(s, "encoded", s)) for s in (train_set, dev_set)]
        assert counts == [sizes["en/train"], sizes["en/dev"]]
        assert counts[0] != counts[1]
        return train(train_set, dev_set, *arguments)

    monkeypatch.setattr(transfer_data, "examples", watched)
    monkeypatch.setattr(room, "train", trained)
    getattr(transfer, task)(trial, TrialContext())
    # A table of reviews has a head per domain.
    assert seen == ["en/train", "en/dev", "train", "de/test"] * len(trial.columns)


def test_the_width_of_vectors_is_one_where_they_are_scaled_by_their_own():
    torch.manual_seed(0)
    vectors = list(torch.randn(30, 5, 4, dtype=torch.double) * torch.tensor([1, 3, 5, 7]) + 2)
    spread = transfer._spread(vectors)
    assert transfer._width(transfer._scaled(vectors, spread)) == pytest.approx(1, abs=1e-4)
    drawn_together = [spread[0] + (v - spread[0]) * 0.4 for v in vectors]
    assert transfer._width(transfer._scaled(drawn_together, spread)) == pytest.approx(0.4, abs=1e-4)


def test_the_printed_epochs_give_the_steps_of_the_spec():
    """10 epochs of 768.6M words are 938,000 steps; 600,000 bilingual steps are 3.7 epochs."""
    table = experiments.experiment("sense_alignment/tables6_8")
    found = {
        trial.systems[0]: [c.value for c in growth.run(trial, TrialContext()).cells]
        for trial in table.trials("smoke", ["arithmetic:*"])
    }
    assert found["arithmetic:monolingual"][0] == pytest.approx(938_000, rel=1e-3)
    assert found["arithmetic:bilingual"][1] == pytest.approx(3.7, rel=1e-2)


def test_one_language_tells_apart_what_the_other_does_not():
    family = AmbiguousFamily(0, 10, ("en",))
    dictionary = family.dictionary("en", "de")
    concepts = [family.pairs[0][0], family.pairs[0][1]]
    english, german = (family.language(code).lexicon.stems for code in ("en", "de"))
    assert len({english[c] for c in concepts}) == 1
    translations = {b for a, b in dictionary if a == english[concepts[0]]}
    # a dictionary has words: a stem, and an ending where the part of speech has one
    for concept in concepts:
        assert [word for word in translations if word.startswith(german[concept])]
    assert len(translations) >= 2


def test_purity_of_a_hand_made_example():
    uses = {"bank": [(0, "a"), (0, "b"), (1, "b"), (1, "b")], "may": [(0, "c"), (1, "d")]}
    found = purity.purities(uses)
    assert found["purity"] == pytest.approx(100 * (1 + 2 + 1 + 1) / 6)
    assert found["majority sense"] == pytest.approx(100 * (3 + 1) / 6)
    assert found["purity of senses dealt out"] <= 100


def test_systems_with_projection_alone_have_w_which_leads_into_english(monkeypatch):
    asked = []
    monkeypatch.setattr(anchors, "projection", lambda *a: asked.append(a) or torch.eye(2))
    for trial in experiments.experiment("sense_alignment/table3").trials("smoke", seeds=[0]):
        chosen = transfer.validated(trial.settings, "test", transfer.TransferSettings)
        for system in trial.systems:
            found = transfer._maps(chosen, system, TrialContext())
            assert (found is not None) == ("+Proj" in system)
        source, target, languages = asked.pop()[:3]
        assert not asked
        assert languages == ("en", chosen.target)
        assert "en" in source.languages
        assert chosen.target in target.languages


def test_w_is_the_least_squares_map_of_the_target_languages_anchors():
    both = small("Bi-SaELMo", "de")
    found = anchors.projection(both, both, ("en", "de"), 40)
    model = features.artefacts.load(both)
    english, german = (
        anchors.anchors(model, features.artefacts.text.split(code, both.text)[0][:40])
        for code in ("en", "de")
    )
    pairs = dict.fromkeys(features.artefacts.text.pairs(both))
    pairs |= dict.fromkeys((word, word) for word in english)
    known = [(a, b) for a, b in pairs if a in english and b in german]
    for layer in range(len(found)):
        wanted, given = (
            torch.stack([anchor[word][layer] for word in words]).numpy()
            for anchor, words in zip((english, german), zip(*known, strict=True), strict=True)
        )
        expected = np.linalg.lstsq(given, wanted, rcond=None)[0].T
        assert np.abs(given @ (found[layer].numpy() - expected).T).max() < 1e-8


@pytest.mark.parametrize("module", [wsd, growth, purity, frozen_centres])
def test_a_seed_of_tables_2_and_6_to_8_and_of_the_figures_is_the_language_models(
    monkeypatch, module
):
    class Found(Exception):
        pass

    def load(settings, *_):
        raise Found(settings.seed)

    rows = {
        wsd: ("table2", "wsd:ELMo"),
        growth: ("tables6_8", "alive:SaELMo"),
        purity: ("figures4_7", "purity:SaELMo"),
        frozen_centres: ("figures4_7", "purity:ELMo (centres afterwards)"),
    }
    table, row = rows[module]
    monkeypatch.setattr(features.artefacts, "load", load)
    trials = experiments.experiment(f"sense_alignment/{table}").trials("smoke", [row], seeds=[5])
    with pytest.raises(Found, match="5"):
        module.run(trials[0], TrialContext())


def test_vectors_of_all_languages_are_standardised_by_those_of_english_training_texts(
    monkeypatch,
):
    trial = experiments.experiment("sense_alignment/table4").trials(
        "smoke", ["sentiment:Joint-ELMo"], overrides={"steps": 3, "epochs": 1, "targets": "de"}
    )[0]
    raw, scaled = [], []
    read, scale = transfer._examples, transfer._scaled_examples
    monkeypatch.setattr(transfer, "_examples", lambda *a: (raw.append(read(*a)), raw[-1])[1])
    monkeypatch.setattr(
        transfer, "_scaled_examples", lambda *a: (scaled.append(scale(*a)), scaled[-1])[1]
    )
    transfer.sentiment(trial, TrialContext())
    english = torch.stack(list(raw[0].parts[0]))
    for given, found in zip(raw[:3], scaled[:3], strict=True):
        expected = (torch.stack(list(given.parts[0])) - english.mean(0)) / english.std(0)
        torch.testing.assert_close(torch.stack(list(found.parts[0])), expected)


def test_a_berts_senses_are_chosen_where_the_word_itself_is_hidden():
    model = features.artefacts.load(small("SaBERT-Tiny"))
    before, word, behind, *others = model.vocabulary[4:9]
    (hidden,) = purity.choosing_states(model, [[before, word, behind]])
    (same,) = purity.choosing_states(model, [[before, others[0], behind]])
    (other,) = purity.choosing_states(model, [[others[0], word, behind]])
    assert torch.equal(hidden([1]), same([1]))
    assert not torch.equal(hidden([1]), other([1]))
    assert not torch.equal(hidden([0]), same([0]))
    torch.testing.assert_close(hidden([2, 1])[1], hidden([1])[0], rtol=0, atol=1e-13)


def test_senses_of_each_direction_are_chosen_by_its_own_half_of_the_states(monkeypatch):
    """The sense is what a state says: 0 forward, 1 backward."""
    model = features.artefacts.load(small("SaELMo"))
    halves = torch.cat((torch.zeros(1, 4), torch.ones(1, 4)), -1)
    part = SimpleNamespace(choose=lambda words, top: top[:, 0].long())
    monkeypatch.setattr(
        purity,
        "choosing_states",
        lambda _, words: [lambda at: halves.repeat(len(at), 1)] * len(words),
    )
    directions = purity.occurrences(replace(model, parts=[part, part]), 200)
    family = purity.text.family(model.settings.text.ambiguous)
    known = {key for pair in family.pairs for key in pair}
    for sense, uses in enumerate(directions):
        assert uses
        for given, truths in (zip(*each, strict=True) for each in uses.values()):
            assert set(given) == {sense}
            assert 1 < len(set(truths)) == len(set(truths) & known)
