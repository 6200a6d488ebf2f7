"""Which source files a trial runs on, one hash over what they do, and what became of it since.

The imports are followed in the source text (nothing is imported), inside ``xlrepro`` and inside
the task's own package; `xlrepro.trials.sources` says what of a file counts. A record covers those
of the modules that its process had really loaded: what a function imports only for another profile
cannot have moved a number.

A module called ``building`` makes artefacts (vectors, pretrained models) that are kept in the
cache. It does not count, nor what it alone imports: the record names the content of each artefact
instead. An artefact of the same bytes leaves a record as it is, whatever became of its builder; one
of other bytes makes it stale, if this machine rounds as the record's did (its numerical class):
else other bytes say nothing of the builder. An artefact that is not in this machine's cache is
taken to be as it was: nothing is built to look a record up.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from xlrepro import artefacts
from xlrepro.errors import SettingsError
from xlrepro.trials import numerics, sources
from xlrepro.trials.record import Record
from xlrepro.trials.tasks import function_name
from xlrepro.trials.witness.lines import load_witnesses, speaking_for

BUILDER = "building"
FRESH, WITNESSED, STALE = STANDINGS = "fresh", "witnessed", "stale"

# They name, run, keep and show trials; they do not decide a trial's numbers.
EXCLUDED = (
    "xlrepro.trials.",
    "xlrepro.errors.",
    "xlrepro.paths.",
    "xlrepro.cli.",
    "xlrepro.evidence.",
    "xlrepro.notebook.",
    "xlrepro.book.",
)


@dataclass(frozen=True)
class Fingerprint:
    """The hash over all source files of a trial, and the modules it covers, sorted."""

    digest: str
    sources: tuple[str, ...]


class SourceTree:
    """The modules below some packages, each as it was first read from disk.

    A process that has imported a module keeps running that version whatever happens to the file
    later; whoever wants today's answer makes a new tree.
    """

    def __init__(self) -> None:
        self._module = cache(sources.read_module)

    def fingerprint(self, function: str) -> Fingerprint:
        """Return the fingerprint of a function, ``"package.module:function"``.

        Raises:
            SettingsError: if the function's module is not found or does not parse.
        """
        start = function.partition(":")[0]
        if self._module(start) is None:
            raise SettingsError(f"{function}: there is no source file of module {start}")
        roots = {"xlrepro", start.partition(".")[0]}
        reached: set[str] = set()
        waiting = [start]
        while waiting:
            name = waiting.pop()
            if name in reached or name.partition(".")[0] not in roots or _is_excluded(name):
                continue
            module = self._module(name)
            if module is None:  # `from package import function`: not every name is a module
                continue
            reached.add(name)
            waiting += module.imports
            # Importing a.b.c runs a and a.b first.
            waiting += [name.rsplit(".", depth)[0] for depth in range(1, name.count(".") + 1)]
        return self.covering(reached)

    def covering(self, names: Iterable[str]) -> Fingerprint:
        """Return the fingerprint of just these modules.

        Raises:
            SettingsError: if one of them is not found or does not parse.
        """
        sources = tuple(sorted(names))
        lines = []
        for name in sources:
            module = self._module(name)
            if module is None:
                raise SettingsError(f"there is no source file of module {name}")
            lines.append(f"{name} {module.digest}")
        return Fingerprint(hashlib.sha256("\n".join(lines).encode()).hexdigest(), sources)


def stale_check() -> Callable[[Record], bool]:
    """Return a function that tells whether a record is stale, see `standing_check`."""
    standing = standing_check()
    return lambda record: standing(record) == STALE


def standing_check() -> Callable[[Record], str]:
    """Return a function that tells whether a record is fresh, witnessed or stale.

    It looks at each source file, artefact and witness once, and not again.
    """
    tree, witnesses, content = SourceTree(), load_witnesses(), cache(artefacts.content_of)

    @cache
    def runs(task: str) -> bool:
        """Tell whether the task is there and all its sources parse."""
        try:
            tree.fingerprint(function_name(task))
        except SettingsError:
            return False
        return True

    @cache
    def digest(sources: tuple[str, ...]) -> str | None:
        """Return the fingerprint of these modules; ``None`` if one of them is gone or broken."""
        try:
            return tree.covering(sources).digest
        except SettingsError:
            return None

    def standing(record: Record) -> str:
        others = (content(name) not in (None, same) for name, same in record.artefacts.items())
        if any(others) and record.numerical_class in (None, numerics.kept_digest()):
            return STALE
        if runs(record.task) and digest(record.sources) == record.fingerprint:
            return FRESH
        return WITNESSED if speaking_for(record, witnesses, digest) else STALE

    return standing


def _is_excluded(name: str) -> bool:
    return name.rpartition(".")[2] == BUILDER or f"{name}.".startswith(EXCLUDED)
