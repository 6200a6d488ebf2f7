"""Small models of the four systems in double precision."""

import torch

from xlrepro.papers.routing_nmt.model import MultiTaskModel, Routed, Sizes, Stacked

TASKS = {"translation": 13, "ner": 7, "syntax": 11}
RECURRENT = {
    "NMT": Stacked((True,) * 3, (True,) * 3),
    "MTL (Full)": Stacked((True,) * 3, (True,) * 3),
    "MTL (Partial)": Stacked((False, True, True), (False, False, True)),
    "MTL (Routing)": Routed(3),
}


def small_model(system="MTL (Routing)", seed=0, **choices):
    torch.manual_seed(seed)
    sizes = Sizes(
        **{"hidden": 6, "embedding": 5, "attention": 4, "router": 3, "dropout": 0.0, **choices}
    )
    tasks = {"translation": TASKS["translation"]} if system == "NMT" else TASKS
    return MultiTaskModel(17, tasks, RECURRENT[system], sizes).double()


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
