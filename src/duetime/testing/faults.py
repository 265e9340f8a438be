"""Faults: what goes wrong in a simulated cloud, and how often. One seed decides all of it, so a failure can be replayed.

==================  =============================================================================
what                befalls
==================  =============================================================================
crash               a process, before or after a call of a back end: nothing of it runs any more
throttle            a call: nothing of it is done, or of a batch only some
lose_answer         a write: it is done, and whoever made it is told that it may not be
pause               a process: it stands still before or after a call, now and then beyond its lease
drop                a wake of a timer, a job or a pass; the table's stream drops a batch as rarely
drop_message        a message of a due queue: SQS loses none, so never unless it is said
double              a wake, a message, a batch of stream records: it comes again
delay               the same: it comes late, a message up to a minute, the others up to five
reorder             messages: one overtakes another by some seconds
skew                clocks: those of two processes differ by at most this
==================  =============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from random import Random
from typing import Self

SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Faults:
    """How often something goes wrong, from 0 to 1; each rate is one in so many calls, wakes, messages or records.

    Raises:
        ValueError: a rate is not from 0 to 1, or the skew is negative.
    """

    seed: int
    crash: float = 0.02
    throttle: float = 0.02
    lose_answer: float = 0.02
    pause: float = 0.02
    drop: float = 0.03
    drop_message: float = 0.0
    double: float = 0.03
    delay: float = 0.1
    reorder: float = 0.1
    skew: timedelta = timedelta(seconds=5)

    @classmethod
    def only(cls, seed: int, *, skew: timedelta = timedelta(0), **rates: float) -> Self:
        """Faults of the kinds that are named, and no others: ``Faults.only(17, double=0.5)``."""
        none = {field.name: 0.0 for field in fields(cls) if field.name not in {"seed", "skew"}}
        return cls(seed, skew=skew, **none | rates)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and not 0 <= value <= 1:
                raise ValueError(f"{field.name} is {value}; a rate is from 0 to 1")
        if self.skew < timedelta(0):
            raise ValueError(f"skew is {self.skew}; say how far two clocks may differ")


class Dice:
    """Everything that a simulation leaves to chance, drawn from one seed in the order in which it happens."""

    def __init__(self, faults: Faults) -> None:
        self.faults, self.are_fair = faults, False
        self.random = Random(faults.seed)  # noqa: S311 - it plays faults, it guards nothing

    def hits(self, rate: float) -> bool:
        """Whether what happens at this rate happens now; never once the faults are over."""
        return not self.are_fair and rate > 0 and self.random.random() < rate

    def is_heads(self) -> bool:
        """One or the other, each as often."""
        return self.random.getrandbits(1) == 1

    def span(self, longest: timedelta) -> timedelta:
        """How long something lasts: mostly a small part of `longest`."""
        return longest * self.random.random() ** 3

    def skew(self) -> timedelta:
        """How far a process' clock is off."""
        return timedelta(0) if self.are_fair else self.faults.skew * round(self.random.random() - 0.5, 3)

    def random_bytes(self, size: int) -> bytes:
        """Bytes for ids, in place of the machine's own."""
        return self.random.randbytes(size)
