"""How many worlds of each kind a run lives through, and which.

`make test` lives through a few fixed ones. `make proof` lives through more: of each kind a share of
``--seeds``. Each day it begins at another seed, so that it tries worlds that no day before has tried;
``--first-seed`` repeats those of another day.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from duetime.clock import SystemClock

SEEDS, FIRST_OF_MANY, FIRST_DAY = 20_000, 100_000, date(2026, 1, 1)
LEAST = 3


@dataclass(frozen=True)
class Kind:
    """A kind of world."""

    few: Sequence[int]
    """The seeds of `make test`."""
    share: Fraction
    """How many worlds `make proof` lives through for each of its seeds."""
    chunk: int
    """How many worlds one test lives through."""

    def chunks_of_few(self) -> list[Sequence[int]]:
        """Return the seeds of `make test`, for one test each."""
        return self._chunks(self.few)

    def chunks_of_many(self, first_seed: int, seeds: int) -> list[Sequence[int]]:
        """Return the seeds of `make proof`, for one test each: those of another day are others."""
        begin, end = (int(number * self.share) for number in (first_seed, first_seed + seeds))
        return self._chunks(range(begin, max(end, begin + LEAST)))

    def _chunks(self, seeds: Sequence[int]) -> list[Sequence[int]]:
        return [seeds[at : at + self.chunk] for at in range(0, len(seeds), self.chunk)]


KINDS = {
    "test_seeds": Kind((*range(100, 115), *range(5), *range(200, 205)), Fraction(1), 15),
    "test_small_worlds": Kind(range(100), Fraction(2), 200),
    "test_batches": Kind(range(6), Fraction(1, 5), 10),
    "test_regions": Kind(range(3), Fraction(1, 50), 3),
    "test_breakers": Kind(range(3), Fraction(1, 50), 7),
    "test_checkpoints": Kind(range(3), Fraction(1, 50), 7),
    "test_backfills": Kind(range(3), Fraction(1, 50), 7),
    "test_long_lines": Kind(range(4), Fraction(1, 50), 7),
}
"""By the module that tests them. Of full worlds, each third hundred has pauses, and each third rates."""


def first_seed_of(seeds: int, today: date | None = None) -> int:
    """Return the first seed of a day."""
    today = today or SystemClock().now().date()
    return FIRST_OF_MANY + (today - FIRST_DAY).days * seeds


def name_of(seeds: Sequence[int]) -> str:
    """Return a test's name for its seeds."""
    return f"{seeds[0]}-{seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
