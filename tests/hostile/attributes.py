"""The names of all attributes that duetime writes into items that a caller's grant covers."""

from dataclasses import fields, replace

from duetime.aws.items import to_item, to_payload_item
from duetime.ids import TenantId, event_run_id
from duetime.memory.store import MemoryStore
from duetime.model.action import Action, Attempt, Ending, SkipReason, Status
from duetime.model.batch import ActionBatch
from duetime.model.checkpoint import Checkpoint
from duetime.model.job import Job, JobSpan, SpanKind, current_definition
from duetime.model.row_parts import Act, After, Concurrency, Debounced, HandOver, Progress, RunPlan
from duetime.model.run_stats import RunStats
from duetime.ports.action_keys import DEBOUNCE_KEY, IDEMPOTENCY_KEY
from duetime.ports.batches import batch_put
from duetime.ports.job_history import put_ended, put_span
from duetime.ports.slots import SLOTS, TAIL
from duetime_contract.job_specimens import OPERATED, nightly
from duetime_contract.specimens import ACME, EXPIRY, NOON, POLICY, fresh
from tests.stored_jobs import item_of, to_definition, to_state

KEYS = {"pk", "sk"}
ATTEMPT = Attempt(NOON, NOON, "worker-1", NOON, Ending.FAILED, "it failed")
BASE = fresh(MemoryStore(), correlation_id="order:7")
FILLED = replace(
    BASE,
    payload_version=2,
    idempotency_key="key-1",
    concurrency=Concurrency("customer:42", 2),
    is_high=True,
    debounced=Debounced("reindex:42", NOON, 1, "0123456789ab"),
    rate_key="customer:42",
    rate_slot=NOON,
    held_by="paused until noon",
    depth=1,
    trace="00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
    status=Status.FAILED,
    generation=2,
    fence=100,
    attempt=1,
    redriven_after=1,
    continued=1,
    checkpoint=Checkpoint('{"done":1}', 99, 1),
    recoveries=1,
    first_due_at=NOON,
    expires_at=EXPIRY,
    attempts=(ATTEMPT,),
    lease_until=NOON,
    nonce="nonce",
    retry=POLICY,
    cancel_request=Act(NOON, "ann"),
    changed=Act(NOON, "ann"),
    kept_until=EXPIRY,
    hand_over=HandOver(100, NOON, EXPIRY, "a key", 60, "Pay?", "execute"),
    completion="a call",
    progress=Progress(0.5, "half"),
    result="1",
)
"""A one-shot with all that rows of one-shots have."""

RUN = replace(
    FILLED,
    id=event_run_id("kb-index", NOON, "event-1"),
    status=Status.SKIPPED,
    payload_size=5_000,
    planned=RunPlan(NOON, "on_event", catches_up=True, job_tenant=TenantId("system")),
    skip_reason=SkipReason.REQUESTED,
    note="not today",
    dismissed_reason="known",
    batch="import-2027-03",
    after=After("batch:import-2027-02", "skip"),
    waits_for="a run",
    unmet="its predecessor failed",
    is_awaited=True,
    followers=(FILLED.id,),
)
"""A run with what only runs of jobs, and dismissed or skipped rows, have."""


BATCH = ActionBatch(
    tenant_id=ACME,
    name="import-2027-03",
    first_id=FILLED.id,
    version="v1",
    opened_at=NOON,
    opened_by="ada",
    size=1,
    on_complete=FILLED.id,
    followers=(FILLED.id,),
    closed_at=NOON,
    closed_by="ada",
    completed_at=NOON,
    counted_at=NOON,
    is_counting=False,
    short_list=(0,),
    restarted_at=NOON,
    recount_at=NOON,
    kept_until=EXPIRY,
)
"""A batch whose item has every attribute."""


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
    """Return the attributes of payloads, of idempotency and debounce keys, and of slots."""
    kinds = (IDEMPOTENCY_KEY, DEBOUNCE_KEY, SLOTS, TAIL)
    return {
        *to_payload_item(RUN, EXPIRY),
        *(name for kind in kinds for name in kind.names),
        "ttl",
        *(batch_put(BATCH, guard=()).after({}) or {}),
    } - KEYS


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
    replaced = replace(current_definition(filled), until=EXPIRY, by="ann")
    items = (
        *(to_state(filled), to_definition(filled), item_of(put_span(filled.ref, span))),
        item_of(put_ended(filled.ref, replaced, NOON)),
    )
    return {name for item in items for name in item} - KEYS


assert FILLED.tenant_id == ACME
