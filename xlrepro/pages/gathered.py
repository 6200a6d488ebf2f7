"""All numbers and verdicts that a page or the book shows, gathered once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims import (
    Claim,
    ClaimVerdict,
    Judge,
    claims_of,
    conditions_of,
    judge_all,
    status_counts,
    touching,
)
from xlrepro.evidence.compare import compare
from xlrepro.evidence.deviations import Deviation, load_deviations
from xlrepro.evidence.reproduced import ReproducedNumbers, View, gather
from xlrepro.experiments import all_experiments, all_own_records
from xlrepro.trials import PUBLISHED, Record

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Evidence:
    """Records, and what follows from them beside the papers' numbers."""

    records: tuple[Record, ...]

    @cached_property
    def numbers(self) -> ReproducedNumbers:
        """The reproduced cells."""
        return gather(self.records)

    @cached_property
    def judge(self) -> Judge:
        """Judges claims on these numbers."""
        return Judge(self.numbers)

    def of(self, experiment: str, profiles: Sequence[str] = PUBLISHED) -> list[Record]:
        """Return the records of an experiment."""
        return [r for r in self.records if r.experiment == experiment and r.profile in profiles]

    def profiles(self, paper: str) -> list[str]:
        """Return the profiles worth a column for ``paper``: open, and paper where it was run."""
        seen = {r.profile for r in self.records if r.experiment.split("/", 1)[0] == paper}
        return [p for p in PUBLISHED if p in seen or p == "open"]

    @cache  # noqa: B019 (the evidence lives as long as its process)
    def claims(self, key: str) -> list[Claim]:
        """Return the claims of a paper or of an experiment."""
        return claims_of(key, self.judge)

    @cache  # noqa: B019
    def verdicts(self, paper: str) -> dict[str, dict[str, ClaimVerdict | None]]:
        """Return claim to condition's label to verdict, judged once."""
        conditions = conditions_of(paper, self.profiles(paper), self.numbers)
        return judge_all(self.claims(paper), conditions, self.judge)

    def tally(self, paper: str, label: str = "open") -> dict[str, int]:
        """Return how many of the paper's own sentences have each verdict; ``all``: how many."""
        own = [c.id for c in self.claims(paper) if c.counted]
        counts = status_counts([self.verdicts(paper)[name].get(label) for name in own])
        return {**counts, "all": len(own)}

    def touching(self, claim: Claim) -> list[Deviation]:
        """Return the deviations that touch the cells of a claim."""
        return touching(claim, self.judge, self.profiles(claim.paper), load_deviations())

    @cache  # noqa: B019
    def frame(self, experiment: str, profile: str) -> "pd.DataFrame":
        """Return the cells of ``experiment``, reported beside reproduced, compared once."""
        view = View(experiment, profile, self.numbers)
        return compare(view, experiment=all_experiments().get(experiment))

    @cached_property
    def cells(self) -> "pd.DataFrame":
        """All cells of all experiments, at open and wherever else they were run."""
        import pandas as pd

        return pd.concat([
            self.frame(key, profile)
            for key in load_catalog().experiments
            for profile in self.profiles(key.split("/")[0])
        ], ignore_index=True)  # fmt: skip


@cache
def load_evidence() -> Evidence:
    """Return the project's evidence, read once."""
    return Evidence(tuple(all_own_records()))
