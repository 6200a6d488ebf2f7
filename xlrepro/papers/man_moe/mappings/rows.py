"""The rows and columns of the comparison of mappings: names alone, nothing is learnt here."""

from functools import cache
from importlib import resources
from typing import Any

from xlrepro.yaml_files import read_yaml

ENGLISH = "en"
PRESET = "mappings"
FAMILY_SEED = 0  # of the artificial spaces
NAMES = (
    "Procrustes", "Procrustes + refinement", "RCSLS", "RCSLS + spectral",
    "VecMap identical", "VecMap unsupervised", "MUSE", "UMWE",
)  # fmt: skip
SUPERVISED = NAMES[:4]  # they see the training dictionary
REPEATED = NAMES[2:]  # the outcome depends on the seed; which pairs RCSLS holds out does
CONTROLLED = ("VecMap unsupervised", "MUSE", "UMWE")
NOISES = (0.1, 1.0)  # lengths of the noise beside vectors of length 1, in the control


@cache
def presets() -> dict[str, Any]:
    """Return the presets of the comparison: profile to settings, as the YAML has them."""
    folder = resources.files("xlrepro.papers.man_moe") / "presets"
    return dict(read_yaml(folder / f"{PRESET}.yaml"))


def column(noise: float) -> str:
    """Return the column of a level of noise, ``"noise 0.1/P@1"``."""
    return f"noise {noise:g}/P@1"
