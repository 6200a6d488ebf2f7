"""Choice of senses, their centres, the projection and the pruning."""

import torch
from sklearn.decomposition import PCA

from xlrepro.papers.sense_alignment.senses import (
    Pruning,
    QueueProjection,
    SenseCentres,
    SenseOutput,
)
from xlrepro.papers.sense_alignment.settings import PruningSettings, SenseSettings

DIM = 4
LOOKS = {"every": 1, "after": 0}  # of the pruning


def layer(vocabulary=5, **changes):
    torch.manual_seed(0)
    values = {"senses": 2, "warmup": "copied", "warmup_steps": 0, "sigma": 1.0, "rate": 0.1}
    values |= {"projection_dim": DIM, "queue": 50, "negatives": None}
    settings = SenseSettings.model_validate(values | changes)
    made = SenseOutput(vocabulary, DIM, settings, "adagrad").double()
    if made.projection.matrix.shape[1] == DIM:
        made.projection.matrix.copy_(torch.eye(DIM))
    return made


def states(count, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, DIM, dtype=torch.double, generator=generator)


def test_no_gradient_reaches_centres_or_projection():
    made = layer()
    made.centres.values.requires_grad_()
    made.projection.matrix.requires_grad_()
    predicting = states(6).requires_grad_()
    choosing = states(6, 2).requires_grad_()
    made.eval().loss(predicting, choosing, torch.arange(6) % 5, [0]).backward()
    assert predicting.grad is not None
    assert made.vectors.used.grad is not None
    assert choosing.grad is made.centres.values.grad is made.projection.matrix.grad is None


def test_centres_of_the_text_follow_one_state_after_another():
    made = SenseCentres(3, 2, DIM, sigma=1.0, rate=0.1).double()
    words, senses = torch.tensor([0, 2, 0, 0]), torch.tensor([1, 0, 1, 0])
    expected = made.values.clone()
    for word, sense, state in zip(words, senses, states(4), strict=True):
        expected[word, sense] = 0.9 * expected[word, sense] + 0.1 * state
    made.move(words, senses, states(4))
    torch.testing.assert_close(made.values, expected, rtol=0, atol=1e-14)


def test_the_projection_spans_the_principal_components_of_the_last_states():
    made = QueueProjection(DIM, 2, 30).double()
    drawn = states(50) @ torch.diag(torch.tensor([3.0, 2.0, 1.0, 0.5], dtype=torch.double)) + 5
    for part in drawn.split(7):
        made.add(part)
    made.update()
    expected = torch.from_numpy(PCA(2).fit(drawn[-30:].numpy()).components_)
    cosines = (made.matrix.T * expected).sum(1).abs()
    torch.testing.assert_close(cosines, torch.ones(2, dtype=torch.double), rtol=0, atol=1e-10)


def test_centred_components_are_of_the_differences_from_the_queues_mean():
    for centred in (True, False):
        made, drawn = QueueProjection(DIM, 2, 30, centred).double(), states(20) + 7
        made.add(drawn)
        made.update()
        origin = drawn.mean(0) if centred else torch.zeros(DIM, dtype=torch.double)
        expected = (states(3, 2) - origin) @ made.matrix
        torch.testing.assert_close(made.project(states(3, 2)), expected, rtol=0, atol=1e-12)


def test_a_sense_that_is_given_up_is_never_chosen_nor_predicted():
    made = layer(senses=3).eval()
    made.on[1, 2] = made.on[3, 0] = False
    made.refresh()
    words = torch.arange(5).repeat(40)
    found = made.choose(words, states(200))
    assert bool(made.on[words, found].all())
    before = made.loss(states(5), states(5), torch.arange(5), [0])
    made.vectors.values.view(5, 3, DIM)[1, 2] += 100
    made.vectors.values.view(5, 3, DIM)[3, 0] += 100
    assert torch.equal(made.loss(states(5), states(5), torch.arange(5), [0]), before)


def test_drawn_senses_follow_the_softmax_of_the_cosines_in_training_alone():
    made, count = layer(senses=5, temperature=1.0), 40_000
    words, same = torch.zeros(count, dtype=torch.long), states(1).expand(count, -1)
    # shape: (5,)
    cosines = torch.cosine_similarity(made.centres.values[0], same[:1])
    shares = made.train().choose(words, same).bincount(minlength=5) / count
    torch.testing.assert_close(shares.double(), cosines.softmax(0), rtol=0, atol=0.01)
    assert bool((made.eval().choose(words, same) == cosines.argmax()).all())


def test_where_all_centres_begin_at_zero_the_first_sense_takes_its_word_first():
    made = layer(sigma=0.0)
    made.loss(states(1), states(1), torch.tensor([3]), [0])
    moved = made.centres.values.abs().sum(-1) > 0
    assert moved.nonzero().tolist() == [[3, 0]]


def test_the_warm_up_has_one_sense_which_is_then_switched_off_or_copied():
    made = layer(senses=2, warmup="own", warmup_steps=3)
    assert made.on.tolist() == [[True, False, False]] * 5
    made.begin(3)
    assert made.on.tolist() == [[False, True, True]] * 5
    made = layer(senses=3, warmup="copied", warmup_steps=3)
    first = made.vectors.values.view(5, 3, DIM)[:, 0].clone()
    made.begin(3)
    assert all(torch.equal(v, first) for v in made.vectors.values.view(5, 3, DIM).unbind(1))


def test_a_copied_warm_up_gives_its_sense_no_lead():
    """Centres that the warm-up had moved would draw most of its words' uses to the first sense."""
    made = layer(senses=4, warmup="copied", warmup_steps=3, pruning=LOOKS)
    centres, words = made.centres.values.clone(), torch.arange(5).repeat(20)
    for step in range(3):
        made.loss(states(100, step), states(100, step), words, [step], step)
    assert torch.equal(made.centres.values, centres)
    assert not bool(made.pruning.records.any())
    made.begin(3)
    made.loss(states(100), states(100), words, [3], 3)
    assert not torch.equal(made.centres.values, centres)
    assert bool(made.pruning.records.any())


def test_centres_that_begin_at_states_are_the_last_states_of_their_word():
    made = layer(begin="states", warmup_steps=2).centres
    untouched = made.values[2].clone()
    words, seen = torch.tensor([0, 1, 1, 0, 1, 1]), states(6)
    made.place(words, seen, step=0)  # senses 0, 1, 0, 1, 0, 1
    assert torch.equal(made.values[0], seen[[0, 3]])
    assert torch.equal(made.values[1], seen[[4, 5]])
    assert torch.equal(made.values[2], untouched)
    made.place(words[:2], seen[:2], step=1, first=1)  # the first stays
    assert torch.equal(made.values[0], seen[[0, 0]])


def test_the_codes_pruning_takes_four_failures_in_a_row():
    """0.5 to the fourth is the first power below 0.1; one success begins the count anew."""
    rule = PruningSettings(**LOOKS, window=10, frequency=0.1)
    pruning, enabled = Pruning(1, 2, rule), torch.ones(1, 2, dtype=torch.bool)
    word = torch.zeros(10, dtype=torch.long)
    one_of_ten = torch.tensor([0] * 9 + [1])
    two_of_ten = torch.tensor([0] * 8 + [1] * 2)
    for choices in (*[one_of_ten] * 3, two_of_ten, *[one_of_ten] * 3):
        pruning.record(word, choices)
        pruning.prune(enabled)
    assert bool(enabled.all())
    pruning.record(word, one_of_ten)
    pruning.prune(enabled)
    assert enabled.tolist() == [[True, False]]


def test_the_codes_pruning_looks_at_the_last_choices_alone_and_skips_rare_words():
    rule = PruningSettings(**LOOKS, window=4, frequency=0.1)
    pruning, enabled = Pruning(2, 2, rule), torch.ones(2, 2, dtype=torch.bool)
    pruning.record(torch.tensor([0] * 9 + [1] * 3), torch.tensor([0] * 5 + [1] * 4 + [0] * 3))
    for _ in range(4):
        pruning.prune(enabled)
    assert enabled.tolist() == [[False, True], [True, True]]


def test_a_word_keeps_its_best_sense_and_given_up_ones_leave_the_draws():
    rule = {"every": 2, "after": 0, "window": 4, "frequency": 1.0}  # all are rare
    made = layer(senses=3, pruning=rule, negatives=99).train()
    words = torch.arange(5).repeat(8)
    for step in range(8):
        made.loss(states(40, step), states(40, step), words, [step], step)
        made.end(step + 1)
    assert made.on.sum(1).tolist() == [1] * 5
    best = torch.stack([(made.pruning.window == s).sum(1) for s in range(3)], 1).argmax(1)
    assert bool(made.on[torch.arange(5), best].all())
    drawn = made.negatives([0])
    assert torch.equal(drawn.sort().values, made.on.flatten().nonzero().flatten())
