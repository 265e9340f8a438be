"""The units that one action, one run of a job and one sweep take of each service.

Three kinds of figures. ``tests/contract/test_costs.py`` asserts the *metered* ones on DynamoDB Local. The
*derived* ones follow from the code or the stack, and tests compare them. The *assumed* ones cannot be
measured locally, such as the duration of a call on AWS; they are high estimates.
"""

from __future__ import annotations

import math

KB = 1_024
# Days of the month that is priced.
DAYS = 30

# Metered: DynamoDB, rows of at most 1 KB.

# Scheduling: the row, and its entry in the due index.
PUT_WRITES = 2

# The claim changes no index. The worker reads the row first.
CLAIM_WRITES, CLAIM_READS = 1, 1

# The row, and the removal of its entry in the due index.
SETTLE_WRITES = 2

LIFE_WRITES = PUT_WRITES + CLAIM_WRITES + SETTLE_WRITES
CORRELATION_WRITES = 1
# The failed index.
FAILURE_WRITES = 1

# The traceback of an attempt that raised, compressed: of some fifty frames at most.
TRACEBACK_WRITES = 1

# A claim, and a settle that moves the row in the due index: one removal and one new entry.
RETRY_WRITES = 4

# Under a concurrency key: the slot and the row, each alone; reads of the row, and twice of the slots.
KEYED_CLAIM_WRITES, KEYED_SETTLE_WRITES, KEYED_READS = 2, 3, 3

# A start under a rate limit: its counter. A deferral reads the row once more, and the counter thrice; it
# reserves an instant, and moves the row in the due index.
START_WRITES, START_READS = 1, 1
DEFERRAL_WRITES, DEFERRAL_READS = 4, 4

# A job's run from claim to settle, transactions over its row and its job's.
RUN_WRITES, RUN_READS = 9, 2

# A job's next occurrence: its put, and its job's cursor with the index of jobs to maintain.
PLAN_WRITES, PLAN_READS = 5, 1

# The count of an ended run, of a job: one item of an hour, of at most a kilobyte in most hours.
COUNT_WRITES = 1

# A row without its payload: when it is put, and after a run.
PENDING_BYTES, RUN_BYTES = 187, 340

# Derived from the code and the stack.

# Bytes of a payload that stays in the row; a larger one is an item of its own.
IN_ROW_LIMIT = 2_048

# The keys and times of an offloaded payload.
OFFLOADED_BYTES = 60

DUE_SHARDS, BANDS = 16, 7
# Passes a day.
SWEEPS = 60 * 24
CATCH_UPS = 4

# Half a unit for a page without rows, one of each due shard; the bookmark of 1 KB; four pages of jobs to
# maintain. While rows are overdue, as long runs are, a page of each band as well.
SWEEP_READS = DUE_SHARDS / 2 + 1 + 2
OVERDUE_READS = DUE_SHARDS * BANDS / 2
OVERDUE_MS = 5 * 60_000

# The bookmark of less than 1 KB while no shard lags, and the pass's record.
SWEEP_WRITES = 1 + 1

# A catch-up: as a sweep, and a page of each of the 256 possible due shards that the setting leaves out.
CATCH_UP_READS = SWEEP_READS + (256 - DUE_SHARDS) / 2

# One turn: a read of each due shard; its bookmark.
WHEEL_READS, WHEEL_WRITES = DUE_SHARDS / 2 + 1, 2

# The further units of a turn that stands in for timers: reads of what it stands in for, and of whether to arm
# its actions again. Arm's four processes write once a minute that they left actions to the wheel, and once an
# hour that they have too many.
STAND_IN_READS, STAND_IN_WRITES = 3, 1 + 4

# The timers a month, at most, of far one-shots and of jobs' runs; beyond, the wheel sends them all. Arm has a
# process for each of the stream's four shards, and each may set 100 timers in two hours.
MOST_TIMERS = 100 * 4 * 12 * DAYS

# Metered: a far action's index entry and its row of at most 4 KB, as the wheel reads them.
WHEEL_READS_OF_ONE = 1.05

# A page of 50 actions.
LIST_READS = 18

# Long polls of 20 seconds by one poller on an idle queue, a day.
POLLS = 3 * 60 * 24

# Concurrent pollers of an idle queue: of one with a bound of its concurrency, and of others.
BOUNDED_POLLERS, POLLERS = 5, 2

# Send, and for each call of a worker a receive and a delete. One request sends up to ten messages.
MESSAGE_REQUESTS, CALL_REQUESTS = 3, 2
SEND_GROUP = 10

# Records of the stream in one invocation, at most.
BATCH = 100

# Scheduled or planned, started, ended.
EVENTS_OF_ONE = 3

# Tables and their indexes: with provisioned capacity, each has a capacity of its own.
CAPACITIES = 8

# Assumed.

# Batches a month: Lambda reads each of a table's four shards four times a second.
# Evenly spread records cost the most, because records in bursts share batches.
STREAM_SHARDS = 4
STREAM_BATCHES = STREAM_SHARDS * 4 * 86_400 * DAYS

# SQS delays whole seconds; without a sleep, a worker waits for the rest, half a second on average.
WAIT_MS = 500

# In phase, metered in simulated time (`tests/journeys/test_phase.py`), if SQS' delays end in phase with their
# send: a worker's wait; the sleep of a function for a message on its own; that of arm's batches. Each batch
# sleeps until a whole second, so that one ends in each shard and second.
PHASE_WAIT_MS, SLEEP_MS, LONGEST_SLEEP_MS = 45, 420, 900
PHASE_BATCHES = STREAM_SHARDS * 86_400 * DAYS

# The same of what the wheel sends, in full pages. Metered too: the messages that one second's phase takes,
# and the seconds for which a turn sleeps at most.
WHEEL_WAIT_MS, WHEEL_PHASE, WHEEL_SLEEPS = 75, 450, 16
WHEEL_IN_PHASE = WHEEL_PHASE * WHEEL_SLEEPS * SWEEPS * DAYS

# The memory that buys one CPU of Lambda.
MEMORY_OF_A_CPU = 1_769

# A read, claim and settle, without the handler: CPU as `bench.memory` measures it, and the waits of calls.
WORK_CPU_MS, WORK_CALLS_MS = 5.0, 15

# CPU of a row in the wheel, as `bench.wheel` measures it.
WHEEL_ROW_CPU_MS = 0.2

# A batch with its send; each record; each schedule created at EventBridge, of which eight wait side by side.
ARM_MS, ARM_RECORD_MS, ARM_TIMER_MS = 20, 2, 8

# The parts of the memory of duetime's functions. CPU of a wake, as `bench.memory` measures it.
DISPATCH_SHARE, ARM_SHARE, LEAST_MEMORY = 0.25, 0.5, 128
DISPATCH_CPU_MS, DISPATCH_CALLS_MS = 1.0, 15

# CPU of a pass of the sweep without overdue rows, as `bench.memory` measures it, and its calls in sequence.
SWEEP_CPU_MS, SWEEP_CALLS_MS = 29.0, 60
PUBLISH_MS, PUBLISH_RECORD_MS = 20, 2
WHEEL_MS, CATCH_UP_MS = 150, 5_000
API_MS = 100
# A message of your own queue, received and sent again.
HOP_MS = 30

# A principal gets a key of a table, and a queue's producer and consumer get theirs, so often: the minutes
# for which the services reuse them. A consumer's key takes one request, a producer's two.
KEY_MINUTES, KEY_REQUESTS_OF_QUEUE = 5, 3
# Tables; functions that read them all the time, beside workers: dispatch, sweep, arm, publish, notify, api.
KEY_TABLES, KEY_READERS = 2, 6

# CPU of INIT, which Lambda bills since August 2025: boto3 and a module of duetime or of an app, as
# `bench.memory` measures it.
INIT_CPU_MS = 330

# The share of a function's calls that start an environment. AWS names less than one in a hundred.
INIT_SHARE = 0.01

# Further starts of a function, a month: Lambda replaces an environment after some two hours.
INIT_RENEWALS = 12 * DAYS

# The used share of a provisioned capacity; the rest is for bursts.
CAPACITY_USE = 0.7

# Lambda's own lines of an invocation, as CloudWatch counts them. duetime's functions write none.
PLATFORM_BYTES = 400

# Metered, with CloudWatch's 26 bytes for each line: arm's line of a batch of one action, what each other
# action adds, of another tenant, and what all metrics add; the same of a run and its invocation's others.
ARM_LINE_BYTES, ONE_MORE_SCHEDULED_BYTES, ARM_METRICS_BYTES = 290, 65, 230
RUN_LINE_BYTES, ONE_MORE_BYTES, RUN_METRICS_BYTES = 480, 280, 110

# A line of a pass.
LINE_BYTES = 600

# DynamoDB's overhead of an item, and of an entry in an index with its keys.
ITEM_OVERHEAD, ENTRY_BYTES = 100, 250


def duration(cpu_ms: float, waits_ms: float, memory: float) -> float:
    """Return the milliseconds of a call that waits, and needs so much of a CPU, by the MB that it has."""
    return waits_ms + cpu_ms * max(1, MEMORY_OF_A_CPU / memory)


def pollers_of(due: float, others: float, provisioned: float = 0) -> float:
    """Return the number of pollers of idle queues; only the due queues of workers have a bound.

    Args:
        due: the due queues of workers.
        others: the other queues.
        provisioned: the pollers of each due queue; 0: Lambda's own.
    """
    return due * (provisioned or BOUNDED_POLLERS) + others * POLLERS


def key_requests(workers: float, due: float) -> float:
    """Return the requests of a KMS key a month, with the tables and the main queues in use all the time."""
    of_tables = KEY_TABLES * (KEY_READERS + workers)
    of_queues = KEY_REQUESTS_OF_QUEUE * (due + 2)
    return DAYS * 24 * 60 / KEY_MINUTES * (of_tables + of_queues)


def kilobytes(size: float) -> int:
    """Return the KB that DynamoDB charges for an item: each begun KB counts."""
    return max(1, math.ceil(size / KB))


def batches(records: float, most: float = STREAM_BATCHES) -> float:
    """Return the invocations a month for a number of records; `most`: while their batches are not full."""
    return max(min(records, most), records / BATCH)
