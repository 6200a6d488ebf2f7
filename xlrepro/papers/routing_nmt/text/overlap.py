"""Training pairs that would give test sentences away are left out, and counted."""

from collections.abc import Iterable, Sequence

Pair = tuple[tuple[str, ...], tuple[str, ...]]  # tokens of source and target


def without_overlap(
    train: Sequence[Pair], held_out: Iterable[Pair], targets: bool = True
) -> tuple[list[Pair], int, int]:
    """Return the training pairs that share no side with a held-out pair, each pair once.

    Args:
        train: tokenised pairs.
        held_out: those of development and test.
        targets: whether a held-out target gives a pair away too, and not a source alone.

    Returns:
        The pairs that stay in their order; how many were left out because their source or their
        target is held out; how many because the same pair came before.

    Example:
        >>> pair = (("a",), ("b",))
        >>> without_overlap([pair, pair, (("c",), ("d",))], [(("c",), ("e",))])
        ([(('a',), ('b',))], 1, 1)
    """
    pairs = list(held_out)
    sources = {_plain(source) for source, _ in pairs}
    outputs = {_plain(target) for _, target in pairs} if targets else set()
    seen: set[Pair] = set()
    kept, overlapping, repeated = [], 0, 0
    for pair in train:
        if _plain(pair[0]) in sources or _plain(pair[1]) in outputs:
            overlapping += 1
        elif pair in seen:
            repeated += 1
        else:
            seen.add(pair)
            kept.append(pair)
    return kept, overlapping, repeated


def _plain(words: Sequence[str]) -> str:
    """Letters and figures alone, lower case: other stops do not make another sentence."""
    return " ".join(word.lower() for word in words if any(map(str.isalnum, word)))
