"""The estimate of a workload, line by line, in dollars a month, with its alternatives.

The alternatives do the same work with other services. Their estimates are low: no table unless one is needed,
no alarms, no waiting and no dead-letter queues.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from duetime._english import counted
from duetime.cost import quantities, units
from duetime.cost.prices import CostLine, Price, Prices, usual_prices
from duetime.cost.quantities import InvocationCounts, compute, invocations, starts
from duetime.cost.units import DAYS, kilobytes
from duetime.cost.workload import Volume, Workload

_GB = 1_000_000_000
_MILLION = 1_000_000
_HOP_MINUTES = 15
# Of Step Functions: into the wait, into the task, to the end. Of Lambda: a start, a wait, a step.
_TRANSITIONS = _OPERATIONS = 3
# Lambda keeps the data of an ended execution for at most so many days.
_RETAINED_DAYS = 90
# Prices of requests on demand, and those of their capacity.
_CAPACITY = {"write-units": "write-capacity", "read-units": "read-capacity"}

_Row = tuple[str, str, float, float, str]
"""A line: its name, the name of its price, the units that grow, the units without any work, and a note."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A row of the table of alternatives: the price of a month, and what is missing."""

    name: str
    lines: tuple[CostLine, ...]
    lacks: str

    @property
    def dollars(self) -> float:
        """The sum of all lines."""
        return sum(line.dollars for line in self.lines)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The monthly price of a workload by a price list; `done` counts its actions and runs of a month."""

    workload: Workload
    prices: Prices
    done: float
    lines: tuple[CostLine, ...]
    alternatives: tuple[Alternative, ...]

    @property
    def dollars(self) -> float:
        """The sum of all lines."""
        return sum(line.dollars for line in self.lines)

    @property
    def growing_dollars(self) -> float:
        """The part that grows with the work."""
        return sum(line.growing_dollars for line in self.lines)

    @property
    def fixed_dollars(self) -> float:
        """The part without any work."""
        return sum(line.fixed_dollars for line in self.lines)

    @property
    def free_dollars(self) -> float:
        """The part that AWS' free tiers without an end cover, in an account with nothing else."""
        used: dict[Price, float] = {}
        for line in self.lines:
            used[line.price] = used.get(line.price, 0) + line.quantity
        return sum(price.dollars_for(min(quantity, price.free)) for price, quantity in used.items())

    @property
    def per_million(self) -> float | None:
        """Dollars for a million actions and runs, including the fixed part; None without any."""
        return self.dollars / self.done * _MILLION if self.done else None


def estimate(workload: Workload, prices: Prices, *, may_sleep: bool = True) -> Estimate:
    """Return the estimate of a workload.

    Args:
        workload: the work; its due times are whole seconds.
        prices: the price list.
        may_sleep: small functions may sleep so that workers need not, as the stack does if it takes fewer
            GB-seconds.
    """
    volume = Volume.from_workload(workload)
    slept, waited = (compute(quantities.waiting(workload, volume, in_phase=way)) for way in (True, False))
    in_phase = may_sleep and workload.start != "second" and slept <= waited
    rows = (
        *_tables(workload, volume),
        *_messaging(workload, volume, in_phase=in_phase),
        *_functions(workload, volume, in_phase=in_phase),
        *_surroundings(workload, volume),
        *_protection(workload, volume, in_phase=in_phase),
    )
    provisioned = (
        "duetime, provisioned capacity",
        map(_provisioned, rows),
        "no setting: duetime creates its tables on demand; DynamoDB throttles above the capacity",
    )
    others = (
        Alternative(name, _priced(other, prices), lacks)
        for name, other, lacks in (*_alternatives(workload, volume), provisioned)
    )
    return Estimate(workload, prices, volume.done, _priced(rows, prices), tuple(others))


def dollars_of_job(runs_per_day: float, payload_bytes: int) -> float:
    """Return the dollars a month of a job's runs, by the usual prices, without the deployment's fixed part.

    The handler's time, its retries and its failures are those that `Workload` assumes. A deployment has the
    metrics anyway.
    """
    alone = Workload(
        actions_per_day=0,
        jobs=1,
        runs_per_day=runs_per_day,
        payload_bytes=payload_bytes,
        api_requests_per_day=0,
    )
    lines = estimate(alone, usual_prices()).lines
    return sum(line.growing_dollars for line in lines if line.name != "metrics")


def _priced(rows: Iterable[_Row], prices: Prices) -> tuple[CostLine, ...]:
    return tuple(
        CostLine(name, prices[price], grows, fixed, note) for name, price, grows, fixed, note in rows
    )


def _tables(work: Workload, volume: Volume) -> Sequence[_Row]:
    writes, fixed_writes = quantities.writes(work, volume), quantities.fixed_writes(work)
    life = quantities.life_writes(work.payload_bytes)
    reads, fixed_reads = quantities.reads(work, volume), quantities.fixed_reads(work)
    stored, days = quantities.stored_gigabytes(work), counted(work.retention_days, "day", "g")
    note = f"{life} a one-shot's life; the sweep's bookmark; canaries"
    return (
        ("tables: writes", "write-units", writes, fixed_writes, note),
        ("tables: reads", "read-units", reads, fixed_reads, "jobs, the API's lists; the sweep's reads"),
        ("tables: storage", "table-storage", stored, 0, f"rows for {days}"),
        ("tables: recovery", "table-recovery", stored, 0, "to any second of 35 days"),
    )


def _messaging(work: Workload, volume: Volume, *, in_phase: bool) -> Sequence[_Row]:
    """Return the lines of queues, timers and events."""
    pollers = units.pollers_of(work.due_queues, work.queues - work.due_queues, work.worker_pollers)
    canaries = work.canaries * units.MESSAGE_REQUESTS
    at_rest = pollers * units.POLLS * DAYS + canaries
    note = f"send, receive, delete; long polls of {counted(work.queues, 'queue', 'g')}"
    requests = quantities.queue_requests(work, volume, in_phase=in_phase)
    fair = ("queues: groups", "fair-requests", requests, canaries, "fair among tenants")
    passes = (units.SWEEPS + units.CATCH_UPS) * DAYS + work.canaries * (work.timers == "eventbridge")
    timers = volume.timers + volume.runs
    return (
        ("queues: requests", "queue-requests", requests, at_rest, note),
        *([fair] if work.tenants == "several" else []),
        ("timers", "timers", timers, passes, "far actions; a run's timer and its job's wake"),
        ("events", "events", volume.events, 0, f"published: {work.events}"),
    )


def _functions(work: Workload, volume: Volume, *, in_phase: bool) -> Sequence[_Row]:
    grow = list(quantities.growing_calls(work, volume, in_phase=in_phase))
    fixed = list(quantities.fixed_calls(work))
    waits = compute(quantities.waiting(work, volume, in_phase=in_phase))
    price, about = (
        f"lambda-{work.architecture}",
        "arm, dispatch, work, publish, api; sweep, catch-up, canaries",
    )
    ran = f"handlers of {work.handler_ms:g} ms, and duetime's own; the passes"
    seconds = units.duration(units.INIT_CPU_MS, 0, work.handler_memory) / 1_000
    began = f"INIT, of a worker {seconds:.1f} s, in one of a hundred calls"
    logged = quantities.log_bytes(work, volume, in_phase=in_phase) / _GB
    at_rest = invocations(fixed) * units.LINE_BYTES / _GB
    return (
        ("functions: calls", "lambda-requests", invocations(grow), invocations(fixed), about),
        ("functions: compute", price, compute(grow), compute(fixed), ran),
        ("functions: waiting", price, waits, 0, "for the fraction of a second"),
        ("functions: starts", price, compute(starts(grow)), compute(starts(fixed)), began),
        *_logs(work, logged, at_rest, "without what handlers write"),
    )


def _logs(work: Workload, grows: float, fixed: float, note: str) -> Sequence[_Row]:
    months, days = work.log_days / DAYS, counted(work.log_days, "day", "g")
    return (
        ("logs: ingestion", "log-ingestion", grows, fixed, note),
        ("logs: storage", "log-storage", grows * months, fixed * months, f"for {days}"),
    )


def _surroundings(work: Workload, volume: Volume) -> Sequence[_Row]:
    """Return the lines of the API, notifications and monitoring."""
    note = "custom ones, by the hours with a value; at rest the canary's lateness"
    return (
        ("API: requests", "api-requests", work.api_requests_per_day * DAYS, 0, "the admin API"),
        ("mails", "mails", work.mails_per_day * DAYS, 0, "notifications"),
        ("notices", "notices", work.notices_per_day * DAYS, 0, "notifications to a topic"),
        ("metrics", "metrics", _metrics(work, volume), _hours(work.canaries), note),
        ("alarms", "alarms", 0, work.alarms, "of standard resolution"),
    )


def _metrics(work: Workload, volume: Volume) -> float:
    """Return the metrics of actions: of the deployment, and of each type and tenant with its own."""
    counts = [volume.retries, volume.failures, volume.deferrals, volume.attempts]  # with the lateness of runs
    if work.metrics == "all":
        counts += [volume.done, volume.done, volume.attempts]  # scheduled, executed, the duration of runs
    own = (1, work.metric_types, work.metric_tenants)
    return sum(names * _hours(count / names) for names in own if names for count in counts)


def _hours(count: float) -> float:
    """Return the share of the month's hours that have one of so many evenly spread events."""
    return min(1, count / (24 * DAYS))


def _protection(work: Workload, volume: Volume, *, in_phase: bool) -> Sequence[_Row]:
    """Return the lines of the key and of the web ACL."""
    keys, acls = work.kms_keys, work.web_acls
    calls = quantities.growing_calls(work, volume, in_phase=in_phase)
    grows = keys * sum(map(quantities.start_count, calls))
    at_rest = sum(map(quantities.start_count, quantities.fixed_calls(work)))
    fixed = keys * (units.key_requests(work.workers, work.due_queues) + at_rest)
    requests = acls * work.api_requests_per_day * DAYS
    note = f"every {units.KEY_MINUTES} minutes for each role and table, and each queue in use; each start"
    return (
        ("KMS: keys", "kms-keys", 0, keys, "setting kms_key"),
        ("KMS: requests", "kms-requests", grows, fixed, note),
        ("web ACL", "web-acls", 0, acls, "setting web_acl"),
        ("web ACL: rules", "web-acl-rules", 0, acls * work.web_acl_rules, "the managed one has two"),
        ("web ACL: requests", "web-acl-requests", requests, 0, "those of the admin API"),
    )


def _provisioned(row: _Row) -> _Row:
    """Return the line with capacity units by the hour instead of requests."""
    name, price, grows, fixed, _ = row
    if price not in _CAPACITY:
        return row
    of_one = 3_600 * units.CAPACITY_USE
    least = units.CAPACITIES * 24 * DAYS
    note = f"{units.CAPACITY_USE:.0%} used; at least one unit for each table and index"
    return name, _CAPACITY[price], grows / of_one, fixed / of_one + least, note


def _alternatives(work: Workload, volume: Volume) -> Sequence[tuple[str, Iterable[_Row], str]]:
    """Return the five usual alternatives: the name, the lines, and the features that are missing."""
    ran = volume.attempts * work.handler_ms
    handler = InvocationCounts("handler", volume.attempts, ran, work.handler_memory)
    # Messages that are received early and sent again.
    hops = volume.far * max(0, math.ceil(work.far_hours * 60 / _HOP_MINUTES) - 1)
    steps, note = volume.done * _OPERATIONS + volume.retries, f"{_OPERATIONS} an execution, one more a retry"
    stored = volume.actions * work.payload_bytes / _GB
    days = min(work.retention_days, _RETAINED_DAYS) + work.far_share * work.far_hours / 24
    until = f"until {_RETAINED_DAYS} days after the end, at most"
    requests = (volume.attempts + hops) * units.MESSAGE_REQUESTS
    polls, hop_note = units.POLLERS * units.POLLS * DAYS, f"hops of {_HOP_MINUTES} minutes"
    puts = volume.done * 2 * kilobytes(work.payload_bytes + units.PENDING_BYTES)
    starting = ("timers", "timers", volume.runs, 0, "schedules start runs of jobs")
    return (
        (
            "EventBridge Scheduler, bare",
            (
                ("timers", "timers", volume.done, 0, "making a schedule is free"),
                *_of_handler(work, handler),
            ),
            "precise to a minute; no claim against doubles, no history, no search; two retries",
        ),
        (
            "QStash, pay as you go",
            (
                ("messages", "qstash-messages", volume.done, 0, "one an action; retries are free"),
                *_of_handler(work, handler),
            ),
            "calls a public URL; no claim against doubles, no schedule in your own transaction",
        ),
        (
            "Step Functions, a wait each",
            (("transitions", "transitions", steps, 0, note), starting, *_of_handler(work, handler)),
            "no schedule in your own transaction, no list by due time, no reschedule",
        ),
        (
            "Lambda durable functions",
            (
                ("operations", "durable-operations", steps, 0, note),
                ("operations: data", "durable-writes", stored, 0, "payloads, once"),
                ("operations: storage", "durable-storage", stored * days / DAYS, 0, until),
                starting,
                *_of_handler(work, handler, _short(work, "start", volume.done)),
            ),
            "waits are approximate; no schedule in your own transaction, no list by due time, no reschedule",
        ),
        (
            "SQS hops and a table",
            (
                ("queues: requests", "queue-requests", requests, polls, hop_note),
                ("tables: writes", "write-units", puts, 0, "a put and a mark"),
                ("timers", "timers", volume.runs, 0, "schedules send runs of jobs"),
                *_of_handler(work, handler, _short(work, "hop", hops)),
            ),
            "no sweep of lost messages, no fence, no cancel, no retry policy: you write them all",
        ),
    )


def _short(work: Workload, function: str, number: float) -> InvocationCounts:
    """Return calls of the handler's function that do not run the handler."""
    return InvocationCounts(function, number, number * units.HOP_MS, work.handler_memory)


def _of_handler(work: Workload, *calls: InvocationCounts) -> Sequence[_Row]:
    """Return the lines of the functions and of the logs that Lambda itself writes."""
    called, price = invocations(calls), f"lambda-{work.architecture}"
    return (
        ("functions: calls", "lambda-requests", called, 0, "the handler's"),
        ("functions: compute", price, compute(calls), 0, "without any waiting"),
        ("functions: starts", price, compute(starts(calls)), 0, "INIT, in one of a hundred calls"),
        *_logs(work, called * units.PLATFORM_BYTES / _GB, 0, "Lambda's own lines"),
    )
