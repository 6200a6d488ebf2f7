"""Claims: sentences of the papers with predicates over cells, read from ``data/claims/``."""

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from xlrepro.checked import Checked
from xlrepro.errors import DataError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims.expressions import Expression, parse
from xlrepro.paths import data_dir
from xlrepro.yaml_files import read_model


class Claim(Checked):
    """A sentence of a paper and its predicate. Field by field: head of ``word_order.yaml``.

    A claim of kind ``figure`` has a ``rule`` in words. Its predicate, where it has one, reads cells
    of an experiment that the paper prints no numbers of, so it decides on reproduced numbers alone.
    """

    id: str
    kind: Literal["text", "strict", "weak", "secondary", "figure", "ours"]
    section: str
    text: str
    cells: str
    predicate: str | None = None
    rule: str | None = None
    variant_of: str | None = None
    magnitudes: bool = False
    paper: str = ""
    names: dict[str, Any] = Field(default_factory=dict, repr=False)

    @property
    def expression(self) -> Expression | None:
        """The checked predicate; ``None`` for a claim on a figure that has a rule alone."""
        return _parsed(self.predicate, f"claim {self.id}") if self.predicate else None


@lru_cache(maxsize=512)
def _parsed(text: str, where: str) -> Expression:
    return parse(text, where)


class _ClaimFile(Checked):
    paper: str
    names: dict[str, Any] = Field(default_factory=dict)
    claims: list[Claim]


def read_claims(path: Path) -> list[Claim]:
    """Read a claims file and check every predicate.

    Raises:
        DataError: if the file is malformed, an id stands twice, a claim on a figure has no rule,
            or another claim has no predicate.
        SettingsError: if a predicate is not in the language; names claim and column.
    """
    content = read_model(path, _ClaimFile)
    known = [c.id for c in content.claims]
    for claim in content.claims:
        if known.count(claim.id) > 1:
            raise DataError(f"{path}: claim {claim.id} stands there twice")
        if claim.kind == "figure" and not claim.rule:
            raise DataError(f"{path}: claim {claim.id} rests on a figure: it needs a rule in words")
        if claim.kind != "figure" and (claim.rule or not claim.predicate):
            raise DataError(f"{path}: claim {claim.id} needs a predicate, and no rule")
        if claim.variant_of is not None and claim.variant_of not in known:
            raise DataError(f"{path}: claim {claim.id} is a variant of no claim there")
    extra = {"paper": content.paper, "names": content.names}
    claims = [claim.model_copy(update=extra) for claim in content.claims]
    for claim in claims:
        if claim.predicate:
            _parsed(claim.predicate, f"claim {claim.id}")
    return claims


def load_claims(paper: str | None = None) -> list[Claim]:
    """Return the claims of ``paper``, or of all papers in the catalog's order.

    Raises:
        SettingsError: for an unknown paper.
    """
    catalog = load_catalog()
    papers = list(catalog.papers) if paper is None else [paper]
    claims: list[Claim] = []
    for key in papers:
        catalog.paper(key)
        claims += read_claims(data_dir() / "claims" / f"{key}.yaml")
    return claims
