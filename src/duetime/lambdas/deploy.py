"""The Lambda that CloudFormation calls when the stack is deployed: its two custom resources.

The first call of a deploy checks the tables' format: tables of another refuse it before anything of the scheduler
changes. The later ones publish each worker's manifest, and take it back when the worker is removed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.request import Request, urlopen

from duetime.aws.deployed import DeployedTables
from duetime.errors import BackendMisconfigured, DuetimeError, cut
from duetime.manifest import Manifest
from duetime.settings import Settings

log = logging.getLogger(__name__)

FORMAT_RESOURCE = "Custom::DuetimeFormat"
MANIFEST_RESOURCE = "Custom::DuetimeManifest"

Event = Mapping[str, Any]
_PATIENCE = 30


class OtherFormat(DuetimeError, RuntimeError):
    """The tables are of a format that this version does not read; nothing was changed."""

    code = "other-format"

    def __init__(self, table: str, found: int, readable: int) -> None:
        self.table, self.found, self.readable = table, found, readable
        super().__init__(
            f"the tables beside {table} are of format {found}, this version of duetime reads {readable}. Nothing was"
            " changed: deploy the version that wrote them, or choose another prefix for new tables"
        )


def make_handler(settings: Settings) -> Callable[[Event, object], None]:
    """The handler of CloudFormation's requests. Whatever happens it answers: a deploy without an answer hangs."""
    tables = DeployedTables.of(settings)

    def handler(event: Event, _context: object) -> None:
        try:
            _obey(event, tables)
        except Exception as error:  # noqa: BLE001 - told to CloudFormation, which rolls back
            log.warning("deploy refused", extra={"reason": str(error)})
            _answer(event, "FAILED", f"{type(error).__name__}: {error}")
        else:
            _answer(event, "SUCCESS", "")

    return handler


def _obey(event: Event, tables: DeployedTables) -> None:
    """The wanted format is the request's, not this code's: when a refused deploy is rolled back, the old one is asked."""
    about, leaves = event["ResourceProperties"], event["RequestType"] == "Delete"
    if event["ResourceType"] == FORMAT_RESOURCE and not leaves:
        _check_format(tables, int(about["Format"]))
    elif event["ResourceType"] == MANIFEST_RESOURCE and leaves:
        _withdraw(tables, about["Worker"])
    elif event["ResourceType"] == MANIFEST_RESOURCE:
        _check_format(tables, int(about["Format"]))
        tables.mark(int(about["Format"]))
        tables.publish(Manifest(**json.loads(about["Manifest"])))


def _check_format(tables: DeployedTables, wanted: int) -> None:
    found = tables.format()
    if found is not None and found != wanted:
        raise OtherFormat(tables.name, found, wanted)


def _withdraw(tables: DeployedTables, worker: str) -> None:
    try:
        tables.withdraw(worker)
    except BackendMisconfigured as error:  # the table is gone already: a deletion must not fail over that
        log.info("manifest not withdrawn", extra={"reason": str(error)})


def _answer(event: Event, status: str, reason: str) -> None:
    """Put the answer to the address that CloudFormation signed for it."""
    body = {
        "Status": status,
        "Reason": cut(reason, 1_000),
        "PhysicalResourceId": event.get("PhysicalResourceId") or event["LogicalResourceId"],
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
    }
    request = Request(event["ResponseURL"], json.dumps(body).encode(), {"Content-Type": ""}, method="PUT")  # noqa: S310
    with urlopen(request, timeout=_PATIENCE):  # noqa: S310 - the address comes from CloudFormation itself
        pass
