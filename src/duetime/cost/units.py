"""The units that one action, one run of a job and one sweep take of each service.

Three kinds of figures. ``tests/contract/test_costs.py`` asserts the *metered* ones on DynamoDB Local. The
*derived* ones follow from the code or the stack, and tests compare them. The *assumed* ones cannot be
measured locally, such as the duration of a call on AWS; they are high estimates.
"""

from __future__ import annotations

import math

KB = 1_024
DAYS = 30
"""Days of the month that is priced."""

# Metered: DynamoDB, rows of at most 1 KB.

PUT_WRITES = 2
"""Scheduling: the row, and its entry in the due index."""

CLAIM_WRITES = 1
"""The claim changes no index."""

SETTLE_WRITES = 2
"""The row, and the removal of its entry in the due index."""

LIFE_WRITES = PUT_WRITES + CLAIM_WRITES + SETTLE_WRITES
CORRELATION_WRITES = 1
FAILURE_WRITES = 1
"""The failed index."""

RETRY_WRITES = 4
"""A claim, and a settle that moves the row in the due index: one removal and one new entry."""

KEYED_CLAIM_WRITES, KEYED_SETTLE_WRITES, KEYED_READS = 4, 5, 2
"""Under a concurrency key: transactions of two items, and the reads of slots."""

RUN_WRITES, RUN_READS = 9, 2
"""A job's run from claim to settle, transactions over its row and its job's."""

PLAN_WRITES, PLAN_READS = 5, 1
"""A job's next occurrence: its put, and its job's cursor with the index of jobs to maintain."""

PENDING_BYTES, RUN_BYTES = 180, 340
"""A row without its payload: when it is put, and after a run."""

# Derived from the code and the stack.

IN_ROW_LIMIT = 2_048
"""Bytes of a payload that stays in the row; a larger one is an item of its own."""

OFFLOADED_BYTES = 60
"""The keys and times of an offloaded payload."""

DUE_SHARDS, BANDS = 16, 7
SWEEPS = 60 * 24
"""A day."""

CATCH_UPS = 4
"""A day."""

SWEEP_READS = DUE_SHARDS * BANDS / 2 + 2 + 2
"""Half a unit for a page without rows; the bookmark of 5 KB; four pages of jobs to maintain."""

SWEEP_WRITES = 5 + 1
"""The bookmark of 5 KB, and the pass's record."""

WHEEL_READS, WHEEL_WRITES = DUE_SHARDS / 2 + 1, 2
"""One turn: a read of each due shard; its bookmark."""

WHEEL_READS_OF_ONE = 1.5
"""A far action's index entry and its row, as the wheel reads them, at most."""

LIST_READS = 18
"""A page of 50: the most expensive request to the API."""

POLLS = 3 * 60 * 24
"""Long polls of 20 seconds by one poller on an idle queue, a day."""

POLLERS = 5
"""Concurrent pollers: the fewest that Lambda runs on a queue."""

MESSAGE_REQUESTS = 3
"""Send, receive, delete: the worker takes messages one by one."""

BATCH = 100
"""Records of the stream in one invocation, at most."""

EVENTS_OF_ONE = 3
"""Scheduled or planned, started, ended."""

# Assumed.

STREAM_BATCHES = 4 * 4 * 86_400 * DAYS
"""Batches a month: Lambda reads each of a table's four shards four times a second.

Evenly spread records cost the most, because records in bursts share batches."""

WAIT_MS = 500
"""SQS delays whole seconds; a worker waits for the rest, half a second on average."""

WORK_MS = 30
"""Claim and settle, without the handler."""

ARM_MS, ARM_RECORD_MS, ARM_TIMER_MS = 20, 2, 40
"""A batch with its send; each record; each schedule created at EventBridge."""

DISPATCH_MS = 40
PUBLISH_MS, PUBLISH_RECORD_MS = 20, 2
SWEEP_MS, WHEEL_MS, CATCH_UP_MS = 300, 150, 5_000
API_MS = 100
HOP_MS = 30
"""A message of your own queue, received and sent again."""

PLATFORM_BYTES = 400
"""Lambda's own lines of an invocation, as CloudWatch counts them."""

LINE_BYTES = 600
"""The log line of a run's end."""

STORED_BYTES = 700
"""A settled row without its payload, with the overhead of DynamoDB and the indexes."""


def queues_of(workers: float) -> float:
    """Return the number of queues: workers, system and notifications, with dead letters, and the failures."""
    return 2 * (workers + 2) + 1


def kilobytes(size: float) -> int:
    """Return the KB that DynamoDB charges for an item: each begun KB counts."""
    return max(1, math.ceil(size / KB))


def batches(records: float) -> float:
    """Return the invocations a month for a number of records of the stream."""
    return max(min(records, STREAM_BATCHES), records / BATCH)
