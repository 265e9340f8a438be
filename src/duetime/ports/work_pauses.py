"""Pauses of work, and the failures that open a breaker: partitions of the system, which no caller may write.

The sort key of a pause is its scope, its name and its id. A tenant's and type's failures are one item.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from duetime import instant
from duetime.errors import Unsupported
from duetime.ids import SEPARATOR, TenantId
from duetime.model.breaker import FailureCount
from duetime.model.work_pause import BreakerState, PauseScope, WorkPause, WorkPauseChange
from duetime.ports.keyed_items import (
    FLAG,
    INSTANT,
    IS_NEW,
    NUMBER,
    SECONDS,
    TEXT,
    Cancelled,
    Fields,
    Form,
    Guard,
    Key,
    Keyed,
    Kind,
    Presence,
    Query,
    Write,
    nothing,
)

_STORED_AFTER_END = timedelta(days=1)
_BREAKER = {"open_for": SECONDS, "probes_at": INSTANT, "revision": NUMBER}
_PROBE = {"probe": TEXT, "probe_until": INSTANT}
PAUSE = Kind(
    name="pause",
    partition="system#pauses",
    sort="scope#name#id",
    fields={"reason": TEXT, "by": TEXT, "since": INSTANT},
    optional={
        **dict.fromkeys(("ended_by", "tenant_id"), TEXT),
        **dict.fromkeys(("until", "ended_at"), INSTANT),
        "spread": SECONDS,
        **dict.fromkeys(("skips", "is_tenants"), FLAG),
        **_BREAKER,
        **_PROBE,
    },
    guard=("ended_at", "revision"),
    expires="a day",
    writers="operators, admins, `worker`",
)
_INSTANTS = Form(
    "S",
    lambda times: " ".join(f"{at.timestamp():.3f}" for at in times),
    lambda text: tuple(datetime.fromtimestamp(float(second), UTC) for second in text.split()),
)
FAILURES = Kind(
    name="failures",
    partition="system#failures",
    sort="tenant#type",
    fields={"failed_at": _INSTANTS, "revision": NUMBER, "nonce": TEXT, "at": INSTANT},
    guard=("revision",),
    expires="a day",
    writers="`worker`",
)
_KNOWN = frozenset(PauseScope)
_HAS_NOT_ENDED: Fields = {"pk": Presence.SET, "ended_at": Presence.UNSET}


class WorkPauses(Keyed):
    """The pauses of work. Pauses are begun and ended; of them, only an open breaker's state changes."""

    def list(self) -> Sequence[WorkPause]:
        """Return all stored pauses by a consistent read, the oldest first.

        A pause is stored for a day after its end and its spread. In place of an unreadable
        one stands a pause without an end, so that its work waits until an operator ends it.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        query = Query(kind=PAUSE, partition=PAUSE.partition)
        found = self._items.find(query, _to_known_pause, _without_end)
        return sorted(filter(None, found), key=lambda pause: pause.id)

    def begin(self, pause: WorkPause) -> None:
        """Store a pause beside the others. An existing pause stays as it is: a repeat is safe."""
        self._items.write(pause_put(pause, guard=IS_NEW))

    def end(self, pause: WorkPause) -> None:
        """Store the end of a pause. An ended pause stays as it is."""
        self._items.write(pause_put(pause, guard=(_HAS_NOT_ENDED,)))

    def replace(self, old: WorkPause, new: WorkPause) -> bool:
        """Replace the state of an open breaker, or end it.

        False if it has ended, or if its state is not as in `old`. A repeat after a lost response returns
        True.
        """
        if old.breaker is None:
            return False
        as_read = {**_HAS_NOT_ENDED, "revision": old.breaker.revision}
        outcome = self._items.write(pause_put(new, guard=(as_read,)))
        return outcome.is_written or outcome.read(to_pause) == new

    def failures(self, tenant_id: TenantId, type_name: str) -> FailureCount:
        """Return the recent failures of a tenant's type by a consistent read; an empty count without any.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        none, key = FailureCount(tenant_id=tenant_id, type=type_name), _failures_key(tenant_id, type_name)
        return self._items.get(FAILURES, key, _to_failures, nothing) or none

    def count_failure(self, new: FailureCount, opened: WorkPause | None) -> bool:
        """Store a count, and begin the pause of the breaker that it opens, both or none.

        False if the stored count is not the one before `new` by its revision. It is removed a day after its
        last write.
        """
        before = new.revision - 1
        as_read: Guard = ({"revision": before},) if before else IS_NEW
        put = {**FAILURES.of(new), "ttl": new.at + _STORED_AFTER_END}
        count = Write(kind=FAILURES, key=_failures_key(new.tenant_id, new.type), guard=as_read, put=put)
        begin = [] if opened is None else [pause_put(opened, guard=IS_NEW)]
        try:
            outcome = self._items.write(count, *begin)
        except Cancelled:
            return self.failures(new.tenant_id, new.type) == new
        return outcome.is_written or outcome.read(_to_failures) == new


class NoWorkPauses(WorkPauses):
    """No work is ever paused."""

    def __init__(self) -> None:
        """Store nothing."""

    def list(self) -> Sequence[WorkPause]:
        """Return none."""
        return ()

    def begin(self, pause: WorkPause) -> None:
        """Raise `Unsupported`, since the pause would not hold."""
        raise Unsupported(
            f"this back end stores no pauses, so {pause.name!r} cannot be paused or resumed;"
            " pass pauses=WorkPauses, such as duetime.memory's or duetime.aws's"
        )

    end = begin

    def replace(self, old: WorkPause, new: WorkPause) -> bool:
        """Replace none."""
        del old, new
        return False

    def failures(self, tenant_id: TenantId, type_name: str) -> FailureCount:
        """Return no failures."""
        return FailureCount(tenant_id=tenant_id, type=type_name)

    def count_failure(self, new: FailureCount, opened: WorkPause | None) -> bool:
        """Count nothing: no breaker opens."""
        del new, opened
        return True


def pause_change(old: Fields | None, new: Fields) -> WorkPauseChange | None:
    """Return the change of a pause; None if the scope is one of a later version.

    Raises:
        ValueError: a field is invalid.
        LookupError: one is missing.
    """
    after = _to_known_pause(new)
    return None if after is None else WorkPauseChange(to_pause(old) if old else None, after)


def pause_put(pause: WorkPause, *, guard: Guard) -> Write:
    """Return the write of a pause as a whole."""
    fields = {name: getattr(pause, name) for name in PAUSE.names if hasattr(pause, name)}
    breaker = {name: getattr(pause.breaker, name, None) for name in (*_BREAKER, *_PROBE)}
    flags = {"skips": pause.skips or None, "is_tenants": None if pause.is_operators else True}
    ttl = pause.over_at and pause.over_at + _STORED_AFTER_END
    key = PAUSE.key(SEPARATOR.join((pause.scope, pause.name, pause.id)))
    return Write(kind=PAUSE, key=key, guard=guard, put={**fields, **breaker, **flags, "ttl": ttl})


def to_pause(item: Fields) -> WorkPause:
    """Return the pause of an item.

    Raises:
        ValueError: a field is invalid.
        LookupError: one is missing.
    """
    scope, name, pause_id = _parts_of(item)
    given, breaker = PAUSE.values(item), None
    probe = {name: given.pop(name) for name in (*_BREAKER, *_PROBE)}
    if probe["probes_at"] is not None:
        breaker = BreakerState(**probe | {name: item[name] for name in _BREAKER})
    given |= {"skips": bool(given["skips"]), "is_operators": not given.pop("is_tenants")}
    return WorkPause(id=pause_id, scope=PauseScope(scope), name=name, breaker=breaker, **given)


def _to_known_pause(item: Fields) -> WorkPause | None:
    return to_pause(item) if _parts_of(item)[0] in _KNOWN else None


def _parts_of(item: Fields) -> tuple[str, str, str]:
    """Return the scope, the name and the pause's id from a key."""
    scope, _, rest = item["sk"].partition(SEPARATOR)
    name, _, pause_id = rest.rpartition(SEPARATOR)  # a key may contain the separator
    return scope, name, pause_id


def _without_end(item: Fields) -> WorkPause | None:
    """Return the pause that stands for an unreadable one: what may be paused waits until a person ends it.

    None if its key names no work, or an operator has ended it.
    """
    scope, name, pause_id = _parts_of(item)
    if not (name and pause_id) or "ended_at" in item:
        return None
    return WorkPause(
        id=pause_id,
        scope=PauseScope(scope),
        name=name,
        reason="the pause's row cannot be read",
        by="duetime",
        since=instant.EARLIEST,
        tenant_id=item.get("tenant_id"),
    )


def _failures_key(tenant_id: TenantId, type_name: str) -> Key:
    return FAILURES.key(SEPARATOR.join((tenant_id, type_name)))


def _to_failures(item: Fields) -> FailureCount:
    tenant_id, _, type_name = item["sk"].partition(SEPARATOR)
    return FailureCount(tenant_id=TenantId(tenant_id), type=type_name, **FAILURES.values(item))
