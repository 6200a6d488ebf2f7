"""A known alignment is found with a dictionary and without; what is none is refused."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.vectors.written import write_vec
from xlrepro.data.supplied import UNSUPERVISED
from xlrepro.errors import XlreproError
from xlrepro.vectors.mappings import adversarial, csls, unsupervised
from xlrepro.vectors.mappings.adversarial import AdversarialSettings, dictionaries, muse, umwe
from xlrepro.vectors.mappings.csls import mutual, precision_at_1, rcsls, relaxed_loss, retrieve
from xlrepro.vectors.mappings.unsupervised import Space, collapse, learnt_maps, turned
from xlrepro.vectors.open.lexicon import centred_unit_rows, unit_rows
from xlrepro.vectors.open.vectors import mapped

WORDS, DIM = 400, 12
LONG = AdversarialSettings(hidden=64, batch_size=64, epochs=4, epoch_steps=200, learning_rate=0.2)
SHORT = replace(LONG, epochs=1, epoch_steps=30, refinements=1)


def clusters(seed=0):
    """A cloud of clusters of unequal size and spread, as words lie in fields of meaning."""
    rng = np.random.default_rng(seed)
    number = DIM + 2
    shares = 1 / np.arange(1, number + 1)
    centres = rng.gamma(0.5, size=(number, DIM)) * np.linspace(2.0, 0.7, DIM)
    spreads = rng.uniform(0.1, 0.5, size=(number, DIM))
    chosen = rng.choice(number, size=WORDS, p=shares / shares.sum())
    rows = centres[chosen] + spreads[chosen] * rng.normal(size=(WORDS, DIM))
    return Space([f"w{row}" for row in range(WORDS)], centred_unit_rows(rows))


ENGLISH = clusters()
FOREIGN = {code: turned(ENGLISH, np.random.default_rng(n)) for n, code in enumerate("ab")}
STRANGE_ROWS = np.random.default_rng(1).normal(size=(WORDS, DIM))
STRANGER = Space([f"v{row}" for row in range(WORDS)], unit_rows(STRANGE_ROWS))


def best(*sides):
    return retrieve(*(torch.from_numpy(np.asarray(side)) for side in sides)).numpy()


def precision(w, code):
    space, truth = FOREIGN[code]
    mapped = unit_rows(space.matrix @ np.asarray(w))
    return (best(mapped, ENGLISH.matrix, mapped) == truth).mean()


def csls_by_hand(queries, targets, sources, k):
    """All scores by the definition, one pair at a time."""
    scores = np.zeros((len(queries), len(targets)))
    for i, query in enumerate(queries):
        r_query = np.mean(sorted((query @ t for t in targets), reverse=True)[:k])
        for j, target in enumerate(targets):
            r_target = np.mean(sorted((target @ s for s in sources), reverse=True)[:k])
            scores[i, j] = 2 * (query @ target) - r_query - r_target
    return scores


@pytest.mark.parametrize("block", [3, 512])
def test_csls_agrees_with_brute_force(monkeypatch, block):
    monkeypatch.setattr(csls, "BLOCK", block)
    rng = np.random.default_rng(0)
    sources, targets = (unit_rows(rng.normal(size=(n, 5))) for n in (40, 31))
    queries = sources[:17]
    expected = csls_by_hand(queries, targets, sources, 10).argmax(axis=1)
    assert best(queries, targets, sources).tolist() == expected.tolist()


def test_mutual_translations_are_each_others_best():
    rng = np.random.default_rng(0)
    x, y = (unit_rows(rng.normal(size=(n, 6))) for n in (40, 33))
    ahead, back = (csls_by_hand(a, b, a, 10).argmax(axis=1) for a, b in ((x, y), (y, x)))
    expected = [[i, j] for i, j in enumerate(ahead.tolist()) if back[j] == i]
    assert mutual(*map(torch.from_numpy, (x, y))).tolist() == expected


def test_precision_counts_any_gold_translation_and_only_words_with_vectors(monkeypatch):
    sources = []
    monkeypatch.setattr(csls, "retrieve", lambda *of: sources.append(of[2]) or retrieve(*of))
    x = np.eye(3, dtype=np.float32)
    gold = {"a": {"x", "q"}, "b": {"z"}, "c": {"none"}, "unseen": {"x"}}
    assert precision_at_1(gold, ["a", "b", "c"], x, ["x", "y", "z"], x, k=1) == (0.5, 2)
    assert [len(words) for words in sources] == [3]  # hubs are those of the whole vocabulary
    share, asked = precision_at_1({"q": {"x"}}, ["a"], x[:1], ["x"], x[:1])
    assert np.isnan(share)
    assert asked == 0


def relaxed_loss_by_hand(w, x, y, all_x, all_y, k):
    """The loss of RCSLS by its definition, pair by pair; differentiable."""
    mapped, total = all_x @ w, 0.0
    for one, other in zip(x @ w, y):
        nearest_y = sorted((one @ each for each in all_y), reverse=True)[:k]
        nearest_x = sorted((each @ other for each in mapped), reverse=True)[:k]
        total = total - 2 * one @ other + sum(nearest_y) / k + sum(nearest_x) / k
    return total / len(x)


def test_relaxed_csls_loss_and_gradient_agree_with_the_definition():
    rng = np.random.default_rng(0)
    x, y = (torch.from_numpy(unit_rows(rng.normal(size=(n, 5)))) for n in (12, 10))
    w = torch.from_numpy(rng.normal(size=(5, 5)).astype(np.float32)).requires_grad_()
    data = x[[0, 4, 7]], y[[3, 4, 1]], x, y
    expected = relaxed_loss_by_hand(w, *data, 3)
    expected.backward()
    loss, gradient = relaxed_loss(w.detach(), *data, 3)
    assert loss == pytest.approx(expected.item(), abs=1e-5)
    torch.testing.assert_close(gradient, w.grad, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("rate", [1.0, 1000.0])  # too long a step does no harm
def test_relaxed_csls_maps_the_words_that_the_dictionary_lacks(rate):
    space, truth = FOREIGN["a"]
    pairs = np.array([(row, truth[row]) for row in range(0, WORDS, 3)])
    w = rcsls(space.matrix, ENGLISH.matrix, pairs, rate=rate)
    assert precision(w, "a") > 0.97
    assert np.linalg.svd(w, compute_uv=False).max() <= 1 + 1e-4


def test_vectors_mapped_by_a_seed_dictionary_lie_at_their_translations():
    space, truth = FOREIGN["a"]
    seed = [(word, word) for word in space.words[::2]]  # spelt the same
    cosines = (mapped(space, ENGLISH, seed) * ENGLISH.matrix[truth]).sum(axis=1)
    assert cosines.mean() > 0.95


@pytest.mark.parametrize("name", UNSUPERVISED)
def test_the_alignment_is_found_without_a_dictionary(name):
    spaces = {"en": ENGLISH} | {code: space for code, (space, _) in FOREIGN.items()}
    unmapped = unit_rows(FOREIGN["a"][0].matrix)
    assert (best(unmapped, ENGLISH.matrix) == FOREIGN["a"][1]).mean() < 0.5
    for code, w in learnt_maps(name, spaces, LONG).items():
        assert precision(w, code) > 0.97
        assert collapse(*map(torch.from_numpy, (spaces[code].matrix @ w, ENGLISH.matrix))) == ""
        np.testing.assert_allclose(w @ w.T, np.eye(DIM), atol=1e-4)


@pytest.mark.parametrize("name", UNSUPERVISED)
def test_unrelated_spaces_have_collapsed(name):
    (w,) = learnt_maps(name, {"en": ENGLISH, "x": STRANGER}, SHORT).values()
    assert "chance" in collapse(*map(torch.from_numpy, (STRANGER.matrix @ w, ENGLISH.matrix)))


def test_chance_is_the_best_of_three_starts(monkeypatch):
    values = iter((0.1, 0.3, 0.2))
    monkeypatch.setattr(adversarial, "criterion", lambda *of: next(values))
    assert unsupervised.chance(*map(torch.from_numpy, (STRANGER.matrix, ENGLISH.matrix))) == 0.3


def test_the_best_epoch_and_the_best_refinement_are_kept_and_the_rate_decays():
    spaces = [torch.from_numpy(space.matrix) for space in (FOREIGN["a"][0], ENGLISH)]

    def learnt(*values, decay=0.5):
        torch.manual_seed(0)
        left, rounds = iter(values * 2), {"epochs": len(values), "refinements": len(values) - 1}
        given = replace(SHORT, epoch_steps=5, decay=decay, **rounds), lambda maps: next(left)
        trained = adversarial._adversarial(spaces, (1,), *given)
        return trained[0], adversarial.refined(spaces, [torch.eye(DIM)] * 2, *given)[0]

    two = learnt(0.5, 0.7)
    assert all(map(torch.equal, two, learnt(0.5, 0.7, 0.6)))
    assert not any(map(torch.equal, two, learnt(0.5, 0.7, 0.8)))
    assert not torch.equal(two[0], learnt(0.5, 0.7, decay=1.0)[0])
    assert adversarial.draw(spaces[0], SHORT).norm(dim=1).mean() == pytest.approx(DIM**0.5, 1e-5)


def test_a_seed_gives_the_same_map_and_leaves_the_callers_chance_alone():
    x, y = (torch.from_numpy(space.matrix) for space in (STRANGER, ENGLISH))
    for learn in (lambda seed: muse(x, y, SHORT, seed), lambda seed: umwe([x, y], SHORT, seed)[0]):
        torch.manual_seed(3)
        expected = torch.rand(2)
        torch.manual_seed(3)
        first, again, other = (learn(seed) for seed in (1, 1, 2))
        assert torch.equal(torch.rand(2), expected)
        assert torch.equal(first, again)
        assert not torch.allclose(first, other)


def test_dictionaries_of_all_pairs_of_languages_are_in_their_own_order():
    x = torch.from_numpy(ENGLISH.matrix)
    order = torch.randperm(WORDS, generator=torch.Generator().manual_seed(0))
    found = dictionaries([x, x[order], x], [torch.eye(DIM)] * 3, WORDS)
    assert list(found) == [(0, 1), (0, 2), (1, 2)]
    assert all(left == order[right] for left, right in found[0, 1].tolist())


def test_supplied_vectors_are_mapped_by_the_content_of_their_files(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    space, truth = FOREIGN["a"]
    files, learnt = {code: tmp_path / f"{code}.vec" for code in ("en", "de")}, []
    for file, each in zip(files.values(), (ENGLISH, space)):
        write_vec(file, each.words, (3 * each.matrix).round(5))  # rows of no particular length
    learn = unsupervised.learnt_maps
    monkeypatch.setattr(
        unsupervised, "learnt_maps", lambda *a, **o: learnt.append(a[0]) or learn(*a, **o)
    )
    found = [unsupervised.load_supplied("muse", files, LONG) for _ in range(2)][1]
    assert learnt == ["muse"]
    cosines = (np.asarray(found.matrix("de")) * np.asarray(found.matrix("en"))[truth]).sum(axis=1)
    assert cosines.mean() > 0.95
    text = files["de"].read_text()
    files["de"].write_text(text.replace("0.1", "0.2", 1))  # corrected, of the same size
    unsupervised.load_supplied("muse", files, LONG)
    assert learnt == ["muse", "muse"]
    write_vec(files["de"], STRANGER.words, STRANGER.matrix)
    with pytest.raises(XlreproError, match=r"'muse': the maps of de \(mean cosine .*chance"):
        unsupervised.load_supplied("muse", files, LONG)
