"""Count the runs that the changes of a batch ended, by minute; after `Publish`, on the same batches."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from duetime.declare.job_rules import RESERVED
from duetime.errors import BackendUnavailable, truncate
from duetime.events.publish import PublishedFact
from duetime.model.change import Change
from duetime.model.run_counts import count_of
from duetime.ports.run_counts import RunCounts

log = logging.getLogger(__name__)

RETENTION = timedelta(days=2)
"""The retention of counts."""


class CountRuns:
    """Counts a batch of changes."""

    def __init__(self, counts: RunCounts) -> None:
        self._counts = counts

    def __call__(self, changes: Iterable[tuple[PublishedFact, datetime]]) -> None:
        """Count the ended runs; a failure is logged, because no event may come twice for a count."""
        counts = (count_of(fact, at) for fact, at in changes if isinstance(fact, Change))
        ended = [count for count in counts if count and not count.name.startswith(RESERVED)]
        if not ended:
            return
        try:
            self._counts.add(ended, expires_at=max(count.at for count in ended) + RETENTION)
        except BackendUnavailable as error:
            log.warning("runs not counted", extra={"runs": len(ended), "reason": truncate(error)})
