"""Makes witnesses: runs the chosen trials with the code of their commit and with today's.

The comparison is always with the records' own commit, never with an earlier witness. Where two
results differ, the old side is run once more: one that differs from itself proves nothing here.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from xlrepro.errors import SettingsError
from xlrepro.paths import build_dir
from xlrepro.trials import machine
from xlrepro.trials.fingerprint import Fingerprint, SourceTree
from xlrepro.trials.record import Record
from xlrepro.trials.store import write_atomically
from xlrepro.trials.tasks import function_name
from xlrepro.trials.trial import Trial
from xlrepro.trials.witness import sides
from xlrepro.trials.witness.choice import Group, shrinking, shrunk
from xlrepro.trials.witness.comparison import differences, values_of
from xlrepro.trials.witness.lines import Witness, covered, load_witnesses, witness_file

SHOWN = 3  # differences of one trial that are named

Say = Callable[[str], None]


@dataclass(frozen=True)
class Finding:
    """What became of one group of stale records.

    Attributes:
        group: the records and the trials chosen.
        witness: the line; ``None`` where nothing speaks for the records.
        problems: what went wrong, a line each.
    """

    group: Group
    witness: Witness | None
    problems: tuple[str, ...] = ()


def make(
    groups: Iterable[Group],
    *,
    full: bool = False,
    device: str = "cpu",
    repository: Path | None = None,
    say: Say = lambda line: None,
) -> list[Finding]:
    """Run the chosen trials of each group on both sides and compare.

    Args:
        groups: stale records, see `groups_of`.
        full: run the trials as they are, not shrunken.
        device: ``"cpu"`` or ``"cuda"``.
        repository: the checkout of today's sources.
        say: is told what is going on, a line at a time.
    """
    repository = repository or sides.today()
    by_commit: dict[str | None, list[Group]] = {}
    for group in groups:
        by_commit.setdefault(group.commit, []).append(group)
    findings: list[Finding] = []
    for commit, of in by_commit.items():
        findings += _at_commit(commit, of, full, device, repository, say)
    return findings


def _at_commit(
    commit: str | None,
    groups: Sequence[Group],
    full: bool,
    device: str,
    repository: Path,
    say: Say,
) -> list[Finding]:
    wrong = {id(group): _unusable(group, repository) for group in groups}
    usable = [group for group in groups if not wrong[id(group)]]
    findings = [Finding(g, None, (wrong[id(g)],)) for g in groups if wrong[id(g)]]
    if not usable or commit is None:
        return findings
    trials = {
        id(group): [shrunk(r, {} if full else shrinking(r.task)) for r in group.chosen]
        for group in usable
    }
    flat = [trial for group in usable for trial in trials[id(group)]]
    say(f"{commit[:8]}: {len(flat)} trials on each side, for {len(usable)} groups of records")
    tree_today = SourceTree()  # read before the trials run
    reachable = {task: _reachable(tree_today, task) for task in {t.task for t in flat}}
    with sides.tree_of(repository, commit) as tree:
        old = _by_key(flat, sides.run_once(tree, commit, flat, device, done=_teller("old", say)))
        new = _by_key(flat, sides.run(repository, flat, device, done=_teller("new", say)))
        doubtful = [t for t in flat if _both_ran(old[t.key], new[t.key])
                    and differences(old[t.key], new[t.key])]  # fmt: skip
        again = _by_key(doubtful, sides.run(tree, doubtful, device)) if doubtful else {}
    code = {task: (tree_today, modules) for task, modules in reachable.items()}
    for group in usable:
        ran = [_Ran(t, old[t.key], new[t.key], again.get(t.key)) for t in trials[id(group)]]
        findings.append(_judged(group, ran, code[group.records[0].task], full, device, repository))
    return findings


def _teller(side: str, say: Say) -> sides.Done:
    return lambda trial, answer: say(f"  {side} {trial.label}{' failed' * ('error' in answer)}")


@dataclass(frozen=True)
class _Ran:
    """A trial and what came of it: at the commit, today, and at the commit once more."""

    trial: Trial
    old: dict[str, Any]
    new: dict[str, Any]
    again: dict[str, Any] | None

    @property
    def failure(self) -> str:
        """Why nothing can be said; empty where both sides ran and the old one repeats."""
        if "error" in self.old:
            return f"the code of the commit does not run: {self.old['error']}"
        if "error" in self.new:
            return f"today's code does not run: {self.new['error']}"
        if self.unequal and self.again is not None:
            itself = [] if "error" in self.again else differences(self.old, self.again)
            if itself or "error" in self.again:
                return f"not repeatable here: the old side differs from itself ({itself[:1]})"
        return ""

    @property
    def unequal(self) -> list[str]:
        """What the two sides differ in."""
        return differences(self.old, self.new)


def _judged(
    group: Group,
    ran: Sequence[_Ran],
    code: tuple[SourceTree, frozenset[str]],
    full: bool,
    device: str,
    repository: Path,
) -> Finding:
    problems, equal = [], []
    for record, each in zip(group.chosen, ran, strict=True):
        if each.failure:
            problems.append(f"{each.trial.label}: {each.failure}")
        elif each.unequal:
            more = f"; {len(each.unequal) - SHOWN} more" if len(each.unequal) > SHOWN else ""
            shown = "; ".join(each.unequal[:SHOWN])
            return Finding(group, None, (f"{each.trial.label}: unequal: {shown}{more}",))
        else:
            equal.append((record, each.new))
    if not equal:
        return Finding(group, None, tuple(problems))
    tree, reachable = code
    loaded = {name for _, result in equal for name in result["modules"]}
    today = tree.covering(sorted(loaded & reachable))
    line = _line(group, equal, today, full, device, repository)
    missing = {lack for record in group.records for lack in line.missing(record.settings)}
    problems += [f"no witness covers {lack}" for lack in sorted(missing)]
    return Finding(group, line, tuple(problems))


def _unusable(group: Group, repository: Path) -> str:
    """Say why nothing can be compared with the group's commit; empty where it can."""
    git = group.records[0].git
    if git.commit is None:
        return "the records name no commit"
    if git.dirty is not False:
        return f"commit {git.commit[:8]} was dirty: what ran is not what it holds"
    if not sides.has_commit(repository, git.commit):
        return f"commit {git.commit[:8]} is not in this repository: fetch the whole history"
    try:
        function_name(group.records[0].task)
    except SettingsError as error:
        return str(error)
    return ""


def _reachable(tree: SourceTree, task: str) -> frozenset[str]:
    return frozenset(tree.fingerprint(function_name(task)).sources)


def _by_key(trials: Sequence[Trial], results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {trial.key: result for trial, result in zip(trials, results, strict=True)}


def _both_ran(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return "error" not in old and "error" not in new


def _line(
    group: Group,
    equal: Sequence[tuple[Record, dict[str, Any]]],
    today: Fingerprint,
    full: bool,
    device: str,
    repository: Path,
) -> Witness:
    first = group.records[0]
    return Witness(
        task=first.task,
        profile=first.profile,
        commit=str(first.git.commit),
        fingerprint=first.fingerprint,
        today_fingerprint=today.digest,
        today_sources=today.sources,
        today_commit=sides.head(repository),
        covers=covered(record.settings for record, _ in equal),
        trials=tuple(record.key for record, _ in equal),
        full=full,
        values=sum(len(values_of(result)) for _, result in equal),
        versions=machine.versions(),
        device=machine.device_name(device),
        numerical_class=equal[0][1].get("numerical_class"),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def keep(witnesses: Iterable[Witness], path: Path | None = None) -> Path:
    """Add lines to the file; an earlier line for the same records gives way where it is weaker.

    Raises:
        StoreError: if it cannot be written.
    """
    path = path or witness_file()
    new = list(witnesses)
    locks = build_dir() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with FileLock(locks / f"{path.name}.lock"):
        replaced = {(line.address, line.trials) for line in new}
        kept = [w for w in load_witnesses(path) if (w.address, w.trials) not in replaced]
        lines = sorted([*kept, *new], key=lambda w: (w.task, w.profile, w.commit, w.trials))
        write_atomically(path, "".join(line.to_json() + "\n" for line in lines))
    return path
