"""The Lambda that CloudFormation calls when the stack is deployed: its two custom resources.

The first call of a deploy checks the format of the tables. Another format fails the deploy before the
scheduler changes. Later calls roll out each worker with its jobs, and withdraw removed workers.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar
from urllib.request import Request, urlopen

from duetime.aws.backends import AwsBackends
from duetime.aws.deployed import DeployedTables
from duetime.aws.faults import is_denied
from duetime.clock import Clock, SystemClock
from duetime.errors import BackendMisconfigured, DuetimeError, OtherFormat, truncate
from duetime.jobs.reconcile import Reconciled
from duetime.model.deployed_shards import DeployedShards
from duetime.model.manifest import Manifest, unpacked
from duetime.settings import Settings
from duetime.wakeups.assembly import Steps

log = logging.getLogger(__name__)

FORMAT_RESOURCE = "Custom::DuetimeFormat"
MANIFEST_RESOURCE = "Custom::DuetimeManifest"

Event = Mapping[str, Any]
T = TypeVar("T")

_PATIENCE = 30
_RIGHTS_TIME, _RIGHTS_PAUSE = timedelta(seconds=60), timedelta(seconds=5)
_ROOM = 2_900
"""Bytes of the changes' lines: CloudFormation accepts a response of 4 KB."""


_REPAIR_TIME = timedelta(seconds=15)


class Rollout:
    """Rolls workers out, and withdraws them."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        backends, self._clock = AwsBackends(settings, clock), clock
        self._shards = DeployedShards(settings.due_shards)
        self.tables = DeployedTables.from_settings(settings)
        steps = Steps(backends)
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


def make_handler(settings: Settings, *, clock: Clock | None = None) -> Callable[[Event, object], None]:
    """Return the handler of CloudFormation's requests. It always responds, or the deploy would hang."""
    clock = clock or SystemClock()
    rollout = Rollout(settings, clock)

    def handler(event: Event, _context: object) -> None:
        try:
            data = _with_new_rights(lambda: _handle(event, rollout), clock)
        except Exception as error:  # noqa: BLE001 - sent to CloudFormation, which rolls back
            log.warning("deploy refused", extra={"reason": truncate(error)})
            _answer(event, "FAILED", reason=f"{type(error).__name__}: {error}{_remedy(error)}")
        else:
            _answer(event, "SUCCESS", data=data)

    return handler


def _remedy(error: BaseException) -> str:
    """Return what to do if a service denies a call, although the stack grants the function its rights."""
    if not is_denied(error):
        return ""
    return (
        ". The stack grants the deploy function this right, so a permissions boundary or a service control"
        " policy denies it: allow it there, and deploy again"
    )


def _with_new_rights(act: Callable[[], T], clock: Clock) -> T:
    """Call `act` until its calls are no longer denied, for up to a minute.

    A first deploy creates its roles seconds before; IAM takes up to tens of seconds to distribute them. `act`
    must be repeatable.
    """
    ends = clock.now() + _RIGHTS_TIME
    while True:
        try:
            return act()
        except DuetimeError as error:
            again = clock.now() + _RIGHTS_PAUSE
            if again > ends or not is_denied(error):
                raise
            log.info("denied; the role may be new", extra={"reason": truncate(error)})
            clock.wait_until(again)


def _handle(event: Event, rollout: Rollout) -> Mapping[str, str]:
    """Do what the request describes, and return the attributes of its resource.

    The request names the expected format, because a rollback calls this code with the old format.
    """
    about, leaves = event["ResourceProperties"], event["RequestType"] == "Delete"
    if event["ResourceType"] == FORMAT_RESOURCE and not leaves:
        _check_format(rollout.tables, int(about["Format"]))
    elif event["ResourceType"] == MANIFEST_RESOURCE and leaves:
        rollout.withdraw(about["Worker"])
    elif event["ResourceType"] == MANIFEST_RESOURCE:
        _check_format(rollout.tables, int(about["Format"]))
        rollout.tables.mark(int(about["Format"]))
        done = rollout.publish(Manifest.from_json(about["Manifest"], unpacked(about.get("Jobs", "[]"))))
        return {
            "Changed": str(len(done.changes)),
            "Unchanged": str(done.unchanged),
            "Changes": "\n".join(_first(done.changes)),
        }
    return {}


def _check_format(tables: DeployedTables, expected: int) -> None:
    found = tables.format()
    if found is not None and found != expected:
        raise OtherFormat(tables.name, found, expected)


def _first(lines: Sequence[str]) -> list[str]:
    shown, room = list[str](), _ROOM
    for line in lines:
        room -= len(json.dumps(line))
        if room < 0:
            return [*shown, f"and {len(lines) - len(shown)} more"]
        shown.append(line)
    return shown


def _answer(event: Event, status: str, *, reason: str = "", data: Mapping[str, str] | None = None) -> None:
    body = {
        "Status": status,
        "Reason": truncate(reason, 1_000),
        "PhysicalResourceId": event.get("PhysicalResourceId") or event["LogicalResourceId"],
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "Data": data or {},
    }
    request = Request(event["ResponseURL"], json.dumps(body).encode(), {"Content-Type": ""}, method="PUT")  # noqa: S310
    with urlopen(request, timeout=_PATIENCE):  # noqa: S310 - the address comes from CloudFormation itself
        pass
