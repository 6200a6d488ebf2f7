"""All numbers and verdicts that the book shows, gathered once per build."""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from xlrepro.evidence.catalog import Catalog, load_catalog
from xlrepro.evidence.claims import (
    Claim,
    ClaimVerdict,
    Condition,
    Judge,
    claims_of,
    conditions_of,
    judge_all,
    status_counts,
)
from xlrepro.evidence.compare import compare
from xlrepro.evidence.reported import ReportedNumbers, load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers, View, gather
from xlrepro.experiments import all_experiments, all_own_records
from xlrepro.trials import PUBLISHED, Record

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Evidence:
    """Reported numbers, records and what follows from them, as one build of the book sees them."""

    catalog: Catalog
    reported: ReportedNumbers
    records: tuple[Record, ...]

    @cached_property
    def numbers(self) -> ReproducedNumbers:
        """The reproduced cells."""
        return gather(self.records)

    @cached_property
    def judge(self) -> Judge:
        """Judges claims on these numbers."""
        return Judge(self.numbers)

    def profiles(self, paper: str) -> list[str]:
        """Return the profiles worth a column for ``paper``: open, and paper where it was run."""
        seen = {r.profile for r in self.records if r.experiment.split("/", 1)[0] == paper}
        return [p for p in PUBLISHED if p in seen or p == "open"]

    @cached_property
    def claims(self) -> dict[str, list[Claim]]:
        """Paper to its claims."""
        return {paper: claims_of(paper, self.judge) for paper in self.catalog.papers}

    def conditions(self, paper: str) -> list[Condition]:
        """Return what the claims of ``paper`` are judged on: printed numbers, then records."""
        return conditions_of(paper, self.profiles(paper), self.numbers)

    @cache  # noqa: B019 (the evidence lives as long as its process)
    def verdicts(self, paper: str) -> dict[str, dict[str, ClaimVerdict | None]]:
        """Return claim to condition's label to verdict, judged once."""
        return judge_all(self.claims[paper], self.conditions(paper), self.judge)

    def tally(self, paper: str, label: str) -> dict[str, int]:
        """Return how many of the paper's own sentences have each verdict; ``all``: how many."""
        own = [c.id for c in self.claims[paper] if c.counted]
        counts = status_counts([self.verdicts(paper)[name].get(label) for name in own])
        return {**counts, "all": len(own)}

    @cache  # noqa: B019
    def frame(self, experiment: str, profile: str) -> "pd.DataFrame":
        """Return the cells of ``experiment``, reported beside reproduced, compared once."""
        view = View(experiment, profile, self.numbers)
        return compare(view, experiment=all_experiments().get(experiment))


@cache
def load_evidence() -> Evidence:
    """Return the project's evidence, read once."""
    return Evidence(load_catalog(), load_reported(), tuple(all_own_records()))
