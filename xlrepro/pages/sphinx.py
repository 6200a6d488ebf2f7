"""The book's Sphinx extension: equations offline, no script on a page that does not need it."""

import re
from pathlib import Path
from typing import Any

from xlrepro.pages.notebooks import files_digest

# Thebe runs code on a server: there is none. Font Awesome draws a dozen icons with 1.5 MB: page.css
# draws them.
UNWANTED = re.compile(
    r"\s*<(?:script|link)[^>]*(?:fontawesome|sphinx-thebe|x-thebe-config)[^>]*>"
    r"(?:[^<]*</script>)?|\s*<script>[^<]*THEBE_JS_URL[^<]*</script>"
)
MATHJAX = re.compile(r"\s*<script[^>]*(?:tex-svg\.js|>window\.MathJax)[^<]*</script>")


def _configure(app: Any, config: Any) -> None:
    # SVG needs no fonts, which a browser does not load for a page that is opened as a file.
    config.mathjax_path = "mathjax/tex-svg.js"
    config.html_search_scorer = str(Path(app.srcdir) / "_static" / "scorer.js")
    # Neither says that it is, and neither does anything while pages are read.
    for name in ("sphinx_multitoc_numbering", "sphinx-mathjax-offline"):
        app.extensions[name].parallel_read_safe = True
        app.extensions[name].parallel_write_safe = True


def slim(html: str) -> str:
    """Return a page without the scripts that it does not need; MathJax: without equations.

    Example:
        >>> slim('<p><script defer src="_static/scripts/fontawesome.js?x"></script>')
        '<p>'
    """
    html = UNWANTED.sub("", html)
    return html if 'class="math' in html else MATHJAX.sub("", html)


def _slim_all(app: Any, error: Exception | None) -> None:
    out = Path(app.outdir)
    if error is None and app.builder.format == "html":
        for path in out.rglob("*.html"):
            path.write_text(slim(path.read_text(encoding="utf-8")), encoding="utf-8")
        for path in (out / "_static" / "scripts").glob("fontawesome*"):
            path.unlink()


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    # Of the kind "html": all pages are written again when a stylesheet or a script has changed
    static = [path for path in (Path(app.srcdir) / "_static").rglob("*.*s") if path.is_file()]
    app.add_config_value("static_digest", files_digest(static, Path(app.srcdir)), "html")
    app.connect("config-inited", _configure)
    app.connect("build-finished", _slim_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
