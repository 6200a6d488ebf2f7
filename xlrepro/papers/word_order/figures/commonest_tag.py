"""What a tagger must beat: always guessing each language's commonest tag."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from xlrepro.evidence.tables.table import Table, Value, listing, measured
from xlrepro.trials.record import Record

Counts = Mapping[str, Sequence[int]]  # tag -> [right, total]


def guess(by_tag: Counts) -> float:
    """Return the accuracy of always saying the commonest tag of a test set, percent.

    Example:
        >>> guess({"NOUN": [10, 30], "VERB": [5, 10]})
        75.0
    """
    totals = [total for _, total in by_tag.values()]
    return 100 * max(totals) / sum(totals)


def accuracy(by_tag: Counts) -> float:
    """Return the share of right tags of a test set, percent."""
    return 100 * sum(right for right, _ in by_tag.values()) / sum(t for _, t in by_tag.values())


def guess_table(records: Sequence[Record], profile: str) -> Table:
    """Set each system's mean accuracy beside that of the guess.

    Args:
        records: with how often each tag was right per language in ``details["by_tag"]``, the
            languages of testing in ``details["settings"]``.
        profile: that they were made at.
    """
    systems = dict.fromkeys(system for record in records for system in record.systems)
    rows = [_row(name, [r for r in records if name in r.systems]) for name in systems]
    caption = (
        f"Each tagger beside a guess, {profile}: what always naming a language's commonest tag "
        "would score on the same test sentences. Means over the target languages."
    )
    numbers = ("languages", "tagger", "guess", "languages below the guess")
    summary = f"{profile}: {len(rows)} systems beside a guess"
    return listing(caption, ["system"], numbers, rows, summary)


def _row(system: str, records: Sequence[Record]) -> tuple[Value, ...]:
    first = records[0].details
    targets = [code for code in first["by_tag"] if code != first["settings"]["source"]]
    scores = [fmean(accuracy(r.details["by_tag"][c]) for r in records) for c in targets]
    guesses = [guess(first["by_tag"][c]) for c in targets]
    below = sum(score < guessed for score, guessed in zip(scores, guesses, strict=True))
    return system, len(targets), measured(fmean(scores)), measured(fmean(guesses)), below
