"""The control of the mappings: do the methods without a dictionary work where two spaces do fit?

The other language is English itself, turned, with noise and in another order, so that the true
alignment is known. A method that finds it, with the settings that it has on real languages, is not
what keeps those from being aligned.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from xlrepro.papers.man_moe.mappings.quality import METHODS, method_settings
from xlrepro.papers.man_moe.mappings.rows import ENGLISH, FAMILY_SEED, NOISES, column
from xlrepro.training.settings import in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult
from xlrepro.vectors.mappings.artificial_spaces import source, turned
from xlrepro.vectors.mappings.spaces import Mapped, MappingProblem, Space
from xlrepro.vectors.mappings.umwe import umwe

CHECKED = 5_000  # most frequent words of the copy, asked for their originals
COPY = "copy"
SIGNATURES = {"P@1": "bdi|to:en|retrieval:csls-10|words:5000-most-frequent|v:1"}


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Map a copy of English back onto English, once per level of noise.

    Fills P@1 (percent) of finding the original of a word of the copy.
    """
    (system,) = trial.systems
    name = system.partition(":")[2]
    english = _english(trial.settings)
    cells, details = [], {}
    for done, noise in enumerate(NOISES):
        rng = np.random.default_rng([FAMILY_SEED, 3])  # the same copy for every method and seed
        copy, originals = turned(english, COPY, noise, rng)
        pairs = np.stack([np.arange(len(originals)), originals], axis=1)[:CHECKED]
        report = _learn(name, trial, copy, english, pairs, context.device).report
        precision = 100 * (report.precision or 0.0)
        cells.append(Cell(system, column(noise), precision, "P@1"))
        details[column(noise)] = {"status": report.status, "criterion": report.criterion}
        context.progress((done + 1) / len(NOISES), f"noise {noise:g}")
    return TrialResult(cells, details, SIGNATURES)


def _english(settings: Mapping[str, Any]) -> Space:
    if settings["corpus"] == "artificial":
        return source(settings["words"], settings["dim"], FAMILY_SEED)
    from xlrepro.vectors.mappings.open_spaces import monolingual_space

    return monolingual_space(ENGLISH, settings["words"])


def _learn(
    name: str, trial: Trial, copy: Space, english: Space, pairs: np.ndarray, device: str
) -> Mapped:
    settings = method_settings(name, trial.settings["method"])
    problem = MappingProblem(copy, english, check=pairs, seed=trial.seed, device=device)
    learn = METHODS[name].learn
    mapped: Mapped = (
        learn(problem, settings) if learn is not umwe else umwe({COPY: problem}, settings)[COPY]
    )
    return mapped
