"""The wheel: the CPU of one row from the due index to the queue, an input of the model in `million`."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace
from datetime import timedelta

from bench.million import Assumptions
from bench.result import Result
from bench.scan import NOON, Noon, fill, row_due
from bench.stand import Stand, emulated, made
from bench.stubs import NOWHERE, stubbed_client
from duetime.aws.queues import SqsQueues
from duetime.memory.notes import MemoryBookmarks
from duetime.wakeups.assembly import Steps

ROWS, ROUNDS = 4_000, 5
MILLI = 1e3


def measure() -> list[Result]:
    """Turn the wheel over rows that are all in its window, with DynamoDB Local and a stub of SQS."""
    with emulated() as dynamodb:
        stand = Stand(dynamodb, made(dynamodb, "actions"), clock=Noon())
        fill(dynamodb, stand.table, [row_due(NOON + timedelta(minutes=10)) for _ in range(ROWS)])
        queues = SqsQueues(stubbed_client("sqs", b'{"Successful": []}'), {"default": f"{NOWHERE}/due"})
        taken = [_turn(stand, queues) for _ in range(ROUNDS)]
    return [
        Result(
            bench="wheel",
            name="CPU of one row",
            measured=min(taken) / ROWS * MILLI,
            unit="ms",
            reference=Assumptions().row_cpu * MILLI,
            against="what the model of one million assumes",
            note=f"the least of {ROUNDS} turns; {statistics.median(taken) / ROWS * MILLI:.3f} ms the median",
        )
    ]


def _turn(stand: Stand, queues: SqsQueues) -> float:
    settings = replace(stand.settings, timers="wheel")
    given = replace(stand.backends, queues=queues, settings=settings, bookmarks=MemoryBookmarks())
    wheel = Steps(given).wheel
    before = time.process_time()
    passed = wheel(stop_at=NOON + timedelta(hours=1))
    taken = time.process_time() - before
    if passed.sent != ROWS:
        raise RuntimeError(f"{passed.sent} of {ROWS} rows were sent")
    return taken
