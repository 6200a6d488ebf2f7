"""Numbers that show themselves only in a sentence whose condition has asked for their direction."""

import math
from dataclasses import dataclass, field

from xlrepro.errors import SettingsError
from xlrepro.evidence.tables.table import in_words, number

MOST_DECIMALS = 4  # of a difference


@dataclass
class Sentences:
    """Whether the page being filled is within a sentence that has a condition.

    Attributes:
        where: the page, for errors.
        depth: how many sentences are open.
    """

    where: str
    depth: int = 0

    def enter(self) -> None:
        """Begin a wording whose condition is true."""
        self.depth += 1

    def leave(self) -> None:
        """End it."""
        self.depth -= 1

    def refuse(self, line: int) -> None:
        """Say that no wording of a sentence is true.

        Raises:
            SettingsError: always.
        """
        raise SettingsError(
            f"{self.where}:{line}: no wording of this sentence is true of today's numbers: give it "
            "one that is (`orsays`)"
        )

    def need(self, what: str) -> None:
        """Make sure that a number stands in a sentence with a condition."""
        if not self.depth:
            raise SettingsError(f"{self.where}: {what} must stand within `says`")


@dataclass
class Number:
    """A number computed from records; as text only within a sentence that has a condition.

    Attributes:
        value: NaN where a cell that it needs was not run.
        decimals: how many are shown.
        what: for errors.
    """

    sentences: Sentences
    value: float
    decimals: int
    what: str

    @property
    def missing(self) -> bool:
        """Whether a cell that it needs was not run."""
        return math.isnan(self.value)

    def __str__(self) -> str:
        """Return the number.

        Raises:
            SettingsError: outside of a sentence with a condition, or if there is no number.
        """
        self.sentences.need(self.what)
        if self.missing:
            raise SettingsError(f"{self.sentences.where}: {self.what} was not run")
        return number(self.value, self.decimals)


@dataclass
class Gap:
    """One system minus another, paired by seed; ``above``, ``below`` and ``undecided`` by its
    95 % interval, ``missing`` where there is no seed that both have.

    Attributes:
        mean, low, high: in the paper's unit; NaN where missing; one seed has no interval.
        n: the seeds that both have.
        theirs: the same difference in the printed numbers, as text; empty where there is none.
        direction_read: whether a condition has asked for its direction.
    """

    sentences: Sentences
    what: str
    unit: str
    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    theirs: str = ""
    direction_read: bool = field(default=False, repr=False)

    def _says(self, answer: bool) -> bool:
        self.direction_read = True
        return answer

    @property
    def missing(self) -> bool:
        """Whether one of the two was not run, or not with the same seeds."""
        return self._says(self.n == 0)

    @property
    def above(self) -> bool:
        """Whether the first is ahead by more than its seeds leave open."""
        return self._says(self.low > 0)

    @property
    def below(self) -> bool:
        """Whether the first is behind by more than its seeds leave open."""
        return self._says(self.high < 0)

    @property
    def undecided(self) -> bool:
        """Whether the interval includes 0, or one seed has none."""
        return self._says(self.n > 0 and not self.low > 0 and not self.high < 0)

    @property
    def printed(self) -> str:
        """The difference between the two printed numbers, ``"+9.62"``.

        Raises:
            SettingsError: if the paper prints none of the two, or only one.
        """
        if not self.theirs:
            raise SettingsError(f"{self.sentences.where}: {self.what} is not printed")
        return self.theirs

    @property
    def seeds(self) -> str:
        """The number of seeds, ``"five seeds"``."""
        return f"{in_words(self.n)} seed{'s' * (self.n != 1)}"

    @property
    def short(self) -> str:
        """The difference without its interval, ``"+0.1"``.

        Raises:
            SettingsError: as for the text.
        """
        self._check()
        return number(self.mean, self._decimals, True)

    @property
    def _decimals(self) -> int:
        """The fewest at which no number but 0 itself reads as 0, at most ``MOST_DECIMALS``."""
        least = 3 if self.unit == "fraction" else 1
        shown = [abs(v) for v in (self.mean, self.low, self.high) if v and not math.isnan(v)]
        return next(
            (d for d in range(least, MOST_DECIMALS) if all(v >= 0.5 * 10**-d for v in shown)),
            MOST_DECIMALS,
        )

    def _check(self) -> None:
        self.sentences.need(self.what)
        if not self.direction_read:
            raise SettingsError(f"{self.sentences.where}: no condition asks which way {self.what}")
        if not self.n:
            raise SettingsError(f"{self.sentences.where}: {self.what} was not run")

    def __str__(self) -> str:
        """Return ``"+0.11 points (−0.03 to +0.24, n = 5)"``: in brackets the interval, seeds.

        Raises:
            SettingsError: outside of a sentence with a condition, if no condition has asked for
                its direction, or if it was not run.
        """
        self._check()
        size = f"{self.short} {self.unit}".rstrip()
        if self.n == 1:
            return f"{size} (one seed, so no interval)"
        low, high = (number(v, self._decimals, True) for v in (self.low, self.high))
        return f"{size} ({low} to {high}, n = {self.n})"
