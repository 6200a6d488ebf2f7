"""What only RAMEN's pages show: how far each adaptation came."""

import math

import pandas as pd

from xlrepro.evidence.text import LANGUAGES
from xlrepro.pages.plots import Figure, lines
from xlrepro.pages.tables import framed

# Heading -> path in the details of a record, for `page.details`.
ADAPTATIONS = {
    "embeddings estimated from English ones": "adaptation.*.estimated",
    "subwords, embeddings alone": "adaptation.*.embeddings.pieces",
    "subwords, everything": "adaptation.*.end.pieces",
    "masked-LM accuracy of the most frequent subword, %": "adaptation.*.unigram.held_out",
    "masked-LM accuracy at the start, %": "adaptation.*.start.held_out",
    "after the embeddings, %": "adaptation.*.embeddings.held_out",
    "at the end, %": "adaptation.*.end.held_out",
    "of the English model before, %": "adaptation.*.english.all.held_out",
}
# 72 sequences of 256 subwords: 25,000 updates in one language, 150,000 in two: 5.99 billion.
PAPER_SUBWORDS = 72 * 256 * (25_000 + 2 * 150_000)
CAPTION = (
    "Adaptations: one stands behind each row (behind pairs read together it was built twice, R24), "
    "so how much another would differ is not seen. With the batch of the authors' code one reads "
    f"about {PAPER_SUBWORDS / 1e9:.1f} billion subwords. Accuracy is that of masked subwords of "
    "held-out text"
)


def along_updates(frame: pd.DataFrame) -> Figure:
    """Draw scores at the paper's checkpoints, ours beside the paper's, a panel per language.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns; a column is ``"XNLI/fr/25k"``.
    """
    rows = []
    for row in frame.to_dict("records"):
        task, language, updates = row["column"].split("/")
        place = (LANGUAGES[language], float(updates.removesuffix("k")))
        ours = [row[name] for name in ("reproduced", "low", "high")]
        rows.append((f"{task}, the paper", *place, row["reported"], math.nan, math.nan))
        rows.append((f"{task.partition(' ')[0]}, ours", *place, *ours))
    tidy = framed(rows, "series", "panel", "x", "value", "low", "high")
    tidy = tidy[tidy["value"].notna()].sort_values("x", kind="stable")
    profile = frame["profile"].iloc[0]
    title = f"Scores after each stage{'; ours are far shorter' * (profile != 'paper')} ({profile})"
    return lines(tidy, title, xlabel="stage, in the paper's updates (k)", ylabel="accuracy, LAS, %")
