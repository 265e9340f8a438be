"""Count what quotas limit: pending actions, and payload bytes; after `Publish`, on the same batches."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime

from duetime.errors import BackendUnavailable, truncate
from duetime.events.publish import PublishedFact
from duetime.model.change import Change
from duetime.model.usage import usage_changes
from duetime.ports.usage import UsageCounts

log = logging.getLogger(__name__)


class CountUsage:
    """Counts a batch of changes."""

    def __init__(self, counts: UsageCounts) -> None:
        self._counts = counts

    def __call__(self, changes: Iterable[tuple[PublishedFact, datetime]]) -> None:
        """Add the batch's changes; a failure is logged, because no event may come twice for a count."""
        written = [(fact, at) for fact, at in changes if isinstance(fact, Change)]
        added = usage_changes(written)
        if not added:
            return
        try:
            self._counts.add(added, now=max(at for _, at in written))
        except BackendUnavailable as error:
            log.warning("use of quotas not counted", extra={"reason": truncate(error)})
