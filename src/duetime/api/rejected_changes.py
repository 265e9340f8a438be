"""Rejected changes: the first of a caller in an hour have entries of their own, the others are counted.

So a caller without permissions cannot fill the trail. The count is one entry for each caller, hour and
process of the API. While a caller's changes are counted, that entry also has those that have begun.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from duetime import ids, instant
from duetime.errors import truncate
from duetime.model.audit import AuditEntry, AuditKind, AuditTarget
from duetime.ports.access import AuditTrail

SAMPLE = 10
"""The rejected changes of a caller and hour that have an entry of their own, in each process."""

OPERATION = "rejected"
_MOST = 1_000
"""The callers that a process remembers."""
_LONGEST = 200
_REJECTED, _FAILED = 400, 500
_STEPS = frozenset({"1", "2", "5"})

_Key = tuple[str, str, str]


def is_rejected(status: int) -> bool:
    """Return whether a status means that the request was at fault, so that nothing has changed."""
    return _REJECTED <= status < _FAILED


@dataclass(slots=True)
class _Counted:
    """The rejected changes of one caller in one hour."""

    total: int = 0
    entry: AuditEntry | None = None
    """The entry with the count."""
    statuses: Counter[str] = field(default_factory=Counter)
    begun: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """Changes without a result, by their entry's id."""
    turn: threading.Lock = field(default_factory=threading.Lock)

    def counted(self, latest: AuditEntry, detail: str | None) -> AuditEntry:
        """Return the entry with the present count."""
        count = {"count": self.statuses.total(), "statuses": dict(self.statuses), "detail": detail}
        begun = {"begun": list(self.begun.values())} if self.begun else {}
        status = latest.status if latest.status is not None else max(map(int, self.statuses), default=None)
        first = self.entry or latest
        return replace(first, status=status, result=count | begun, address=latest.address)


class RejectedChanges:
    """Counts the rejected changes of each caller by hour. Safe to call from several threads."""

    def __init__(self, trail: AuditTrail, random_bytes: ids.Entropy) -> None:
        self._trail, self._entropy, self._lock = trail, random_bytes, threading.Lock()
        self._callers = OrderedDict[_Key, _Counted]()

    def are_counted(self, entry: AuditEntry) -> bool:
        """Return whether the caller's next rejected change is only counted."""
        with self._turn_of(entry) as caller:
            return caller.total >= SAMPLE

    def note(self, entry: AuditEntry) -> None:
        """Note a rejected change that has an entry of its own."""
        with self._turn_of(entry) as caller:
            caller.total += 1

    def begin(self, entry: AuditEntry) -> None:
        """Store that a change begins, in the entry with the count.

        Raises:
            BackendUnavailable: it may not be stored; the change must not be made.
        """
        with self._turn_of(entry) as caller:
            caller.begun[entry.id] = {
                "id": entry.id,
                "operation": entry.operation,
                "target": truncate(str(entry.target), _LONGEST),
            }
            self._store(caller, entry)

    def end(self, entry: AuditEntry) -> None:
        """Count a rejected change. Without a stored beginning, few counts are stored: 1, 2, 5, 10 and so on.

        Raises:
            BackendUnavailable: the count may not be stored.
        """
        with self._turn_of(entry) as caller:
            caller.total += 1
            caller.statuses[str(entry.status)] += 1
            was_begun = caller.begun.pop(entry.id, None) is not None
            if was_begun or str(caller.statuses.total()).rstrip("0") in _STEPS:
                self._store(caller, entry)

    def made(self, entry: AuditEntry) -> None:
        """Note that a change that had begun has an entry of its own, with its result."""
        with self._turn_of(entry) as caller:
            caller.begun.pop(entry.id, None)

    def lose(self, entry: AuditEntry) -> None:
        """Leave the stored count as it is: it has a change whose result could not be stored."""
        with self._turn_of(entry) as caller:
            caller.entry, caller.statuses, caller.begun = None, Counter(), {}

    def _store(self, caller: _Counted, latest: AuditEntry) -> None:
        if caller.entry is None:
            caller.entry = replace(
                latest,
                id=ids.new_action_id(latest.requested_at, self._entropy),
                target=AuditTarget(AuditKind.REJECTED, latest.by),
                operation=OPERATION,
                request_fields={},
            )
        self._trail.count(caller.counted(latest, _detail(latest)))

    @contextmanager
    def _turn_of(self, entry: AuditEntry) -> Iterator[_Counted]:
        """Give the counts of an entry's caller to one thread at a time: a later count is stored later."""
        hour = instant.text(instant.floor(entry.requested_at, timedelta(hours=1)))
        key = (entry.tenant_id, entry.subject or entry.by, hour)
        with self._lock:
            caller = self._callers.setdefault(key, _Counted())
            self._callers.move_to_end(key)
            if len(self._callers) > _MOST:
                self._callers.popitem(last=False)
        with caller.turn:
            yield caller


def _detail(entry: AuditEntry) -> str | None:
    """Return the reason of the last rejection."""
    result: Mapping[str, Any] = entry.result or {}
    detail = result.get("detail")
    return truncate(f"{entry.operation} {entry.target}: {detail}", _LONGEST) if detail else None
