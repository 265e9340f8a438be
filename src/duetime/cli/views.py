"""How the API's answers read: a table or facts for each, and functions for what is more than a field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from duetime._english import counted, plural
from duetime.cli.client import Json
from duetime.cli.tables import (
    Cell,
    Facts,
    Lines,
    Table,
    bar,
    both,
    coloured,
    drawn,
    facts,
    plain,
    relative,
    span,
    worded,
)
from duetime.errors import truncate

PERIODS = {1: "second", 60: "minute", 3_600: "hour", 86_400: "day"}
UNDELIVERED_KINDS = ("message", "record", "wake", "event", "pass", "lifecycle", "notification")
"""Those of `duetime.model.undelivered.Kind`, which `duetime --help` need not load."""

NOTIFICATION_KINDS = (
    "scheduling.action_failed",
    "scheduling.dead_lettered",
    "scheduling.undelivered",
    "scheduling.breaker_opened",
    "scheduling.approval_requested",
    "jobs.recurring_failing",
    "jobs.recurring_succeeding",
    "jobs.chain_refused",
    "jobs.deadline_missed",
    "jobs.deadline_at_risk",
    "jobs.silent",
)
"""Those of `duetime.model.notification.NotificationKind`, which `duetime --help` need not load."""

LONGEST_PAYLOAD = 500
"""Characters; the JSON has the complete payload."""

# The most next runs, minutes, names of jobs and loads in a text; characters of a field, and of an error.
_SHOWN, _LONGEST, _LONGEST_ERROR = 5, 60, 100


def _if(name: str, cell: Cell, *, has: bool = True) -> Cell:
    """Return the cell of items that have a field; it is left out of others."""
    return lambda item, now: bool(item.get(name)) is has and drawn(cell, item, now)


def _as_json(name: str) -> Cell:
    return lambda item, _: (
        None if item.get(name) is None else _cut(json.dumps(item[name], ensure_ascii=False))
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_PAYLOAD else f"{text[:LONGEST_PAYLOAD]}… (--json shows all)"


# Actions.


def status(action: Json, _now: datetime | None = None) -> str:
    """Return the status, or ``retrying`` of an action that waits for its next attempt."""
    return "retrying" if action.get("is_retrying") else str(action["status"])


def payload(item: Json) -> str:
    """Return the payload of an action or a job as JSON, or ``[redacted]``."""
    return "[redacted]" if item["redacted"] == ["*"] else json.dumps(item["payload"], ensure_ascii=False)


def tenant(item: Json, _now: datetime | None = None) -> str | None:
    """Return the tenant, unless it is the default one, or the code's jobs'."""
    return None if item["tenant_id"] in {"default", "system"} else str(item["tenant_id"])


ACTIONS = Table(
    {
        "ID": "id",
        "TYPE": "type",
        "STATUS": status,
        "DUE": "{due_at:when}",
        "CORRELATION ID": "{correlation_id:-}",
    },
    "no actions",
    least=("CORRELATION ID",),
)
_RECOVERIES = "{recoveries}{recoveries:?, after its worker died, or its run outlasted its time}"
_ACTION = Facts(
    lambda action, _: f"{action['id']}  {plain(action['type'])}  {coloured(status(action))}",
    {
        "due": "{due_at:when}",
        "nominal time": _if("job", "{nominal_at:when}"),
        "scheduled for": lambda action, now: (
            not action["job"] and action["nominal_at"] != action["due_at"] and both(action["nominal_at"], now)
        ),
        "created": "{created_at:when} by {created_by}",
        "modified": lambda action, now: (
            action["modified_at"] != action["created_at"]
            and worded("{modified_at:when} by {modified_by}", action, now)
        ),
        "tenant": tenant,
        **{name: _if("job", name) for name in ("job", "trigger", "cadence")},
        "held": _if("job", "{held_by:?before, @}", has=False),
        "expires": _if("job", "{expires_at:?@when}", has=False),
        "correlation id": _if("job", "{correlation_id:-}", has=False),
        "idempotency": _if("job", "idempotency_key", has=False),
        "priority": _if("job", "{is_high:?high}", has=False),
        "batch": _if("job", "batch", has=False),
        "held until": _if("job", _if("is_held", "after"), has=False),
        "after": _if("job", _if("is_held", "after", has=False), has=False),
        "debounce": lambda action, _: (
            not action["job"]
            and action["debounce_key"]
            and f"{action['debounce_key']}, {counted(action['coalesced'] + 1, 'call')}"
        ),
        "concurrency": _if(
            "job", _if("concurrency_key", "{concurrency_key}, {concurrency_limit} at once"), has=False
        ),
        "rate": _if("job", "rate_key", has=False),
        "skip reason": "skip_reason",
        "note": "note",
        "to approve": _if("awaits_approval", "question"),
        "question": _if("awaits_approval", "question", has=False),
        "handed over": _if("is_handed_over", "{handed_over_at:when}, times out {times_out_at:when}"),
        "progress": lambda action, _: (
            action["progress"] is not None
            and f"{action['progress']:.0%} {action['progress_note'] or ''}".rstrip()
        ),
        "result": _as_json("result"),
        "stop requested": "{cancel_requested_at:?@when}",
        "cancelled by": "cancelled_by",
        "failed": "failure_reason",
        "dismissed": _if("dismissed_reason", "by {modified_by}: {dismissed_reason}"),
        "recoveries": _RECOVERIES,
        "trace": lambda action, _: action.get("trace_id") and (action["trace_url"] or action["trace_id"]),
        "payload": lambda action, _: "payload" in action and _cut(payload(action)),
        "checkpoint": _as_json("checkpoint"),
    },
)
_ATTEMPTS = Table(
    {
        "ATTEMPT": "number",
        "OUTCOME": "outcome",
        "STARTED": "{started_at:when}",
        "TOOK": lambda run, _: took(run),
        "INSTANCE": "instance",
        "MESSAGE": "message",
    },
    least=("INSTANCE",),
    of="attempts",
)


def _traceback(one: Json, now: datetime) -> str:
    return worded("attempt {number}, {started_at:when}\n\n", one, now) + printable(one["text"])


ACTION = Lines(
    (
        _ACTION,
        _if("attempts", _ATTEMPTS),
        lambda action, now: "\n\n".join(_traceback(one, now) for one in action.get("tracebacks", ())) or None,
        lambda action, _: action.get("tracebacks") == [] and "the attempt has no traceback",
    ),
    "\n\n",
)


def progress(action: Json, now: datetime) -> str:
    """Return the progress of an action in one line."""
    stage = _of_run(action, action["attempts"][-1], now) if action["attempts"] else None
    if stage is None:
        is_pending = action["status"] == "pending"
        stage = f"due {both(action['due_at'], now)}" if is_pending else why(action)
    return f"{coloured(action['status'], action['status'].ljust(10))}  {plain(stage)}"


def _of_run(action: Json, last: Json, now: datetime) -> str:
    match action["status"]:
        case "pending":
            return f"due again {both(action['due_at'], now)}: {last['message'] or last['outcome']}"
        case "processing" if action["is_handed_over"]:
            form = "handed over, times out {times_out_at:when}"
            if action["awaits_approval"]:
                form = (
                    "waits for `duetime actions approve {id}` or `reject`,"
                    " times out {times_out_at:when}: {question}"
                )
            return worded(form, action, now)
        case "processing":
            return f"attempt {last['number']} on {last['instance']}"
        case "executed":
            late = _between(action["due_at"], last["started_at"])
            return f"attempt {last['number']} began {late} after it was due and took {took(last)}"
        case _:
            return why(action)


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


DECIDED = Lines(
    (lambda action, _: plain(f"{action['id']} is {action['status']}: {action['attempts'][-1]['message']}"),)
)
REASON = Lines(("{sentence}", _if("runs_at", "runs {runs_at:when}")))


def printable(text: str) -> str:
    """Return lines without control characters."""
    return "\n".join(map(plain, text.splitlines()))


def log(found: Json, _now: datetime) -> str:
    """Return what the worker logged about an attempt."""
    if found["attempt"] is None:
        return "no run has begun"
    lines = [f"attempt {found['attempt']}" + (f", trace {found['trace_url']}" if found["trace_url"] else "")]
    for line in found["items"]:
        lines.append(f"{line['at']}  {line['level']:8} {plain(line['message'])}")
        lines += [f"    {plain(part)}" for part in (line["exception"] or "").splitlines()]
    if not found["items"]:
        lines.append("no lines of it are in the log, which may come a few seconds late")
    if not found["is_complete"]:
        lines.append("more lines exist; the log group of its worker has them")
    return "\n".join(lines)


BATCHES = Table(
    {
        "NAME": "name",
        "STATE": "state",
        "MEMBERS": "size",
        "EXECUTED": "executed",
        "FAILED": "failed",
        "LEFT": "left",
        "OPENED": "{opened_at:when}",
    },
    "no batches",
    least=("OPENED",),
)


BATCH = Lines(
    (
        "{name}: {state}",
        lambda batch, now: (
            bar(batch["size"] - batch["left"], batch["size"], of_none=0)
            + worded(", {left:,} of {size:,} left", batch, now)
        ),
        "executed {executed:,}, failed {failed:,}, cancelled {cancelled:,}, skipped {skipped:,}",
        _if("counted_at", "counted {counted_at:when}"),
        _if("counted_at", lambda *_: "not counted yet", has=False),
        "opened {opened_at:when} by {opened_by}",
        _if("closed_at", "closed {closed_at:when} by {closed_by}"),
        _if("completed_at", "complete since {completed_at:when}"),
        _if("on_complete", "then runs {on_complete}"),
    )
)


def failed_at(action: Json) -> str:
    """Return when the action failed, as ISO 8601."""
    last = action["attempts"][-1] if action["attempts"] else {}
    return str(last.get("finished_at") or action["due_at"])


DEAD_LETTERS = Table(
    {
        "ID": "id",
        "FAILED": lambda action, now: both(failed_at(action), now),
        "TYPE OR JOB": lambda action, _: action["job"] or action["type"],
        "ATTEMPTS": lambda action, _: action["attempts"][-1]["number"] if action["attempts"] else 0,
        "CORRELATION ID": "{correlation_id:-}",
        "REASON": lambda action, _: truncate(action["failure_reason"] or "-", _LONGEST_ERROR),
    },
    "no dead letters",
    least=("CORRELATION ID", "ATTEMPTS"),
)
GROUPS = Table(
    {
        "COUNT": "count",
        "TYPE OR JOB": "type_or_job",
        "FIRST": "{first_at:when}",
        "LAST": "{last_at:when}",
        "EXAMPLE": "example",
        "ERROR": lambda group, _: truncate(group["error"] or "-", _LONGEST_ERROR),
    },
    least=("FIRST",),
)


# Jobs.


def words(job: Json) -> str:
    """Return its cadences in words."""
    return "; ".join(entry["words"] for entry in job["cadences"])


def _after(job: Json) -> str:
    """Return for which job's run another one waits, and how long: by default 12 hours."""
    from duetime.model.job import USUAL_WAIT  # noqa: PLC0415 - few jobs wait

    limit = _span(USUAL_WAIT if job["after_timeout"] is None else job["after_timeout"])
    return f"{job['after']}, whose run of the day must have succeeded; skipped after {limit}"


def _latest(job: Json, now: datetime) -> str:
    recent = None if job["last_run"] else next(iter(job["recent_runs"] or ()), None)
    last = recent or job["last_run"]
    if last is None:
        return "-"
    return f"{last['status']} {_ago(last['started_at'] or last['nominal_at'], now)}"


def _ago(written: str, now: datetime) -> str:
    return relative(datetime.fromisoformat(written), now)


def _state(job: Json, now: datetime) -> str:
    if not job["enabled"]:
        return "disabled"
    if job["paused"]:
        return worded("paused{until:? until @local}", job["paused"], now)
    if job["running"]:
        return "running"
    if paused := sum(entry["paused"] is not None for entry in job["cadences"]):
        return f"{paused} of {counted(len(job['cadences']), 'cadence')} paused"
    failures = job["consecutive_failures"]
    return f"{counted(failures, 'failure')} in a row" if failures > 1 else "enabled"


_NEXT_RUNS = Table({"NEXT RUNS": "{at:local}", "CADENCES": "{cadences}"})
_RUNS_WITH_DEADLINES = Table({**_NEXT_RUNS.columns, "DEADLINE": "{deadline_at:local}"})


def _next_runs(job: Json, now: datetime) -> object:
    has_deadline = any(entry.get("deadline_at") for entry in job["next_runs"])
    return bool(job["next_runs"]) and "\n" + (_RUNS_WITH_DEADLINES if has_deadline else _NEXT_RUNS)(
        job["next_runs"], now
    )


def _deadline(job: Json, _now: datetime) -> object:
    within = job.get("within")
    late = f"within {_span(within)}" if within else f"by {job.get('deadline')}"
    return (within or job.get("deadline")) and f"a nominal time must succeed {late}"


def _price(job: Json, _now: datetime) -> str | None:
    if (dollars := job.get("dollars_per_month")) is None:
        return None
    cents = f"{dollars:,.2f}" if dollars >= 1 else f"{dollars:.2g}"
    often = float(f"{job['runs_per_day']:.3g}")  # to three digits
    return f"{cents} dollars a month, by {often:,g} {plural(often, 'run')} a day"


_JOB = Facts(
    lambda job, now: f"{plain(worded('{name}{title:?  @}', job, now))}  {coloured(_state(job, now))}",
    {
        "description": "description",
        "category": "category",
        "declared by": lambda job, now: worded(
            "code; worker {worker}" if job["origin"] == "code" else "{registered_by}, at run time", job, now
        ),
        "tenant": tenant,
        "version": "{version}, since {since:when}",
        "disabled": "{disabled_at:?@when@: it is no longer declared}",
        "paused": lambda job, now: job["paused"] and _pause(job["paused"], now),
        "handler": "type",
        "payload": lambda job, _: "-" if payload(job) == "null" else payload(job),
        "retry": lambda job, _: "as its handler declares" if job["retry"] is None else policy(job["retry"]),
        "set": lambda job, _: [f"{one['cadence'] or 'all cadences'}: {policy(one)}" for one in job["tuning"]],
        "overlap": "overlap",
        "catch-up": lambda job, _: (
            f"of the latest {counted(job['catch_up'], 'missed run')}" if job["catch_up"] else "none"
        ),
        "precision": "precision",
        "deadline": _deadline,
        "silence": "{every_success_within:?a run must succeed every @span}",
        "after": lambda job, _: job.get("after") and _after(job),
        "price": _price,
        "running": "running",
        "waiting": "waiting",
        "last run": lambda job, now: job["last_run"] and f"{job['last_run']['id']}, {_latest(job, now)}",
        "runs": "{tally[executed]} executed, {tally[failed]} failed"
        "{tally[consecutive_failures]:?, @@ in a row}",
        "last error": "{tally[last_error]}",
    },
)


def _span(length: float) -> str:
    return span(timedelta(seconds=length))


def _pause(item: Json, now: datetime) -> str:
    if item.get("parts"):
        return "\n".join(_pause(part, now) for part in item["parts"])
    return worded("since {since:when} by {by}{reason:?: @}{until:?; until @when}", item, now)


def policy(item: Json) -> str:
    """Return a retry policy, or the settings that override one, in words."""
    waits, jitter, end = item["backoff"], item["jitter"], item.get("give_up_after")
    parts = (
        None if item["attempts"] is None else counted(item["attempts"], "attempt"),
        None if waits is None else f"back-off {', '.join(map(_span, waits))}",
        None if jitter is None else f"jitter {jitter:g}",
        None if end is None else f"given up after {_span(end)}",
    )
    return "; ".join(filter(None, parts))


_CADENCES = Table(
    {
        "CADENCE": "name",
        "IN WORDS": "words",
        "TEXT": "text",
        "PAUSED": lambda cadence, now: _pause(cadence["paused"], now) if cadence["paused"] else "-",
    },
    least=("TEXT",),
    of="cadences",
)
JOB = Lines((_JOB, "", _CADENCES, _next_runs))


def _account(entry: Json, now: datetime) -> str:
    times = counted(entry["count"], "time") if entry["count"] else "many times"
    is_known = entry["note"].startswith(entry["reason"])
    parts = (
        entry["until"] and worded(f"{times}, until {{until:second}}", entry, now),
        entry["note"] if is_known else f"{entry['reason']}: {entry['note']}".removesuffix(": "),
        entry.get("deadline")
        and f"{worded('deadline {deadline_at:second}', entry, now)} {entry['deadline'].replace('_', ' ')}",
    )
    return "; ".join(filter(None, parts))


OCCURRENCES = Table(
    {
        "NOMINAL TIME": "{at:second}",
        "LOCAL": lambda occurrence, _: f"{occurrence['local'].replace('T', ' ')} {occurrence['tz']}",
        "ACCOUNT": "account",
        "RUN": "{action_id:-}",
        "WHY": _account,
    },
    "no occurrence in this window",
    least=("LOCAL", "RUN"),
)


def _why_and_payload(run: Json, _now: datetime) -> str:
    """Return why a run ended so, and its payload, cut short: `duetime actions show` prints all of it."""
    given = "" if payload(run) == "null" else f"payload {truncate(payload(run), 2 * _LONGEST)}"
    return "; ".join(filter(None, (why(run).removeprefix("-"), given)))


HISTORY = Table(
    {
        "NOMINAL TIME": "{nominal_at:when}",
        "STATUS": "status",
        "TRIGGER": "trigger",
        "ATTEMPTS": lambda run, _: len(run["attempts"]),
        "TOOK": lambda run, _: took(run["attempts"][-1]) if run["attempts"] else "-",
        "ID": "id",
        "WHY": _why_and_payload,
    },
    "no runs",
    least=("ATTEMPTS", "TRIGGER", "TOOK"),
)
JOBS = Table(
    {
        "NAME": "name",
        "CADENCE": lambda job, _: words(job) + (f", after {job['after']}" if job["after"] else ""),
        "NEXT RUN": "{next_due_at:local}",
        "LAST RUN": _latest,
        "STATE": _state,
    },
    "no jobs",
)


def retries_set(job: Json, now: datetime) -> str:
    """Return the retry policy that was set for a job, or for a cadence of it."""
    tuning = next((one for one in job["tuning"] if one["cadence"] == job["cadence"]), None)
    policy_set = f"set: {policy(tuning)}" if tuning else "nothing set; the declared policy applies"
    return worded("{cadence:?@@ of }{name}: ", job, now) + policy_set


def _names(crowd: Json, _now: datetime) -> str:
    shown = crowd["jobs"][:_SHOWN]
    others = crowd["begin"] - len(shown)
    return ", ".join(shown) + (f" and {others} more" if others else "")


_CROWDS = Table(
    {"FIRST MINUTE": "{at:when}", "JOBS": "begin", "OVER": "over", "MINUTES": "times", "NAMES": _names},
    "no two jobs begin in the same minute",
    of="crowds",
)
LOAD = Lines(
    (
        lambda found, now: worded(
            f"{counted(found['jobs'], 'job')} ({'all' if found['is_complete'] else 'the first by name'})"
            " until {until:when}; capacity {capacity} a minute; minutes with more: {minutes_over}",
            found,
            now,
        ),
        _CROWDS,
    )
)


def previewed(preview: Json, now: datetime) -> str:
    """Return the times of a backfill that has not begun, and those that it would leave out."""
    lines = [both(at, now) for at in preview["items"]]
    lines += [f"{both(one['at'], now)}  left out: {one['status']}" for one in preview["left_out"]]
    times, left_out = counted(preview["total"], "nominal time", ","), len(preview["left_out"])
    return "\n".join([*lines, f"would run {len(preview['items']):,} of {times}, and leave out {left_out:,}"])


BACKFILLS = Table(
    {
        "ID": "id",
        "STATE": "state",
        "PROGRESS": lambda backfill, _: bar(
            backfill["total"] - backfill["remaining"] - len(backfill["open"]), backfill["total"]
        ),
        "EXECUTED": "{executed:,}",
        "FAILED": "{failed:,}",
        "LEFT OUT": "{left_out:,}",
        "REMAINING": "{remaining:,}",
        "OPEN": lambda backfill, _: len(backfill["open"]),
        "FROM": "{start:when}",
        "UNTIL": "{until:when}",
        "BY": "begun_by",
    },
    "no backfills",
    least=("BY", "OPEN", "LEFT OUT", "UNTIL", "FROM", "REMAINING", "EXECUTED", "FAILED"),
)
DEFINITIONS = Table(
    {
        "ID": "id",
        "SINCE": "{since:when}",
        "BY": "{by:-}",
        "CHANGES": lambda stored, _: (
            "; ".join(
                f"{one['field']}: {_value(one['before'])} → {_value(one['after'])}"
                for one in stored["changes"]
            )
            or "-"
        ),
    }
)


_CHANGES = Table(
    {
        "FIELD": "field",
        "BEFORE": lambda entry, _: _value(entry["before"]),
        "AFTER": lambda entry, _: _value(entry["after"]),
    },
    of="changes",
)
DEFINITION = Lines(
    (
        lambda stored, now: facts(
            worded("{id}  since {since:when}, {until:?until @when}", stored, now)
            + ("" if stored["until"] else "in force"),
            {name: _value(of) for name, of in stored["definition"].items() if name != "redacted"},
        ),
        _if("changes", lambda stored, now: f"\n{_CHANGES(stored, now)}"),
    )
)


def _value(value: Any) -> str:
    if value is None or value in ("", []):
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return plain(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def draft(found: Json, now: datetime) -> str:
    """Return what a registration would do."""
    return "\n".join(_draft_lines(found, now))


def _draft_lines(draft: Json, now: datetime) -> Iterator[str]:
    done = "be registered" if draft["is_new"] else f"be replaced, as version {draft['version']}"
    yield f"{draft['name']} would {'be rejected' if draft['problems'] else done}; nothing was changed"
    yield from (f"problem: {plain(problem)}" for problem in draft["problems"])
    if draft["changes"]:
        yield from ("", _CHANGES(draft["changes"], now))
    for cadence in draft["cadences"]:
        yield from ("", f"{cadence['text']}: {plain(cadence['words'])}")
        for row in cadence["next_runs"][:_SHOWN]:
            note = f"  {plain(row['note'])}" if row["note"] else ""
            yield f"  {row['local'].replace('T', ' ')} {cadence['tz']}{note}"
        clocks = (f"{row['local'][:10]} {row['note']}" for row in cadence["changes"])
        notes = (*cadence["notes"], *cadence["disagreements"], *clocks)
        yield from (f"  note: {plain(note)}" for note in notes)
    if draft["definition"]["after"]:
        yield from ("", f"after: {_after(draft['definition'])}")
    yield ""
    if draft["runs_per_day"] is not None:
        dollars, number = draft["dollars_per_month"], f"{draft['runs_per_day']:.3g}"
        price = f"{dollars:,.2f}" if dollars >= 1 else f"{dollars:.4f}"
        often = f"{number} {plural(float(number), 'run')} a day"
        yield f"{often}, about ${price} a month without the handler's own calls"
    for load in draft["load"][:_SHOWN]:
        runs = counted(load["runs"], "run")
        yield f"{both(load['at'], now)}: {runs} of other jobs ({', '.join(load['jobs'])})"


# Pauses, limits and quotas.


def subject(item: Json, _now: datetime | None = None) -> str:
    """Return what a pause covers."""
    of = f" of {item['tenant']}" if item["tenant"] and item["scope"] != "tenant" else ""
    return plain(f"{item['scope']} {item['name']}{of}")


def paused(item: Json, now: datetime) -> str:
    """Return what a new pause covers, and until when."""
    return f"paused {subject(item)}{worded('{until:? until @when}', item, now)}; it holds within five seconds"


def resumed(found: Json, now: datetime) -> str:
    """Return the pauses that have ended."""
    over = "; what waits begins until {over_at:when}"
    return "\n".join(f"resumed {subject(item)}{worded(over, item, now)}" for item in found["items"])


def _end(item: Json, now: datetime) -> str:
    end, probe = item["ended_at"] or item["until"], item["probes_at"]
    return f"a probe from {both(probe, now)}" if probe and end is None else both(end, now)


PAUSES = Table(
    {
        "ID": "id",
        "PAUSED": subject,
        "SINCE": "{since:when}",
        "UNTIL": _end,
        "ACTIONS": lambda item, _: "skip" if item["skips"] else "wait",
        "BY": "by",
        "REASON": "reason",
    },
    "nothing is paused",
    least=("BY", "SINCE", "ACTIONS"),
)


def _limit(limit: Json) -> str:
    unit = PERIODS.get(limit["seconds"])
    span_of = f"{'an' if unit == 'hour' else 'a'} {unit}" if unit else f"in {limit['seconds']:g} s"
    return f"{limit['count']} {span_of}, {limit['burst']} at once"


def limit_set(item: Json, _now: datetime) -> str:
    """Return a new limit of a type."""
    return f"{plain(item['name'])}: {_limit(item['limit'])}; it holds within five seconds"


def limit_reset(limits: Json, _now: datetime) -> str:
    """Return the limit of a type that holds again."""
    name = limits["name"]
    in_force = next((item["limit"] for item in limits["items"] if item["name"] == name), None)
    return plain(f"{name}: {_limit(in_force)}, as in code" if in_force else f"{name} has no limit")


LIMITS = Table(
    {
        "TYPE": "name",
        "FOR EACH": "scope",
        "LIMIT": lambda item, _: _limit(item["limit"]),
        "IN CODE": lambda item, _: item["declared"] and _limit(item["declared"]),
        "SET BY": "set_by",
        "SET AT": "{set_at:when}",
    },
    "no type declares a rate",
    least=("SET AT", "SET BY", "FOR EACH"),
)


_QUOTAS = Table(
    {
        "QUOTA": "name",
        "USED": lambda item, _: "not counted" if item["used"] is None else item["used"],
        "LIMIT": "limit",
    }
)
QUOTAS = Lines(
    (
        _if("items", "quotas of {tenant_id}"),
        _if("items", _QUOTAS),
        _if("items", "{tenant_id} has no quotas", has=False),
    )
)

# Undelivered inputs, notifications, changes, grants and the caller.

UNDELIVERED = Table(
    {
        "ID": "id",
        "KIND": "kind",
        "FROM": "source",
        "LAST": "{last_at:when}",
        "COUNT": "count",
        "ACTION": "action_id",
        "REASON": lambda item, _: truncate(item["reason"], _LONGEST),
    },
    "nothing is undelivered",
    least=("ACTION", "COUNT"),
)
UNDELIVERED_IN_FULL = Facts(
    "{id}  {kind}  from {source}",
    {
        "action": lambda item, now: worded(
            "{action_id} of {tenant_id}" if item["action_id"] else "not known", item, now
        ),
        "reason": "reason",
        "first kept": "{first_at:when}",
        "last kept": "{last_at:when}",
        "count": "count",
        "body, cut": _if("is_cut", lambda item, _: "[redacted]" if item["body"] is None else item["body"]),
        "body": _if(
            "is_cut", lambda item, _: "[redacted]" if item["body"] is None else item["body"], has=False
        ),
    },
)
NOTIFICATIONS = Table(
    {
        "ID": "id",
        "SEVERITY": "severity",
        "KIND": "{kind}{is_digest:? (digest)}",
        "AT": "{at:when}",
        "READ BY": lambda item, _: "-" if item["read_at"] is None else item["read_by"] or "?",
        "SUBJECT": "subject",
    },
    "no notifications",
    least=("SEVERITY", "READ BY", "KIND"),
)
_NOTIFICATION = Facts(
    "{id}  {subject}",
    {
        "kind": "{kind}{is_digest:?, a digest}",
        "severity": "severity",
        "at": "{at:when}",
        "read by": lambda item, now: (
            worded("{read_by}, {read_at:when}", item, now) if item["read_at"] else "no user"
        ),
    },
)


NOTIFICATION = Lines(
    (_NOTIFICATION, "", lambda item, _: "\n".join(map(plain, item["text"].rstrip().split("\n"))))
)


def preferences(chosen: Json, now: datetime) -> str:
    """Return the recipients, the language and the channels of notifications."""
    language, admins = chosen["mails_in"], chosen["admin_addresses"]
    has_texts = chosen["language"].partition("-")[0] == language
    without = "" if has_texts else f", which has no texts; mails are in {language}"
    values = {
        "language": chosen["language"] + without,
        "mails to": ", ".join(chosen["addresses"]) or "none",
        "admins' to": "only admins see that" if admins is None else ", ".join(admins) or "none",
        "changed by": worded("{changed_by}, {changed_at:when}", chosen, now)
        if chosen["revision"]
        else "no user",
    }
    lines = [f"{name:<10}  {plain(value)}" for name, value in values.items()]
    for kind, channels in chosen["channels_in_force"].items():
        lacking = [channel for channel in channels if channel not in chosen["channels_available"]]
        usual = "" if kind in chosen["channels"] else "  (default)"
        missing = f"  (this deployment has no {', no '.join(lacking)})" if lacking else ""
        lines.append(f"{kind:<25}  {', '.join(channels) or 'nowhere'}{usual}{missing}")
    return "\n".join(lines)


CHANGES = Table(
    {
        "AT": "{requested_at:when}",
        "BY": "by",
        "SUBJECT": "{subject}",
        "CHANGE": "operation",
        "OF": "target",
        "STATUS": lambda entry, _: "not known" if entry["status"] is None else entry["status"],
        "REQUEST": lambda entry, _: (
            truncate(json.dumps(entry["request_fields"], ensure_ascii=False), _LONGEST)
            if entry["request_fields"]
            else ""
        ),
    },
    "no changes",
    least=("SUBJECT", "STATUS", "REQUEST"),
)
GRANTS = Table(
    {"ROLE": "role", "PERMISSIONS": "{permissions}", "BY": "granted_by", "GRANTED": "{granted_at:when}"},
    "no grants",
)
CALLER = Facts(
    "{actor}",
    {
        "tenant": tenant,
        "subject": "{subject:or none}",
        "roles": "{roles:or none}",
        "permissions": "{permissions:or none}",
        "scheduler": "scheduler",
    },
)
