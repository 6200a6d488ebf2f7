"""What holds for every test: one thread, no mirror by accident, markers that need something."""

import os
from collections.abc import Iterator
from pathlib import Path

# Before torch is imported anywhere: sums in one order, and no fight for two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from xlrepro.precision import computing

pytest_plugins = ["tests.made_up_records", "tests.toy_trials"]  # fixtures of more than one file

ROOT = Path(__file__).resolve().parent.parent
LONG = ("test_interrupts.py", "test_engine.py", "ramen/test_data.py", "routing_nmt/test_corpora.py")
APART = ("browser", "gpu")  # markers of what `.ci/run` alone runs
BESIDE = ROOT.parent / "shared" / "data"


# The data mirror: the one the environment names, else the one beside the clone.
MIRROR = os.environ.get("XLREPRO_MIRROR") or (BESIDE if BESIDE.is_dir() else None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what stands apart to ``-m`` with its marker; skip mirror tests without a mirror.

    Files that take long come first, so that no process waits for another's last one.
    """
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONG))
    apart = [name for name in APART if name not in (config.option.markexpr or "")]
    left = [item for item in items if any(map(item.get_closest_marker, apart))]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    if MIRROR is None:
        reason = "no data mirror: set XLREPRO_MIRROR, or put one at ../shared/data"
        for item in items:
            if item.get_closest_marker("mirror"):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def _mirror_where_asked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name the mirror to tests marked ``mirror``; hide it from all others."""
    if request.node.get_closest_marker("mirror"):
        monkeypatch.setenv("XLREPRO_MIRROR", str(MIRROR))
    else:
        monkeypatch.delenv("XLREPRO_MIRROR", raising=False)


@pytest.fixture
def double_precision() -> Iterator[None]:
    """Compute in double precision: two ways to one number agree then on every processor."""
    with computing("double"):
        yield
