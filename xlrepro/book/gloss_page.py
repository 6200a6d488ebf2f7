"""Sample sentences of the artificial languages, word by word."""


def gloss_examples() -> str:
    """Return the sample sentences as HTML."""
    return ""
