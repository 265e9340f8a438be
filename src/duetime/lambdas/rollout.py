"""What a deploy does with a worker: its types are routed to it, its jobs become rows and wakes on EventBridge.

All of it may be done again. That happens before the worker's own code changes: what an old worker does not know it puts off.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from duetime.aws.backends import AwsBackends
from duetime.aws.deployed import DeployedTables
from duetime.clock import Clock
from duetime.errors import BackendMisconfigured, DuetimeError, truncate
from duetime.jobs.maintain import Maintain
from duetime.jobs.plan import Plan
from duetime.jobs.reconcile import Reconcile, Reconciled
from duetime.jobs.repair import Repair
from duetime.model.manifest import Manifest
from duetime.settings import Settings

log = logging.getLogger(__name__)

_MENDS_FOR = timedelta(seconds=15)


class Rollout:
    """Rolls workers out, and takes them back."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        backends, self._clock = AwsBackends(settings, clock), clock
        self.tables = DeployedTables.of(settings)
        store, jobs, wakes = backends.store, backends.jobs, backends.job_wakes
        plan = Plan(store, jobs, clock=clock, settings=settings)
        attend = Maintain(plan, jobs, wakes, clock=clock, settings=settings)
        self._reconcile = Reconcile(store, jobs, wakes, attend, clock=clock, settings=settings)
        self._mend = Repair(jobs, wakes, attend, clock=clock, settings=settings)

    def publish(self, manifest: Manifest) -> Reconciled:
        """Make a worker's types known, and its jobs what it declares.

        Raises:
            DeclarationError: a job asks for what cannot be honoured; no job was changed.
            BackendUnavailable: not all was done.
        """
        self.tables.publish(manifest)
        done = self._reconcile(manifest.jobs, worker=manifest.worker)
        for line in done.changes:
            log.info(line)
        self._remove_strays()
        return done

    def withdraw(self, worker: str) -> None:
        """Take back what a worker published, and disable its jobs; where the tables are gone, there is nothing to do."""
        try:
            self.tables.withdraw(worker)
            dropped = self._reconcile((), worker=worker)
        except BackendMisconfigured as error:  # a deletion must not fail over that
            log.info("manifest not withdrawn", extra={"reason": truncate(error)})
        else:
            for line in dropped.changes:
                log.info(line)

    def _remove_strays(self) -> None:
        try:
            mended = self._mend(stop_at=self._clock.now() + _MENDS_FOR)
        except DuetimeError as error:  # the catch-up tries again
            log.warning("not mended", extra={"reason": truncate(error)})
        else:
            if mended.removed or mended.set:
                log.info("mended", extra={"removed": mended.removed, "set_again": mended.set})
