"""Count the runs that the changes of a batch ended, by minute; after `Publish`, on the same batches."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from duetime.errors import BackendUnavailable, truncate
from duetime.events.publish import PublishedFact
from duetime.model.built_in import RESERVED
from duetime.model.change import Change
from duetime.model.run_counts import CountedEnding, RunCount, count_of
from duetime.model.usage import usage_changes
from duetime.ports.run_counts import RunCounts
from duetime.ports.usage import UsageCounts

log = logging.getLogger(__name__)

RETENTION = timedelta(days=2)
"""The retention of counts."""

_ALWAYS = {CountedEnding.FAILED, CountedEnding.CANCELLED}


class CountRuns:
    """Counts a batch of changes.

    Args:
        counts: stores the counts.
        all_one_shots: whether to count all ended one-shots, instead of failed and cancelled ones.
    """

    def __init__(self, counts: RunCounts, *, all_one_shots: bool = True) -> None:
        self._counts, self._all_one_shots = counts, all_one_shots

    def __call__(self, changes: Iterable[tuple[PublishedFact, datetime]]) -> None:
        """Count the ended runs; a failure is logged, because no event may come twice for a count."""
        counts = (count_of(fact, at) for fact, at in changes if isinstance(fact, Change))
        ended = [count for count in counts if count and self._is_shown(count)]
        if not ended:
            return
        try:
            self._counts.add(ended, expires_at=max(count.at for count in ended) + RETENTION)
        except BackendUnavailable as error:
            log.warning("runs not counted", extra={"runs": len(ended), "reason": truncate(error)})

    def _is_shown(self, count: RunCount) -> bool:
        is_chosen = self._all_one_shots or count.kind == "job" or count.ending in _ALWAYS
        return is_chosen and not count.name.startswith(RESERVED)


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
