"""Retry policies, and the exceptions by which a handler overrides them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from itertools import islice

from duetime.errors import DeclarationError, DuetimeError, truncate

Duration = timedelta | int | float
"""A ``timedelta``, or a number of seconds."""

MOST_ATTEMPTS = 100
MOST_BACKOFFS = 20
LONGEST_BACKOFF = timedelta(days=90)


class Retry(DuetimeError):
    """A handler raises it to run again, after `after` or the policy's back-off; it uses an attempt."""

    code = "retry"

    def __init__(
        self, after: Duration | None = None, reason: str = "the handler requested another attempt"
    ) -> None:
        self.after = None if after is None else duration("Retry(after=…)", after)
        super().__init__(reason)


class Continue(DuetimeError):
    """A handler raises it to run again at once, from its checkpoint; it uses up no attempt.

    The run must have stored another checkpoint than the one with which it began; otherwise the attempt fails.
    """

    code = "continue"

    def __init__(self, reason: str = "the handler continues from its checkpoint") -> None:
        super().__init__(reason)


class Fatal(DuetimeError):
    """A handler raises it to fail the action without more attempts."""

    code = "fatal"


def duration(what: str, value: Duration) -> timedelta:
    """Return `value` as a ``timedelta`` of 0 seconds to 90 days.

    Raises:
        DeclarationError: it is no duration, negative, or longer.
    """
    if isinstance(value, bool) or not isinstance(value, timedelta | int | float):
        raise DeclarationError(f"{what} is {_shown(value)}; use a timedelta, or a number of seconds")
    try:
        span = value if isinstance(value, timedelta) else timedelta(seconds=value)
    except (OverflowError, ValueError):
        span = None
    if span is None or not timedelta(0) <= span <= LONGEST_BACKOFF:
        raise DeclarationError(
            f"{what} is {_shown(value)}; allowed is 0 seconds to {LONGEST_BACKOFF.days} days"
        )
    return span


def exponential(
    first: Duration, *, factor: float = 2.0, limit: Duration = timedelta(hours=1)
) -> tuple[timedelta, ...]:
    """Return back-offs that grow from `first` by `factor` up to `limit`, which then repeats."""
    start, most = duration("exponential(first)", first), duration("exponential(limit=…)", limit)
    if not _is_number(factor) or not 1 < factor < float("inf") or not timedelta(0) < start <= most:
        raise DeclarationError(
            f"exponential({first!r}, factor={_shown(factor)}, limit={limit!r}):"
            " the factor must be a number above 1"
            " and the first back-off lie between 0 and the limit"
        )
    return (*islice(_growing(start, factor, most), MOST_BACKOFFS - 1), most)


def _growing(start: timedelta, factor: float, most: timedelta) -> Iterator[timedelta]:
    seconds, limit = start.total_seconds(), most.total_seconds()
    while seconds < limit:
        yield timedelta(seconds=seconds)
        seconds *= factor


@dataclass(frozen=True, slots=True, init=False)
class RetryPolicy:
    """The total number of attempts, and the wait before each further one.

    `attempts` counts runs: 3 means one and two more. The last back-off of a list repeats. `jitter` widens a
    back-off by up to that share of it. After `give_up_after` since the action was first due no further run is
    started.
    """

    attempts: int
    backoff: tuple[timedelta, ...]
    jitter: float
    give_up_after: timedelta | None

    def __init__(
        self,
        attempts: int = 3,
        backoff: Duration | Sequence[Duration] = (60, 300, 900),
        jitter: float = 0.1,
        give_up_after: Duration | None = None,
    ) -> None:
        given = {
            "attempts": attempts,
            "backoff": back_offs(backoff),
            "jitter": jitter,
            "give_up_after": None if give_up_after is None else duration("give_up_after", give_up_after),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        if isinstance(self.attempts, bool) or not isinstance(self.attempts, int):
            raise DeclarationError(f"attempts is {_shown(self.attempts)}; use a whole number")
        if not 1 <= self.attempts <= MOST_ATTEMPTS:
            raise DeclarationError(
                f"attempts is {_shown(self.attempts)}; it counts all runs: 1 to {MOST_ATTEMPTS} are allowed"
            )
        if not 1 <= len(self.backoff) <= MOST_BACKOFFS:
            raise DeclarationError(
                f"backoff has {len(self.backoff)} entries; allowed are 1 to {MOST_BACKOFFS}"
            )
        if not _is_number(self.jitter) or not 0 <= self.jitter <= 1:
            raise DeclarationError(
                f"jitter is {_shown(self.jitter)}; it is a share of the back-off, from 0 to 1"
            )

    def delay(self, attempt: int, jitter_draw: float) -> timedelta:
        """Return how long to wait after run number `attempt`; `jitter_draw` in [0, 1) draws the jitter."""
        base = self.backoff[min(attempt, len(self.backoff)) - 1]
        return base * (1 + self.jitter * jitter_draw)

    def text(self) -> str:
        """Return the short form that a row stores; `parse` reads it."""
        return _written(self)

    @staticmethod
    def parse(written: str) -> RetryPolicy:
        """Parse the result of `text`."""
        return _parsed(written)


@lru_cache(maxsize=256)
def _written(policy: RetryPolicy) -> str:
    give_up = None if policy.give_up_after is None else policy.give_up_after.total_seconds()
    waits = [_plain(wait.total_seconds()) for wait in policy.backoff]
    return json.dumps([policy.attempts, waits, policy.jitter, give_up], separators=(",", ":"))


@lru_cache(maxsize=256)
def _parsed(written: str) -> RetryPolicy:
    """Return the policy that rows store; rows of a type have the same one."""
    attempts, waits, jitter, give_up = json.loads(written)
    return RetryPolicy(attempts, waits, jitter, give_up)


def policy(value: object) -> RetryPolicy:
    """Return `value` as a policy; the default one for None.

    Raises:
        DeclarationError: it is no retry policy.
    """
    if value is None:
        return RetryPolicy()
    if not isinstance(value, RetryPolicy):
        raise DeclarationError(f"retry is {_shown(value)}; use RetryPolicy(attempts=3) or another")
    return value


def back_offs(value: Duration | Sequence[Duration]) -> tuple[timedelta, ...]:
    """Return one back-off or a list of them as a tuple; text is rejected.

    Raises:
        DeclarationError: one of them is no duration of 0 seconds to 90 days.
    """
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return tuple(duration("backoff", wait) for wait in value)
    if not isinstance(value, timedelta | int | float):
        raise DeclarationError(
            f"backoff is {_shown(value)}; use a timedelta, a number of seconds, or a list of them"
        )
    return (duration("backoff", value),)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: object) -> str:
    try:
        return truncate(repr(value), 60)
    except ValueError:  # Python writes out no integer of thousands of digits
        return f"a number of {type(value).__name__} too long to show"


def _plain(seconds: float) -> int | float:
    return int(seconds) if seconds.is_integer() else seconds


NEVER = RetryPolicy(attempts=1)
"""A single attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """An operator's values in place of a retry policy's; None retains the policy's.

    Attributes:
        attempts: runs in all.
        backoff: seconds before each further run; the last one repeats.
        jitter: the share by which a back-off gets longer at most, at random: 0.1 is 10 %.
    """

    attempts: int | None = None
    backoff: tuple[float, ...] | None = None
    jitter: float | None = None

    def applied(self, policy: RetryPolicy) -> RetryPolicy:
        """Return the policy with these values.

        Raises:
            DeclarationError: a setting is out of its range.
        """
        return RetryPolicy(
            policy.attempts if self.attempts is None else self.attempts,
            policy.backoff if self.backoff is None else self.backoff,
            policy.jitter if self.jitter is None else self.jitter,
            policy.give_up_after,
        )
