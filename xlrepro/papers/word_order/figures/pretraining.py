"""How a BERT of our own was pretrained, from its record: the loss curve, the recipe, the cost.

The record is that of a trial that reads the finished model; what the training cost stands in its
details, whenever it was.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from xlrepro.evidence.figures.drawing import Figure, new_drawing, nothing_to_draw, styled
from xlrepro.evidence.figures.row_plot import PALETTE
from xlrepro.evidence.tables.table import Entry, Table, headings, number
from xlrepro.trials.durations import duration
from xlrepro.trials.record import Record


@styled
def loss_curve(records: Sequence[Record], profile: str) -> Figure:
    """Draw the loss of masked pieces against the pieces seen in training, a line per model.

    Args:
        records: of ``word_order/pretraining``.
        profile: theirs.
    """
    title = f"Loss of masked pieces ({profile})"
    if not records:
        return nothing_to_draw(title, "nothing was run")
    drawing, axes = new_drawing(6.4, 3.6)
    sentences = []
    for color, record in zip(PALETTE, records, strict=False):
        pieces, losses = zip(*record.details["loss_curve"], strict=True)
        axes.plot([seen / 1e6 for seen in pieces], losses, color=color, label=_name(record))
        sentences.append(
            f"{_name(record)}: from {number(losses[0])} after {pieces[0]:,} pieces to "
            f"{number(losses[-1])} after {pieces[-1]:,}"
        )
    axes.set(title=title, xlabel="pieces seen in training (million)")
    axes.set_ylabel("loss (nats a hidden piece)")
    axes.legend(frameon=False, fontsize=8)
    return Figure(f"Line chart of the training loss. {'; '.join(sentences)}.", drawing)


def recipe_table(records: Sequence[Record], profile: str) -> Table:
    """Render what each model is made of and what its pretraining cost, a column per model.

    Args:
        records: of ``word_order/pretraining``.
        profile: theirs.
    """
    models = [_facts(record) for record in records]
    names = list(models[0]) if models else []
    rows = tuple((Entry(name), *(Entry(facts[name]) for facts in models)) for name in names)
    caption = (
        f"Recipe and cost of the pretraining ({profile}), from the record. The wall time under "
        "Provenance is that of reading the finished model."
    )
    head = headings("", *(_name(record) for record in records))
    summary = f"{len(records)} models, {len(names)} facts"
    return Table(caption, head, rows, summary, interactive=False)


def _name(record: Record) -> str:
    return record.systems[0].partition(":")[2]


def _facts(record: Record) -> dict[str, str]:
    """Return what the record says of its model, as text by name."""
    details: Mapping[str, Any] = record.details
    sizes = details["sizes"]
    words = details["text_words"]
    return {
        "layers": f"{sizes['layers']} of width {sizes['dim']}",
        "heads": f"{sizes['heads']}",
        "feed-forward": f"{sizes['ff_dim']}",
        "positions": f"{sizes['positions']}",
        "vocabulary": f"{details['vocabulary']:,} pieces",
        "parameters": f"{details['parameters']:,}",
        "languages": f"{len(words)}",
        "text": f"{sum(words.values()):,} words, {sum(details['text_pieces'].values()):,} pieces",
        "training": f"{details['tokens']:,} pieces in {details['steps']:,} steps",
        "time of the training steps": duration(details["seconds"]),
        "speed": f"{details['tokens'] / details['seconds']:,.0f} pieces a second",
        "last loss": f"{number(details['loss_curve'][-1][1])} nats a hidden piece",
    }
