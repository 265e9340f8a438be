"""Formats actions from the API's JSON as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime

from duetime._english import counted
from duetime.cli.client import Json
from duetime.cli.tables import Table, bar, coloured, dashed, facts, plain, when
from duetime.cli.times import both, span

LONGEST_PAYLOAD = 500
"""Characters; the JSON has the complete payload."""


def status(action: Json) -> str:
    """Return the status, or ``retrying`` of an action that waits for its next attempt."""
    return "retrying" if action.get("is_retrying") else str(action["status"])


LIST = Table(
    {
        "ID": "id",
        "TYPE": "type",
        "STATUS": lambda action, _: status(action),
        "DUE": when("due_at"),
        "CORRELATION ID": dashed("correlation_id"),
    }
)


def in_full(action: Json, now: datetime) -> str:
    """Return all facts of an action."""
    head = f"{action['id']}  {plain(action['type'])}  {coloured(status(action))}"
    text = facts(head, _facts(action, now))
    return f"{text}\n\n{_ATTEMPTS(action['attempts'], now)}" if action["attempts"] else text


def _facts(action: Json, now: datetime) -> Mapping[str, object]:
    def at(name: str) -> str:
        return action[name] and both(action[name], now)

    is_later = action["nominal_at"] != action["due_at"]
    is_modified = action["modified_at"] != action["created_at"]
    recoveries = f"{action['recoveries']}, after its worker died, or its run outlasted its time"
    dismissed = f"by {action['modified_by']}: {action['dismissed_reason']}"
    return {
        "due": at("due_at"),
        "nominal time": action["job"] and at("nominal_at"),
        "scheduled for": not action["job"] and is_later and at("nominal_at"),
        "created": f"{at('created_at')} by {action['created_by']}",
        "modified": is_modified and f"{at('modified_at')} by {action['modified_by']}",
        "tenant": tenant(action),
        **(_of_job(action) if action["job"] else _of_one_shot(action, at("expires_at"))),
        "skip reason": action["skip_reason"],
        "note": action["note"],
        "to approve" if action["awaits_approval"] else "question": action["question"],
        "handed over": action["is_handed_over"] and f"{at('handed_over_at')}, times out {at('times_out_at')}",
        "progress": action["progress"] is not None
        and f"{action['progress']:.0%} {action['progress_note'] or ''}".rstrip(),
        "result": _as_json(action, "result"),
        "stop requested": at("cancel_requested_at"),
        "cancelled by": action["cancelled_by"],
        "failed": action["failure_reason"],
        "dismissed": action["dismissed_reason"] and dismissed,
        "recoveries": action["recoveries"] and recoveries,
        "trace": action.get("trace_id") and (action["trace_url"] or action["trace_id"]),
        "payload": "payload" in action and _cut(payload(action)),
        "checkpoint": _as_json(action, "checkpoint"),
    }


def _as_json(action: Json, name: str) -> str | None:
    value = action.get(name)
    return None if value is None else _cut(json.dumps(value, ensure_ascii=False))


def tenant(item: Json) -> str | None:
    """Return the tenant, unless it is the default one, or the code's jobs'."""
    return None if item["tenant_id"] in {"default", "system"} else str(item["tenant_id"])


def _of_job(action: Json) -> Mapping[str, object]:
    return {name: action[name] for name in ("job", "trigger", "cadence")}


def _of_one_shot(action: Json, expires: str) -> Mapping[str, object]:
    calls, limit = counted(action["coalesced"] + 1, "call"), action["concurrency_limit"]
    return {
        "held": action["held_by"] and f"before, {action['held_by']}",
        "expires": expires,
        "correlation id": action["correlation_id"] or "-",
        "idempotency": action["idempotency_key"],
        "priority": action["is_high"] and "high",
        "batch": action["batch"],
        "held until" if action["is_held"] else "after": action["after"],
        "debounce": action["debounce_key"] and f"{action['debounce_key']}, {calls}",
        "concurrency": action["concurrency_key"] and f"{action['concurrency_key']}, {limit} at once",
        "rate": action["rate_key"],
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_PAYLOAD else f"{text[:LONGEST_PAYLOAD]}… (--json shows all)"


def payload(item: Json) -> str:
    """Return the payload of an action or a job as JSON, or ``[redacted]``."""
    if item["redacted"] == ["*"]:
        return "[redacted]"
    return json.dumps(item["payload"], ensure_ascii=False)


_ATTEMPTS = Table(
    {
        "ATTEMPT": "number",
        "OUTCOME": "outcome",
        "STARTED": when("started_at"),
        "TOOK": lambda run, _: took(run),
        "INSTANCE": "instance",
        "MESSAGE": "message",
    }
)


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


def reason(found: Json, now: datetime) -> str:
    """Return why an action has not run, and when it will."""
    then = f"\nruns {both(found['runs_at'], now)}" if found["runs_at"] else ""
    return f"{plain(found['sentence'])}{then}"


def decided(action: Json, _now: datetime) -> str:
    """Return how an approval was decided."""
    return plain(f"{action['id']} is {action['status']}: {action['attempts'][-1]['message']}")


def beat(found: Json, now: datetime) -> str:
    """Return until when a handed-over action waits."""
    stop = "; a cancel was requested: stop, then run `duetime actions fail`"
    return f"waits until {both(found['waits_until'], now)}{stop if found['cancel_requested'] else ''}"


def tracebacks(found: Json, now: datetime) -> str:
    """Return the tracebacks of failed attempts."""
    texts = (
        f"attempt {one['number']}, {both(one['started_at'], now)}\n\n{printable(one['text'])}"
        for one in found["items"]
    )
    return "\n\n".join(texts) or "no attempt has a traceback"


def printable(text: str) -> str:
    """Return lines without control characters."""
    return "\n".join(map(plain, text.splitlines()))


def log(found: Json, _now: datetime) -> str:
    """Return what the worker logged about an attempt."""
    return "\n".join(_log_lines(found))


def _log_lines(found: Json) -> Iterator[str]:
    if found["attempt"] is None:
        yield "no run has begun"
        return
    yield f"attempt {found['attempt']}" + (f", trace {found['trace_url']}" if found["trace_url"] else "")
    for line in found["items"]:
        yield f"{line['at']}  {line['level']:8} {plain(line['message'])}"
        if line["exception"]:
            yield from (f"    {plain(part)}" for part in line["exception"].splitlines())
    if not found["items"]:
        yield "no lines of it are in the log, which may come a few seconds late"
    if not found["is_complete"]:
        yield "more lines exist; the log group of its worker has them"


BATCHES = Table(
    {
        "NAME": "name",
        "STATE": "state",
        "MEMBERS": "size",
        "EXECUTED": "executed",
        "FAILED": "failed",
        "LEFT": "left",
        "OPENED": when("opened_at"),
    }
)


def batch(found: Json, now: datetime) -> str:
    """Return the progress of a batch."""
    counts = ", ".join(f"{name} {found[name]:,}" for name in ("executed", "failed", "cancelled", "skipped"))
    done = bar(found["size"] - found["left"], found["size"], of_none=0)
    lines = [
        f"{found['name']}: {found['state']}",
        f"{done}, {found['left']:,} of {found['size']:,} left",
        counts,
        f"counted {both(found['counted_at'], now)}" if found["counted_at"] else "not counted yet",
        f"opened {both(found['opened_at'], now)} by {plain(found['opened_by'])}",
    ]
    if found["closed_at"]:
        lines.append(f"closed {both(found['closed_at'], now)} by {plain(found['closed_by'])}")
    if found["completed_at"]:
        lines.append(f"complete since {both(found['completed_at'], now)}")
    if found["on_complete"]:
        lines.append(f"then runs {found['on_complete']}")
    return "\n".join(lines)
