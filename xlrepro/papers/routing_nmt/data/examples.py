"""What every source of data gives: splits of token pairs, and how many pairs were left out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xlrepro.papers.routing_nmt.text.normalise import detokenised, tokens
from xlrepro.papers.routing_nmt.text.overlap import without_overlap

Pair = tuple[tuple[str, ...], tuple[str, ...]]  # tokens of source and target


@dataclass(frozen=True)
class Splits:
    """Tokenised pairs of one task.

    Attributes:
        train, dev, test: pairs of source and target tokens, before BPE.
        counts: what was left out and what stayed, by name; numbers alone.
        lines: of ``dev`` and ``test`` of translation, each target as one reads it.
    """

    train: Sequence[Pair]
    dev: Sequence[Pair]
    test: Sequence[Pair]
    counts: dict[str, int] = field(default_factory=dict)
    lines: Mapping[str, Sequence[str]] = field(default_factory=dict)


def splits_of(raw: Mapping[str, Iterable[tuple[str, str]]], escaped: bool) -> Splits:
    """Return lines of translation as splits, training pairs without overlap.

    Args:
        raw: of ``train``, ``dev`` and ``test``, sources and targets as they are written.
        escaped: whether held-out lines are tokenised and escaped: their targets are put together
            to be read, others are kept as they are.
    """
    drawn: dict[str, list[Pair]] = {}
    lines: dict[str, list[str]] = {}
    for split, written in raw.items():
        pairs = [(tuple(tokens(a)), tuple(tokens(b)), b) for a, b in written]
        kept = [each for each in pairs if each[0] and each[1]]
        drawn[split] = [(source, target) for source, target, _ in kept]
        if split != "train":
            lines[split] = [detokenised(list(b)) if escaped else line for _, b, line in kept]
    held_out = drawn["dev"] + drawn["test"]
    train, overlapping, repeated = without_overlap(drawn["train"], held_out)
    counts = {"found": len(drawn["train"]), "overlapping": overlapping, "repeated": repeated}
    return Splits(train, drawn["dev"], drawn["test"], counts, lines)
