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

from duetime.aws.deployed import DeployedTables
from duetime.aws.faults import is_denied
from duetime.clock import Clock, SystemClock
from duetime.errors import DuetimeError, truncate
from duetime.lambdas.rollout import Rollout
from duetime.model.manifest import Manifest, unpacked
from duetime.settings import Settings

log = logging.getLogger(__name__)

FORMAT_RESOURCE = "Custom::DuetimeFormat"
MANIFEST_RESOURCE = "Custom::DuetimeManifest"

Event = Mapping[str, Any]
T = TypeVar("T")

_PATIENCE = 30
_RIGHTS_TIME, _RIGHTS_PAUSE = timedelta(seconds=60), timedelta(seconds=5)
_ROOM = 2_900
"""Bytes of the changes' lines: CloudFormation accepts a response of 4 KB."""


class OtherFormat(DuetimeError, RuntimeError):
    """This version does not read the format of the tables; nothing was changed."""

    code = "other-format"

    def __init__(self, table: str, found: int, readable: int) -> None:
        self.table, self.found, self.readable = table, found, readable
        stored = f"format {found}" if found else "an unreadable format"
        super().__init__(
            f"the tables beside {table} have {stored}; this version of duetime reads format {readable}."
            " Nothing was changed: deploy the version that wrote them, or choose another prefix"
        )


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
