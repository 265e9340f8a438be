"""The selection: which actions are meant, by what is said of them. Facts only; `search` finds them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Self, TypedDict

from duetime import ids, instant
from duetime.action import Action, Status
from duetime.errors import InvalidSelection

if TYPE_CHECKING:
    from duetime.payload import Payload

Bound = datetime | timedelta
"""An aware datetime, or a span from now: ``-timedelta(hours=2)`` is two hours ago."""


class Filters(TypedDict, total=False):
    """What may be said of the actions that are meant; all of it must hold."""

    status: Status | str | Collection[Status | str] | None
    """A status, or several of which it must have one."""
    type: str | type[Payload] | None
    """A payload type, or its name."""
    correlation_id: str | None
    job: str | None
    """Runs of this job."""
    due_after: Bound | None
    due_until: Bound | None
    created_after: Bound | None
    created_until: Bound | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Actions that meet all that is said: of a span, what lies after its start, and at or before its end."""

    statuses: frozenset[Status] = frozenset(Status)
    type: str | None = None
    correlation_id: str | None = None
    job: ids.JobName | None = None
    due_after: datetime | None = None
    due_until: datetime | None = None
    created_after: datetime | None = None
    created_until: datetime | None = None

    @classmethod
    def of(cls, said: Filters, now: datetime) -> Self:
        """Check what a caller says.

        Raises:
            InvalidSelection: it can select nothing.
            InvalidIdentifier: the correlation id or the job's name is none.
            InvalidTime: a bound is naive, or lies outside the years 1970 to 2199.
        """
        kind, job, correlation_id = said.get("type"), said.get("job"), said.get("correlation_id")
        bounds: dict[str, Bound] = {name: when for name in _BOUNDS if (when := said.get(name)) is not None}  # type: ignore[misc]
        return cls(
            statuses=_statuses(said.get("status")),
            type=kind.type_name if isinstance(kind, type) else kind,
            correlation_id=None if correlation_id is None else ids.correlation_id(correlation_id),
            job=None if job is None else ids.job_name(job),
            **{name: instant.resolve(when, now=now) for name, when in bounds.items()},
        )

    def __post_init__(self) -> None:
        for after, until in _SPANS:
            start, end = getattr(self, after), getattr(self, until)
            if start is not None and end is not None and start >= end:
                raise InvalidSelection(f"{after} must lie before {until}")

    @property
    def says_nothing(self) -> bool:
        """Whether every action is meant."""
        return self == Selection()

    def admits(self, row: Action) -> bool:
        """Whether a row is one of those meant."""
        equal = ("type", "correlation_id", "job")
        if row.status not in self.statuses or any(
            getattr(self, each) not in {None, getattr(row, each)} for each in equal
        ):
            return False
        is_due = _lies(row.due_at, self.due_after, self.due_until)
        return is_due and _lies(row.created_at, self.created_after, self.created_until)


_SPANS = (("due_after", "due_until"), ("created_after", "created_until"))
_BOUNDS = tuple(name for span in _SPANS for name in span)


def _lies(at: datetime, after: datetime | None, until: datetime | None) -> bool:
    return (after is None or at > after) and (until is None or at <= until)


def _statuses(said: Status | str | Collection[Status | str] | None) -> frozenset[Status]:
    if said is None:
        return frozenset(Status)
    try:
        found = frozenset(Status(each) for each in ([said] if isinstance(said, str) else said))
    except ValueError:
        raise InvalidSelection(f"status {said!r} is none; there are {', '.join(Status)}") from None
    if not found:
        raise InvalidSelection("status is empty; leave it out for all of them")
    return found
