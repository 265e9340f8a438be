"""The units: what one action, one run of a job, one sweep takes of each service.

Three kinds of figures. *Metered* ones are asserted by ``tests/contract/test_costs.py`` on Amazon's own engine.
*Read* ones follow from the code or the stack, and tests hold them to it. *Assumed* ones no machine of ours can
measure, such as how long a call takes on AWS; they are taken on the dear side, each with its reason.
"""

from __future__ import annotations

import math

KB = 1_024
DAYS = 30
"""Of the month that everything is told for."""

# Metered: DynamoDB, rows of at most 1 KB.

PUT_WRITES = 2
"""Of scheduling: the row, and its entry in the due index."""

CLAIM_WRITES = 1
"""No index changes."""

SETTLE_WRITES = 2
"""The row, and its entry in the due index, which goes."""

LIFE_WRITES = PUT_WRITES + CLAIM_WRITES + SETTLE_WRITES
CORRELATION_WRITES = 1
FAILURE_WRITES = 1
"""The failed index."""

RETRY_WRITES = 4
"""A claim, and a settle that moves the row in the due index: one entry goes, one comes."""

KEYED_CLAIM_WRITES, KEYED_SETTLE_WRITES, KEYED_READS = 4, 5, 2
"""Under a concurrency key: transactions of two items, and the looks for a slot."""

RUN_WRITES, RUN_READS = 9, 2
"""A job's run from claim to settle, transactions over its row and its job's."""

PLAN_WRITES, PLAN_READS = 5, 1
"""A job's next occurrence: its put, and its job's cursor with the index of what must be attended to."""

PENDING_BYTES, RUN_BYTES = 180, 340
"""A row without its payload: as it is put, and as a run leaves it."""

# Read from the code and the stack.

IN_ROW_LIMIT = 2_048
"""Bytes of a payload that stays in the row; a larger one is an item of its own."""

APART_BYTES = 60
"""The keys and times of a payload set apart."""

DUE_SHARDS, BANDS = 16, 7
SWEEPS = 60 * 24
"""A day."""

CATCH_UPS = 4
"""A day."""

SWEEP_READS = DUE_SHARDS * BANDS / 2 + 2 + 2
"""Half a unit for a page without rows; the bookmark of 5 KB; four pages of jobs to attend to."""

SWEEP_WRITES = 5 + 1
"""The bookmark of 5 KB, and the pass' record."""

WHEEL_READS, WHEEL_WRITES = DUE_SHARDS / 2 + 1, 2
"""A turn's look at each due shard; its bookmark."""

WHEEL_READS_OF_ONE = 1.5
"""A far action's index entry and its row, as the wheel reads them: at most."""

LIST_READS = 18
"""A page of 50, which no request to the API exceeds by much."""

POLLS = 3 * 60 * 24
"""Long polls of 20 seconds that one poller makes of an idle queue, a day."""

POLLERS = 5
"""Side by side: as few as Lambda keeps on a queue."""

MESSAGE_REQUESTS = 3
"""Send, receive, delete: the worker takes messages one by one."""

BATCH = 100
"""Records of the stream that a function takes at the most."""

EVENTS_OF_ONE = 3
"""Scheduled or planned, started, ended."""

# Assumed.

STREAM_BATCHES = 4 * 4 * 86_400 * DAYS
"""Batches a month: Lambda reads each shard four times a second, and a table on demand begins with four. Records spread
evenly are the dearest: what comes in bursts shares batches."""

WAIT_MS = 500
"""A worker waits out the fraction of the second that SQS' whole seconds leave: half of one on average."""

WORK_MS = 30
"""Claim and settle, beside the handler."""

ARM_MS, ARM_RECORD_MS, ARM_TIMER_MS = 20, 2, 40
"""A batch with its send; each record; each schedule that is made at EventBridge."""

DISPATCH_MS = 40
PUBLISH_MS, PUBLISH_RECORD_MS = 20, 2
SWEEP_MS, WHEEL_MS, CATCH_UP_MS = 300, 150, 5_000
API_MS = 100
HOP_MS = 30
"""A message of a queue of one's own, read and sent again."""

PLATFORM_BYTES = 400
"""Lambda's own lines of an invocation, as CloudWatch counts them."""

LINE_BYTES = 600
"""The line that tells a run's end."""

STORED_BYTES = 700
"""A settled row beside its payload, with what DynamoDB and the indexes add."""


def queues_of(workers: float) -> float:
    """Queues that feed a function, with their dead letters: each worker's, the system's, the notifications'; and the failures."""
    return 2 * (workers + 2) + 1


def kilobytes(size: float) -> int:
    """As DynamoDB counts an item's: each KB begun."""
    return max(1, math.ceil(size / KB))


def batches(records: float) -> float:
    """Invocations a month for so many records of the stream."""
    return max(min(records, STREAM_BATCHES), records / BATCH)
