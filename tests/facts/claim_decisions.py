"""Jobs, rows and decisions for the tests of the claim policy."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from duetime import ids, instant
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.jobs.claim_policy import Bounds, ClaimContext, Proceed, decide
from duetime.model.action import Action, Status
from duetime.model.job import WHOLE_JOB, Definition, Job, JobRef, Origin, Overlap, Pause
from duetime.model.row_parts import RunPlan
from duetime.ports.jobs import LockRequirement

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR, DAY = (timedelta(**{name: 1}) for name in ("seconds", "minutes", "hours", "days"))
SKEW, GRACE = 5 * SECOND, 10 * MINUTE
NAME = JobName("press-print")
HOURLY, DAILY, EVENT = "Every_1h", "Daily_12_00", "OnEvent_kb_Uploaded"
TEXTS = ("daily 12:00", "every 1h", "on_event kb Uploaded")
POLICIES = tuple(Overlap)


def job(overlap=Overlap.SKIP, *, catch_up=0, **more):
    facts = {
        "ref": JobRef(SYSTEM_TENANT, NAME),
        "definition": Definition(
            name=NAME, type=NAME, cadences=TEXTS, overlap=Overlap(overlap), catch_up=catch_up
        ),
        "origin": Origin.CODE,
        "version": 3,
        "since": NOON - 10 * DAY,
        "anchor": NOON - 30 * DAY,
        "cursor": NOON,
        "maintain_at": NOON,
        "ends": {2: NOON - 10 * DAY},
    }
    return Job(**facts | more)


def row(at=NOON, *, version=3, kind="occurrence", **more):
    made = {
        "occurrence": lambda: ids.occurrence_id(NAME, version, at),
        "manual": lambda: ids.manual_run_id(NAME, version, at),
        "event": lambda: ids.event_run_id(NAME, at, "e-1"),
    }[kind]()
    facts = {
        "tenant_id": SYSTEM_TENANT,
        "id": made,
        "type": NAME,
        "due_at": at,
        "due_shard": "0",
        "created_by": "duetime",
        "payload": None,
    }
    cadence = {"occurrence": HOURLY, "manual": None, "event": EVENT}[kind]
    plan = {name: more.pop(name) for name in ("cadence", "catches_up", "job_tenant") if name in more}
    facts["planned"] = RunPlan(instant.EARLIEST, **{"cadence": cadence} | plan)
    return Action(**facts | more)


def running(at=NOON - HOUR, *, lease_until=NOON + MINUTE, **more):
    facts = {"status": Status.PROCESSING, "attempt": 1, "fence": 1, "lease_until": lease_until}
    return row(at, **facts | more)


def decision_on(of, its_job, *, now=NOON, holder=None, waiting=None, nonce="mine"):
    locked = its_job
    if locked is not None and holder is not None:
        locked = replace(locked, running=holder.ref)
    if locked is not None and waiting is not None:
        locked = replace(locked, waiting=waiting.ref)
    seen = ClaimContext(row=of, job=locked, holder=holder, waiting=waiting)
    return decide(seen, nonce, Bounds(now=now, skew=SKEW, grace=GRACE))


def paused(since=NOON - HOUR, until=None, *, cadence=WHOLE_JOB):
    return {cadence: Pause(since=since, by="ann", reason="no paper", until=until)}


LOCKED = Proceed(LockRequirement.LOCK)
