"""CPU: `Scheduler.schedule` beside its bare ``put_item``, with stubbed HTTP.

Both calls go through the same boto3 client, whose answers a hook makes up, so what is left is the work in
Python. They take turns within one process, a few at a time, so that whatever disturbs one disturbs the other.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from bench.result import Result, ratio_at_most
from bench.stand import CALLER, TENANT
from bench.stubs import stubbed_client
from duetime import Payload, Scheduler
from duetime.aws import action_store
from duetime.aws.conditions import ROW_IS_ABSENT
from duetime.aws.items import to_item
from duetime.clock import SystemClock
from duetime.settings import Settings

ROUNDS, AT_ONCE = 120, 20
MICRO = 1e6
BUDGET = 1.25
_AGAINST = "client.put_item of the same item, through the same client"


class ApplyPlanChange(Payload):
    """The smallest payload."""

    subscription_id: UUID
    new_plan_id: UUID


def measure() -> list[Result]:
    """Measure the usual call, and the call with all options."""
    client = stubbed_client("dynamodb", b"{}")
    settings = Settings()
    scheduler = Scheduler(
        action_store(settings, client),
        tenant_id=TENANT,
        actor=CALLER,
        clock=SystemClock(),
        settings=settings,
    )
    payload = ApplyPlanChange(subscription_id=uuid4(), new_plan_id=uuid4())
    later, local = timedelta(days=3), datetime(2027, 6, 1, 9)  # noqa: DTZ001 - the zone is a separate argument
    calls: dict[str, Callable[[], Any]] = {
        "schedule": lambda: scheduler.schedule(payload, at=later),
        "schedule at a local time, with a correlation id": lambda: scheduler.schedule(
            payload, at=local, tz="Europe/Paris", correlation_id="subscription:42"
        ),
    }
    return [_result(name, call, _bare(client, settings, call())) for name, call in calls.items()]


def _bare(client: Any, settings: Settings, action: Any) -> Callable[[], Any]:
    item = to_item(action)
    return lambda: client.put_item(
        TableName=settings.actions_table, Item=item, ConditionExpression=ROW_IS_ABSENT
    )


def _result(name: str, call: Callable[[], Any], bare: Callable[[], Any]) -> Result:
    measured, reference = taken_in_turns(call, bare)
    shares = sorted(ours / theirs for ours, theirs in zip(measured, reference, strict=True))
    half = f"half of the rounds lie between {shares[ROUNDS // 4]:.2f}x and {shares[-ROUNDS // 4]:.2f}x"
    return Result(
        bench="cpu",
        name=name,
        measured=statistics.median(measured),
        unit="us",
        reference=statistics.median(reference),
        against=_AGAINST,
        budget=ratio_at_most(BUDGET),
        note=half,
    )


def taken_in_turns(call: Callable[[], Any], bare: Callable[[], Any]) -> tuple[list[float], list[float]]:
    """Return the microseconds of CPU of each, by round; each is first in every other round."""
    measured: list[float] = []
    reference: list[float] = []
    pairs = [(call, measured), (bare, reference)]
    for _, __ in pairs:
        call()
        bare()
    for _ in range(ROUNDS):
        for function, taken in pairs:
            taken.append(_cpu(function))
        pairs.reverse()
    return measured, reference


def _cpu(function: Callable[[], Any]) -> float:
    before = time.process_time()
    for _ in range(AT_ONCE):
        function()
    return (time.process_time() - before) / AT_ONCE * MICRO
