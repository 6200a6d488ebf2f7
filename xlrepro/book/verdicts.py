"""All numbers and verdicts that the generated pages show, gathered once per build."""

from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from xlrepro.evidence.catalog import Catalog, load_catalog
from xlrepro.evidence.claims.files import Claim
from xlrepro.evidence.claims.judging import ClaimVerdict, Condition, Judge, judge_all
from xlrepro.evidence.claims.table import claims_of, conditions_of
from xlrepro.evidence.compare import compare, verdict_counts
from xlrepro.evidence.reported import ReportedNumbers, load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers, gather
from xlrepro.evidence.view import View
from xlrepro.experiments import all_experiments, all_own_records
from xlrepro.trials import PUBLISHED, Record

if TYPE_CHECKING:
    import pandas as pd

REPORTED = "reported"

Verdicts = dict[str, dict[str, ClaimVerdict | None]]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Reported numbers, records and what follows from them, as one build of the book sees them.

    Attributes:
        catalog: papers and experiments.
        reported: the printed numbers.
        records: all records, own and published.
    """

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

    @cached_property
    def runs(self) -> Counter[tuple[str, str]]:
        """Number of records by (experiment, profile)."""
        return Counter((r.experiment, r.profile) for r in self.records)

    def profiles(self, paper: str) -> list[str]:
        """Return the profiles worth a column for ``paper``: open, and paper where it was run."""
        seen = {profile for key, profile in self.runs if key.split("/", 1)[0] == paper}
        return [p for p in PUBLISHED if p in seen or p == "open"]

    def claims(self, key: str) -> list[Claim]:
        """Return the claims of a paper, or those that an experiment bears on."""
        return claims_of(key, self.judge)

    @cached_property
    def all_claims(self) -> dict[str, list[Claim]]:
        """Paper to its claims."""
        return {paper: self.claims(paper) for paper in self.catalog.papers}

    def conditions(self, paper: str) -> list[Condition]:
        """Return what the claims of ``paper`` are judged on: printed numbers, then records."""
        return conditions_of(paper, self.profiles(paper), self.numbers)

    @cache  # noqa: B019 (the evidence lives as long as its process)
    def verdicts(self, paper: str) -> Verdicts:
        """Return claim to condition's label to verdict, judged once."""
        return judge_all(self.all_claims[paper], self.conditions(paper), self.judge)

    @cache  # noqa: B019
    def frame(self, experiment: str, profile: str) -> "pd.DataFrame":
        """Return the cells of ``experiment``, reported beside reproduced, compared once."""
        view = View(experiment, profile, self.numbers)
        return compare(view, experiment=all_experiments().get(experiment))

    def cell_counts(self, experiment: str, profile: str) -> dict[str, int]:
        """Return how many cells of ``experiment`` have each verdict; {} where nothing was run."""
        if not self.runs[experiment, profile]:
            return {}
        return verdict_counts(self.frame(experiment, profile)["verdict"])


@cache
def load_evidence() -> Evidence:
    """Return the project's evidence, read once."""
    return Evidence(load_catalog(), load_reported(), tuple(all_own_records()))
