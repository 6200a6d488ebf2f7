"""Records of the routing paper of then: none is left."""


def migrate(record: dict) -> str:
    """Say why: no training had reached its end, and usage was a mean over both directions."""
    return "cut off after 3 to 20 epochs, on earlier code; German until dev stops took their place"
