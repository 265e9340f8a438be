"""The names of all attributes that duetime writes into items that a caller's grant covers."""

from dataclasses import fields, replace

from duetime.aws.idempotency import DynamoIdempotencyKeys
from duetime.aws.items import to_item, to_payload_item
from duetime.aws.job_items import to_definition, to_former, to_span, to_state
from duetime.aws.slots import DynamoSlots
from duetime.ids import TenantId, event_run_id
from duetime.memory.store import MemoryStore
from duetime.model.action import Action, Attempt, Ending, SkipReason, Status
from duetime.model.idempotency import KeyTerms
from duetime.model.job import Job, JobSpan, SpanKind
from duetime.model.run_stats import RunStats
from duetime.testing.contract.job_specimens import OPERATED, nightly
from duetime.testing.contract.specimens import ACME, EXPIRY, NOON, POLICY, fresh

KEYS = {"pk", "sk"}
ATTEMPT = Attempt(NOON, NOON, "worker-1", NOON, Ending.FAILED, "it failed")
BASE = fresh(MemoryStore(), correlation_id="order:7")
FILLED = replace(
    BASE,
    payload_version=2,
    idempotency_key="key-1",
    concurrency_key="customer:42",
    concurrency_limit=2,
    depth=1,
    trace="00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
    status=Status.FAILED,
    generation=2,
    fence=100,
    attempt=1,
    redriven_after=1,
    recoveries=1,
    first_due_at=NOON,
    attempts=(ATTEMPT,),
    lease_until=NOON,
    claim_nonce="nonce",
    retry=POLICY,
    cancel_requested_at=NOON,
    cancel_requested_by="ann",
    changed_at=NOON,
    changed_by="ann",
    expires_at=EXPIRY,
)
"""A one-shot with all that rows of one-shots have."""

RUN = replace(
    FILLED,
    id=event_run_id("kb-index", NOON, "event-1"),
    status=Status.SKIPPED,
    payload_offloaded=True,
    payload_size=5_000,
    cadence="on_event",
    job_tenant=TenantId("system"),
    planned_at=NOON,
    catches_up=True,
    skip_reason=SkipReason.ASKED,
    note="not today",
    dismissed_reason="known",
)
"""A run with what only runs of jobs, and dismissed or skipped rows, have."""


def unset_fields() -> set[str]:
    """Return the fields of an action that no specimen sets: a new field must be added to one."""
    defaults = {field.name: field.default for field in fields(Action)}
    set_in = lambda row: {name for name, value in defaults.items() if getattr(row, name) != value}  # noqa: E731
    return set(defaults) - set_in(FILLED) - set_in(RUN)


def rows() -> tuple[Action, ...]:
    """Return rows that together have every attribute."""
    return (FILLED, replace(FILLED, status=Status.PENDING), RUN)


def of_rows() -> set[str]:
    """Return the attributes of rows."""
    return {name for row in rows() for name in to_item(row, due_order=True)} - KEYS


def beside_rows() -> set[str]:
    """Return the attributes of payloads, idempotency keys and slots."""
    keys = DynamoIdempotencyKeys(None, "actions", lambda _ref: None, to_item)
    key = keys.entry(FILLED, KeyTerms(now=NOON, until=EXPIRY))["Put"]["Item"]
    slots = DynamoSlots(None, "actions")._take(FILLED)["Update"]
    changed = slots["ExpressionAttributeNames"].values()
    return {*to_payload_item(RUN, EXPIRY), *key, *changed, "holders"} - KEYS


def job() -> Job:
    """Return a job whose items have every attribute."""
    tally = RunStats(
        executed=1,
        failed=1,
        consecutive_failures=1,
        last_started_at=NOON,
        last_id="a-b.1",
        last_status="failed",
        last_error="it failed",
        triggered_by="ann",
    )
    return nightly(**OPERATED, running=RUN.ref, waiting=RUN.ref, tally=tally, maintain_failures=2)


def of_jobs() -> set[str]:
    """Return the attributes of a job's items."""
    filled = job()
    span = JobSpan(kind=SpanKind.PAUSED, start=NOON, end=EXPIRY, by="ann", reason="audit")
    items = (to_state(filled), to_definition(filled), to_former(filled, EXPIRY), to_span(filled.ref, span))
    return {name for item in items for name in item} - KEYS


assert FILLED.tenant_id == ACME
