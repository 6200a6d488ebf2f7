"""The landing page: what there is, which claims come back, and at what cost."""


def experiments_table(profile: str) -> str:
    """Return papers x experiments."""
    return ""


def papers_table() -> str:
    """Return one row per paper."""
    return ""


def findings() -> str:
    """Return verdicts."""
    return ""


def scope(profile: str) -> str:
    """Return one sentence."""
    return ""
