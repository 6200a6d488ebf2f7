"""All numbers and verdicts that a page or the book shows, gathered once."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims import (
    REPORTED,
    Claim,
    ClaimVerdict,
    Condition,
    judge,
    load_claims,
    reads,
    status_counts,
)
from xlrepro.evidence.compare import compare
from xlrepro.evidence.deviations import Deviation, load_deviations
from xlrepro.evidence.reproduced import ReproducedNumbers, View, gather
from xlrepro.experiments import all_experiments, own_records
from xlrepro.store import RecordStore
from xlrepro.trials import PUBLISHED, Record

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Evidence:
    """Records, and what follows from them beside the papers' numbers.

    Attributes:
        records: of any experiments and profiles.
        shown: profiles worth a column; none: open, and paper where a paper's records are of it.
    """

    records: tuple[Record, ...]
    shown: tuple[str, ...] = ()

    @cached_property
    def numbers(self) -> ReproducedNumbers:
        """The reproduced cells."""
        return gather(self.records)

    def of(self, experiment: str, profiles: Sequence[str] = PUBLISHED) -> list[Record]:
        """Return the records of an experiment."""
        return [r for r in self.records if r.experiment == experiment and r.profile in profiles]

    def profiles(self, paper: str) -> Sequence[str]:
        """Return the profiles worth a column for ``paper``."""
        seen = {r.profile for r in self.records if r.experiment.split("/", 1)[0] == paper}
        return self.shown or [p for p in PUBLISHED if p in seen or p == "open"]

    @cache  # noqa: B019 (the evidence lives as long as its process)
    def claims(self, key: str) -> list[Claim]:
        """Return the claims of a paper (``"ramen"``), or those that an experiment bears on.

        An experiment bears on the claims whose predicates read its cells.
        """
        paper, _, experiment = key.partition("/")
        return [c for c in load_claims(paper) if not experiment or key in {r[0] for r in reads(c)}]

    @cache  # noqa: B019
    def conditions(self, paper: str) -> list[Condition]:
        """Return the conditions worth a column: the printed numbers, each profile, and each profile
        with rows of ours in the place of the paper's, if such were run at it.
        """
        found = [REPORTED]
        for profile in self.profiles(paper):
            readings = list[Condition]()
            for key, entry in load_catalog().of_paper(paper).items():
                ran = View(key, profile, self.numbers).systems
                for ours, theirs in entry.readings.items():
                    condition = Condition(profile, theirs, ours)
                    if condition not in readings and any(ours in system for system in ran):
                        readings.append(condition)
            found += [Condition(profile), *reversed(readings)]
        return found

    @cache  # noqa: B019
    def verdicts(self, key: str) -> dict[str, dict[str, ClaimVerdict | None]]:
        """Return claim to condition's label to verdict, of a paper's or an experiment's claims."""
        conditions = self.conditions(key.split("/")[0])
        return {
            claim.id: {each.label: judge(claim, each, self.numbers) for each in conditions}
            for claim in self.claims(key)
        }

    def tally(self, paper: str, label: str = "open") -> dict[str, int]:
        """Return how many of the paper's own sentences have each verdict."""
        own = [c.id for c in self.claims(paper) if c.counted]
        return status_counts([self.verdicts(paper)[name].get(label) for name in own])

    def touching(self, claim: Claim) -> list[Deviation]:
        """Return the deviations that touch the cells a claim rests on, those of major weight first.

        A block of ours that stands in for one of the paper's counts as that one too.
        """
        cells = set[tuple[str, str, str]]()
        for experiment, system, column in reads(claim):
            block, _, name = system.partition(":")
            blocks = load_catalog().experiment(experiment).reference_blocks
            stood_in = [f"{ours}:{name}" for ours, theirs in blocks.items() if theirs == block]
            cells |= {(experiment, each, column) for each in (system, *stood_in)}
        shown = {*self.profiles(claim.paper)}
        known = [d for d in load_deviations() if shown & {*d.profiles}]
        return [d for d in known if any(d.touches(*cell) for cell in cells)]

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
    store, known = RecordStore(), all_experiments().items()
    places = [(key, profile) for key, each in known for profile in each.profiles]
    return Evidence(tuple(r for place in places for r in own_records(*place, store)))


def judged(paper: str, profile: str) -> list[dict[str, Any]]:
    """Return a paper's claims with the verdicts of each condition, as values that JSON has.

    Raises:
        SettingsError: for an unknown paper or profile.
    """
    store = RecordStore()
    known = load_catalog().of_paper(paper)
    records = tuple(r for name in known for r in own_records(name, profile, store))
    evidence, content = Evidence(records, (profile,)), list[dict[str, Any]]()
    for claim in evidence.claims(paper):
        verdicts = evidence.verdicts(paper)[claim.id].items()
        about = {"paper": paper, "id": claim.id, "kind": claim.kind, "claim": claim.text}
        content.append(about | {"verdicts": {label: v and asdict(v) for label, v in verdicts}})
    return content
