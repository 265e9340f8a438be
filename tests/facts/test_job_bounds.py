"""Facts of jobs exactly at their bounds, and one step beside them."""

from dataclasses import replace
from datetime import timedelta
from itertools import islice

import pytest

from duetime import on_event
from duetime.actions.chains import after_rule
from duetime.ids import SYSTEM_TENANT
from duetime.jobs.claim_policy import Bounds, ClaimContext, holders, is_first
from duetime.jobs.crowded_minutes import forecast
from duetime.jobs.desired_wakes import base_of, is_owner, owned_pattern, wakes_of
from duetime.jobs.job_versions import counted_before
from duetime.jobs.maintain import changed, resumed
from duetime.jobs.plan import is_behind
from duetime.jobs.upcoming import upcoming
from duetime.model.action import Status
from duetime.model.hand_over import LONGEST_WITH_KEY, HandedOver
from duetime.model.job import JobRef
from duetime.model.row_parts import Concurrency
from duetime.settings import Settings
from duetime.worker.hand_over import problem_of
from tests.facts.claim_decisions import (
    DAILY,
    GRACE,
    HOUR,
    HOURLY,
    MINUTE,
    NOON,
    SKEW,
    decision_on,
    job,
    paused,
    row,
    running,
)

TICK = timedelta(microseconds=1)
SETTINGS = Settings(prefix="shop", tenants="acme globex", event_sources={"kb": "detail.tenant"})
DEEPER = replace(SETTINGS, event_sources={"kb": "detail.a.b"})
COUNTED = "2@2026-05-03T00:00:00.000000Z"
TRIGGER = on_event("kb", "Uploaded")
UPLOADED = {"source": "kb", "detail": {"tenant": "acme"}}
BOUNDS = Bounds(now=NOON, skew=SKEW, grace=GRACE)
LONG = JobRef("acme", "j" * 60)


def counted_job(*texts, **more):
    return job(definition=replace(job().definition, cadences=texts), **more)


def first_times(of, count=2, **terms):
    return [due.at for due in islice(upcoming(of, NOON, **terms), count)]


def seen(**facts):
    rows = {"row": row(), "job": job(), "holder": None, "waiting": None} | facts
    return ClaimContext(**rows)


VALUES = [
    (lambda: after_rule("fail"), None),
    (lambda: after_rule("skip"), "skip"),
    (lambda: after_rule("run"), "any"),
    (lambda: problem_of(HandedOver(LONGEST_WITH_KEY), replace(row(), concurrency=Concurrency("k", 1))), None),
    (lambda: problem_of(HandedOver(LONGEST_WITH_KEY + TICK), row()), None),
    (
        lambda: (
            problem_of(
                HandedOver(LONGEST_WITH_KEY + TICK), replace(row(), concurrency=Concurrency("k", 1))
            ).field
        ),
        "timeout",
    ),
    (lambda: base_of(JobRef(SYSTEM_TENANT, "books"), SETTINGS), "books"),
    (lambda: base_of(JobRef("acme", "books"), SETTINGS), "acme.books"),
    (lambda: base_of(LONG, SETTINGS)[:20], "j" * 20),
    (lambda: "#" in base_of(JobRef("a/b", "books"), SETTINGS), False),
    (lambda: is_owner("acme", TRIGGER, UPLOADED, SETTINGS), True),
    (lambda: is_owner("globex", TRIGGER, UPLOADED, SETTINGS), False),
    (lambda: is_owner("acme", on_event("mail", "Sent"), UPLOADED, SETTINGS), False),
    (lambda: is_owner("acme", on_event("x", "Sent"), {"source": "x"}, SETTINGS), False),
    (lambda: is_owner("acme", on_event("x", "Sent"), {"source": "x"}, Settings(tenants="acme")), True),
    (lambda: owned_pattern(TRIGGER, "acme", SETTINGS)["detail"], {"tenant": ["acme"]}),
    (lambda: owned_pattern(on_event("x", "Sent"), "acme", SETTINGS), None),
    (lambda: "detail" in owned_pattern(on_event("x", "Sent"), "acme", Settings(tenants="acme")), False),
    (lambda: owned_pattern(on_event("kb", "Uploaded", match={"tenant": ["x"]}), "acme", SETTINGS), None),
    (lambda: owned_pattern(on_event("kb", "Up", match={"a": ["x"]}), "acme", DEEPER), None),
    (lambda: [*wakes_of(job(removed_at=NOON), NOON, SETTINGS)], []),
    (lambda: [*wakes_of(job(definition=replace(job().definition, self_scheduled=True)), NOON, SETTINGS)], []),
    (lambda: "wakes press-print," in next(wakes_of(job(), NOON, SETTINGS)).description, True),
    (lambda: is_behind(job(maintain_at=NOON + HOUR), NOON), False),
    (lambda: is_behind(job(maintain_at=NOON + HOUR, maintain_failures=1), NOON), True),
    (lambda: is_behind(job(maintain_at=NOON), NOON), True),
    (lambda: changed(job(maintain_failures=2), NOON).maintain_failures, 0),
    (lambda: changed(job(maintain_at=NOON - HOUR), NOON).maintain_at, NOON),
    (lambda: resumed(job(pauses=paused(NOON - HOUR)), [""], NOON)[0].cursor, NOON),
    (lambda: [span.end for span in resumed(job(pauses=paused(NOON - HOUR)), [""], NOON)[1]], [NOON]),
    (
        lambda: [
            (span.kind.value, span.start, span.end)
            for span in resumed(job(cursor=NOON - 2 * HOUR, pauses=paused(NOON - HOUR)), [""], NOON)[1]
        ],
        [("paused", NOON - HOUR, NOON), ("missed", NOON - 2 * HOUR, NOON - HOUR)],
    ),
    (lambda: len(resumed(job(cursor=NOON - HOUR, pauses=paused(NOON - HOUR)), [""], NOON)[1]), 1),
    (lambda: resumed(job(pauses=paused(NOON - HOUR, NOON - MINUTE)), [""], NOON)[0].cursor, NOON - MINUTE),
    (lambda: first_times(job(removed_at=NOON)), []),
    (lambda: first_times(job()), [NOON + HOUR, NOON + 2 * HOUR]),
    (lambda: first_times(job(), cadence=HOURLY), [NOON + HOUR, NOON + 2 * HOUR]),
    (lambda: first_times(job(), cadence="no such"), []),
    (lambda: first_times(job(pauses=paused(NOON - HOUR)), cadence=HOURLY), []),
    (lambda: first_times(job(pauses=paused(NOON - HOUR, NOON + HOUR)), 1, cadence=HOURLY), [NOON + 2 * HOUR]),
    (lambda: len(first_times(job(), 24, cadence=HOURLY)), 24),
    (lambda: NOON + 24 * HOUR in first_times(job(), 30, cadence=HOURLY), False),
    (lambda: NOON + 24 * HOUR in first_times(job(pauses=paused(cadence=DAILY)), 30, cadence=HOURLY), True),
    (lambda: forecast([job()], NOON, NOON + 2 * HOUR, most_minutes=2).is_complete, True),
    (lambda: forecast([job()], NOON, NOON + 2 * HOUR, most_minutes=1).is_complete, False),
    (lambda: forecast([job(), job()], NOON, NOON + 2 * HOUR, most_minutes=2).is_complete, True),
    (
        lambda: (
            forecast(
                [job(), job(pauses=paused(cadence=DAILY))], NOON, NOON + HOUR, most_minutes=1
            ).is_complete
        ),
        False,
    ),
    (lambda: counted_before(counted_job("daily 09:00"), job().definition, NOON), ""),
    (lambda: counted_before(TEN_TIMES, replace(TEN_TIMES.definition, title="x"), NOON), COUNTED),
    (
        lambda: counted_before(replace(TEN_TIMES, removed_at=NOON), TEN_TIMES.definition, NOON) == COUNTED,
        False,
    ),
    (lambda: is_first(running(attempt=0)), False),
    (lambda: is_first(row()), True),
    (lambda: decision_on(running(status=Status.EXECUTED, lease_until=NOON - HOUR), job()), None),
    (lambda: holders(seen(holder=running()), BOUNDS), [running()]),
    (lambda: holders(seen(), BOUNDS), []),
    (lambda: holders(seen(holder=running(), unlocked=(row(),)), BOUNDS), [row()]),
    (lambda: holders(seen(holder=row(), unlocked=(running(lease_until=NOON - HOUR),)), BOUNDS), [row()]),
]


TEN_TIMES = counted_job("daily 09:00 count=10 start=2026-05-01")
TEN_TIMES = replace(TEN_TIMES, definition=replace(TEN_TIMES.definition, counted=COUNTED))


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_a_fact_of_a_job_has_its_value_at_the_bound(number):
    found, expected = VALUES[number]
    assert found() == expected
