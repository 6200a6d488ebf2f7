"""Makes witnesses: runs the chosen trials with the code of their commit and with today's.

The comparison is always with the records' own commit, never with an earlier witness. Where two
results differ, the old side is run once more: one that differs from itself proves nothing here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.trials import machine
from xlrepro.trials.fingerprint import Fingerprint, SourceTree
from xlrepro.trials.record import Record
from xlrepro.trials.sources import OWN
from xlrepro.trials.store import locked, write_atomically
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
) -> Iterator[Finding]:
    """Run the chosen trials of each group on both sides and compare; yield what came of it.

    Args:
        groups: stale records, see `groups_of`; those of one commit run together.
        full: run the trials as they are, not shrunken.
        device: ``"cpu"`` or ``"cuda"``.
        repository: the checkout of today's sources.
        say: is told what is going on, a line at a time.
    """
    repository = repository or Path(OWN[0])
    for commit, of in groupby(groups, key=lambda group: group.commit):
        yield from _at_commit(commit, list(of), full, device, repository, say)


def _at_commit(
    commit: str | None,
    groups: Sequence[Group],
    full: bool,
    device: str,
    repository: Path,
    say: Say,
) -> Iterator[Finding]:
    usable = []
    for group in groups:
        if wrong := _unusable(group, repository):
            yield Finding(group, None, (wrong,))
        else:
            usable.append(group)
    if not usable or commit is None:
        return
    trials = [[shrunk(r, {} if full else shrinking(r.task)) for r in g.chosen] for g in usable]
    flat = list({trial.key: trial for of in trials for trial in of}.values())
    say(f"{commit[:8]}: {len(flat)} trials on each side, for {len(usable)} groups of records")
    tree_today = SourceTree()  # read before the trials run
    reachable = {t.task: tree_today.fingerprint(function_name(t.task)).sources for t in flat}
    with sides.tree_of(repository, commit) as tree:
        old = sides.run_once(tree, commit, flat, device, done=_teller("old", say))
        new = sides.run(repository, flat, device, done=_teller("new", say))
        ran = {t.key: _Ran(t, old[t.key], new[t.key]) for t in flat}
        doubtful = [each.trial for each in ran.values() if not each.failure and each.unequal]
        for key, answer in sides.run(tree, doubtful, device).items():
            ran[key].again = answer
    for group, of in zip(usable, trials, strict=True):
        code = tree_today, reachable[group.records[0].task]
        yield _judged(group, [ran[t.key] for t in of], code, full, device, repository)


def _teller(side: str, say: Say) -> sides.Done:
    return lambda trial, answer: say(f"  {side} {trial.label}{' failed' * ('error' in answer)}")


@dataclass
class _Ran:
    """A trial and what came of it: at the commit, today, and at the commit once more."""

    trial: Trial
    old: dict[str, Any]
    new: dict[str, Any]
    again: dict[str, Any] | None = None

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
    code: tuple[SourceTree, tuple[str, ...]],
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
    today = tree.covering(loaded.intersection(reachable))
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
    if machine.git(repository, "cat-file", "-e", f"{git.commit}^{{commit}}") is None:
        return f"commit {git.commit[:8]} is not in this repository: fetch the whole history"
    try:
        function_name(group.records[0].task)
    except SettingsError as error:
        return str(error)
    return ""


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
        today_commit=machine.git(repository, "rev-parse", "HEAD"),
        covers=covered(record.settings for record, _ in equal),
        trials=tuple(record.key for record, _ in equal),
        full=full,
        values=sum(len(values_of(result)) for _, result in equal),
        versions=machine.versions(),
        device=machine.device_name(device),
        numerical_class=equal[0][1].get("numerical_class"),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def keep(witness: Witness) -> None:
    """Add a line to the file; an earlier line for the same records and trials gives way.

    Raises:
        StoreError: if it cannot be written.
    """
    path = witness_file()
    with locked(path):
        same = witness.address, witness.trials
        others = [w for w in load_witnesses() if (w.address, w.trials) != same]
        lines = sorted([*others, witness], key=lambda w: (w.task, w.profile, w.commit, w.trials))
        write_atomically(path, "".join(line.to_json() + "\n" for line in lines))
