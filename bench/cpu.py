"""CPU: `Scheduler.schedule` beside the bare ``put_item`` of a boto3 client.

With stubbed HTTP, a hook makes up the answers, so what is left is the work in Python. Over HTTP, a server in
another process answers. The two calls take turns within one process, a few at a time, so that whatever
disturbs one disturbs the other.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import boto3

from bench.result import Result, ratio_at_most
from bench.stand import CALLER, TENANT
from bench.stubs import serving, stubbed_client
from duetime import Payload, Scheduler
from duetime.aws.clients import PATIENT
from duetime.aws.conditions import ROW_IS_ABSENT
from duetime.aws.direct_puts import direct_puts
from duetime.aws.items import to_item
from duetime.aws.store import DynamoStore
from duetime.clock import SystemClock
from duetime.ports.at_once import in_threads
from duetime.settings import Settings
from tests.dynamodb_local import CREDENTIALS

ROUNDS, AT_ONCE = 120, 20
MICRO = 1e6
BUDGET, BUDGET_OVER_HTTP = 0.6, 1.05
_CREDENTIALS: Any = CREDENTIALS
_AGAINST = "put_item of the same item, through a client as boto3 makes it"


class ApplyPlanChange(Payload):
    """The smallest payload."""

    subscription_id: UUID
    new_plan_id: UUID


def measure() -> list[Result]:
    """Measure the usual call, the call with all options, and the usual call over HTTP."""
    ours, bare = (stubbed_client("dynamodb", b"{}", config) for config in (PATIENT, None))
    later, local = timedelta(days=3), datetime(2027, 6, 1, 9)  # noqa: DTZ001 - the zone is a separate argument
    scheduler, payload = scheduler_of(ours), ApplyPlanChange(subscription_id=uuid4(), new_plan_id=uuid4())
    calls: dict[str, Callable[[], Any]] = {
        "schedule": lambda: scheduler.schedule(payload, at=later),
        "schedule at a local time, with a correlation id": lambda: scheduler.schedule(
            payload, at=local, tz="Europe/Paris", correlation_id="subscription:42"
        ),
    }
    stubbed = [_result(name, call, _bare(bare, call()), BUDGET) for name, call in calls.items()]
    with serving(0) as endpoint:
        ours, bare = (client_at(endpoint, config) for config in (PATIENT, None))
        served = scheduler_of(ours)
        call = partial(served.schedule, payload, at=later)
        return [*stubbed, _result("schedule, over HTTP", call, _bare(bare, call()), BUDGET_OVER_HTTP)]


def client_at(endpoint: str, config: Any = None) -> Any:
    """Return a client of DynamoDB at an endpoint."""
    return boto3.client("dynamodb", endpoint_url=endpoint, config=config, **_CREDENTIALS)


def scheduler_of(client: Any) -> Scheduler:
    """Return a scheduler as `Scheduler.from_env` makes it, over a client."""
    settings = Settings()
    store = DynamoStore(
        client,
        settings.made.actions_table,
        due_shards=settings.due_shards,
        at_once=in_threads,
        direct=direct_puts(client),
    )
    return Scheduler(store, tenant_id=TENANT, actor=CALLER, clock=SystemClock(), settings=settings)


def _bare(client: Any, action: Any) -> Callable[[], Any]:
    table, item = Settings().made.actions_table, to_item(action)
    return lambda: client.put_item(TableName=table, Item=item, ConditionExpression=ROW_IS_ABSENT)


def _result(name: str, call: Callable[[], Any], bare: Callable[[], Any], budget: float) -> Result:
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
        budget=ratio_at_most(budget),
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
