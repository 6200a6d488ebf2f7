"""A Sphinx extension: docstrings are plain prose, so a bar in them is a bar.

``|σ(i) − i| ≤ k`` would otherwise be read as a reference to a substitution.
"""

import re
from typing import Any

_LITERAL = re.compile(r"(``.+?``)")


def escape_bars(line: str) -> str:
    r"""Return a docstring line with bars escaped, except in literal text.

    Example:
        >>> escape_bars("|x| in ``a|b``")
        '\\|x\\| in ``a|b``'
    """
    parts = _LITERAL.split(line)
    return "".join(p if p.startswith("``") else p.replace("|", r"\|") for p in parts)


def _process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    in_block = False
    for i, line in enumerate(lines):
        if in_block and line.strip() and not line.startswith(" "):
            in_block = False
        if not in_block and not line.lstrip().startswith((">>>", "...")):
            lines[i] = escape_bars(line)
        if line.rstrip().endswith("::"):
            in_block = True


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", _process, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
