"""Faults of a simulated cloud and their rates. A seed determines them, so a failure can be replayed.

==================  =============================================================================
fault               effect
==================  =============================================================================
hang                a call takes its whole time-out, then fails, applied or not; so do all its calls
                    about the same action or job, or all of its service, for ten minutes
crash               a process ends before or after a call of a back end
throttle            a call has no effect; a batch has a partial one
lose_answer         a write succeeds, but its caller gets an error
late                a write's caller gives up or repeats it; the first request arrives up to ten minutes later
pause               a process pauses before or after a call, sometimes beyond its lease
drop                a wake of a timer, job or pass is lost, or a batch of the stream
drop_message        a message of a due queue is lost; off by default, since SQS loses none
lose_all            all messages of all due queues are lost at one instant of the first two hours; off by
                    default, too
double              a wake, a message or a batch of stream records comes twice
delay               the same come late: a message up to one minute, the others up to five
reorder             messages overtake each other by some seconds
skew                the clocks of two processes differ by at most this
==================  =============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Self


@dataclass(frozen=True, slots=True)
class Faults:
    """The rates of faults, from 0 to 1, for each call, wake, message or record; `lose_all` for each cloud.

    Raises:
        ValueError: a rate is not from 0 to 1, or the skew is negative.
    """

    seed: int
    crash: float = 0.02
    throttle: float = 0.02
    lose_answer: float = 0.02
    late: float = 0.02
    hang: float = 0.002
    pause: float = 0.02
    drop: float = 0.03
    drop_message: float = 0.0
    lose_all: float = 0.0
    double: float = 0.03
    delay: float = 0.1
    reorder: float = 0.1
    skew: timedelta = timedelta(seconds=5)

    @classmethod
    def only(cls, seed: int, *, skew: timedelta = timedelta(0), **rates: float) -> Self:
        """Return faults of the named kinds only: ``Faults.only(17, double=0.5)``."""
        none = {field.name: 0.0 for field in fields(cls) if field.name not in {"seed", "skew"}}
        return cls(seed, skew=skew, **none | rates)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and not 0 <= value <= 1:
                raise ValueError(f"{field.name} is {value}; a rate must be from 0 to 1")
        if self.skew < timedelta(0):
            raise ValueError(f"skew is {self.skew}; it must not be negative")


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was received too often, or an invocation that failed too often."""

    at: datetime
    function: str
    about: str = ""
    """The action's id, for a message."""
