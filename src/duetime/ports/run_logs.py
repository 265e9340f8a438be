"""The interface to the log lines of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from duetime import instant
from duetime.ids import SEPARATOR, shard_of
from duetime.model.action import KEPT_ATTEMPTS, ActionRef
from duetime.model.attempt_traceback import AttemptTraceback
from duetime.ports.keyed_items import Fields, Form, Key, Keyed, Kind, Query, Write

if TYPE_CHECKING:
    from duetime.model.action import Action


TRACEBACK = Kind(
    name="traceback",
    partition="{tenant}#traceback#{shard}",
    sort="the action's id, and the start of the attempt",
    fields={"traceback": Form("B", bytes, bytes)},
    expires="with the row",
    writers="workers",
)


class Tracebacks(Keyed):
    """The tracebacks of an actions table: see `duetime.ports.action_store.ActionStore`."""

    def put_traceback(self, ref: ActionRef, traceback: AttemptTraceback, kept_until: datetime) -> None:
        """Store the traceback of an attempt beside its row, until `kept_until`; a repeat replaces it."""
        put = {"traceback": traceback.to_bytes(), "ttl": kept_until}
        self._items.write(Write(kind=TRACEBACK, key=_key(ref, instant.text(traceback.started_at)), put=put))

    def tracebacks(self, ref: ActionRef) -> Sequence[AttemptTraceback]:
        """Return the stored tracebacks of the action's latest `KEPT_ATTEMPTS` failed attempts, in order."""
        place, begin = _key(ref, "")
        query = Query(kind=TRACEBACK, partition=place, begin=begin, is_newest_first=True, limit=KEPT_ATTEMPTS)
        return self._items.page(query, _from_item).found[::-1]


def _key(ref: ActionRef, started_at: str) -> Key:
    """Return the key of a traceback. Its partition has no rows, so no list reads it."""
    sort = f"{ref.id}{SEPARATOR}{started_at}"
    return TRACEBACK.key(sort, tenant=ref.tenant_id, shard=shard_of(ref.id))


def _from_item(item: Fields) -> AttemptTraceback:
    started_at = instant.parse(item["sk"].rpartition(SEPARATOR)[2])
    return AttemptTraceback.from_bytes(started_at, item["traceback"])


MOST_LINES = 200
"""The most lines of an attempt that are returned."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that a worker logged about an action.

    Attributes:
        at: when it was logged.
        level: such as ``INFO``.
        exception: the traceback that was logged with it.
        trace_id: X-Ray's, of the invocation.
    """

    at: datetime
    level: str
    message: str
    exception: str | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class LogPage:
    """The lines of some attempts of an action, the oldest first.

    Attributes:
        is_complete: whether there are no further lines, as far as the log has been written.
    """

    lines: Sequence[LogLine]
    is_complete: bool


class RunLogs(Protocol):
    """The logs of the workers."""

    def lines(self, action: Action, worker: str, since: datetime, until: datetime) -> LogPage:
        """Return the lines whose fields name this action and its tenant, at most `MOST_LINES`.

        Args:
            action: the row.
            worker: whose function ran it.
            since: no earlier line is returned.
            until: no later one.
        """
