"""Facts about the machine and the code for a record: device, versions, memory, commit."""

import platform
import resource
import subprocess
import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from xlrepro.trials.record import GitState
from xlrepro.trials.sources import files_of

GIT_SECONDS = 120
# What can move a number; only those installed are named.
PACKAGES = (
    "xlrepro",
    "torch",
    "numpy",
    "scipy",
    "pandas",
    "scikit-learn",
    "gensim",
    "seqeval",
    "sacrebleu",
    "conllu",
    "entmax",
    "jieba",
    "janome",
    "pythainlp",
    "opencc-python-reimplemented",
    "transformers",
    "tokenizers",
    "distributed",
)


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Return package name to installed version, Python first."""
    by_name = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            by_name[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    torch = sys.modules.get("torch")
    if torch is not None:  # the local part tells the build: 2.11.0+cu128
        by_name["torch"] = str(torch.__version__)
    return by_name


def device_name(device: str) -> str:
    """Return the model of the CPU, or of the current GPU for ``"cuda"``."""
    if device == "cuda":
        import torch

        return torch.cuda.get_device_name()
    return _cpu_name()


def numerical_class(device: str) -> str | None:
    """Return the digest of what this process's arithmetic gives.

    ``None`` on a GPU, and where torch was not loaded: then nothing was computed with it.
    """
    if device != "cpu" or "torch" not in sys.modules:
        return None
    from xlrepro.trials import numerics

    return numerics.digest()


@lru_cache(maxsize=1)
def _cpu_name() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


class PeakMemory:
    """The highest memory of this process since the object was made.

    On Linux the kernel's high-water mark is reset first, so that one trial does not answer for
    the trials that ran before it in the same process; elsewhere it is that of the whole process.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        try:
            Path("/proc/self/clear_refs").write_text("5")
            self._resettable = True
        except OSError:
            self._resettable = False
        if device == "cuda":
            import torch

            torch.cuda.reset_peak_memory_stats()

    def host_bytes(self) -> int:
        """Return the highest resident memory, in bytes."""
        if self._resettable:
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024

    def gpu_bytes(self) -> int | None:
        """Return the highest memory that torch held on the GPU; ``None`` on a CPU."""
        if self._device != "cuda":
            return None
        import torch

        return int(torch.cuda.max_memory_allocated())


def git_state(sources: tuple[str, ...]) -> GitState:
    """Return the commit, and whether one of these modules, or of their data, differs from it.

    Other changed files of the checkout (notebooks, published results) cannot move a number and
    do not count. Without git, or where the package is not in a git checkout: ``None``.
    """
    root = Path(__file__).resolve().parents[2]
    if git(root, "ls-files", "--error-unmatch", "xlrepro/__init__.py") is None:
        return GitState(commit=None, dirty=None)
    commit = git(root, "rev-parse", "HEAD")
    files = [file for name in sources for file in files_of(name)]
    inside = [file for file in files if Path(file).resolve().is_relative_to(root)]
    changed = git(root, "status", "--porcelain", "--untracked-files=all", "--", *inside)
    if commit is None or changed is None:
        return GitState(commit=None, dirty=None)
    return GitState(commit=commit, dirty=bool(changed))


def git(folder: Path, *arguments: str) -> str | None:
    """Return the output of a git command, ``None`` if it fails or there is no git."""
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
