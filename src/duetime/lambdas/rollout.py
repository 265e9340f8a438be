"""Roll a worker out: route its types to it, and write its jobs as rows and as schedules on EventBridge.

Each step may be repeated. It comes before the worker's own code changes; the old worker puts off actions that
it cannot read.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from duetime.aws.backends import AwsBackends
from duetime.aws.deployed import DeployedTables
from duetime.clock import Clock
from duetime.errors import BackendMisconfigured, DuetimeError, truncate
from duetime.jobs.reconcile import Reconciled
from duetime.model.deployed_shards import DeployedShards
from duetime.model.manifest import Manifest
from duetime.settings import Settings
from duetime.wakeups.assembly import Steps

log = logging.getLogger(__name__)

_REPAIR_TIME = timedelta(seconds=15)


class Rollout:
    """Rolls workers out, and withdraws them."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        backends, self._clock = AwsBackends(settings, clock), clock
        self._shards = DeployedShards(settings.due_shards)
        self.tables = DeployedTables.from_settings(settings)
        steps = Steps(backends, clock=clock, settings=settings)
        self._reconcile, self._repair, self._region = steps.reconcile, steps.repair, steps.region

    def publish(self, manifest: Manifest) -> Reconciled:
        """Publish a worker's types and reconcile its jobs; in a region that stands by, do nothing.

        Raises:
            DeclarationError: a job needs an unsupported feature; no job was changed.
            BackendUnavailable: not all was done.
        """
        if self._region.epoch() is None:
            log.info("standby, the active region's jobs stay", extra={"worker": manifest.worker})
            return Reconciled()
        self.tables.publish(manifest, self._shards, self._clock.now())
        done = self._reconcile(manifest.jobs, worker=manifest.worker)
        for line in done.changes:
            log.info(line)
        self._remove_strays()
        return done

    def withdraw(self, worker: str) -> None:
        """Withdraw a worker's types and disable its jobs; without tables, or in standby, do nothing."""
        if self._region.is_standby():
            return
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
            repaired = self._repair(stop_at=self._clock.now() + _REPAIR_TIME)
        except DuetimeError as error:  # the catch-up tries again
            log.warning("not repaired", extra={"reason": truncate(error)})
        else:
            if repaired.removed or repaired.set:
                log.info("repaired", extra={"removed": repaired.removed, "set_again": repaired.set})
