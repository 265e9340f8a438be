"""Reports of unreadable items: messages to the failure queue, which become undelivered inputs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from duetime.aws import clients, unreadable_items
from duetime.aws.queues import SqsBodies
from duetime.errors import DuetimeError, truncate
from duetime.ids import ActionId, TenantId
from duetime.model.action import ActionRef
from duetime.ports.actions import DamagedItem, DamagedRow
from duetime.ports.wakeups import FAILURES
from duetime.settings import Settings

log = logging.getLogger(__name__)

T = TypeVar("T")
C = TypeVar("C")
R = TypeVar("R")

DAMAGED = "damaged"
"""The field that marks such a message."""

MOST = 100
"""Rows that one call reports: a flood of damaged rows costs bounded time. The next pass reports others."""


class DamagedRows:
    """Sends a message for each damaged row.

    It never raises: a row that was not reported stays in the due index, and the next pass reports it.

    Args:
        settings: name the failure queue.
        source: the function that found the rows.
    """

    def __init__(self, settings: Settings, source: str) -> None:
        self._settings, self._source = settings, source
        self._reported: set[DamagedItem] = set()

    def around(self, handler: Callable[[T, C], R]) -> Callable[[T, C], R]:
        """Return the handler of a function that reports what its readers left out as unreadable."""

        def reporting(event: T, context: C) -> R:
            with unreadable_items.collecting() as found:
                try:
                    return handler(event, context)
                finally:
                    self(list(dict.fromkeys(found)))

        return reporting

    def _remember(self, row: DamagedRow | DamagedItem) -> None:
        """Remember an item, which a page of the console may read each second."""
        if isinstance(row, DamagedItem):
            if len(self._reported) >= MOST:
                self._reported.clear()
            self._reported.add(row)

    def __call__(self, rows: Sequence[DamagedRow | DamagedItem]) -> None:
        """Report at most `MOST` of the rows; an item that was just reported is not reported again."""
        rows = [row for row in rows if row not in self._reported]
        if not rows or not self._settings.made.failure_queue:
            return
        bodies = SqsBodies(clients.sqs(), self._settings)
        try:
            for row in rows[:MOST]:
                bodies.put(FAILURES, to_message(row, self._source))
                self._remember(row)
        except DuetimeError as error:
            log.warning("damaged rows not reported", extra={"rows": len(rows), "reason": truncate(error)})


def to_message(row: DamagedRow | DamagedItem, source: str) -> str:
    """Return the message about a row or another item."""
    if isinstance(row, DamagedItem):
        key = {"kind": row.kind, "pk": row.pk, "sk": row.sk}
    else:
        key = {"tenant": row.ref.tenant_id, "id": row.ref.id}
    return json.dumps({DAMAGED: key, "source": source, "reason": truncate(row.reason)})


def from_message(content: Mapping[str, Any]) -> tuple[DamagedRow | DamagedItem, str]:
    """Return the row or the item of a message, and the function that found it.

    Raises:
        LookupError, TypeError: the message has another form.
    """
    key, reason, source = content[DAMAGED], str(content["reason"]), str(content["source"])
    if "pk" in key:
        return DamagedItem(str(key["kind"]), str(key["pk"]), str(key["sk"]), reason), source
    ref = ActionRef(TenantId(str(key["tenant"])), ActionId(str(key["id"])))
    return DamagedRow(ref, reason), source
