"""Small models of the four systems in double precision, and a tiny trial."""

from functools import cache

import torch

from xlrepro.experiments import experiment
from xlrepro.papers.routing_nmt.encoding import Encoded
from xlrepro.papers.routing_nmt.model import MultiTaskModel
from xlrepro.papers.routing_nmt.run import make_model
from xlrepro.papers.routing_nmt.settings import TranslationSettings
from xlrepro.papers.routing_nmt.training import MultiTaskLearner
from xlrepro.training.loop import Checkpoints, fit

TABLE1 = experiment("routing_nmt/table1")
TASKS = {"translation": 13, "ner": 7, "syntax": 11}
FULL = {"encoder": (True,) * 3, "decoder": (True,) * 3}
SHARED = {
    "NMT": FULL,
    "MTL (Full)": FULL,
    "MTL (Partial)": {"encoder": (False, True, True), "decoder": (False, False, True)},
    "MTL (Routing)": None,
}
SMALL = {"train_pairs": 12, "test_pairs": 4, "auxiliary_train": 10, "auxiliary_dev": 4}
SMALL |= {"batch_size": 4, "epochs": 3, "bpe_operations": 20}
SMALL |= {"model.hidden": 5, "model.dropout": 0.3}
SMALL["learning_rate"] = 0.6  # so high that dev rises and rates are halved


def small_model(system="MTL (Routing)", seed=0, width=5, dropout=0.0):
    torch.manual_seed(seed)
    tasks = {"translation": TASKS["translation"]} if system == "NMT" else TASKS
    return MultiTaskModel(17, tasks, SHARED[system], width, dropout).double()


def small_batch(seed=0):
    """Three source sentences of 5, 3 and 4 tokens; targets of 4, 2 and 3 tokens."""
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(4, 17, (3, 5), generator=generator)
    target = torch.randint(4, 7, (3, 6), generator=generator)
    lengths, outputs = torch.tensor([5, 3, 4]), torch.tensor([4, 2, 3])
    target[:, 0] = 1
    for row, (length, output) in enumerate(zip(lengths, outputs)):
        source[row, length:] = 0
        target[row, output + 1] = 2
        target[row, output + 2 :] = 0
    return source, lengths, target


def settings_of(profile, system, pair, changes):
    (trial,) = TABLE1.trials(profile, [system], [0], {**changes, "parts": [pair]})
    return trial.typed(TranslationSettings)


@cache
def _small_settings(changes):
    return settings_of("smoke", "MTL (Routing)", "en-vi", {**SMALL, **dict(changes)})


def small_settings(**changes):
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return _small_settings(tuple(named.items()))


def learner(settings=None, seed=5):
    """Return a learner that has not begun."""
    settings = settings or small_settings()
    data = Encoded(settings)
    return MultiTaskLearner(make_model(settings, data, seed), data, settings, seed)


def trained(checkpoint=None, one=None):
    """Train from the checkpoint, if there is one; return the learner and its fit."""
    one, kept = one or learner(), Checkpoints(checkpoint) if checkpoint else None
    return one, fit(one, small_settings().epochs, checkpoints=kept)
