"""A toy paper in a git repository of its own: its code moves, and a witness looks on."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xlrepro.trials import fingerprint
from xlrepro.trials.fingerprint import FRESH, STALE, WITNESSED, SourceTree, standing_check
from xlrepro.trials.record import GitState, Record, make_record
from xlrepro.trials.tasks import function_name
from xlrepro.trials.trial import Trial
from xlrepro.trials.witness import lines
from xlrepro.trials.witness.choice import groups_of
from xlrepro.trials.witness.making import Finding, keep, make

PACKAGE = "toy_paper"
FILES = {
    "__init__.py": (
        'TASKS = {"sums": "toy_paper.training:run"}\n'
        'SHRINK = {"sums": {"epochs": 2, "encoder.layers": 1}}\n'
    ),
    "training.py": (
        "import os\n"
        "from xlrepro.trials.trial import Cell, TrialResult\n"
        "from toy_paper.model import RATE, loss\n\n\n"
        "def run(trial, context):\n"
        "    settings = trial.settings\n"
        '    if settings.get("kind") == "broken":\n'
        '        raise ValueError("the corpus is gone")\n'
        '    moved = os.getpid() if settings.get("kind") == "unsteady" else trial.seed\n'
        '    losses = [loss(epoch) + moved for epoch in range(settings["epochs"])]\n'
        '    cells = [Cell(trial.systems[0], "en", RATE * losses[-1], "accuracy")]\n'
        '    details = {"train_loss": losses, "seconds": float(os.getpid())}\n'
        "    return TrialResult(cells, details)\n"
    ),
    "model.py": "RATE = 0.1\n\n\ndef loss(epoch):\n    return RATE * epoch\n",
}


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return subprocess.run(
        ["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


class Toy:
    """The repository, and the records that its first commit has left behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / PACKAGE
        for name, text in FILES.items():
            self.write(name, text)
        git(folder, "init", "-q")
        self.commit = self.commit_all()

    def write(self, name: str, text: str) -> None:
        self.package.mkdir(exist_ok=True)
        (self.package / name).write_text(text)
        forget()

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.package / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def commit_all(self) -> str:
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "-m", "toy")
        return git(self.folder, "rev-parse", "HEAD")

    def witness(self, records: list[Record], **options: Any) -> list[Finding]:
        found = list(make(groups_of(records), repository=self.folder, **options))
        for each in found:
            if each.witness:
                keep(each.witness)
        return found


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(lines, "FILE", str(tmp_path / "witnesses.jsonl"))
    yield Toy(tmp_path)
    forget()


@pytest.fixture
def record_of(toy: Toy) -> Callable[..., Record]:
    """Return a function that makes a record of the toy's first commit; its cells do not matter."""
    today = SourceTree().fingerprint(function_name(f"{PACKAGE}/sums"))

    def record(seed: int = 0, git: GitState | None = None, **settings: object) -> Record:
        from xlrepro.trials.trial import Cell, TrialResult

        trial = Trial.create(
            experiment=f"{PACKAGE}/table1",
            systems=("sum",),
            columns=("en",),
            profile="open",
            seed=seed,
            settings={"epochs": 1000, **settings},
            data={},
            task=f"{PACKAGE}/sums",
        )
        return make_record(
            trial,
            TrialResult([Cell("sum", "en", 1.0, "accuracy")]),
            started="2026-01-01T00:00:00+00:00",
            wall_seconds=1.0 + seed,
            peak_memory_bytes=1,
            peak_gpu_memory_bytes=None,
            device="a CPU",
            threads=1,
            versions={},
            git=git or GitState(commit=toy.commit, dirty=False),
            fingerprint=today.digest,
            sources=today.sources,
        )

    return record


def rename_and_split(toy: Toy) -> None:
    """Rename one module, and split another in two."""
    (toy.package / "training.py").rename(toy.package / "tagging.py")
    toy.edit("__init__.py", "toy_paper.training", "toy_paper.tagging")
    toy.write("rates.py", "RATE = 0.1\n")
    toy.write(
        "model.py", "from toy_paper.rates import RATE\n\n\ndef loss(n):\n    return RATE * n\n"
    )


def test_a_rename_and_a_split_are_witnessed_and_nothing_is_run_again(toy, record_of):
    record = record_of()
    assert standing_check()(record) == FRESH
    rename_and_split(toy)
    assert standing_check()(record) == STALE
    (finding,) = toy.witness([record])
    assert finding.problems == ()
    assert "toy_paper.rates" in finding.witness.today_sources
    assert standing_check()(record) == WITNESSED


def test_a_changed_constant_is_found_and_the_first_epoch_named(toy, record_of):
    record = record_of()
    toy.edit("model.py", "RATE = 0.1", "RATE = 0.2")
    (finding,) = toy.witness([record])
    assert finding.witness is None
    assert "unequal: epoch 2 of train_loss: 0.1 at the commit, 0.2 today" in finding.problems[0]
    assert standing_check()(record) == STALE


def test_a_witness_no_longer_speaks_once_the_code_has_changed_again(toy, record_of):
    record = record_of()
    rename_and_split(toy)
    toy.witness([record])
    toy.edit("rates.py", "0.1", "0.3")
    assert standing_check()(record) == STALE


def test_it_compares_with_the_records_own_commit_not_with_the_last_one(toy, record_of):
    record = record_of()
    toy.edit("model.py", "RATE = 0.1", "RATE = 0.2")
    toy.commit_all()
    toy.edit("model.py", "RATE = 0.2", "RATE = 0.2 + 0")
    (finding,) = toy.witness([record])
    assert finding.witness is None


def test_few_trials_cover_every_categorical_setting(toy, record_of):
    settings = [{"kind": kind, "bias": bias} for kind in ("a", "b", "c") for bias in (True, False)]
    records = [record_of(seed, **each) for seed, each in enumerate(settings)]
    rename_and_split(toy)
    (finding,) = toy.witness(records)
    assert len(finding.witness.trials) == 3
    assert {standing_check()(record) for record in records} == {WITNESSED}
    assert standing_check()(record_of(9, kind="d", bias=True)) == STALE
    assert standing_check()(record_of(9, kind="a")) == STALE


def test_a_trial_that_does_not_run_leaves_its_settings_uncovered(toy, record_of):
    records = [record_of(0, kind="a"), record_of(1, kind="broken")]
    rename_and_split(toy)
    (finding,) = toy.witness(records)
    said = " ".join(finding.problems)
    assert "the code of the commit does not run: ValueError: the corpus is gone" in said
    assert 'no witness covers kind="broken"' in said
    assert [standing_check()(record) for record in records] == [WITNESSED, STALE]


def test_code_of_today_that_does_not_run_is_told_apart(toy, record_of):
    record = record_of()
    toy.edit("model.py", "return RATE", "return 1 / 0 * RATE")
    (finding,) = toy.witness([record])
    assert "today's code does not run: ZeroDivisionError" in finding.problems[0]


def test_an_old_side_that_differs_from_itself_is_not_repeatable(toy, record_of):
    record = record_of(kind="unsteady")
    rename_and_split(toy)
    (finding,) = toy.witness([record])
    assert finding.witness is None
    assert "not repeatable here" in finding.problems[0]


@pytest.mark.parametrize(
    ("commit", "dirty", "said"),
    [
        ("0" * 40, False, "is not in this repository"),
        (None, None, "name no commit"),
        ("HEAD", True, "was dirty"),
    ],
)
def test_a_commit_that_cannot_be_compared_with_is_said_by_name(toy, record_of, commit, dirty, said):
    known = toy.commit if commit == "HEAD" else commit
    (finding,) = toy.witness([record_of(git=GitState(commit=known, dirty=dirty))])
    assert finding.witness is None
    assert said in finding.problems[0]


def test_the_old_side_is_run_once_and_what_it_gave_is_kept(toy, record_of):
    records = [record_of(0, kind="a"), record_of(1, kind="broken")]
    rename_and_split(toy)
    ran: list[list[str]] = []
    for _ in range(2):
        ran.append([])
        (finding,) = toy.witness(records, say=ran[-1].append)
        assert len(finding.witness.trials) == 1
    sides = [[line.split()[0] for line in lines if line.startswith("  ")] for lines in ran]
    assert sorted(sides[0]) == ["new", "new", "old", "old"]
    assert sorted(sides[1]) == ["new", "new", "old"]  # the one that failed is tried again


def test_full_runs_the_trials_as_they_are(toy, record_of):
    rename_and_split(toy)
    (small,), (full,) = (toy.witness([record_of()], full=whole) for whole in (False, True))
    assert (small.witness.values, full.witness.values) == (3, 1001)


def test_the_worktree_is_gone_afterwards(toy, record_of):
    rename_and_split(toy)
    toy.witness([record_of()])
    assert len(git(toy.folder, "worktree", "list").splitlines()) == 1


def test_a_line_changed_by_hand_speaks_for_nothing(toy, record_of, caplog):
    record = record_of()
    rename_and_split(toy)
    toy.witness([record])
    file = lines.witness_file()
    file.write_text(file.read_text().replace('"values":3', '"values":4'))
    assert standing_check()(record) == STALE
    assert "checksum" in caplog.text


def test_another_artefact_makes_a_witnessed_record_stale(toy, record_of, monkeypatch):
    record = record_of().model_copy(update={"artefacts": {"mapped-de-0": "a" * 64}})
    rename_and_split(toy)
    toy.witness([record])
    assert standing_check()(record) == WITNESSED
    monkeypatch.setattr(fingerprint.artefacts, "content_of", lambda name: "b" * 64)
    assert standing_check()(record) == STALE
