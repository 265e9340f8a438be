"""The selection: filters that actions or runs must meet. Facts only; `duetime.actions.search` finds them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Self, TypedDict

from duetime import ids, instant
from duetime.errors import InvalidArgument, truncate
from duetime.instant import When
from duetime.model.action import Action, Status
from duetime.model.content_filter import PayloadField, checked_error, checked_fields, has_error

if TYPE_CHECKING:
    from duetime.payload import Payload

LARGEST_PAGE = 200
"""The most rows of a page."""
MOST_IDS = 100
"""The most ids of one filter."""
RETRYING = "retrying"
"""The filter for pending actions with a failed attempt. It is no status of a row."""


class Filters(TypedDict, total=False):
    """The filters for actions; an action must meet all of them.

    A bound is an aware datetime, or a span from now: ``-timedelta(hours=2)`` is two hours before each call.
    """

    status: Status | str | Collection[Status | str] | None
    """One status, or several; ``retrying`` means the pending ones whose last attempt failed."""
    type: str | type[Payload] | None
    """A payload type, or its name."""
    ids: Collection[str] | None
    """The actions and runs with these ids, 100 at most."""
    correlation_id: str | None
    job: str | None
    """Runs of this job."""
    runs: bool | None
    """False leaves out the runs of jobs, which a search for failed actions includes."""
    due_after: When | None
    due_until: When | None
    created_after: When | None
    created_until: When | None
    error: str | None
    """A text in the message of the last attempt; upper case is no matter, and ``…`` stands for anything."""
    payload: Mapping[str, str | float | None] | None
    """Values of payload fields: ``{"customer": 42, "order.id": "o-1"}``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Checked filters for actions. A range excludes its start and includes its end."""

    statuses: frozenset[Status] = frozenset(Status)
    retrying: bool = False
    """Whether it also includes the actions that wait for a retry."""
    type: str | None = None
    action_ids: tuple[ids.ActionId, ...] = ()
    """In order; empty: any."""
    correlation_id: str | None = None
    job: ids.JobName | None = None
    runs: bool | None = None
    """False excludes runs of jobs."""
    due_after: datetime | None = None
    due_until: datetime | None = None
    created_after: datetime | None = None
    created_until: datetime | None = None
    error: str | None = None
    payload: tuple[PayloadField, ...] = ()

    @classmethod
    def parse(cls, filters: Filters, now: datetime) -> Self:
        """Check a caller's filters; a filter that is None is ignored.

        Raises:
            InvalidArgument: there is no such filter, or no action can meet them; or the correlation id or the
                job's name is malformed; or a bound is naive, or lies outside the years 1970 to 2199.
        """
        if unknown := filters.keys() - Filters.__annotations__.keys():
            known = ", ".join(Filters.__annotations__)
            raise InvalidArgument(f"there is no filter {truncate(min(unknown), 40)!r}; there are {known}")
        job, correlation_id = filters.get("job"), filters.get("correlation_id")
        bounds: dict[str, When] = {name: when for name in _BOUNDS if (when := filters.get(name)) is not None}  # type: ignore[misc]
        statuses, retrying = _statuses(filters.get("status"))
        return cls(
            statuses=statuses,
            retrying=retrying,
            type=_type_name(filters.get("type")),
            action_ids=_checked_ids(filters.get("ids")),
            correlation_id=ids.optional_key("correlation_id", correlation_id),
            job=None if job is None else ids.job_name(job),
            runs=_checked_runs(filters.get("runs")),
            error=checked_error(filters.get("error")),
            payload=checked_fields(filters.get("payload")),
            **{name: instant.resolve(when, now=now, field=name) for name, when in bounds.items()},
        )

    def __post_init__(self) -> None:
        for after, until in _SPANS:
            start, end = getattr(self, after), getattr(self, until)
            if start is not None and end is not None and start >= end:
                raise InvalidArgument(f"{after} must lie before {until}")

        if self.runs and not self.has_runs:
            raise InvalidArgument(
                "runs of jobs are found by job, by id, or among failed actions; name one of them"
            )
        if self.runs is False and self.job is not None:
            raise InvalidArgument("job means runs of this job; leave out runs, or the job")

    @property
    def is_failed_only(self) -> bool:
        """Whether it includes failed actions alone."""
        return self.statuses == _FAILED and not self.retrying

    @property
    def has_runs(self) -> bool:
        """Whether its search finds runs of jobs too: the index of failed actions has both, and ids may be."""
        return self.runs is not False and (
            self.job is not None or self.is_failed_only or bool(self.action_ids)
        )

    @property
    def is_unrestricted(self) -> bool:
        """Whether it includes every action."""
        return replace(self, runs=None) == type(self)()

    @property
    def has_due_range(self) -> bool:
        """Whether it has a bound on the due time."""
        return self.due_after is not None or self.due_until is not None

    @property
    def is_scan(self) -> bool:
        """Whether it has a filter on contents, which no index holds."""
        return self.error is not None or bool(self.payload)

    def admits_payload(self, payload: object) -> bool:
        """Return whether a row's payload, as JSON, meets the filters on it."""
        return all(field.matches(payload) for field in self.payload)

    def admits(self, row: Action) -> bool:
        """Return whether a row meets all filters but those on its payload."""
        return (
            (row.status in self.statuses or (self.retrying and row.is_retrying))
            and not (self.runs is False and row.job)
            and (not self.action_ids or row.id in self.action_ids)
            and not (self.is_failed_only and not row.is_dead_letter)
            and all(getattr(self, name) in {None, getattr(row, name)} for name in _EQUAL)
            and _lies(row.due_at, self.due_after, self.due_until)
            and _lies(row.created_at, self.created_after, self.created_until)
            and (self.error is None or has_error(row, self.error))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSelection:
    """Checked filters for the runs of one job; their range is one of nominal times."""

    statuses: frozenset[Status] = frozenset(Status)
    retrying: bool = False
    """Whether it also includes the runs that wait for a retry."""
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
            InvalidArgument: there is no such status, or the range ends before it begins; or a bound is naive,
                or lies outside the years 1970 to 2199.
        """
        statuses, retrying = _statuses(status)
        return cls(
            statuses=statuses,
            retrying=retrying,
            nominal_after=_bound("nominal_after", nominal_after, now),
            nominal_until=_bound("nominal_until", nominal_until, now),
        )

    def __post_init__(self) -> None:
        start, end = self.nominal_after, self.nominal_until
        if start is not None and end is not None and start >= end:
            raise InvalidArgument("nominal_until must lie after nominal_after", field="nominal_until")

    def admits(self, row: Action) -> bool:
        """Return whether a run meets all filters."""
        is_admitted = row.status in self.statuses or (self.retrying and row.is_retrying)
        return is_admitted and _lies(row.nominal_at, self.nominal_after, self.nominal_until)


def _bound(name: str, when: When | None, now: datetime) -> datetime | None:
    return None if when is None else instant.resolve(when, now=now, field=name)


def check_limit(limit: object, most: int = LARGEST_PAGE) -> None:
    """Reject a page size out of range.

    Raises:
        InvalidArgument: `limit` is not an integer from 1 to `most`.
    """
    if not isinstance(limit, int) or not 1 <= limit <= most:
        raise InvalidArgument(f"limit is {limit!r}; allowed is 1 to {most}")


_FAILED = frozenset({Status.FAILED})
_EQUAL = ("type", "correlation_id", "job")
_SPANS = (("due_after", "due_until"), ("created_after", "created_until"))
_BOUNDS = tuple(name for span in _SPANS for name in span)


def _lies(at: datetime, after: datetime | None, until: datetime | None) -> bool:
    return (after is None or at > after) and (until is None or at <= until)


def _checked_runs(value: object) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise InvalidArgument(f"runs is {truncate(value, 40)!r}; use true or false, or leave it out")
    return value


def _checked_ids(value: Collection[str] | None) -> tuple[ids.ActionId, ...]:
    """Return the distinct ids in order.

    Raises:
        InvalidArgument: it is no list of 1 to `MOST_IDS` ids.
    """
    if value is None:
        return ()
    if isinstance(value, str) or not 1 <= len(value) <= MOST_IDS:
        given = f"the text {truncate(value, 60)!r}" if isinstance(value, str) else f"a list of {len(value)}"
        raise InvalidArgument(f"ids is {given}; use a list of 1 to {MOST_IDS} ids")
    if strange := [one for one in value if not ids.is_action_id(one)]:
        raise InvalidArgument(
            f"ids has {truncate(strange[0], 60)!r}, which is no action's id; copy ids from a list of actions"
        )
    return tuple(ids.ActionId(one) for one in sorted(set(value)))


def _type_name(value: str | type[Payload] | None) -> str | None:
    name: object = getattr(value, "type_name", value)
    if name is not None and not (isinstance(name, str) and name):
        raise InvalidArgument(
            f"type {truncate(value, 60)!r} is not a payload type; use a payload's class, or its type's name"
        )
    return name


def _statuses(value: Status | str | Collection[Status | str] | None) -> tuple[frozenset[Status], bool]:
    """Return the statuses of a filter, and whether it names ``retrying``."""
    if value is None:
        return frozenset(Status), False
    try:
        names = frozenset([value] if isinstance(value, str) else value)
        found = frozenset(Status(name) for name in names - {RETRYING})
    except (ValueError, TypeError):
        raise InvalidArgument(
            f"status {truncate(value, 60)!r} is unknown; there are {', '.join(Status)}, {RETRYING}"
        ) from None
    if not names:
        raise InvalidArgument("status is empty; leave it out for all of them")
    return found, RETRYING in names
