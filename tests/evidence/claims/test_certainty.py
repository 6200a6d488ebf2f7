"""The share of draws that decides a claim is the one that readers are told."""

from xlrepro.evidence.claims.judging import CERTAIN
from xlrepro.paths import project_root


def test_a_claim_holds_from_the_share_that_the_guide_names():
    guide = (project_root() / "book" / "guide" / "reading.md").read_text(encoding="utf-8")
    (holds,) = (line for line in guide.splitlines() if line.startswith("| holds |"))
    assert f"{100 * CERTAIN:.0f} %" in holds
    assert CERTAIN == 0.95
