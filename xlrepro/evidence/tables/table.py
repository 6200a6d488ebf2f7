"""One kind of table for every page: semantic HTML that sorts and filters, and plain text.

The HTML stands on its own: without ``book/_static/tables.js`` it is a plain table with a caption
and headers; with it, a click on a header sorts and a text box filters.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import NamedTuple

MOST_ROWS = 40  # of a table that stands in the page whole


class Link(NamedTuple):
    """A link by a short name; ``title`` is shown when the pointer rests on it."""

    text: str
    href: str
    title: str = ""
    strong: bool = False

    @property
    def html(self) -> str:
        """The link as HTML."""
        text = f"<b>{escape(self.text)}</b>" if self.strong else escape(self.text)
        return _tag("a", text, {"href": self.href, "title": self.title})


def _tag(name: str, inner: str, attributes: Mapping[str, str]) -> str:
    """Return an element of HTML; attributes that are empty are left out."""
    given = "".join(f' {key}="{escape(text)}"' for key, text in attributes.items() if text)
    return f"<{name}{given}>{inner}</{name}>"


def links_html(links: Sequence[Link]) -> str:
    """Return links on a small line of their own; nothing for none."""
    line = " ".join(link.html for link in links)
    return f'<span class="xl-detail xl-links">{line}</span>' * bool(links)


@dataclass(frozen=True)
class Entry:
    """One table cell.

    Attributes:
        text: what it says; escaped in HTML, so it may hold anything.
        detail: a second, smaller line; empty for none.
        sort: what the column is sorted by: a number, or ``None`` for the text.
        verdict: one of the verdicts; becomes a class, and a word for those who see no colours.
        title: shown when the pointer rests on the cell.
        code: whether the text is set as code.
        href: makes the text a link.
        anchor: the cell's id, that a link may lead to.
        strong: whether the text is set in bold: the best of its column.
        links: further places to go, on a line of their own.
    """

    text: str
    detail: str = ""
    sort: float | None = None
    verdict: str = ""
    title: str = ""
    code: bool = False
    href: str = ""
    anchor: str = ""
    strong: bool = False
    links: tuple[Link, ...] = ()

    def html(self, header: bool = False) -> str:
        """Return the cell as a ``td``, or as a ``th`` of its row."""
        inner = escape(self.text)
        if self.code:
            inner = f"<code>{inner}</code>"
        if self.strong:
            inner = f"<b>{inner}</b>"
        if self.href:
            inner = f'<a href="{escape(self.href)}">{inner}</a>'
        if self.verdict and self.verdict not in self.text:
            inner += f'<span class="xl-hidden"> ({escape(self.verdict)})</span>'
        if self.detail:
            inner += f'<span class="xl-detail">{escape(self.detail)}</span>'
        inner += links_html(self.links)
        attributes = {
            "scope": "row" * header,
            "id": self.anchor,
            "class": f"xl-{'-'.join(self.verdict.split())}" * bool(self.verdict),
            "data-sort": "" if self.sort is None else f"{self.sort:.6g}",
            "title": self.title,
        }
        return _tag("th" if header else "td", inner, attributes)


Value = Entry | str | int  # what a listing makes an entry of


@dataclass(frozen=True)
class Heading:
    """The head of a column: flush right if ``numeric``; ``detail`` is a smaller line below it.

    ``links`` are places to go from it, on a line of their own.
    """

    text: str
    numeric: bool = False
    detail: str = ""
    links: tuple[Link, ...] = ()

    def html(self) -> str:
        """Return it as a ``th``."""
        detail = f'<span class="xl-detail">{escape(self.detail)}</span>' if self.detail else ""
        inner = f"{escape(self.text)}{detail}{links_html(self.links)}"
        return _tag("th", inner, {"scope": "col", "class": "xl-number" * self.numeric})


@dataclass(frozen=True)
class Table:
    """A table that shows itself as HTML in a notebook and as text in a terminal.

    ``repr`` is one line without measured numbers, so that a notebook's text output stays the
    same when a number moves by a hair; ``str`` is the whole table.

    Attributes:
        caption: what the table shows, one sentence.
        headings: one per column; the first column holds the row's head.
        rows: one entry per heading.
        summary: the stable line.
        interactive: whether it may be sorted and filtered.
        notes: deviations that stand below the caption: of what, and links to them.
    """

    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Entry, ...], ...]
    summary: str = ""
    interactive: bool = True
    notes: tuple[tuple[str, tuple[Link, ...]], ...] = ()

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.summary or f"{self.caption} ({len(self.rows)} rows)"

    @property
    def html(self) -> str:
        """The table as HTML; a long one scrolls in a box of its own."""
        kind = "xl-table" + " xl-interactive" * self.interactive
        kind += " xl-long" * (len(self.rows) > MOST_ROWS)
        head = "".join(h.html() for h in self.headings)
        deviations = "; ".join(
            f"{escape(about)} {' '.join(link.html for link in links)}"
            for about, links in self.notes
        )
        noted = f'<span class="xl-detail">Deviations {deviations}.</span>' * bool(deviations)
        body = "\n".join(
            "<tr>" + "".join(e.html(header=i == 0) for i, e in enumerate(row)) + "</tr>"
            for row in self.rows
        )
        return (
            f'<div class="{kind}"><div class="xl-scroll" role="region" tabindex="0" '
            f'aria-label="{escape(self.caption)}">\n<table>\n'
            f"<caption>{escape(self.caption)}{noted}</caption>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div></div>"
        )

    def dense(self) -> "Table":
        """Return the table without the columns of which every cell is empty."""
        kept = [
            i
            for i in range(len(self.headings))
            if not self.rows or any(row[i].text or row[i].detail for row in self.rows)
        ]
        columns = tuple(self.headings[i] for i in kept)
        return replace(
            self, headings=columns, rows=tuple(tuple(row[i] for i in kept) for row in self.rows)
        )

    def __str__(self) -> str:
        """Return the table as aligned plain text."""
        cells = [[h.text for h in self.headings]]
        cells += [[e.text + (f" ({e.detail})" if e.detail else "") for e in r] for r in self.rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.headings))]
        lines = []
        for row in cells:
            aligned = (
                c.rjust(w) if h.numeric else c.ljust(w)
                for c, w, h in zip(row, widths, self.headings)
            )
            lines.append("  ".join(aligned).rstrip())
        return "\n".join([self.caption, "", *lines])


WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def in_words(count: int) -> str:
    """Return a count as prose has it.

    Example:
        >>> in_words(5), in_words(31)
        ('five', '31')
    """
    return WORDS[count] if count < len(WORDS) else str(count)


def enumerated(names: Sequence[str]) -> str:
    """Return names as prose has them; none: nothing.

    Example:
        >>> enumerated(["word", "mbert", "finetune"])
        'word, mbert and finetune'
    """
    *most, last = names or [""]
    return f"{', '.join(most)} and {last}" if most else last


def minus(first: str, second: str) -> str:
    """Return the name of a difference; a name that begins with a hyphen stands in quotes.

    Example:
        >>> minus("ORT", "TRS"), minus("MAN-MoE", "- MoE")
        ('ORT − TRS', 'MAN-MoE − “- MoE”')
    """
    return f"{first} − {f'“{second}”' if second.startswith('- ') else second}"


def number(value: float | None, decimals: int = 2, signed: bool = False) -> str:
    """Return a number with a true minus sign and commas; empty for ``None`` and NaN.

    Example:
        >>> number(-1.005, 1), number(4142, 0)
        ('−1.0', '4,142')
    """
    if value is None or value != value:
        return ""
    text = f"{value:+,.{decimals}f}" if signed else f"{value:,.{decimals}f}"
    if not text.strip("+-0."):
        text = text.lstrip("+-")
    return text.replace("-", "−")


def headings(*names: str, numeric: Sequence[str] = ()) -> tuple[Heading, ...]:
    """Return headings by name; those in ``numeric`` are set flush right."""
    return tuple(Heading(n, n in numeric) for n in names)


def measured(value: float | None, decimals: int = 2, signed: bool = False) -> Entry:
    """Return a number, written as :func:`number` does, as an entry that sorts by it."""
    return Entry(number(value, decimals, signed), sort=value)


def listing(
    caption: str,
    texts: Sequence[str],
    numbers: Sequence[str],
    rows: Iterable[Sequence[Value]],
    summary: str = "",
) -> Table:
    """Return a table of columns of text and, right of them, columns of numbers.

    Args:
        caption: what the table shows, one sentence.
        texts: headings of the columns of text.
        numbers: headings of the columns of numbers.
        rows: one value per heading; a text stands as it is, a whole number sorts by itself.
        summary: the stable line.
    """

    def entry(value: Value) -> Entry:
        if isinstance(value, int):
            return Entry(f"{value:,}", sort=value)
        return Entry(value) if isinstance(value, str) else value

    body = tuple(tuple(map(entry, row)) for row in rows)
    return Table(caption, headings(*texts, *numbers, numeric=numbers), body, summary)
