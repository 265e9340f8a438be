"""Formats actions from the API's JSON as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from duetime._english import counted
from duetime.cli.client import Json
from duetime.cli.tables import coloured, facts, plain, table
from duetime.cli.times import both, span

LONGEST_PAYLOAD = 500
"""Characters; the JSON has the complete payload."""


def listed(actions: Sequence[Json], now: datetime) -> str:
    """Return a table with one row an action."""
    rows = [
        [
            action["id"],
            action["type"],
            status(action),
            both(action["due_at"], now),
            action["correlation_id"] or "-",
        ]
        for action in actions
    ]
    return table(["ID", "TYPE", "STATUS", "DUE", "CORRELATION ID"], rows)


def status(action: Json) -> str:
    """Return the status, or ``retrying`` of an action that waits for its next attempt."""
    return "retrying" if action.get("is_retrying") else str(action["status"])


def in_full(action: Json, now: datetime) -> str:
    """Return all facts of an action."""
    head = f"{action['id']}  {plain(action['type'])}  {coloured(status(action))}"
    text = facts(head, _facts(action, now))
    return f"{text}\n\n{_attempts(action['attempts'], now)}" if action["attempts"] else text


def _facts(action: Json, now: datetime) -> Iterator[tuple[str, str]]:
    yield "due", both(action["due_at"], now)
    if action["job"] or action["nominal_at"] != action["due_at"]:
        yield "nominal time" if action["job"] else "scheduled for", both(action["nominal_at"], now)
    yield "created", f"{both(action['created_at'], now)} by {action['created_by']}"
    if action["modified_at"] != action["created_at"]:
        yield "modified", f"{both(action['modified_at'], now)} by {action['modified_by']}"
    yield from tenant(action)
    if action["job"]:
        yield from _of_job(action)
    else:
        yield from _of_one_shot(action, now)
    yield from _handed_over(action, now)
    if action["cancel_requested_at"]:
        yield "stop requested", both(action["cancel_requested_at"], now)
    for name, key in (("cancelled by", "cancelled_by"), ("failed", "failure_reason")):
        if action[key]:
            yield name, action[key]
    if action["dismissed_reason"]:
        yield "dismissed", f"by {action['modified_by']}: {action['dismissed_reason']}"
    if action["recoveries"]:
        yield "recoveries", f"{action['recoveries']}, after its worker died, or its run outlasted its time"
    yield from _data(action)


def _data(action: Json) -> Iterator[tuple[str, str]]:
    if action.get("trace_id"):
        yield "trace", action["trace_url"] or action["trace_id"]
    if "payload" in action:
        yield "payload", _cut(payload(action))
    if action.get("checkpoint") is not None:
        yield "checkpoint", _cut(json.dumps(action["checkpoint"], ensure_ascii=False))


def tenant(item: Json) -> Iterator[tuple[str, str]]:
    """Yield the tenant, unless it is the default one, or the code's jobs'."""
    if item["tenant_id"] not in {"default", "system"}:
        yield "tenant", item["tenant_id"]


def _handed_over(action: Json, now: datetime) -> Iterator[tuple[str, str]]:
    if action["question"]:
        yield ("to approve" if action["awaits_approval"] else "question"), plain(action["question"])
    if action["is_handed_over"]:
        since, until = both(action["handed_over_at"], now), both(action["times_out_at"], now)
        yield "handed over", f"{since}, times out {until}"
    if action["progress"] is not None:
        yield "progress", plain(f"{action['progress']:.0%} {action['progress_note'] or ''}".rstrip())
    if action.get("result") is not None:
        yield "result", _cut(json.dumps(action["result"], ensure_ascii=False))


def _keys(action: Json) -> Iterator[tuple[str, str]]:
    if action["idempotency_key"]:
        yield "idempotency", action["idempotency_key"]
    if action["is_high"]:
        yield "priority", "high"
    if action["batch"]:
        yield "batch", action["batch"]
    if action["after"]:
        yield ("held until" if action["is_held"] else "after"), action["after"]
    if action["debounce_key"]:
        yield "debounce", f"{action['debounce_key']}, {counted(action['coalesced'] + 1, 'call')}"
    if action["concurrency_key"]:
        yield "concurrency", f"{action['concurrency_key']}, {action['concurrency_limit']} at once"
    if action["rate_key"]:
        yield "rate", action["rate_key"]


def _of_one_shot(action: Json, now: datetime) -> Iterator[tuple[str, str]]:
    if action["held_by"]:
        yield "held", plain(f"before, {action['held_by']}")
    if action["expires_at"]:
        yield "expires", both(action["expires_at"], now)
    yield "correlation id", action["correlation_id"] or "-"
    yield from _keys(action)
    yield from _skipped(action)


def _of_job(action: Json) -> Iterator[tuple[str, str]]:
    yield "job", action["job"]
    yield "trigger", action["trigger"]
    if action["cadence"]:
        yield "cadence", action["cadence"]
    yield from _skipped(action)


def _skipped(action: Json) -> Iterator[tuple[str, str]]:
    for name in ("skip_reason", "note"):
        if action[name]:
            yield name.replace("_", " "), action[name]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_PAYLOAD else f"{text[:LONGEST_PAYLOAD]}… (--json shows all)"


def payload(item: Json) -> str:
    """Return the payload of an action or a job as JSON, or ``[redacted]``."""
    if item["redacted"] == ["*"]:
        return "[redacted]"
    return json.dumps(item["payload"], ensure_ascii=False)


def _attempts(runs: Sequence[Json], now: datetime) -> str:
    rows = [
        [
            str(run["number"]),
            run["outcome"],
            both(run["started_at"], now),
            took(run),
            run["instance"],
            run["message"] or "",
        ]
        for run in runs
    ]
    return table(["ATTEMPT", "OUTCOME", "STARTED", "TOOK", "INSTANCE", "MESSAGE"], rows)


def progress(action: Json, now: datetime) -> str:
    """Return the progress of an action in one line."""
    stage = _of_run(action, action["attempts"][-1], now) if action["attempts"] else _of_none(action, now)
    return f"{coloured(action['status'], action['status'].ljust(10))}  {plain(stage)}"


def _of_none(action: Json, now: datetime) -> str:
    return f"due {both(action['due_at'], now)}" if action["status"] == "pending" else why(action)


def _of_run(action: Json, last: Json, now: datetime) -> str:
    match action["status"]:
        case "pending":
            return f"due again {both(action['due_at'], now)}: {last['message'] or last['outcome']}"
        case "processing":
            return _of_hand_over(action, now) or f"attempt {last['number']} on {last['instance']}"
        case "executed":
            late = _between(action["due_at"], last["started_at"])
            return f"attempt {last['number']} began {late} after it was due and took {took(last)}"
        case _:
            return why(action)


def _of_hand_over(action: Json, now: datetime) -> str:
    """Return what a handed-over action waits for; empty if it is not handed over."""
    if not action["is_handed_over"]:
        return ""
    until = f"times out {both(action['times_out_at'], now)}"
    if action["awaits_approval"]:
        return (
            f"waits for `duetime actions approve {action['id']}` or `reject`, {until}: {action['question']}"
        )
    return f"handed over, {until}"


def why(action: Json) -> str:
    """Return why it failed, was cancelled or was skipped, in one line."""
    if action["skip_reason"]:
        return ": ".join(filter(None, (action["skip_reason"], action["note"])))
    by = f"by {action['cancelled_by']}" if action["cancelled_by"] else "-"
    return str(action["failure_reason"] or by)


def took(run: Json) -> str:
    """Return the duration of an attempt."""
    return "-" if run["finished_at"] is None else _between(run["started_at"], run["finished_at"])


def _between(start: str, end: str) -> str:
    return span(datetime.fromisoformat(end) - datetime.fromisoformat(start))
