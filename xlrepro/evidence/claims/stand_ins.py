"""Judging a claim on other data than the paper's: what may be read on a stand-in, and what not.

A claim about an ordering is read on the columns that stand in, and says so. A claim about
magnitudes is judged at ``paper`` alone, and not on stand-ins, nor is one that sets our numbers
beside quoted ones of another corpus.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from xlrepro.evidence.catalog import Catalog
from xlrepro.evidence.claims.files import Claim

SIZES_AT = "paper"  # the profile whose data and hyperparameters are the paper's


@dataclass(frozen=True)
class Reading:
    """How a claim's cells are read at a profile.

    Attributes:
        data: experiment -> what stands in for the paper's data; empty where nothing does.
        fields: field of a printed column -> field of ours, as far as the claim reads them.
        weights: what stands in for the paper's pre-trained weights, as far as the claim reads them.
    """

    data: dict[str, str]
    fields: dict[str, str]
    weights: tuple[str, ...]

    @property
    def note(self) -> str:
        """Say what was read instead of what, ``"th for zh, en for de"``."""
        pairs = [f"{ours} for {printed}" for printed, ours in self.fields.items()]
        return ", ".join(pairs + [f"{weights} for the paper's" for weights in self.weights])

    def refusal(self, claim: Claim, profile: str, quoted: Iterable[str]) -> str:
        """Return why the claim is not judged on these numbers; empty if it is.

        Args:
            claim: the claim.
            profile: of the numbers.
            quoted: systems it reads whose numbers are the paper's own quotations.
        """
        ours = "; ".join(dict.fromkeys(self.data.values()))
        rows = sorted(set(quoted))
        if ours and rows:
            return f"not judged: {', '.join(rows)} are numbers of another corpus than ours ({ours})"
        ours = "; ".join(filter(None, (ours, *self.weights)))
        if ours and claim.magnitudes:
            return f"not judged: it is about values on the paper's data; ours: {ours}"
        if claim.magnitudes and profile != SIZES_AT:
            return f"not judged: it is about the size of an effect, which {profile} says little of"
        return ""


def reading(catalog: Catalog, profile: str, cells: Iterable[tuple[str, str, str]]) -> Reading:
    """Return how cells, each (experiment, system, printed column), are read at ``profile``."""
    data: dict[str, str] = {}
    fields: dict[str, str] = {}
    weights: dict[str, bool] = {}
    for experiment, system, column in cells:
        entry = catalog.experiment(experiment)
        stand_in = entry.stand_ins.get(profile)
        if stand_in and stand_in.covers(column):
            data[experiment] = stand_in.data
        known = stand_in.columns if stand_in else {}
        fields |= {part: known[part] for part in column.split("/") if part in known}
        if other := entry.other_weights(profile, system):
            weights[other] = True
    return Reading(data, fields, tuple(weights))
