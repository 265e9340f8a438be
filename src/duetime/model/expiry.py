"""The expiry of one-shots: the instant from which on no run may begin. Pure.

A caller gives an action its own (`Action.expires_at`), or a type has one for all its actions, counted from
their due time. An action that expires is skipped; it fails instead if its type says so, and if a worker died
in its run.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from duetime.errors import DeclarationError, InvalidArgument
from duetime.instant import resolve, text
from duetime.model.action import Action
from duetime.retry import Duration, duration

OnExpiry = Literal["skip", "fail"]
"""The end of an expired action: skipped, or failed, which makes it a dead letter."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """The expiry of a type's actions; one of an action's own comes first."""

    after: timedelta | None = None
    """After their due time, or the last redrive."""
    on_expiry: OnExpiry = "skip"

    def of(self, row: Action) -> datetime | None:
        """Return when an action expires; None if it never does, as the runs of jobs."""
        if row.expires_at is not None or self.after is None or row.job is not None:
            return row.expires_at
        return row.tried_since + self.after


NO_EXPIRY = Expiry()


def expiry_of(after: Duration | None, on_expiry: OnExpiry) -> Expiry:
    """Return the declared expiry of a type.

    Raises:
        DeclarationError: the span is none above 0, or there is no such end.
    """
    if on_expiry not in get_args(OnExpiry):
        raise DeclarationError(f"on_expiry is {on_expiry!r}; use 'skip' or 'fail'")
    if after is None:
        return Expiry(None, on_expiry)
    span = duration("expires_after", after)
    if not span:
        raise DeclarationError("expires_after is 0 s, so no run could begin; use a longer span")
    return Expiry(span, on_expiry)


def expiry_time(
    due_at: datetime,
    expires_at: datetime | None,
    expires_after: timedelta | None,
    *,
    now: datetime,
    tz: str | None = None,
) -> datetime | None:
    """Return the expiry that a caller gives an action due at `due_at`; None without one.

    Args:
        due_at: the action's due time.
        expires_at: an instant.
        expires_after: a span after the due time.
        now: the present time.
        tz: the zone of a naive `expires_at`.

    Raises:
        InvalidArgument: both are given, one is no time, or it is not after the due time.
    """
    if expires_at is None and expires_after is None:
        return None
    if expires_at is not None and expires_after is not None:
        raise InvalidArgument(
            "is given beside expires_at; pass one of them", value=str(expires_after), field="expires_after"
        )
    if expires_after is not None:
        problem = "is no timedelta above 0; it counts from the due time"
        if not isinstance(expires_after, timedelta):
            raise InvalidArgument(problem, value=expires_after, field="expires_after")
        if expires_after <= timedelta(0):
            raise InvalidArgument(problem, value=expires_after, field="expires_after")
        return resolve(expires_after, now=due_at, field="expires_after")
    if not isinstance(expires_at, datetime):
        problem = "is no datetime; pass a timedelta from the due time as expires_after"
        raise InvalidArgument(problem, value=expires_at, field="expires_at")
    is_local = expires_at.tzinfo is None
    until = resolve(expires_at, now=now, tz=tz if is_local else None, field="expires_at")
    check_expiry(due_at, until)
    return until


def check_expiry(due_at: datetime, expires_at: datetime | None) -> None:
    """Check that an action can begin before its expiry.

    Raises:
        InvalidArgument: it expires when it is due, or before.
    """
    if expires_at is not None and expires_at <= due_at:
        problem = f"is not after the due time, {text(due_at)}, so no run could begin; choose a later expiry"
        raise InvalidArgument(problem, value=text(expires_at), field="expires_at")
