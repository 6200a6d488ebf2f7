"""Deviations of ours and errata of the papers."""


def deviations_table() -> str:
    """Return all deviations as HTML."""
    return ""


def errata_table() -> str:
    """Return the claims that fail on the papers' own numbers, as HTML."""
    return ""
