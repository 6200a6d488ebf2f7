"""Scripts of others that are used without a network: checked before they are used, fetched once.

A script is taken from a package that is installed; else that package is fetched, through pip, and
the script out of it kept in ``build/vendor/``. No code of the package runs.
"""

import hashlib
import importlib.metadata
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from xlrepro.errors import DataError
from xlrepro.paths import build_dir


@dataclass(frozen=True)
class Script:
    """A script inside a package.

    Attributes:
        package, version: of the package that holds it.
        name: of its file.
        sha256: of its content.
        purpose: what an error says of it.
    """

    package: str
    version: str
    name: str
    sha256: str
    purpose: str


MATHJAX = Script(  # Apache-2.0; the bytes of es5/tex-svg.js of mathjax 3.2.2 in the npm registry
    package="sphinx-mathjax-offline",
    version="0.0.2",
    name="tex-svg.js",
    sha256="d4295dc33744836935c1399feece5159577b34c5c8ffb9f1c6324cd82e03a882",
    purpose="MathJax, which draws the book's equations,",
)


def locate(script: Script) -> Path:
    """Return the path of a verified script on this machine, fetching it once if need be.

    Raises:
        DataError: if it can neither be found nor fetched, or has the wrong checksum.
    """
    cached = build_dir() / "vendor" / f"{script.package}-{script.sha256[:12]}" / script.name
    for candidate in (_installed(script), cached):
        if candidate is not None and candidate.is_file():
            return _checked(candidate, script)
    cached.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cached.parent) as folder:
        _checked(_fetched(script, Path(folder)), script).replace(cached)
    return cached


def _installed(script: Script) -> Path | None:
    """Return the script inside the installed package, or None."""
    try:
        files = importlib.metadata.files(script.package) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((Path(str(f.locate())) for f in files if f.name == script.name), None)


def _fetched(script: Script, folder: Path) -> Path:
    """Let pip download the package into ``folder`` and return the script taken out of it."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--dest", str(folder)]
    done = subprocess.run(
        [*command, f"{script.package}=={script.version}"],
        capture_output=True,
        text=True,
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise DataError(
            f"{script.purpose} could not be fetched ({said}): run "
            f"`pip install {script.package}=={script.version}` once and repeat"
        )
    with zipfile.ZipFile(wheels[0]) as wheel:
        member = next(name for name in wheel.namelist() if name.endswith(f"/{script.name}"))
        with wheel.open(member) as source, (folder / script.name).open("wb") as target:
            shutil.copyfileobj(source, target)
    return folder / script.name


def _checked(path: Path, script: Script) -> Path:
    """Return ``path`` if its bytes are the expected ones.

    Raises:
        DataError: if they are not.
    """
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != script.sha256:
        raise DataError(
            f"{path} has SHA-256 {digest[:12]}…, expected {script.sha256[:12]}…: remove it and "
            "repeat"
        )
    return path
