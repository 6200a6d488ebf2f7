"""The page of a paper's claims: every predicate, and its verdict on each set of numbers."""


def claims_markdown(paper: str) -> str:
    """Return the Markdown of ``<paper>/claims``."""
    return f"# Claims: {paper}\n"
