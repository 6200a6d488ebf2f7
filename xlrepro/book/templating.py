"""Pages from text with marks: ``<< expression >>`` is a value, ``<% if … %>`` a condition.

The marks differ from Jinja's own, whose braces are common in equations.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from xlrepro.book.findings.says import Says
from xlrepro.errors import SettingsError


def render(text: str, names: Mapping[str, Any], where: str) -> str:
    """Return ``text`` with its marks filled in.

    Args:
        text: Markdown with marks.
        names: what the marks may use.
        where: how to call the page in an error.

    Raises:
        SettingsError: for a mark that is malformed or names something unknown.
    """
    environment = jinja2.Environment(
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[Says],
        autoescape=False,  # the pages are Markdown; HTML is escaped where it is made
    )
    try:
        return environment.from_string(text).render(**names)
    except jinja2.TemplateError as error:
        line = getattr(error, "lineno", None)
        place = f"{where}:{line}" if line else where
        raise SettingsError(f"{place}: {error.message or error}") from error


def render_file(path: Path, names: Mapping[str, Any]) -> str:
    """Return the text of ``path`` with its marks filled in; see :func:`render`."""
    return render(path.read_text(encoding="utf-8"), names, str(path))


def escape_markdown(text: str) -> str:
    r"""Return plain text, on one line, such that Markdown shows it as it is.

    Example:
        >>> print(escape_markdown("a *b* <c>"))
        a \*b\* \<c\>
    """
    return re.sub(r"([\\`*_{}\[\]<>$|#~])", r"\\\1", " ".join(text.split()))
