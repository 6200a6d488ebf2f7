"""Cells that other tables and figures read from records of Tables 1 and 2; loads no torch."""

from xlrepro.papers.word_order.settings import SOURCE, TAGS
from xlrepro.trials import Record


def by_tag(record: Record) -> dict[str, float]:
    """Return Figure 1's cells of a record of Table 2: accuracy by gold tag, percent.

    A column is a language and a tag, ``"de/VERB"``; ``"avg/VERB"`` is the mean over the targets.
    A tag that a test set lacks has no cell.
    """
    shares = {
        (language, tag): 100 * tags[tag][0] / tags[tag][1]
        for language, tags in record.details["by_tag"].items()
        for tag in TAGS
        if tag in tags
    }
    targets = [code for code in record.details["by_tag"] if code != SOURCE]
    for tag in TAGS if len(targets) > 1 else ():
        found = [shares[language, tag] for language in targets if (language, tag) in shares]
        if found:
            shares["avg", tag] = sum(found) / len(found)
    return {f"{language}/{tag}": value for (language, tag), value in shares.items()}


def disturbed_tests(record: Record) -> dict[str, float]:
    """Return Table 5's cells of a record of Table 1: slot F1 on English tests disturbed by k."""
    scores = record.details["scores"]
    return {name: value for name, value in scores.items() if name.startswith("k=")}
