"""Reports of unreadable rows: messages to the failure queue, which salvage stores as undelivered."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from duetime.aws import clients
from duetime.aws.queues import SqsBodies
from duetime.errors import DuetimeError, truncate
from duetime.ids import ActionId, TenantId
from duetime.model.action import ActionRef
from duetime.ports.actions import DamagedRow
from duetime.ports.wakeups import FAILURES
from duetime.settings import Settings

log = logging.getLogger(__name__)

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

    def __call__(self, rows: Sequence[DamagedRow]) -> None:
        """Report at most `MOST` of the rows."""
        if not rows or not self._settings.failure_queue:
            return
        bodies = SqsBodies(clients.sqs(), self._settings)
        try:
            for row in rows[:MOST]:
                bodies.put(FAILURES, to_message(row, self._source))
        except DuetimeError as error:
            log.warning("damaged rows not reported", extra={"rows": len(rows), "reason": truncate(error)})


def to_message(row: DamagedRow, source: str) -> str:
    """Return the message about a row."""
    key = {"tenant": row.ref.tenant_id, "id": row.ref.id}
    return json.dumps({DAMAGED: key, "source": source, "reason": truncate(row.reason)})


def from_message(content: Mapping[str, Any]) -> tuple[DamagedRow, str]:
    """Return the row of a message, and the function that found it.

    Raises:
        LookupError, TypeError: the message has another form.
    """
    key = content[DAMAGED]
    ref = ActionRef(TenantId(str(key["tenant"])), ActionId(str(key["id"])))
    return DamagedRow(ref, str(content["reason"])), str(content["source"])
