"""Instants: their text in rows and messages, and the forms that callers may pass.

Inside duetime an instant is an aware ``datetime`` in UTC, nothing else. Its text form has a fixed width,
so that texts sort as the instants do: DynamoDB compares strings.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, get_args

from duetime.errors import InvalidArgument

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

When = datetime | timedelta
"""A caller's time: an aware datetime, or a span from now; with a zone, also a naive local time."""

Precision = Literal["second", "millisecond"]
_PRECISIONS = get_args(Precision)
"""What a span from now is rounded up to: a whole second, or nothing."""

_SECOND = timedelta(seconds=1)

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2199, 12, 31, 23, 59, 59, tzinfo=UTC)
"""The years that EventBridge's expressions permit: 1970 to 2199."""

_OFFSET = len("+00:00")


def text(instant: datetime) -> str:
    """Return ``2027-06-01T07:00:00.000000Z``: 27 characters, always in UTC and with microseconds."""
    utc = instant if instant.tzinfo is UTC else instant.astimezone(UTC)
    return utc.isoformat(timespec="microseconds")[:-_OFFSET] + "Z"


def parse(written: str) -> datetime:
    """Parse the result of `text`, or another ISO 8601 instant with an offset.

    Raises:
        InvalidArgument: it is no ISO 8601 instant, or has no offset.
    """
    try:
        instant = datetime.fromisoformat(written)
    except (ValueError, TypeError):
        raise InvalidArgument(
            "is not an ISO 8601 instant such as 2027-06-01T09:00:00Z", value=written
        ) from None
    if instant.tzinfo is None:
        raise InvalidArgument("has no offset; write 2027-06-01T09:00:00Z or …+02:00", value=written)
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise InvalidArgument("is outside of the years 1 to 9999 in UTC", value=written) from None


def floor(at: datetime, every: timedelta) -> datetime:
    """Return the latest multiple of a span since 1970 at or before an instant: a full minute or hour."""
    return EARLIEST + (at - EARLIEST) // every * every


def resolve(at: When, *, now: datetime, tz: str | None = None, field: str = "at") -> datetime:
    """Return the instant of a caller's time.

    An aware datetime, a span from now, or a local time with its zone.

    A local time that occurs twice is read as Python reads it, by ``fold``: the first one by default. `field`
    is the argument's name in errors.

    Raises:
        InvalidArgument: naive without a zone, not on that zone's clock, or outside the years 1970 to 2199.
    """
    try:
        instant = _in_utc(at, now, tz, field)
    except OverflowError:
        instant = None
    if instant is None or not EARLIEST <= instant <= LATEST:
        shown = at.isoformat() if isinstance(at, datetime) else str(at)
        raise InvalidArgument(
            "lies outside the years 1970 to 2199, which EventBridge admits", value=shown, field=field
        )
    return instant


def due_time(at: When, *, now: datetime, tz: str | None = None, precision: Precision = "second") -> datetime:
    """Return the due time that a caller names; a span of more than 0 ends at a whole second.

    Messages for whole seconds can be sent together. With the precision `millisecond`, a span stays as it is.

    Raises:
        InvalidArgument: see `resolve`; or there is no such precision.
    """
    if precision not in _PRECISIONS:
        raise InvalidArgument(
            "is no precision; use second or millisecond", value=precision, field="precision"
        )
    due_at = resolve(at, now=now, tz=tz)
    if precision == "millisecond" or not isinstance(at, timedelta) or due_at <= now or not due_at.microsecond:
        return due_at
    return due_at.replace(microsecond=0) + _SECOND


NOT_ZONES, OTHER_CLOCKS = ("localtime", "posixrules", "Factory"), ("posix/", "right/")
"""Files of the zone database that are no zones, and folders with other clocks; as in `duetime.cadence.zones`.

Callers that only schedule do not load the cadences.
"""


def zone(name: str) -> ZoneInfo:
    """Return the IANA zone of that name.

    Raises:
        InvalidArgument: there is no such zone.
    """
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - most steps know UTC alone

    text = str(name)
    try:
        return ZoneInfo("" if text in NOT_ZONES or text.startswith(OTHER_CLOCKS) else text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidArgument(
            "is not an IANA time zone such as Europe/Paris", value=name, field="tz"
        ) from None


def _in_utc(at: When, now: datetime, tz: str | None, field: str) -> datetime:
    if isinstance(at, timedelta):
        return now + at
    if not isinstance(at, datetime):
        raise InvalidArgument("is neither a datetime nor a timedelta", value=at, field=field)
    if at.tzinfo is not None:
        if tz is not None:
            raise InvalidArgument(
                f"has an offset of its own; leave out tz={tz!r}", value=at.isoformat(), field="tz"
            )
        return at.astimezone(UTC)
    if tz is None:
        raise InvalidArgument(
            "is naive; make it aware, or pass tz='Europe/Paris'", value=at.isoformat(), field=field
        )
    where = zone(tz)
    instant = at.replace(tzinfo=where).astimezone(UTC)
    if instant.astimezone(where).replace(tzinfo=None, fold=0) != at.replace(fold=0):
        problem = f"does not exist in {tz}: the clock is put forward over it; choose another"
        raise InvalidArgument(problem, value=at.isoformat(), field=field)
    return instant
