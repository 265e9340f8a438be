"""A stampede: 50 deliveries of one action at the same moment, on DynamoDB Local, of which one runs.

The reference is the least that could decide it: 50 bare conditional updates of one item, from as many
threads. Both take turns, each round with a row of its own.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Barrier
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from bench.result import Result, at_most
from bench.stand import Letter, Stand, made
from duetime.ports.wakeups import Delivery
from duetime.wakeups.due_messages import message_of
from duetime.worker.worker import DeliveryResult as Came
from tests.dynamodb_local import CREDENTIALS, running

CROWD, ROUNDS, SIZE = 50, 12, 600
_AGAINST = f"{CROWD} bare conditional updates of one item, from as many threads"


@dataclass(slots=True)
class _Taken:
    """The cost of the rounds of one kind."""

    seconds: list[float] = field(default_factory=list)
    answers: list[Counter[object]] = field(default_factory=list)
    calls: list[tuple[str, bool, float]] = field(default_factory=list)
    """Each call: its name, whether its condition held, and the units from DynamoDB's response."""

    def write_units(self) -> float:
        """Return a round's units; DynamoDB bills a rejected write one unit, unreported."""
        return sum(units if held else 1 for _, held, units in self.calls) / ROUNDS


def measure() -> list[Result]:
    """Measure the deliveries beside the bare updates."""
    config = Config(retries={"total_max_attempts": 1}, max_pool_connections=CROWD)
    with running() as endpoint, ThreadPoolExecutor(CROWD) as pool:
        dynamodb = boto3.client("dynamodb", endpoint_url=endpoint, config=config, **CREDENTIALS)
        stand = Stand(dynamodb, made(dynamodb, "actions"))
        ours, bare = _Taken(), _Taken()
        for place in range(ROUNDS + 1):
            taken = (ours, bare) if place else (_Taken(), _Taken())  # the first round opens the connections
            _round(pool, stand.client, taken[0], _deliveries(stand))
            _round(pool, stand.client, taken[1], _updates(stand, place))
    return _results(ours, bare)


def _round(pool: ThreadPoolExecutor, client: Any, taken: _Taken, do: Callable[[], object]) -> None:
    gate = Barrier(CROWD)

    def at_once(_: int) -> tuple[object, float, float]:
        gate.wait()
        began = time.perf_counter()
        answer = do()
        return answer, began, time.perf_counter()

    with _metered(client, taken):
        done = list(pool.map(at_once, range(CROWD)))
    taken.seconds.append(max(end for _, _, end in done) - min(began for _, began, _ in done))
    taken.answers.append(Counter(answer for answer, _, _ in done))


def _deliveries(stand: Stand) -> Callable[[], object]:
    action = stand.scheduler.schedule(Letter.of_size(SIZE), at=timedelta(0))
    delivery = Delivery(message_of(action), action.due_at, receipt="")
    return lambda: stand.work(delivery)


def _updates(stand: Stand, place: int) -> Callable[[], object]:
    key = {"pk": {"S": "bare"}, "sk": {"S": str(place)}}
    stand.client.put_item(
        TableName=stand.table, Item={**key, "status": {"S": "pending"}, "payload": {"S": "x" * SIZE}}
    )
    request: Mapping[str, Any] = {
        "TableName": stand.table,
        "Key": key,
        "ConditionExpression": "#status = :pending",
        "UpdateExpression": "SET #status = :processing",
        "ExpressionAttributeNames": {"#status": "status"},
        "ExpressionAttributeValues": {":pending": {"S": "pending"}, ":processing": {"S": "processing"}},
    }

    def update() -> bool:
        try:
            stand.client.update_item(**request)
        except ClientError:
            return False
        return True

    return update


@contextmanager
def _metered(client: Any, taken: _Taken) -> Iterator[None]:
    """Record each call of all threads."""

    def ask(params: Mapping[str, Any], **_rest: Any) -> Mapping[str, Any]:
        return {**params, "ReturnConsumedCapacity": "TOTAL"}

    def read(parsed: Mapping[str, Any], model: Any, **_rest: Any) -> None:
        consumed = parsed.get("ConsumedCapacity", [])
        of_tables = consumed if isinstance(consumed, list) else [consumed]  # of several rows, a list
        units = sum(of_one.get("CapacityUnits", 0.0) for of_one in of_tables)
        taken.calls.append((model.name, "Error" not in parsed, units))

    events = client.meta.events
    events.register("provide-client-params.dynamodb.*", ask)
    events.register("after-call.dynamodb.*", read)
    try:
        yield
    finally:
        events.unregister("provide-client-params.dynamodb.*", ask)
        events.unregister("after-call.dynamodb.*", read)


def _results(ours: _Taken, bare: _Taken) -> list[Result]:
    runs = max(answer[Came.RAN] for answer in ours.answers)
    if min(answer[Came.RAN] for answer in ours.answers) != 1 or {answer[True] for answer in bare.answers} != {
        1
    }:
        raise RuntimeError("a stampede was not won by exactly one")
    waits = sum(answer[Came.PUT_OFF] for answer in ours.answers) / ROUNDS
    return [
        Result(
            bench="stampede",
            name=f"{CROWD} deliveries of one action at once, to the last answer",
            measured=min(ours.seconds) * 1e3,
            unit="ms",
            reference=min(bare.seconds) * 1e3,
            against=_AGAINST,
            note=f"with the run's settle; of the others {waits:.1f} look again when the lease ends",
        ),
        Result(
            bench="stampede",
            name="runs, the most of any round",
            measured=runs,
            unit="runs",
            budget=at_most(1),
        ),
        Result(
            bench="stampede",
            name="write units",
            measured=ours.write_units(),
            unit="units",
            reference=bare.write_units(),
            against=_AGAINST,
            note="a refused write counts as one unit, as AWS bills it; the settle is 2",
        ),
        Result(
            bench="stampede",
            name="DynamoDB calls",
            measured=len(ours.calls) / ROUNDS,
            unit="calls",
            reference=len(bare.calls) / ROUNDS,
            against=_AGAINST,
        ),
    ]
