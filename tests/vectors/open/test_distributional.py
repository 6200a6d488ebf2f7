"""Published vectors: from more dimensions to fewer, into the other language's space."""

import numpy as np
import torch

from xlrepro.vectors.mappings.csls import retrieve
from xlrepro.vectors.open.distributional import mapped
from xlrepro.vectors.open.lexicon import centred_unit_rows, unit_rows


def test_turned_vectors_of_more_dimensions_find_their_translations():
    draw = np.random.default_rng(0)
    source = draw.normal(size=(300, 10))
    turn, _ = np.linalg.qr(draw.normal(size=(25, 25)))
    foreign = source @ turn[:10] + 0.02 * draw.normal(size=(300, 25))
    seed = np.stack([np.arange(60)] * 2, axis=1)
    y = unit_rows(source)
    x = mapped(centred_unit_rows(foreign), y, seed)
    assert x.shape == (300, 10)
    assert np.allclose(np.linalg.norm(x, axis=1), 1)
    best = retrieve(torch.from_numpy(x[60:]), torch.from_numpy(y)).numpy()
    assert (best == np.arange(60, 300)).mean() > 0.95
