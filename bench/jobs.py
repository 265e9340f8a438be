"""Jobs: the cost of an occurrence, a wake, a reconcile and a sweep over many jobs, on DynamoDB Local."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.meter import Bill, metered
from bench.result import Result, at_most
from bench.stand import Stand, app, emulated, made
from duetime.aws.tables import ACTIONS, JOBS
from duetime.ids import SYSTEM_TENANT, job_name, occurrence_id
from duetime.jobs.reconcile import Reconciled
from duetime.model.action import ActionRef
from duetime.model.job import Definition, JobRef
from duetime.testing.simulated import TurnedClock
from duetime.wakeups.assembly import Steps

STORED = 1_000
START = datetime(2030, 6, 1, 12, 0, 30, tzinfo=UTC)
_ONE_SHOT = "a one-shot's life: 5 units, 3 calls"
_FEW = "the same with 10 jobs stored"


def measure() -> list[Result]:
    """Measure one job's occurrence first, then 1,000 jobs beside it."""
    with emulated() as dynamodb:
        few, many = (JobTables(dynamodb, name) for name in ("few", "many"))
        return [*_occurrence(few), *_wake(few), *_thousand(many), *_due_only(few, many)]


class JobTables:
    """Jobs in tables of their own, with the steps that maintain them."""

    def __init__(self, dynamodb: Any, name: str) -> None:
        self.clock = TurnedClock(START)
        table = made(dynamodb, f"actions-{name}", replace(ACTIONS, has_stream=False))
        jobs = made(dynamodb, f"jobs-{name}", JOBS)
        self.stand = Stand(dynamodb, table, clock=self.clock, jobs=jobs)
        steps = Steps(self.stand.backends)
        self.plan, self.attend_due, self._reconcile = steps.plan, steps.maintain_due_jobs, steps.reconcile

    def reconcile(self, definitions: Sequence[Definition]) -> tuple[Reconciled, Bill, float]:
        """Reconcile, and return its bill and its seconds."""
        before = time.perf_counter()
        with metered(self.stand.client) as bill:
            done = self._reconcile(definitions, worker=app.worker)
        return done, bill, time.perf_counter() - before


def _occurrence(town: JobTables) -> Iterator[Result]:
    """Measure a run from claim to settle; the put belongs to a plan."""
    town.reconcile(app.manifest.jobs)
    due_at = START.replace(second=0) + timedelta(minutes=1)
    ref = ActionRef(SYSTEM_TENANT, occurrence_id(job_name("bench-each-minute"), 1, due_at))
    row = town.stand.store.get(ref)
    if row is None:
        raise RuntimeError("the first occurrence was not planned")
    town.clock.wait_until(due_at)
    with metered(town.stand.client) as bill:
        town.stand.run(row)
    note = "its put adds 2 units and a call; transactions count two units for each KB of each item"
    yield Result(
        bench="jobs", name="an occurrence's run under its job's lock: write units",
        measured=bill.write_units, unit="units", reference=5 - 2, against=_ONE_SHOT, note=note,
    )  # fmt: skip
    yield Result(
        bench="jobs", name="the same: DynamoDB calls",
        measured=bill.calls, unit="calls", reference=3 - 1, against=_ONE_SHOT,
        note=f"and {bill.read_units:g} read units",
    )  # fmt: skip


def _wake(town: JobTables) -> Iterator[Result]:
    """Measure a wake with one new occurrence, and a wake with none."""
    ref = JobRef(SYSTEM_TENANT, job_name("bench-each-minute"))
    for name in ("a wake that plans an occurrence", "a wake that finds everything planned"):
        with metered(town.stand.client) as bill:
            made_now = town.plan(ref).made
        yield Result(
            bench="jobs", name=f"{name}: DynamoDB calls", measured=bill.calls, unit="calls",
            note=f"{made_now} planned, {bill.write_units:g} write and {bill.read_units:g} read units",
        )  # fmt: skip


def _thousand(town: JobTables) -> Iterator[Result]:
    definitions = [_daily(number) for number in range(STORED)]
    _, _, first = town.reconcile(definitions)
    done, bill, again = town.reconcile(definitions)
    if done.changes or done.unchanged != STORED:
        raise RuntimeError(f"a reconcile without a change changed {done.changes}")
    yield Result(
        bench="jobs", name=f"reconcile of {STORED:,} jobs, nothing changed: calls that write",
        measured=bill.writes, unit="calls", budget=at_most(0),
        note=f"{bill.calls} calls, {bill.read_units:g} read units, {again:.1f} s; first {first:.1f} s",
    )  # fmt: skip


def _due_only(few: JobTables, many: JobTables) -> Iterator[Result]:
    """Measure a sweep's check of jobs that need no maintenance."""
    few.reconcile([*app.manifest.jobs, *(_daily(number) for number in range(9))])
    bills = []
    for town in (many, few):
        with metered(town.stand.client) as bill:
            town.attend_due(stop_at=town.clock.now() + timedelta(hours=1))
        bills.append(bill)
    yield Result(
        bench="jobs", name=f"a sweep's look after {STORED:,} jobs, none due: read units",
        measured=bills[0].read_units, unit="units", reference=bills[1].read_units, against=_FEW,
        budget=at_most(2), note="AWS takes half a unit for each of four empty pages, DynamoDB Local nothing",
    )  # fmt: skip


def _daily(number: int) -> Definition:
    name = job_name(f"bench-daily-{number:04}")
    hour, minute = divmod(number, 60)
    return Definition(
        name=name, type="bench-each-minute", cadences=(f"daily {hour % 24:02}:{minute:02}",), title="Bench"
    )
