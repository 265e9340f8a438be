"""Memory: CPU and peak memory of the functions' processes, and what a size of memory makes of them.

Each function is a fresh process that handles events against DynamoDB Local, with a stub of SQS. Lambda gives
a process a part of a CPU in proportion to its memory: one at 1,769 MB. So the time of a run is its waits,
which are assumed, and its CPU divided by that part. Its price is that time by the memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bench.an_app import Ping
from bench.fresh import ENVIRONMENT, ROOT
from bench.result import Result
from bench.stand import CALLER, TENANT, Stand, made
from bench.stubs import serving
from bench.usual_app import CloseOrder
from duetime.aws.items import to_item
from duetime.aws.messages import to_json
from duetime.aws.tables import ACTIONS, JOBS
from duetime.cost import units
from duetime.cost.prices import usual_prices
from duetime.ids import TenantId
from duetime.model.new_action import new_action
from duetime.wakeups.due_messages import message_of
from tests.dynamodb_local import client, running

SIZES = (128, 256, 512)
_WARM, _RUNS, _BATCH = 40, 200, 29
_MILLI, _MILLION, _KB_OF_GB = 1e3, 1e6, 1_024
"""Records in one batch of arm at ten million a day, by four shards and one batch in each second."""

_SWEEP = {"schedule": "sweep", "scheduled_at": "2026-03-01T12:00:00Z"}

_CHILD = """
import json, sys, time
from importlib import import_module
out, sys.stdout = sys.stdout, sys.stderr
begun = time.process_time()
handler = import_module(sys.argv[1]).handler
class Context:
    function_name, aws_request_id = "bench", "9b1f"
    def get_remaining_time_in_millis(self):
        return 60_000
taken = []
started = time.process_time() - begun
for line in sys.stdin:
    before = time.process_time()
    handler(json.loads(line), Context())
    taken.append(time.process_time() - before)
with open("/proc/self/status") as status:
    peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
json.dump({"started": started, "taken": taken, "peak": int(peak) / 1024}, out)
out.flush()
"""


@dataclass(frozen=True, slots=True)
class Process:
    """What one process took.

    Attributes:
        start: milliseconds of CPU of its imports.
        cpu: milliseconds of CPU of a call, the mean without the first ones.
        peak: MB.
    """

    start: float
    cpu: float
    peak: float


def measure() -> list[Result]:
    """Measure a worker of each app, arm and the sweep; then derive time and price of each size of memory."""
    with running() as endpoint, serving(0) as sqs:
        dynamodb = client(endpoint)
        stand = Stand(dynamodb, made(dynamodb, "bench-actions"))
        for table, shape in (("bench-jobs", JOBS), ("bench-orders", ACTIONS)):
            made(dynamodb, table, shape)
        environment = {
            "AWS_ENDPOINT_URL_DYNAMODB": endpoint,
            "AWS_ENDPOINT_URL_SQS": sqs,
            "DUETIME_ACTIONS_TABLE": stand.table,
            "DUETIME_JOBS_TABLE": "bench-jobs",
            "DUETIME_QUEUES": json.dumps({"default": f"{sqs}/due"}),
            "ORDERS": "bench-orders",
        }
        usual = [CloseOrder(order=f"o-{number}", amount=17) for number in range(_WARM + _RUNS)]
        least = [Ping() for _ in usual]
        processes = {
            "a worker, an empty handler": _process(
                "work", environment, [_delivered(stand, payload) for payload in least]
            ),
            "a worker, a handler with two calls of its own": _process(
                "work",
                environment | {"DUETIME_APP": "bench.usual_app:app"},
                [_delivered(stand, payload) for payload in usual],
            ),
            "dispatch": _process("dispatch", environment, [_woken(payload) for payload in least]),
            "arm, 29 records": _process(
                "arm", environment, [_armed(usual[:_BATCH]) for _ in range(_WARM + _RUNS // 4)]
            ),
            "the sweep, without overdue rows": _process(
                "sweep", environment, [_SWEEP] * (_WARM + _RUNS // 4)
            ),
        }
    return [result for name, process in processes.items() for result in _results(name, process)]


def _process(function: str, environment: Mapping[str, str], events: Sequence[Any]) -> Process:
    done = subprocess.run(  # noqa: S603 - every argument comes from the bench
        [sys.executable, "-c", _CHILD, f"functions.{function}"],
        cwd=ROOT, env={**ENVIRONMENT, **environment}, capture_output=True, text=True, check=False,
        input="\n".join(map(json.dumps, events)), timeout=600,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{function} failed:\n{done.stderr[-2_000:]}")
    found = json.loads(done.stdout)
    taken = found["taken"][_WARM:]
    return Process(found["started"] * _MILLI, sum(taken) / len(taken) * _MILLI, found["peak"])


def _row(payload: Any) -> Any:
    now = datetime.now(UTC)
    return new_action(
        payload,
        due_at=now,
        now=now,
        tenant_id=TenantId(TENANT),
        actor=CALLER,
        correlation_id=None,
        due_shards=16,
    )


def _delivered(stand: Stand, payload: Any) -> Any:
    row = _row(payload)
    stand.store.put(row)
    sent = str(int(row.due_at.timestamp() * _MILLI))
    attributes = {"SentTimestamp": sent, "ApproximateFirstReceiveTimestamp": sent}
    record = {
        "messageId": row.id, "receiptHandle": "r", "body": to_json(message_of(row)), "attributes": attributes
    }  # fmt: skip
    return {"Records": [record]}


def _woken(payload: Any) -> Any:
    return json.loads(to_json(message_of(_row(payload))))


def _armed(payloads: Sequence[Any]) -> Any:
    return {
        "Records": [
            {
                "eventID": str(place), "eventName": "INSERT", "eventSource": "aws:dynamodb",
                "dynamodb": {"SequenceNumber": str(place), "NewImage": to_item(_row(payload))},
            }
            for place, payload in enumerate(payloads)
        ]
    }  # fmt: skip


def _results(name: str, process: Process) -> Iterator[Result]:
    price = usual_prices()["lambda-arm64"]
    yield Result(bench="memory", name=f"{name}: peak memory", measured=process.peak, unit="MB")
    yield Result(bench="memory", name=f"{name}: CPU of a call", measured=process.cpu, unit="ms")
    for size in SIZES:
        run = units.duration(process.cpu, units.WORK_CALLS_MS, size)
        start = units.duration(process.start, 0, size)
        dollars = price.dollars_for(run / _MILLI * size / _KB_OF_GB * _MILLION)
        yield Result(
            bench="memory", name=f"{name}: a call at {size} MB", measured=run, unit="ms",
            note=f"{dollars:.3f} dollars a million; a start takes {start / _MILLI:.1f} s of that CPU",
        )  # fmt: skip
