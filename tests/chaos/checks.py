"""The checks of a run; each yields what is broken, in words."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from duetime import instant
from duetime.aws.items import change_of
from duetime.errors import UnreadableRow
from duetime.model.action import TRANSITIONS, Action, SkipReason, Status
from duetime.model.change import Change
from duetime.testing.invariants import first_excess
from tests.chaos.history import Ref, by_row
from tests.chaos.linearizability import Operation, order_of
from tests.chaos.outcome import Outcome, is_done
from tests.chaos.recording import row_of
from tests.chaos.row_model import step as row_step
from tests.chaos.shop import EVERY, ONE_AT_A_TIME, RATE, RATED


def broken(outcome: Outcome) -> list[str]:
    """Return what is broken in any check."""
    return [*unsafe(outcome), *lost(outcome), *nominal_times(outcome)]


def unsafe(outcome: Outcome) -> list[str]:
    """Return what is broken even if the run ended before all was final."""
    changes = _read(outcome.changes)
    return [
        *(f"{key}: no step can read it" for key in outcome.unreadable),
        *not_linearizable(outcome),
        *forbidden_changes(changes, outcome.settings.clock_skew),
        *overlaps(changes),
        *commits(outcome.rows, outcome.ledger),
        *starts_beyond_the_rate(changes),
    ]


def not_linearizable(outcome: Outcome) -> Iterator[str]:
    """Each row's calls have an order that explains every response, and the row at the end."""
    final = {(row.tenant_id, row.id): row for row in outcome.rows}
    for ref, operations in by_row(outcome.calls).items():
        if _is_of_a_pass(ref):
            continue
        last = Operation({"op": "read", "row": row_of(final.get(ref))}, outcome.read_at, outcome.read_at)
        if order_of([*operations, last], None, row_step) is None:
            yield f"{ref}: no order explains the responses of its {len(operations)} calls"


def forbidden_changes(changes: Sequence[Change], skew: timedelta) -> Iterator[str]:
    """The stream's order: one chain of legal changes a row, no early run, and no live lease taken over."""
    last: dict[Ref, Action] = {}
    for change in changes:
        new, old = change.new, change.old
        if new is None:
            continue
        name, before = f"{new.tenant_id}/{new.id}", last.get((new.tenant_id, new.id))
        if old != before:
            yield f"{name}: the change to {new.status} does not follow the one before it"
        last[new.tenant_id, new.id] = new
        if old is None:
            continue
        if new.status is not old.status and new.status not in TRANSITIONS[old.status]:
            yield f"{name}: {old.status} became {new.status}"
        if new.fence < old.fence or new.generation < old.generation:
            yield f"{name}: its fence or its generation went back"
        if len(new.attempts) > len(old.attempts):
            yield from _forbidden_claim(name, old, new, skew)


def _forbidden_claim(name: str, old: Action, new: Action, skew: timedelta) -> Iterator[str]:
    started = new.attempts[-1].started_at
    if old.status is Status.PENDING and started < old.due_at:
        yield f"{name}: it began at {started:%X.%f}, before it was due at {old.due_at:%X.%f}"
    if old.status is Status.PROCESSING and old.lease_until and old.lease_until + skew >= started:
        yield f"{name}: it was taken over at {started:%X.%f} from a lease until {old.lease_until:%X.%f}"


def overlaps(changes: Sequence[Change]) -> Iterator[str]:
    """No two runs of a job, and no more under a concurrency key than its limit, hold live leases."""
    running: dict[tuple[str, str], dict[str, Action]] = defaultdict(dict)
    for change in changes:
        old, new = change.old, change.new
        if new is None or (group := _group_of(new)) is None:
            continue
        if old is not None and len(new.attempts) > len(old.attempts):
            at = new.attempts[-1].started_at
            others = [run for run in running[group].values() if run.id != new.id and _lives(run, at)]
            if len(others) >= new.slot_limit:
                yield f"{new.id} of {group} began at {at:%X.%f} while {[run.id for run in others]} ran"
        running[group].pop(new.id, None)
        if new.status is Status.PROCESSING and not _is_fenced_off(old, new):
            running[group][new.id] = new


def _group_of(row: Action) -> tuple[str, str] | None:
    if row.job in ONE_AT_A_TIME:
        return row.tenant_id, str(row.job)
    return None if row.concurrency is None else (row.tenant_id, row.slot_key)


def _lives(run: Action, at: datetime) -> bool:
    return run.lease_until is not None and run.lease_until >= at


def _is_fenced_off(old: Action | None, new: Action) -> bool:
    """Return whether another run took the slot or the lock from this one, whose lease had ended."""
    return new.nonce is None and old is not None


def starts_beyond_the_rate(changes: Sequence[Change]) -> Iterator[str]:
    """No window has more starts of a customer than its rate limit allows, by the workers' clocks."""
    starts: dict[str, list[datetime]] = defaultdict(list)
    for change in changes:
        if change.new is not None and change.new.type == RATED and _begins(change.old, change.new):
            customer = json.loads(change.new.payload or "{}")["customer"]
            starts[customer].append(change.new.attempts[-1].started_at)
    for customer, begun in starts.items():
        if (excess := first_excess(begun, RATE.limit.pace)) is not None:
            yield f"{customer}: a run began at {excess:%X.%f}, too soon for its rate limit"


def _begins(old: Action | None, new: Action) -> bool:
    return old is not None and len(new.attempts) > len(old.attempts)


def commits(rows: Sequence[Action], ledger: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """What an action commits is in the ledger once, under its last fence, and only if it was executed."""
    by_name = {f"{row.tenant_id}/{row.id}": row for row in rows}
    for name in ledger.keys() - by_name.keys():
        yield f"{name}: committed, but has no row"
    for name, row in by_name.items():
        times, fence = ledger.get(name, (0, None))
        if times != (row.status is Status.EXECUTED):
            yield f"{name}: {row.status}, and committed {times} times"
        elif times and fence != row.fence:
            yield f"{name}: executed under fence {row.fence}, and committed under {fence}"


def lost(outcome: Outcome) -> Iterator[str]:
    """Each action whose caller received a response exists, and all that was due is final."""
    rows = {(row.tenant_id, row.id) for row in outcome.rows}
    for call in outcome.calls:
        ref, response = tuple(call["ref"]), call.get("response", {})
        is_stored = call["op"] == "put" and "answer" in response and response.get("id", ref[1]) == ref[1]
        if is_stored and not _is_of_a_pass(ref) and ref not in rows:
            yield f"{ref}: lost, although its caller received a response"
    for row in outcome.rows:
        if not is_done(row, outcome.ended_at):
            yield f"{row.tenant_id}/{row.id}: still {row.status}, due at {row.due_at:%X}"


def nominal_times(outcome: Outcome) -> Iterator[str]:
    """Each nominal time of a job has one row, which ran once, or was skipped for a reason."""
    grace = outcome.settings.job_grace
    for job, step in EVERY.items():
        planned = [row for row in outcome.rows if row.job == job]
        at = instant.floor(outcome.started_at, step) + step
        while at <= outcome.ended_at:
            rows = [row for row in planned if row.nominal_at == at]
            is_missed = any(span.start < at <= span.end for span in outcome.missed[job])
            if len(rows) + is_missed != 1:
                yield f"{job} at {at:%X}: {len(rows)} rows, {'and' if is_missed else 'not'} missed"
            at += step
        yield from (flaw for row in planned if (flaw := _wrong_skip(row, grace)))


def _wrong_skip(row: Action, grace: timedelta) -> str | None:
    """An occurrence is skipped beside another run of its job, or if it is late by more than the grace."""
    if row.status is not Status.SKIPPED or row.changed is None:
        return None
    is_late = row.skip_reason is SkipReason.MISSED and row.changed.at - row.nominal_at >= grace
    is_beside = row.skip_reason is SkipReason.OVERLAP and row.job in ONE_AT_A_TIME
    return None if is_late or is_beside else f"{row.id}: skipped as {row.skip_reason}"


def _read(records: Sequence[Mapping[str, Any]]) -> list[Change]:
    changes = []
    for record in records:
        try:
            change = change_of(record)
        except UnreadableRow:
            continue
        row = change and (change.new or change.old)
        if row and not _is_of_a_pass((row.tenant_id, row.id)):
            changes.append(change)
    return changes


def _is_of_a_pass(ref: Ref) -> bool:
    return "." in ref[1] and not ref[1].startswith("chaos-")
