"""The selection: filters that actions or runs must meet. Facts only; `duetime.actions.search` finds them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Self, TypedDict

from duetime import ids, instant
from duetime.errors import InvalidSelection, truncate
from duetime.instant import When
from duetime.model.action import Action, Status

if TYPE_CHECKING:
    from duetime.payload import Payload

LARGEST_PAGE = 200
"""The most rows of a page."""


class Filters(TypedDict, total=False):
    """The filters for actions; an action must meet all of them.

    A bound is an aware datetime, or a span from now: ``-timedelta(hours=2)`` is two hours before each call.
    """

    status: Status | str | Collection[Status | str] | None
    """One status, or several."""
    type: str | type[Payload] | None
    """A payload type, or its name."""
    correlation_id: str | None
    job: str | None
    """Runs of this job."""
    due_after: When | None
    due_until: When | None
    created_after: When | None
    created_until: When | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Checked filters for actions. A range excludes its start and includes its end."""

    statuses: frozenset[Status] = frozenset(Status)
    type: str | None = None
    correlation_id: str | None = None
    job: ids.JobName | None = None
    due_after: datetime | None = None
    due_until: datetime | None = None
    created_after: datetime | None = None
    created_until: datetime | None = None

    @classmethod
    def parse(cls, filters: Filters, now: datetime) -> Self:
        """Check a caller's filters; a filter that is None is ignored.

        Raises:
            InvalidSelection: there is no such filter, or no action can meet them.
            InvalidIdentifier: the correlation id or the job's name is malformed.
            InvalidTime: a bound is naive, or lies outside the years 1970 to 2199.
        """
        if unknown := filters.keys() - Filters.__annotations__.keys():
            known = ", ".join(Filters.__annotations__)
            raise InvalidSelection(f"there is no filter {truncate(min(unknown), 40)!r}; there are {known}")
        job, correlation_id = filters.get("job"), filters.get("correlation_id")
        bounds: dict[str, When] = {name: when for name in _BOUNDS if (when := filters.get(name)) is not None}  # type: ignore[misc]
        return cls(
            statuses=_statuses(filters.get("status")),
            type=_type_name(filters.get("type")),
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
    def is_unrestricted(self) -> bool:
        """Whether it includes every action."""
        return self == Selection()

    @property
    def has_due_range(self) -> bool:
        """Whether it has a bound on the due time."""
        return self.due_after is not None or self.due_until is not None

    def admits(self, row: Action) -> bool:
        """Return whether a row meets all filters."""
        return (
            row.status in self.statuses
            and all(getattr(self, name) in {None, getattr(row, name)} for name in _EQUAL)
            and _lies(row.due_at, self.due_after, self.due_until)
            and _lies(row.created_at, self.created_after, self.created_until)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSelection:
    """Checked filters for the runs of one job; their range is one of nominal times."""

    statuses: frozenset[Status] = frozenset(Status)
    nominal_after: datetime | None = None
    nominal_until: datetime | None = None

    @classmethod
    def parse(
        cls,
        status: Status | str | Collection[Status | str] | None,
        nominal_after: When | None,
        nominal_until: When | None,
        now: datetime,
    ) -> Self:
        """Check a caller's filters; a filter that is None is ignored.

        Raises:
            InvalidSelection: there is no such status, or the range ends before it begins.
            InvalidTime: a bound is naive, or lies outside the years 1970 to 2199.
        """
        return cls(
            statuses=_statuses(status),
            nominal_after=None if nominal_after is None else instant.resolve(nominal_after, now=now),
            nominal_until=None if nominal_until is None else instant.resolve(nominal_until, now=now),
        )

    def __post_init__(self) -> None:
        start, end = self.nominal_after, self.nominal_until
        if start is not None and end is not None and start >= end:
            raise InvalidSelection("the span of nominal times must begin before it ends")

    def admits(self, row: Action) -> bool:
        """Return whether a run meets all filters."""
        return row.status in self.statuses and _lies(row.nominal_at, self.nominal_after, self.nominal_until)


def check_limit(limit: object, most: int = LARGEST_PAGE) -> None:
    """Reject a page size out of range.

    Raises:
        InvalidSelection: `limit` is not an integer from 1 to `most`.
    """
    if not isinstance(limit, int) or not 1 <= limit <= most:
        raise InvalidSelection(f"limit is {limit!r}; allowed is 1 to {most}")


_EQUAL = ("type", "correlation_id", "job")
_SPANS = (("due_after", "due_until"), ("created_after", "created_until"))
_BOUNDS = tuple(name for span in _SPANS for name in span)


def _lies(at: datetime, after: datetime | None, until: datetime | None) -> bool:
    return (after is None or at > after) and (until is None or at <= until)


def _type_name(value: str | type[Payload] | None) -> str | None:
    name: object = getattr(value, "type_name", value)
    if name is not None and not (isinstance(name, str) and name):
        raise InvalidSelection(
            f"type {truncate(value, 60)!r} is not a payload type; use a payload's class, or its type's name"
        )
    return name


def _statuses(value: Status | str | Collection[Status | str] | None) -> frozenset[Status]:
    if value is None:
        return frozenset(Status)
    try:
        found = frozenset(Status(name) for name in ([value] if isinstance(value, str) else value))
    except (ValueError, TypeError):
        raise InvalidSelection(
            f"status {truncate(value, 60)!r} is unknown; there are {', '.join(Status)}"
        ) from None
    if not found:
        raise InvalidSelection("status is empty; leave it out for all of them")
    return found
