"""Figure 1 of the word-order paper: gains by part of speech, languages by order distance."""

from collections.abc import Sequence

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.figures.drawing import Figure, new_panels, nothing_to_draw, styled
from xlrepro.evidence.figures.panels import draw_differences
from xlrepro.evidence.figures.plots import printed_distances
from xlrepro.evidence.figures.row_plot import PALETTE
from xlrepro.evidence.paired import paired_differences
from xlrepro.evidence.tables.table import number
from xlrepro.evidence.view import View

DISTANCES = "word_order/table2"  # the experiment that the distances are printed in
BASE = "TRS"
TAGS = ("NOUN", "VERB")


@styled
def gains_by_tag(view: View) -> Figure:
    """Draw each system's gain over TRS on nouns and on verbs, languages by distance.

    One panel per system other than TRS, in every block that was run. A bar through a point is the
    95 % interval of the difference paired by seed.

    Args:
        view: reproduced cells; columns are ``language/TAG``.
    """
    title = "Gain over TRS by part of speech"
    panels = _pairs(view.systems)
    if not panels:
        return nothing_to_draw(title, "TRS and another system were not both run")
    series = [_by_distance(view, pair) for pair in panels]
    far = printed_distances(DISTANCES, [code for codes in series for code in codes])
    languages = sorted(far, key=lambda code: far[code])  # a block may lack some of another's
    drawing, grid = new_panels(len(panels), 1, 7.2, 0.6 + 2.3 * len(panels), sharex=True)
    axes = grid[:, 0]
    sentences = []
    for axis, (system, base), codes in zip(axes, panels, series, strict=True):
        means = []
        for i, tag in enumerate(TAGS):
            columns = [f"{code}/{tag}" for code in codes]
            pairs = paired_differences(view, system, base, columns)
            draw_differences(
                axis,
                pairs,
                [languages.index(code) + 0.25 * (i - (len(TAGS) - 1) / 2) for code in codes],
                fmt="osD^v"[i],
                markersize=4,
                elinewidth=0.9,
                color=PALETTE[i],
                label=tag,
            )
            means.append(f"{number(float(pairs['mean'].mean()), 2, True)} on {tag}")
        axis.axhline(0, color="#777777", linewidth=0.8)
        axis.set(title=f"{system} − {base} ({view.profile})", ylabel="points")
        axis.legend(frameon=False, fontsize=8, ncols=len(TAGS))
        gains = " and ".join(means)
        sentences.append(f"{system} − {base} in {len(codes)} languages: mean gain {gains}")
    two_lines = ["\n" * (i % 2) + code for i, code in enumerate(languages)]  # else they overlap
    axes[-1].set_xticks(range(len(languages)), two_lines, fontsize=8)
    axes[-1].set_xlabel("language, by printed word-order distance to English")
    alt = f"{title}, languages with 95 % intervals. {'; '.join(sentences)}."
    return Figure(alt, drawing)


def _pairs(systems: Sequence[str]) -> list[tuple[str, str]]:
    """Return (system, TRS of its block) for each system that has one."""
    bases = {s: f"{s.split(':', 1)[0]}:{BASE}" for s in systems}
    return [(s, base) for s, base in bases.items() if s != base and base in systems]


def _by_distance(view: View, systems: Sequence[str]) -> list[str]:
    """Return the languages that ``systems`` have both tags of, nearest to English first."""
    codes = list(dict.fromkeys(column.split("/")[0] for column in view.columns))
    far = printed_distances(DISTANCES, codes)
    averages = load_catalog().experiment(DISTANCES).average_columns
    whole = [
        code
        for code in codes
        if far.get(code, 0) > 0
        and code not in averages
        and all(view.get(s, f"{code}/{tag}") for s in systems for tag in TAGS)
    ]
    return sorted(whole, key=lambda code: far[code])
