"""What only the sense-alignment paper's pages show: language models, senses, printed settings."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from xlrepro.pages.plots import GREY, PALETTE, Figure, drawn, lines, nothing, panels
from xlrepro.pages.tables import framed, short_names
from xlrepro.trials import Record
from xlrepro.values import read_yaml

MOST_WORDS, NAMED = 4, 6  # panels of a model; other words near a sense that are written out
DRAWN = ("SaELMo", "Bi-SaELMo")  # as the paper: Figures 4 and 6, and Figures 5 and 7
# Headings -> paths in the details of a record, for `page.details`.
LANGUAGE_MODELS = {
    "words": "*.tokens",
    "vocabulary": "*.vocabulary",
    "seconds": "*.seconds",
    "training loss": "*.loss_curve",
    "held-out loss in English, nats a word": "*.held_out.en",
}
OWN_MODEL = {heading: path.removeprefix("*.") for heading, path in LANGUAGE_MODELS.items()}
LM_CAPTION = (
    "Language models behind the rows: words read, vocabulary, wall time on a shared machine, "
    "training loss at the start and the end (comparable for one sampler alone), held-out loss"
)
MODELS, SETTINGS = read_yaml(Path(__file__).with_name("printed_settings.yaml")).values()
SETTINGS_CAPTION = (
    "Settings as reported in Tables 6 to 8, and ours. A dash: there is none here (no pooler and no "
    "segment types, as next sentences are not predicted; steps instead of epochs). Our batch is "
    "that of all GPUs together; n_context counts the warm-up's sense too. At smoke and open "
    "models are smaller and trained for less (SA02)."
)


def senses_along_training(records: Sequence[Record], profile: str) -> Figure:
    """Draw how many senses a word has after each step: a panel per model, means over seeds.

    Args:
        records: of Tables 6 to 8; those with ``details["alive"]`` are drawn.
        profile: theirs.
    """
    records = [record for record in records if record.details.get("alive")]
    names = short_names((record.systems[0] for record in records), "sense_alignment/tables6_8")
    rows = [
        (names[record.systems[0]], band, step[0], float(step[i]), *(float("nan"),) * 2)
        for record in records
        for step in record.details["alive"]
        for i, band in enumerate(("frequent words", "mid-frequency words", "rare words"), start=1)
    ]
    frame = framed(rows, "panel", "series", "x", "value", "low", "high")
    if rows:
        at = ["panel", "series", "x"]
        frame = frame.groupby(at, sort=False, as_index=False)[["value", "low", "high"]].agg("mean")
    title = f"Senses left per word ({profile})"
    return lines(frame, title, xlabel="steps", ylabel="senses per word")


def near_the_senses(records: Sequence[Record], profile: str) -> Figure:
    """Draw the senses of chosen words and what is nearest to them, a plane per model and word.

    A diamond with a number is a sense, dots of its colour are the words nearest to it, the first of
    which stand below; the axes are the two principal components of all of them.

    Args:
        records: of Figures 4 to 7; of each of ``DRAWN`` the first one with neighbours is drawn.
        profile: theirs.
    """
    title = f"Sense vectors and their nearest words, two principal components ({profile})"
    seen: dict[str, dict[str, Any]] = {}
    for name, record in product(DRAWN, sorted(records, key=lambda r: r.seed)):
        if record.systems == (f"vectors:{name}",) and record.details.get("neighbours"):
            seen.setdefault(name, record.details["neighbours"])
    if not seen:
        return nothing(title, "no sense vectors recorded")
    planes = [
        (f"{name}'s {word}", senses[: len(PALETTE)], [_nearest(word, s) for s in senses])
        for name, words in seen.items()
        for word, senses in sorted(words.items(), key=lambda item: -len(item[1]))[:MOST_WORDS]
    ]

    def draw(drawing: Any) -> None:
        titles = [f"{what}, {len(all_)} sense{'s' * (len(all_) > 1)}" for what, _, all_ in planes]
        for axes, (_, senses, near) in zip(panels(drawing, titles, 2.2), planes, strict=True):
            for sense, colour in zip(senses, PALETTE):
                xs, ys = zip(*(point[3:5] for point in sense["nearest"]))
                axes.scatter(xs, ys, s=8, color=colour)
                x, y = sense["place"]
                axes.scatter(x, y, s=48, color=colour, marker="D", ec=GREY)
                axes.annotate(sense["sense"], (x, y), (5, 4), textcoords="offset points")
            axes.set(xticks=[], yticks=[])
            axes.set_xlabel("\n".join(near[: len(senses)]), loc="left", fontsize=8)
        drawing.suptitle(title)

    said = [f"{what}, sense {one}" for what, senses, near in planes for one in near[: len(senses)]]
    return drawn(title, f"{title}. Other words near {'; '.join(said)}.", draw)


def _nearest(word: str, sense: dict[str, Any]) -> str:
    """Return a sense's number and the other words nearest to it, each once."""
    others = dict.fromkeys(near[0] for near in sense["nearest"])
    named = [each for each in others if each not in (word, "<UNK>")][:NAMED]
    return f"{sense['sense']}: {', '.join(named)}"
