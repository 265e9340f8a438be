"""Why an action has not run: one sentence, and when it will run, if that is known.

A sentence describes rows at one moment. It reads the action's row, and, if the action is overdue, the holders
of its concurrency key, or its job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duetime import ids, instant
from duetime.cadence.words import span_words
from duetime.ids import ActionId
from duetime.model.action import Action, ActionRef, SkipReason, Status
from duetime.model.batch import BatchRef
from duetime.model.expiry import Expiry
from duetime.model.job import Job, JobRef, job_ref_of
from duetime.model.outcome import OVERRAN
from duetime.model.predecessors import ANY, SKIP, Predecessors, waits_for
from duetime.model.rate_limit import RateLimit
from duetime.model.row_parts import HandOver
from duetime.model.slots import KeySlots
from duetime.model.work_pause import LATEST_WAKE, Hold, WorkPause
from duetime.ports.action_store import ActionStore
from duetime.settings import Settings

_MOST_AHEAD = 1_000
"""How far into the tail of a concurrency key's line the place of an action is counted."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an action has not run, or how it ended."""

    sentence: str
    """The reason, in English."""
    runs_at: datetime | None = None
    """When a run of it begins; None if it has run, never will, or if that depends on others."""


@dataclass(frozen=True, slots=True)
class WhySources:
    """What the reason of a pending action may depend on, beside its row.

    Attributes:
        hold_of: returns the pause that holds an action, and until when.
        skip_of: returns the pause under which an action is skipped when it is due.
        job_of: reads a job.
        expiry_of: returns the expiry of an action's type; None if no handler is registered for it.
        rate_of: returns the rate limit of an action's type in force.
    """

    store: ActionStore
    settings: Settings
    hold_of: Callable[[Action], Hold | None]
    skip_of: Callable[[Action], WorkPause | None]
    job_of: Callable[[JobRef], Job | None]
    expiry_of: Callable[[Action], Expiry | None]
    rate_of: Callable[[Action], RateLimit | None] = lambda _row: None


def why(row: Action, now: datetime, sources: WhySources) -> Reason:
    """Return why an action has not run, or how it ended; then which pause held it before."""
    reason = _why(row, now, sources)
    if row.held_by is None:
        return reason
    return replace(reason, sentence=f"{reason.sentence} Before, {row.held_by}.")


def _why(row: Action, now: datetime, sources: WhySources) -> Reason:
    if row.is_held:
        return _why_held(row, sources)
    if row.status is Status.PENDING:
        return _why_pending(row, now, sources)
    if row.status is Status.PROCESSING:
        return _why_processing(row, now, sources.settings)
    return Reason(_how_it_ended(row))


def _how_it_ended(row: Action) -> str:
    match row.status:
        case Status.EXECUTED:
            message = (row.attempts[-1].message if row.attempts else None) or ""
            overran = f" {message.capitalize()}." if message.startswith(OVERRAN) else ""
            return f"It ran, and ended at {_text(row.executed_at)}.{overran}"
        case Status.CANCELLED:
            return f"It was cancelled by {row.cancelled_by}."
        case Status.SKIPPED:
            return f"It was skipped: {_SKIPPED[row.skip_reason or SkipReason.REQUESTED]}{_note(row)}."
        case _:
            then = "" if row.dismissed_reason is None else f" It was dismissed: {row.dismissed_reason}."
            return f"It failed at {_text(row.failed_at)}: {row.failure_reason or 'without a reason'}.{then}"


def _why_processing(row: Action, now: datetime, settings: Settings) -> Reason:
    begun = row.attempts[-1]
    if row.handed_over is not None:
        return _why_handed_over(row, row.handed_over, now, settings)
    if row.lease_until is None or row.lease_until + settings.clock_skew >= now:
        return Reason(
            f"It has been running since {_text(begun.started_at)} in {begun.instance}."
            f"{_progress(row)}{_stop(row)}"
        )
    again = row.lease_until + settings.clock_skew
    return Reason(
        f"Its worker {begun.instance} has not renewed its lease, which ended at {_text(row.lease_until)}:"
        " another worker takes it over with its next message.",
        max(again, now),
    )


def _why_held(row: Action, sources: WhySources) -> Reason:
    """Return which predecessors a held action waits for, and what it does if one is not executed."""
    predecessors = Predecessors.of_row(row)
    refs = [ActionRef(row.tenant_id, one) for one in predecessors.ids]
    rows = {found.id: found for found in sources.store.get_rows(refs)}
    found = (sources.store.find_batch(BatchRef(row.tenant_id, name)) for name in predecessors.batches)
    waits = list(waits_for(row, rows, {batch.name: batch for batch in found if batch is not None}))
    if not waits:
        return Reason("Its predecessors have ended: it is released within minutes.")
    rule = {ANY: "it runs after any end", SKIP: "if one is not executed, it is skipped"}
    then = rule.get((row.after and row.after.rule) or "", "if one is not executed, it fails")
    return Reason(
        f"It waits for {'; for '.join(waits)}. It is due at {_text(row.nominal_at)}, or after that; {then}."
    )


def _why_handed_over(row: Action, hand_over: HandOver, now: datetime, settings: Settings) -> Reason:
    """Return what a handed-over action waits for: its party, or a worker after a lost hand-over."""
    about = f"It was handed over at {_text(hand_over.at)}, and no worker runs it."
    until = row.lease_until
    if until is not None and until + settings.clock_skew < now:
        what = "timed out" if until == hand_over.times_out_at else "missed a heartbeat"
        return Reason(
            f"{about} The hand-over {what} at {_text(until)}: a worker takes it over with its next message.",
            now,
        )
    if hand_over.question is not None:
        return Reason(
            f"It has waited for an approval since {_text(hand_over.at)}: {hand_over.question} Without a"
            f" decision, it times out at {_text(hand_over.times_out_at)}.{_stop(row)}",
            until,
        )
    beat = f" The next heartbeat is due by {_text(until)}." if hand_over.beat_seconds else ""
    return Reason(
        f"{about} It waits for a completion by token, and times out at {_text(hand_over.times_out_at)}."
        f"{beat}{_progress(row)}{_stop(row)}",
        until,
    )


def _progress(row: Action) -> str:
    if row.progress is None:
        return ""
    note = f": {row.progress.note}" if row.progress.note else ""
    return f" {round(row.progress.share * 100)} % is done{note}."


def _stop(row: Action) -> str:
    return f" {row.cancel_request.by} requested that it stops." if row.cancel_request else ""


def _why_pending(row: Action, now: datetime, sources: WhySources) -> Reason:
    expiry = sources.expiry_of(row)
    if expiry is None:
        return Reason(f"No handler is registered for {row.job or row.type}: it will fail when it is due.")
    expires_at, end = expiry.of(row), "fail" if expiry.on_expiry == "fail" else "be skipped"
    if expires_at is not None and expires_at <= max(now, row.due_at):
        return Reason(f"It expired at {_text(expires_at)}, before a run could begin: it will {end}.")
    if not sources.settings.enabled:
        return Reason("The deployment is switched off by the setting enabled: no run begins.")
    if (skip := sources.skip_of(row)) is not None and row.attempt == 0:
        return Reason(f"{_pause(skip, now)} The action will be skipped.")
    if (hold := sources.hold_of(row)) is not None and hold.until > row.due_at:
        return _held(hold, now, expires_at, end)
    return _due_later(row, sources) if row.due_at > now else _overdue(row, now, sources)


def _held(hold: Hold, now: datetime, expires_at: datetime | None, end: str) -> Reason:
    pause = hold.pause
    sentence, then = _pause(pause, now), None if hold.until == instant.LATEST else hold.until
    spread = 0 if pause.end is None else round(pause.spread_over(pause.end).total_seconds())
    if spread:
        within = span_words(timedelta(seconds=spread))
        sentence += f" What waits begins within {within} after that, and this action at {_text(then)}"
        sentence += f", or up to {span_words(LATEST_WAKE)} later." if pause.ended_early else "."
    if expires_at is None or (then is not None and then < expires_at):
        return Reason(sentence, then)
    earlier = ", unless the pause ends before" if pause.end is None else ""
    return Reason(f"{sentence} The action expires at {_text(expires_at)} and will {end}{earlier}.")


def _pause(pause: WorkPause, now: datetime) -> str:
    """Return which pause holds, until when, by whom and why."""
    end, by = pause.end, f"by {pause.by}: {pause.reason}"
    if end is None and (breaker := pause.breaker) is not None:
        probe = (
            "one probes now" if breaker.is_probing(now) else f"one probes from {_text(breaker.probes_at)} on"
        )
        return f"The {pause.subject} is paused until a run succeeds, and {probe}, {by}."
    if end is None:
        return f"The {pause.subject} is paused until an operator resumes it, {by}."
    return f"The {pause.subject} {'was' if end <= now else 'is'} paused until {_text(end)}, {by}."


def _due_later(row: Action, sources: WhySources) -> Reason:
    due = _text(row.due_at)
    if row.has_rate_slot:
        limit = sources.rate_of(row)
        sentence = f"It waits for the rate limit of {row.type}{f' ({limit.text})' if limit else ''}"
        key = f" under the key {row.rate_key}" if row.rate_key else ""
        return Reason(f"{sentence}{key}: its turn is at {due}.", row.due_at)
    if row.waits_for_run:
        return _why_after(row, sources)
    if row.is_retrying:
        return Reason(
            f"Attempt {row.attempt} failed: {row.attempts[-1].message}. It is due again at {due}.", row.due_at
        )
    if row.debounced is not None and row.attempt == 0:
        key, until = row.debounced.key, row.debounced.until
        bound = "" if until is None else f", until {_text(until)} at the latest"
        sentence = f"It is due at {due}. A call with the debounce key {key} can move that{bound}."
        return Reason(sentence, row.due_at)
    return Reason(f"It is due at {due}.", row.due_at)


def _why_after(row: Action, sources: WhySources) -> Reason:
    """Return which run of another job a run waits for, and until when."""
    from duetime.jobs.claim_policy import wait_ends_at  # noqa: PLC0415 - few jobs wait

    owner, waits_for, looks = job_ref_of(row), row.waits_for or "", "It looks"
    job = None if owner is None else sources.job_of(owner)
    if ids.is_action_id(waits_for):
        found = sources.store.get(ActionRef(row.tenant_id, ActionId(waits_for)))
        what = f"{waits_for}, which is {'not planned yet' if found is None else found.status.value}"
        if found is not None and row.id in found.followers:
            looks = "That success wakes it; without one it looks"
    else:
        what = f"the job {waits_for}, which is not declared"
    end = f", until {_text(wait_ends_at(row, job))}; then it is skipped" if job else ""
    return Reason(f"It waits for the success of {what}{end}. {looks} again at {_text(row.due_at)}.")


def _overdue(row: Action, now: datetime, sources: WhySources) -> Reason:
    if row.concurrency is not None:
        slots = sources.store.key_slots(row.tenant_id, row.slot_key)
        if slots.is_full_for(row):
            return Reason(_waits_for_slot(row, slots, sources))
    owner = job_ref_of(row)
    job = None if owner is None else sources.job_of(owner)
    if job is not None and job.running is not None and job.running != row.ref:
        return Reason(f"It waits for {job.running.id}, which holds the lock of the job {job.name}.")
    late = timedelta(seconds=round((now - row.due_at).total_seconds()))
    due = f"It has been due for {span_words(late)}"
    if late < sources.settings.grace:
        goes_on = bool(row.attempts) and row.attempts[-1].is_continued
        begin = "It continues from its checkpoint" if goes_on else due
        return Reason(f"{begin}: its message is on its way to a worker.", now)
    return Reason(
        f"{due}: its message was lost, or its worker has no capacity."
        " The sweep sends it again within minutes."
    )


def _waits_for_slot(row: Action, slots: KeySlots, sources: WhySources) -> str:
    line = list(slots.waiting)
    if slots.has_tail and row.id not in line:
        tail = sources.store.tail(slots.tenant_id, slots.key, limit=_MOST_AHEAD)
        line += [entry.action_id for entry in tail if entry.action_id not in slots.waiting]
    ahead = line.index(row.id) if row.id in line else len(line)
    count = f"at least {ahead}" if ahead >= _MOST_AHEAD else str(ahead)
    holders = ", ".join(sorted(slots.holders))
    return (
        f"It waits for a slot of the concurrency key {row.slot_key}, behind {count} that wait longer."
        f" Its limit is {row.slot_limit}, and these hold slots: {holders}."
    )


def _text(at: datetime | None) -> str:
    return "an unknown time" if at is None else instant.text(at)[:19] + "Z"


def _note(row: Action) -> str:
    return f" ({row.note})" if row.note else ""


_SKIPPED: Mapping[SkipReason, str] = {
    SkipReason.OVERLAP: "another run of its job had not ended",
    SkipReason.PAUSED: "it became due under a pause",
    SkipReason.DISABLED: "its job was removed",
    SkipReason.MISSED: "it could be claimed only after its job's grace",
    SkipReason.RETIRED: "its job's schedule changed before it was due",
    SkipReason.COVERED: "the previous version of its job ran at this time",
    SkipReason.REQUESTED: "a caller skipped it",
    SkipReason.REFUSED: "the job rejected its event",
    SkipReason.PREDECESSOR: "a predecessor was not executed",
    SkipReason.EXPIRED: "no run of it could begin before its expiry",
}
