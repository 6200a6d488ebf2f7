"""The book's Sphinx extension: equations offline, no script on a page that does not need it."""

import re
from pathlib import Path
from typing import Any

from xlrepro.pages.notebooks import files_digest

# Thebe runs code on a server: there is none. Font Awesome draws a dozen icons with 1.5 MB: page.css
# draws them.
UNWANTED = re.compile(r"\s*<(?:script|link)[^>]*(?:fontawesome|sphinx-thebe)[^>]*>(?:</script>)?")
THEBE = "THEBE_JS_URL"


def needed_scripts(scripts: list[Any], has_math: bool) -> list[Any]:
    """Return the scripts of a page once each; MathJax only where there is an equation."""
    kept: dict[str, Any] = {}
    for script in scripts:
        name = str(getattr(script, "filename", None) or "")
        body = str(getattr(script, "attributes", {}).get("body") or "")
        is_math = name.endswith("tex-svg.js") or body.startswith("window.MathJax")
        if THEBE not in body and (has_math or not is_math):
            kept.setdefault(name or body, script)
    return list(kept.values())


def _choose_scripts(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    has_math = app.env.get_domain("math").data["has_equations"].get(pagename, False)
    if isinstance(context.get("script_files"), list):
        context["script_files"][:] = needed_scripts(context["script_files"], has_math)


def _configure(app: Any, config: Any) -> None:
    # SVG needs no fonts, which a browser does not load for a page that is opened as a file.
    config.mathjax_path = "mathjax/tex-svg.js"
    # Neither says that it is, and neither does anything while pages are read.
    for name in ("sphinx_multitoc_numbering", "sphinx-mathjax-offline"):
        app.extensions[name].parallel_read_safe = True
        app.extensions[name].parallel_write_safe = True


def without_unwanted(html: str) -> str:
    """Return a page without the scripts that the theme writes into every page.

    Example:
        >>> without_unwanted('<p><script defer src="_static/scripts/fontawesome.js?x"></script>')
        '<p>'
    """
    return UNWANTED.sub("", html)


def _slim(app: Any, error: Exception | None) -> None:
    out = Path(app.outdir)
    if error is None and app.builder.format == "html":
        for path in out.rglob("*.html"):
            html = path.read_text(encoding="utf-8")
            if (slim := without_unwanted(html)) != html:
                path.write_text(slim, encoding="utf-8")
        for path in (out / "_static" / "scripts").glob("fontawesome*"):
            path.unlink()


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    # Of the kind "html": all pages are written again when a stylesheet or a script has changed
    static = [path for path in (Path(app.srcdir) / "_static").rglob("*.*s") if path.is_file()]
    app.add_config_value("static_digest", files_digest(static, Path(app.srcdir)), "html")
    app.connect("config-inited", _configure)
    app.connect("html-page-context", _choose_scripts, priority=999)
    app.connect("build-finished", _slim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
