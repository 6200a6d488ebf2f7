"""Facts about the machine and the code: devices, versions, memory, commit."""

import hashlib
import os
import platform
import re
import resource
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from xlrepro import __version__
from xlrepro.errors import DeviceError, SettingsError
from xlrepro.paths import CHECKOUT
from xlrepro.trials import GitState

GIT_SECONDS = 120
PACKAGE = Path(__file__).parent
# What moves a number, beside the paper's own folder; the rest names, runs, keeps and shows trials.
COMPUTING = (
    "artificial", "data", "vectors", "encoders", "nn", "training", "tasks", "artefacts.py",
    "metrics.py", "precision.py",
)  # fmt: skip
SHOWN = ("cells.py", "figures.py", "experiments.yaml")  # of a paper's folder; settings: see trials
DEVICES = ("auto", "cpu", "cuda")
# Without one of these there is no GPU, and torch need not be imported to find that out.
GPU_FILES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg")
# What can move a number; only those installed are named.
PACKAGES = (
    "xlrepro", "torch", "numpy", "scipy", "pandas", "scikit-learn", "gensim", "seqeval",
    "sacrebleu", "jieba", "janome", "pythainlp", "opencc-python-reimplemented",
    "transformers", "tokenizers", "distributed",
)  # fmt: skip


def resolve(device: str) -> str:
    """Return ``"cpu"`` or ``"cuda"`` for ``"auto"``, ``"cpu"`` or ``"cuda"``.

    Raises:
        SettingsError: for another name.
        DeviceError: if CUDA is asked for and there is none; never falls back silently.
    """
    if device not in DEVICES:
        raise SettingsError(f"there is no device {device!r}; choose one of: {', '.join(DEVICES)}")
    if device == "cpu":
        return "cpu"
    if gpu_count() > 0:
        return "cuda"
    if device == "cuda":
        raise DeviceError("no CUDA device: use --device cpu or run on a GPU machine")
    return "cpu"


def gpu_count() -> int:
    """Return how many GPUs torch can use here."""
    if os.name == "posix" and not any(Path(file).exists() for file in GPU_FILES):
        return 0
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def visible_gpus() -> list[str]:
    """Return one value of ``CUDA_VISIBLE_DEVICES`` per usable GPU."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named:
        return [name.strip() for name in named.split(",") if name.strip()][: gpu_count()]
    return [str(index) for index in range(gpu_count())]


def device_name(device: str) -> str:
    """Return the model of the CPU, or of the current GPU for ``"cuda"``."""
    if device == "cuda":
        import torch

        return torch.cuda.get_device_name()
    with suppress(OSError):
        listing = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"^model name\s*: (.+)$", listing, re.MULTILINE):
            return found[1].strip()
    return platform.processor() or platform.machine()


@cache
def versions() -> dict[str, str]:
    """Return package name to installed version, Python first."""
    by_name = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            by_name[name] = metadata.version(name)
    torch = sys.modules.get("torch")
    if torch is not None:  # the local part tells the build: 2.11.0+cu128
        by_name["torch"] = str(torch.__version__)
    return by_name


def forget_peaks(device: str) -> None:
    """Let `peaks` count from now: one trial does not answer for those before it in its process.

    So it is on Linux; elsewhere the memory of the host is that of the whole process.
    """
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    if device == "cuda":
        import torch

        torch.cuda.reset_peak_memory_stats()


def peaks(device: str) -> dict[str, int | None]:
    """Return the highest resident memory, and what torch held on the GPU (None on a CPU)."""
    host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    gpu: int | None = None
    if device == "cuda":
        import torch

        gpu = torch.cuda.max_memory_allocated()
    host *= 1 if sys.platform == "darwin" else 1024
    return {"peak_memory_bytes": host, "peak_gpu_memory_bytes": gpu}


@cache
def code_version(paper: str) -> str:
    """Return the package's version with a hash of the code that a paper's trials compute with.

    It is that of the files as this process first asked: ``"1.0.0+3f2a91c08d11"``. What only names,
    runs, keeps and shows trials is not in it; nor are the settings, which stand in each trial.
    """
    digest = hashlib.sha256()
    for part in (*COMPUTING, f"papers/{paper}"):
        for path in sorted([PACKAGE / part, *(PACKAGE / part).rglob("*")]):
            if path.suffix in (".py", ".yaml") and path.name not in SHOWN:
                inner = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{path.relative_to(PACKAGE).as_posix()} {inner}\n".encode())
    return f"{__version__}+{digest.hexdigest()[:12]}"


@cache
def git_state() -> GitState:
    """Return the commit, and whether the package differs from it, as this process first asked.

    Other changed files of the checkout (notebooks, published results) cannot move a number and
    do not count. Where git cannot say, the reason stands there.
    """
    try:
        git("ls-files", "--error-unmatch", "xlrepro/__init__.py")
        commit = git("rev-parse", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=all", "--", "xlrepro")
    except OSError as error:
        return GitState(commit=None, dirty=None, reason=str(error))
    return GitState(commit=commit, dirty=bool(changed))


def git(*arguments: str) -> str:
    """Return the output of a git command in the checkout of the package.

    Raises:
        OSError: if it fails, or there is no git; says why.
    """
    command = ["git", "--no-optional-locks", "-C", str(CHECKOUT), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=GIT_SECONDS
        )
    except FileNotFoundError:
        raise OSError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise OSError(f"git did not answer within {GIT_SECONDS} s") from None
    if done.returncode:
        said = " ".join(done.stderr.split())
        raise OSError(said or f"git ended with status {done.returncode}")
    return done.stdout.strip()


if __name__ == "__main__":  # `make about`: for a bug report, or before a long run
    import torch  # noqa: F401 # so that its version tells the build

    for name, value in {"platform": platform.platform(), **versions()}.items():
        print(f"{name:28} {value}")
    print(f"{device_name('cpu')}, {os.cpu_count()} cores, {gpu_count()} GPUs, {git_state()}")
