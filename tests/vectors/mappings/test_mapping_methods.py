"""Every mapping method finds a known alignment from its own kind of supervision, or says so."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from xlrepro.errors import SettingsError
from xlrepro.vectors.mappings import csls
from xlrepro.vectors.mappings.adversarial import orthogonalise
from xlrepro.vectors.mappings.artificial_spaces import source, turned, unrelated
from xlrepro.vectors.mappings.csls import neighbour_mean, neighbour_means, translate
from xlrepro.vectors.mappings.muse import muse
from xlrepro.vectors.mappings.procrustes import ProcrustesSettings, procrustes_map
from xlrepro.vectors.mappings.rcsls import RcslsSettings, _Relaxed, project, rcsls
from xlrepro.vectors.mappings.recipes import AdversarialSettings
from xlrepro.vectors.mappings.retrieval import csls_retrieve
from xlrepro.vectors.mappings.seeded import procrustes
from xlrepro.vectors.mappings.spaces import (
    COLLAPSED,
    MAPPED,
    MappingProblem,
    Space,
    same_strings,
)
from xlrepro.vectors.mappings.umwe import dictionaries, umwe
from xlrepro.vectors.mappings.vecmap import VecMapSettings, solve, vecmap
from xlrepro.vectors.open.dictionary import unit_rows

WORDS, DIM = 400, 12
ADVERSARIAL = AdversarialSettings(
    hidden=64, batch_size=64, epochs=4, epoch_steps=200, learning_rate=0.2
)
SELF_LEARNING = VecMapSettings(patience=3, start_words=WORDS)


@pytest.fixture(scope="module")
def english():
    return source(WORDS, DIM)


@pytest.fixture(scope="module")
def foreign(english):
    """Spaces of two other languages, and the English row that each of their rows translates."""
    rng = np.random.default_rng(5)
    return {code: turned(english, code, 0.1, rng, same_spelling=0.1) for code in ("de", "es")}


@pytest.fixture(scope="module")
def stranger():
    return unrelated(WORDS, DIM, "xx")


def precision(mapped, x, y, truth, rows=slice(None)):
    a, b = mapped.apply(x.matrix, y.matrix)
    return (csls_retrieve(a, b, a) == truth)[rows].mean()


NO_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
DEVICES = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=NO_GPU)])


@DEVICES
@pytest.mark.parametrize("block", [7, 40, 1024])
def test_two_way_csls_agrees_with_the_one_way_retrieval(monkeypatch, block, device):
    monkeypatch.setattr(csls, "BLOCK", block)
    rng = np.random.default_rng(0)
    x, y = (unit_rows(rng.normal(size=(n, 6))) for n in (40, 33))
    a, b = torch.from_numpy(x).to(device), torch.from_numpy(y).to(device)
    of_x, of_y = neighbour_means(a, b)
    np.testing.assert_allclose(of_x.cpu(), neighbour_mean(a, b).cpu(), rtol=1e-5)
    np.testing.assert_allclose(of_y.cpu(), neighbour_mean(b, a).cpu(), rtol=1e-5)
    found = translate(a, b)
    of_pairs = [x[i] @ y[j] for i, j in enumerate(found.forward.tolist())]
    np.testing.assert_allclose(found.forward_cosine.cpu(), of_pairs, rtol=1e-5)
    of_pairs = [y[j] @ x[i] for j, i in enumerate(found.backward.tolist())]
    np.testing.assert_allclose(found.backward_cosine.cpu(), of_pairs, rtol=1e-5)
    assert found.forward.tolist() == csls_retrieve(x, y).tolist()
    assert found.backward.tolist() == csls_retrieve(y, x).tolist()
    mutual = [(i, j) for i, j in enumerate(found.forward.tolist()) if found.backward[j] == i]
    assert [tuple(pair) for pair in found.mutual().tolist()] == mutual


def test_csls_makes_nothing_on_another_device_than_that_of_its_vectors(monkeypatch):
    # What would fail on a GPU fails on "meta", which any machine has: a tensor made on the CPU.
    monkeypatch.setattr(csls, "BLOCK", 7)
    x, y = (torch.empty(n, 6, device="meta") for n in (40, 33))
    for keep in (1.0, 0.2):
        found = translate(x, y, keep=keep)
        pairs = found.both_ways()
        assert pairs.shape == (73, 2)
        assert {t.device.type for t in (*vars(found).values(), pairs)} == {"meta"}
        assert [len(t) for t in vars(found).values()] == [40, 33, 40, 33]


@DEVICES
def test_entries_that_are_not_kept_change_the_dictionary_by_seed_alone(device):
    rng = np.random.default_rng(0)
    x, y = (torch.from_numpy(unit_rows(rng.normal(size=(50, 6)))).to(device) for _ in range(2))

    def induced(seed):
        generator = torch.Generator(device).manual_seed(seed)
        return translate(x, y, keep=0.2, generator=generator).forward.tolist()

    assert induced(0) == induced(0)
    assert induced(0) != induced(1)
    assert induced(0) != translate(x, y).forward.tolist()


def test_artificial_words_start_away_from_their_translations(english, foreign):
    for space, truth in foreign.values():
        assert (csls_retrieve(space.matrix, english.matrix) == truth).mean() < 0.5


@pytest.mark.parametrize("method", [procrustes_map, rcsls])
def test_a_third_of_the_dictionary_gives_the_rest(method, english, foreign):
    x, truth = foreign["de"]
    seed = [(row, truth[row]) for row in range(0, WORDS, 3)]
    held_out = [(row, truth[row]) for row in range(WORDS) if row % 3]
    mapped = method(MappingProblem(x, english, pairs=seed, check=held_out))
    assert precision(mapped, x, english, truth) > 0.97
    assert mapped.report.precision > 0.97
    assert mapped.report.status == MAPPED


def test_refinement_needs_a_few_pairs_only(english, foreign):
    x, truth = foreign["de"]
    seed = [(row, truth[row]) for row in range(6)]
    problem = MappingProblem(x, english, pairs=seed)
    rough, fine = (procrustes_map(problem, ProcrustesSettings(refinements=n)) for n in (0, 6))
    assert precision(fine, x, english, truth) > precision(rough, x, english, truth) + 0.2


def loss_by_hand(problem, w):
    """The relaxed CSLS loss by its definition, pair by pair; differentiable."""
    mapped, total = problem.all_x @ w, 0.0
    for x, y in zip(problem.x @ w, problem.y):
        nearest_y = sorted(((x @ other) for other in problem.all_y), reverse=True)[: problem.k]
        nearest_x = sorted(((other @ y) for other in mapped), reverse=True)[: problem.k]
        total = total - 2 * x @ y + sum(nearest_y) / problem.k + sum(nearest_x) / problem.k
    return total / len(problem.x)


def test_relaxed_csls_loss_and_gradient_agree_with_the_definition():
    rng = np.random.default_rng(0)
    x, y = (Space([str(i) for i in range(n)], unit_rows(rng.normal(size=(n, 5)))) for n in (12, 10))
    rows = np.array([[0, 3], [4, 4], [7, 1]])
    problem = _Relaxed.of(MappingProblem(x, y), rows, RcslsSettings(neighbours=3))
    w = torch.randn(5, 5, generator=torch.Generator().manual_seed(0), requires_grad=True)
    expected = loss_by_hand(problem, w)
    expected.backward()
    loss, gradient = problem.loss_and_gradient(w.detach(), torch.arange(3))
    assert loss == pytest.approx(expected.item(), abs=1e-5)
    torch.testing.assert_close(gradient, w.grad, atol=1e-5, rtol=1e-4)


def stressed(seed):
    """A space whose copy is also stretched, with hubs in it that lie between the words."""
    rng = np.random.default_rng(seed)
    y = source(WORDS, DIM, seed)
    x, truth = turned(y, "xx", 0.1, rng)
    stretched = unit_rows(y.matrix * np.geomspace(3, 1 / 3, DIM))
    middles = [stretched[rng.choice(WORDS, 10)].mean(axis=0) for _ in range(40)]
    names = [*y.words, *(f"hub{i}" for i in range(len(middles)))]
    return x, Space(names, np.concatenate([stretched, unit_rows(np.stack(middles))])), truth


def test_relaxed_csls_is_no_worse_than_procrustes_where_there_are_hubs():
    settings = RcslsSettings(constraint="spectral")
    gains = []
    for seed in range(3):
        x, y, truth = stressed(seed)
        pairs = [(row, truth[row]) for row in range(0, WORDS, 2)]
        problem = MappingProblem(x, y, pairs=pairs)
        maps = rcsls(problem, settings), procrustes_map(problem)
        relaxed, orthogonal = (precision(m, x, y, truth, slice(1, None, 2)) for m in maps)
        gains.append(relaxed - orthogonal)
    assert min(gains) >= 0
    assert np.mean(gains) > 0.02


@pytest.mark.parametrize(
    ("constraint", "low", "high"), [("spectral", 0, 1), ("orthogonal", 1, 1), ("none", 0, np.inf)]
)
def test_the_map_obeys_its_constraint(constraint, low, high, english, foreign):
    x, truth = foreign["de"]
    settings = RcslsSettings(constraint=constraint, epochs=3, batch_size=50)
    mapped = rcsls(MappingProblem(x, english, pairs=list(enumerate(truth))), settings)
    values = np.linalg.svd(mapped.w, compute_uv=False)
    assert low - 1e-4 <= values.min() <= values.max() <= high + 1e-4
    assert precision(mapped, x, english, truth) > 0.97


def test_projection_changes_only_singular_values_above_one():
    torch.testing.assert_close(
        project(torch.diag(torch.tensor([2.0, 0.5])), "spectral"),
        torch.diag(torch.tensor([1.0, 0.5])),
    )


def test_steps_that_are_too_long_do_no_harm(english, foreign):
    x, truth = foreign["de"]
    settings = RcslsSettings(learning_rate=1000.0, epochs=8, constraint="spectral")
    mapped = rcsls(MappingProblem(x, english, pairs=list(enumerate(truth))), settings)
    assert max(mapped.report.history) > mapped.report.history[0]
    assert precision(mapped, x, english, truth) > 0.97


def test_held_out_pairs_choose_the_epoch_and_are_not_learnt_from(monkeypatch, english, foreign):
    x, truth = foreign["de"]
    learnt = []
    monkeypatch.setattr(_Relaxed, "of", lambda *a, of=_Relaxed.of: learnt.append(a[1]) or of(*a))
    # Every step leads away from a good start: the precision of held-out pairs keeps the start.
    settings = RcslsSettings(learning_rate=-20.0, epochs=3, validation=0.25)
    mapped = rcsls(MappingProblem(x, english, pairs=list(enumerate(truth))), settings)
    assert len(learnt[0]) == 0.75 * WORDS
    history = mapped.report.history
    assert len(history) == 4
    assert history[0] == max(history) > 0.97
    assert precision(mapped, x, english, truth) > 0.97


@pytest.mark.parametrize("start", ["identical", "unsupervised", "pairs"])
def test_self_learning_finds_the_alignment_from_each_start(start, english, foreign):
    x, truth = foreign["de"]
    settings = replace(SELF_LEARNING, start=start)
    pairs = [(i, truth[i]) for i in range(20)]
    mapped = vecmap(MappingProblem(x, english, pairs=pairs), settings)
    assert precision(mapped, x, english, truth) > 0.97
    assert mapped.report.status == MAPPED


def test_without_reweighting_the_solution_is_that_of_procrustes(english, foreign):
    x, truth = foreign["de"]
    pairs = torch.tensor([(row, truth[row]) for row in range(50)])
    w, w_target = solve(torch.from_numpy(x.matrix), torch.from_numpy(english.matrix), pairs)
    expected = procrustes(x.matrix[:50], english.matrix[truth[:50]])
    np.testing.assert_allclose((w @ w_target.T).numpy(), expected, atol=1e-4)


def test_whitening_without_reweighting_undoes_itself():
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(60, 5)) * [3, 2, 1, 1, 0.5])
    pairs = torch.arange(60).repeat(2, 1).T
    w, w_target = solve(x, x, pairs, whiten=True)
    # Of one space with itself, whitening, turning and de-whitening leave inner products alone.
    torch.testing.assert_close((x @ w) @ (x @ w_target).T, x @ x.T)


def test_identical_strings_are_found_by_word_and_needed(english, stranger):
    x = Space(["b", "c", "a"], english.matrix[:3])
    y = Space(["a", "b"], english.matrix[:2])
    assert same_strings(x, y).tolist() == [[0, 1], [2, 0]]
    assert same_strings(x, y, frequent=1).tolist() == []
    with pytest.raises(SettingsError, match="start='unsupervised'"):
        vecmap(MappingProblem(stranger, english))


def test_adversarial_training_finds_the_alignment_without_a_dictionary(english, foreign):
    x, truth = foreign["de"]
    mapped = muse(MappingProblem(x, english), ADVERSARIAL)
    assert precision(mapped, x, english, truth) > 0.97
    assert mapped.report.status == MAPPED
    np.testing.assert_allclose(mapped.w @ mapped.w.T, np.eye(DIM), atol=1e-4)


def test_several_languages_find_one_space_together(english, foreign):
    problems = {code: MappingProblem(space, english) for code, (space, _) in foreign.items()}
    found = umwe(problems, ADVERSARIAL)
    for code, (space, truth) in foreign.items():
        assert precision(found[code], space, english, truth) > 0.97
        assert found[code].report.status == MAPPED
    # Through the common space the other two languages translate each other.
    (de, to_english), (es, of_english) = foreign["de"], foreign["es"]
    a, b = unit_rows(de.matrix @ found["de"].w), unit_rows(es.matrix @ found["es"].w)
    assert (of_english[csls_retrieve(a, b, a)] == to_english).mean() > 0.95


def test_dictionaries_of_all_pairs_of_languages_are_in_their_own_order(english):
    x = torch.from_numpy(english.matrix)
    order = torch.randperm(WORDS, generator=torch.Generator().manual_seed(0))
    found = dictionaries([x, x[order], x], [torch.eye(DIM)] * 3, WORDS)
    assert list(found) == [(0, 1), (0, 2), (1, 2)]
    for left, right in found[0, 1].tolist():
        assert left == order[right]


def test_the_orthogonality_update_brings_a_matrix_nearer_to_orthogonal():
    w = torch.eye(4) + 0.1 * torch.randn(4, 4, generator=torch.Generator().manual_seed(0))

    def distance():
        return float((w @ w.T - torch.eye(4)).norm())

    before = distance()
    for _ in range(200):
        orthogonalise(w, 0.01)
    assert distance() < 0.1 * before


SHORT = replace(ADVERSARIAL, epochs=1, epoch_steps=30, refinements=1)
UNSUPERVISED = {
    "muse": lambda problem: muse(problem, SHORT),
    "vecmap": lambda problem: vecmap(
        problem, replace(SELF_LEARNING, start="unsupervised", patience=1)
    ),
    "umwe": lambda problem: umwe({"xx": problem}, SHORT)["xx"],
}


@pytest.mark.parametrize("name", UNSUPERVISED)
def test_unrelated_spaces_are_reported_as_collapsed(name, english, stranger):
    mapped = UNSUPERVISED[name](MappingProblem(stranger, english))
    assert mapped.report.status == COLLAPSED
    assert re.fullmatch(r"mean cosine of translations .*, chance .*", mapped.report.why)


@pytest.mark.parametrize("name", UNSUPERVISED)
def test_a_dictionary_for_checking_tells_collapse_too(name, english, stranger):
    check = [(row, row) for row in range(WORDS)]
    mapped = UNSUPERVISED[name](MappingProblem(stranger, english, check=check))
    assert mapped.report.status == COLLAPSED
    assert mapped.report.precision < 0.05


@pytest.mark.parametrize("name", UNSUPERVISED)
def test_a_seed_gives_the_same_map_and_another_seed_another(name, english, stranger):
    problems = [MappingProblem(stranger, english, seed=seed) for seed in (1, 1, 2)]
    first, again, other = (UNSUPERVISED[name](problem).w for problem in problems)
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_learning_leaves_the_callers_chance_alone(english, stranger):
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    UNSUPERVISED["muse"](MappingProblem(stranger, english))
    torch.testing.assert_close(torch.rand(2), expected)


@pytest.mark.parametrize("method", [procrustes_map, rcsls])
def test_a_supervised_method_without_pairs_says_what_it_needs(method, english, stranger):
    with pytest.raises(SettingsError, match="give pairs of rows"):
        method(MappingProblem(stranger, english))
