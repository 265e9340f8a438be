"""The JSON views of actions. Instants are ISO 8601 in UTC, with ``Z``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import ConfigDict, PlainSerializer, WithJsonSchema

from duetime.api.api_model import ApiModel
from duetime.api.trace_links import trace_id_of, url_of_context
from duetime.model.action import Action, Attempt, SkipReason, Status, Trigger
from duetime.model.redaction import Redacted


def instant_text(instant: datetime) -> str:
    """``2027-06-01T07:00:00Z``; microseconds only where there are some."""
    return instant.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


Instant = Annotated[
    datetime,
    PlainSerializer(instant_text),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2027-06-01T07:00:00Z"]}),
]


class View(ApiModel):
    """The base of views whose fields are attributes of one object."""

    model_config = ConfigDict(from_attributes=True)


class AttemptView(ApiModel):
    """One run of an action."""

    number: int
    """Counts runs from 1; a run that takes over from a lost one has the same number."""
    queued_at: Instant
    """When the message that led to it could first be received."""
    started_at: Instant
    """When its worker claimed the action."""
    finished_at: Instant | None
    """When it ended; null while it runs, and of a lost one."""
    outcome: str
    """``running``, ``lost`` (its worker died), ``executed``, ``retry``, ``continued`` (from its checkpoint),
    ``failed`` or ``cancelled``."""
    message: str | None
    """Why it did not succeed, or that it ran past its time-out, in at most 500 characters."""
    instance: str
    """Which worker process ran it."""

    @classmethod
    def from_attempt(cls, number: int, attempt: Attempt, *, is_last: bool) -> Self:
        """Return the view of the attempt."""
        word = "continued" if attempt.is_continued else attempt.ending and attempt.ending.value
        return cls(
            number=number,
            queued_at=attempt.queued_at,
            started_at=attempt.started_at,
            finished_at=attempt.finished_at,
            outcome=word or ("running" if is_last else "lost"),
            message=attempt.message,
            instance=attempt.instance,
        )


class ActionSummary(ApiModel):
    """An action without its payload: in lists, and after a change."""

    id: str
    """A UUIDv7; of a job's run the job's name, its version and the nominal time."""
    type: str
    """The payload type, whose handler runs it."""
    status: Status
    """Where it stands; executed, failed, cancelled and skipped are final."""
    is_retrying: bool
    """Whether it is pending after a failed attempt."""
    due_at: Instant
    """When it is due by now: retries and redrives move it."""
    nominal_at: Instant
    """When it was scheduled for; retries and redrives do not move it."""
    expires_at: Instant | None
    """From when on no run of it begins; null if it was given none."""
    tenant_id: str
    """The tenant that owns it."""
    correlation_id: str | None
    """What it was scheduled with, to be found by."""
    idempotency_key: str | None
    """What it was scheduled under: while the key holds, a repeat gets this action."""
    concurrency_key: str | None
    """Of the actions that share it only so many run at once."""
    concurrency_limit: int | None
    """How many; null without a key."""
    is_high: bool
    """Whether it was scheduled with a high priority; its type may have one too."""
    batch: str | None
    """The batch whose member it is."""
    after: str | None
    """The ids, and ``batch:name``, that it waits or waited for, with spaces between them."""
    waits_for: str | None
    """Of a job's run: the run of another job that it waits or waited for."""
    is_held: bool
    """Whether it waits for them; its due time is then in 2199, and `nominal_at` is its own."""
    debounce_key: str | None
    """Until its first run begins, further requests with the key change it."""
    debounce_until: Instant | None
    """The latest due time that they can give it; null without a bound."""
    coalesced: int
    """How many have changed it."""
    rate_key: str | None
    """Its key under the rate limit of its type; null if it has none, or the worker computes it."""
    created_at: Instant
    """When it was scheduled, to the millisecond."""
    created_by: str
    """Who scheduled it."""
    modified_at: Instant
    """When it last changed, or a run of it last began or ended."""
    modified_by: str
    """Who did that: the worker's instance where it was a run."""
    executed_at: Instant | None
    """When the run that succeeded ended."""
    cancel_requested_at: Instant | None
    """When a stop of its run was first requested."""
    cancelled_by: str | None
    """Who cancelled it; null unless it is cancelled."""
    failure_reason: str | None
    """Why it failed, in at most 500 characters; null unless it has failed."""
    dismissed_reason: str | None
    """Why it was removed from the dead letters; null unless it was."""
    recoveries: int
    """How often a run was taken over from a dead worker."""
    job: str | None
    """The job whose run it is; null for an action of its own."""
    cadence: str | None
    """Which of the job's cadences made it due."""
    trigger: Trigger
    """What made it due."""
    skip_reason: SkipReason | None
    """Why it was not run; null unless it is skipped."""
    note: str | None
    """More on that, in at most 500 characters."""
    held_by: str | None
    """The pause that held it before a run of it began; null: none did."""
    is_handed_over: bool
    """Whether it is processing without a worker, until a token's holder ends it."""
    handed_over_at: Instant | None
    """When it was last handed over."""
    times_out_at: Instant | None
    """When that hand-over ends without a completion."""
    heartbeat_at: Instant | None
    """When its last heartbeat came; within one interval before the time-out, an earlier instant."""
    awaits_approval: bool
    """Whether it waits for a person's decision."""
    question: str | None
    """What that person decides, or decided last; null if it needed no approval."""
    progress: float | None
    """The share that was reported last, from 0 to 1."""
    progress_note: str | None
    """What was reported with it."""
    attempts: list[AttemptView]
    """Its runs, the first first; of many the latest 20."""

    @classmethod
    def from_action(cls, action: Action) -> Self:
        """Return the view of the action."""
        facts = {name: getattr(action, name) for name in cls.model_fields if name not in _MADE}
        return cls(**facts, **_made(action))


class ActionView(ActionSummary):
    """An action in full."""

    payload: Any
    """As JSON; null if a large one has expired. Sensitive values are `[redacted]` without `payloads:read`."""
    redacted: list[str]
    """The paths of sensitive values that are hidden from the caller; `*` if all is hidden."""
    checkpoint: Any
    """What its latest run stored for the next one, as JSON; null without one.

    Of a type with sensitive fields, `[redacted]` without `payloads:read`.
    """
    result: Any
    """What the completion of its hand-over stored, as JSON; null without one. Hidden as the checkpoint is."""
    trace_id: str | None
    """The trace that its runs continue, as W3C writes it: that of its caller; null without one."""
    trace_url: str | None
    """Where X-Ray shows that trace, if its spans are sent there."""

    @classmethod
    def in_full(cls, action: Action, redacted_payload: Redacted, *, checkpoint: Any, result: Any) -> Self:
        """Return the full view: payload, checkpoint and result as the caller may see them."""
        summary = dict(ActionSummary.from_action(action))
        payload, paths = redacted_payload
        return cls(
            **summary,
            payload=payload,
            redacted=list(paths),
            checkpoint=checkpoint,
            result=result,
            trace_id=trace_id_of(action.trace),
            trace_url=url_of_context(action.trace),
        )


class ReasonView(View):
    """Why an action has not run, or how it ended."""

    sentence: str
    """The reason, in English."""
    runs_at: Instant | None
    """When a run begins; null if it has run, never will, or if that depends on others."""


class ScannedView(View):
    """How far a search by `error` or `payload` came: it reads rows one by one, for no index holds these."""

    rows: int
    """How many rows this page compared."""
    until: Instant | None
    """Where the last one stands in the list's order: when it was created, was due, or failed."""


class ActionPage(ApiModel):
    """A page of a list; `next_cursor` is null on the last one."""

    items: list[ActionSummary]
    """At most `limit`; a page may be short, or empty, and still lead on."""
    next_cursor: str | None
    """The cursor of the next page; null on the last one."""
    includes_runs: bool
    """Whether the list has runs of jobs too: of one job, or among failed actions."""
    scanned: ScannedView | None = None
    """How far this page of a search by `error` or `payload` came; null of other lists."""


class RunSummary(ActionSummary):
    """A run in the list of its job's runs."""

    payload: Any
    """Of a triggered run its payload, up to 2 KB; null of other runs. Hidden as an action's payload is."""
    redacted: list[str]
    """The paths of sensitive values that are hidden from the caller; `*` if all is hidden."""

    @classmethod
    def from_run(cls, run: Action, redacted_payload: Redacted) -> Self:
        """Return the view of a run, with its payload as the caller may see it."""
        payload, paths = redacted_payload
        summary = dict(ActionSummary.from_action(run))
        return cls(**summary, payload=payload, redacted=list(paths))


class RunPage(ApiModel):
    """A page of a job's runs; `next_cursor` is null on the last one."""

    items: list[RunSummary]
    """At most `limit`; a page may be short, or empty, and still lead on."""
    next_cursor: str | None
    """The cursor of the next page; null on the last one."""
    includes_runs: bool
    """True: all are runs of the job."""


_MADE = {"attempts", "concurrency_limit", "progress"}


def _made(action: Action) -> dict[str, Any]:
    """Return the fields that are not attributes of the action."""
    numbered = action.numbered_attempts()
    return {
        "attempts": [
            AttemptView.from_attempt(number, attempt, is_last=place == len(numbered))
            for place, (number, attempt) in enumerate(numbered, 1)
        ],
        "progress": None if action.progress is None else float(action.progress),
        "concurrency_limit": None if action.concurrency_key is None else action.concurrency_limit,
    }
