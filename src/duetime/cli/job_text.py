"""Formats jobs from the API's JSON as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from duetime._english import counted, plural
from duetime.cli.action_text import payload, tenant, took, why
from duetime.cli.client import Json
from duetime.cli.tables import Cell, Table, bar, coloured, dashed, facts, plain, when
from duetime.cli.times import both, local, relative, span
from duetime.errors import truncate

_LONGEST_PAYLOAD = 120
"""Characters of a payload in a list."""

_LONGEST = 60
"""Characters of a field of a definition."""

_SHOWN = 5
"""The number of next runs, of minutes and of names in a text."""

_STATES = {"open": "open", "at_risk": "at risk", "met": "met", "missed": "missed"}


def words(job: Json) -> str:
    """Return its cadences in words."""
    return "; ".join(entry["words"] for entry in job["cadences"])


def _when(job: Json) -> str:
    """Return its cadences in words, and the job that it runs after."""
    return f"{words(job)}, after {job['after']}" if job["after"] else words(job)


def after_in_words(after: str, timeout: int | None) -> str:
    """Return for which job's run another one waits, and how long: by default 12 hours."""
    from duetime.model.job import USUAL_WAIT  # noqa: PLC0415 - few jobs wait

    limit = _span(USUAL_WAIT if timeout is None else timeout)
    return f"{after}, whose run of the day must have succeeded; skipped after {limit}"


def _latest(job: Json, now: datetime) -> str:
    recent = None if job["last_run"] else next(iter(job["recent_runs"] or ()), None)
    if recent is None:
        return _last_run(job, now)
    return f"{recent['status']} {_ago(recent['started_at'] or recent['nominal_at'], now)}"


def _last_run(job: Json, now: datetime) -> str:
    last = job["last_run"]
    return "-" if last is None else f"{last['status']} {_ago(last['started_at'], now)}"


def _ago(written: str, now: datetime) -> str:
    return relative(datetime.fromisoformat(written), now)


def _state(job: Json, now: datetime) -> str:
    if not job["enabled"]:
        return "disabled"
    if job["paused"]:
        return (
            "paused"
            if job["paused"]["until"] is None
            else f"paused until {local(job['paused']['until'], now)}"
        )
    if job["running"]:
        return "running"
    paused = sum(entry["paused"] is not None for entry in job["cadences"])
    if paused:
        return f"{paused} of {counted(len(job['cadences']), 'cadence')} paused"
    failures = job["consecutive_failures"]
    return f"{counted(failures, 'failure')} in a row" if failures > 1 else "enabled"


def in_full(job: Json, now: datetime) -> str:
    """Return all facts of a job."""
    title = f"  {plain(job['title'])}" if job["title"] else ""
    head = f"{job['name']}{title}  {coloured(_state(job, now))}"
    lines = [facts(head, _facts(job, now)), "", _CADENCES(job["cadences"], now)]
    if runs := job["next_runs"]:
        has_deadline = any(entry.get("deadline_at") for entry in runs)
        lines += ["", (_RUNS_WITH_DEADLINES if has_deadline else _NEXT_RUNS)(runs, now)]
    return "\n".join(lines)


_NEXT_RUNS = Table(
    {
        "NEXT RUNS": lambda entry, now: local(entry["at"], now),
        "CADENCES": lambda entry, _: ", ".join(entry["cadences"]),
    }
)
_RUNS_WITH_DEADLINES = Table(
    {**_NEXT_RUNS.columns, "DEADLINE": lambda entry, now: local(entry["deadline_at"], now)}
)


def _facts(job: Json, now: datetime) -> Mapping[str, object]:
    by = (
        f"code; worker {job['worker']}" if job["origin"] == "code" else f"{job['registered_by']}, at run time"
    )
    within, silence = job.get("within"), job.get("every_success_within")
    late = f"within {_span(within)}" if within else f"by {job.get('deadline')}"
    last, tally = job["last_run"], job["tally"]
    in_a_row = f", {tally['consecutive_failures']} in a row" if tally["consecutive_failures"] else ""
    price = job.get("dollars_per_month")
    return {
        "description": job["description"],
        "category": job["category"],
        "declared by": by,
        "tenant": tenant(job),
        "version": f"{job['version']}, since {both(job['since'], now)}",
        "disabled": job["disabled_at"] and f"{both(job['disabled_at'], now)}: it is no longer declared",
        "paused": job["paused"] and _pause(job["paused"], now),
        "handler": job["type"],
        "payload": "-" if payload(job) == "null" else payload(job),
        "retry": "as its handler declares" if job["retry"] is None else policy(job["retry"]),
        "set": [f"{one['cadence'] or 'all cadences'}: {policy(one)}" for one in job["tuning"]],
        "overlap": job["overlap"],
        "catch-up": f"of the latest {counted(job['catch_up'], 'missed run')}" if job["catch_up"] else "none",
        "precision": job["precision"],
        "deadline": (within or job.get("deadline")) and f"a nominal time must succeed {late}",
        "silence": silence and f"a run must succeed every {_span(silence)}",
        "after": job.get("after") and after_in_words(job["after"], job["after_timeout"]),
        "price": None if price is None else _price(price, job["runs_per_day"]),
        "running": job["running"],
        "waiting": job["waiting"],
        "last run": last and f"{last['id']}, {_last_run(job, now)}",
        "runs": f"{tally['executed']} executed, {tally['failed']} failed{in_a_row}",
        "last error": tally["last_error"],
    }


def _span(length: float) -> str:
    return span(timedelta(seconds=length))


def _price(dollars: float, runs: float) -> str:
    cents = f"{dollars:,.2f}" if dollars >= 1 else f"{dollars:.2g}"
    often = float(f"{runs:.3g}")  # to three digits
    return f"{cents} dollars a month, by {often:,g} {plural(often, 'run')} a day"


def _pause(item: Json, now: datetime) -> str:
    if item.get("parts"):
        return "\n".join(_pause(part, now) for part in item["parts"])
    reason = f": {item['reason']}" if item["reason"] else ""
    until = f"; until {both(item['until'], now)}" if item["until"] else ""
    return f"since {both(item['since'], now)} by {item['by']}{reason}{until}"


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
    }
)
OCCURRENCES = Table(
    {
        "NOMINAL TIME": lambda occurrence, _: _second(occurrence["at"]),
        "LOCAL": lambda occurrence, _: f"{occurrence['local'].replace('T', ' ')} {occurrence['tz']}",
        "ACCOUNT": "account",
        "RUN": dashed("action_id"),
        "WHY": lambda occurrence, _: _account(occurrence),
    },
    "no occurrence in this window",
)


def _account(entry: Json) -> str:
    times = counted(entry["count"], "time") if entry["count"] else "many times"
    many = entry["until"] and f"{times}, until {_second(entry['until'])}"
    reason = (
        entry["note"] if entry["note"].startswith(entry["reason"]) else f"{entry['reason']}: {entry['note']}"
    )
    deadline = (
        entry.get("deadline") and f"deadline {_second(entry['deadline_at'])} {_STATES[entry['deadline']]}"
    )
    return "; ".join(filter(None, (many, reason.removesuffix(": "), deadline)))


def _second(written: str) -> str:
    return f"{datetime.fromisoformat(written):%Y-%m-%dT%H:%M:%SZ}"


HISTORY = Table(
    {
        "NOMINAL TIME": when("nominal_at"),
        "STATUS": "status",
        "TRIGGER": "trigger",
        "ATTEMPTS": lambda run, _: len(run["attempts"]),
        "TOOK": lambda run, _: took(run["attempts"][-1]) if run["attempts"] else "-",
        "ID": "id",
        "WHY": lambda run, _: "; ".join(filter(None, (why(run).removeprefix("-"), _given(run)))),
    }
)


def _given(run: Json) -> str:
    """Return the payload of a triggered run, cut short: `duetime actions show` prints all of it."""
    text = payload(run)
    return "" if text == "null" else f"payload {truncate(text, _LONGEST_PAYLOAD)}"


LIST = Table(
    {
        "NAME": "name",
        "CADENCE": lambda job, _: _when(job),
        "NEXT RUN": lambda job, now: local(job["next_due_at"], now),
        "LAST RUN": _latest,
        "STATE": _state,
    }
)


def paused(job: Json, now: datetime) -> str:
    """Return the pause of a job, or of a cadence of it."""
    return f"paused {_named(job)}" + (f" until {local(job['until'], now)}" if job["until"] else "")


def resumed(job: Json, _now: datetime) -> str:
    """Return the end of a pause."""
    return f"resumed {_named(job)}"


def retries_set(job: Json, _now: datetime) -> str:
    """Return the retry policy that was set for a job, or for a cadence of it."""
    tuning = next((one for one in job["tuning"] if one["cadence"] == job["cadence"]), None)
    return f"{_named(job)}: " + (
        f"set: {policy(tuning)}" if tuning else "nothing set; the declared policy applies"
    )


def _named(job: Json) -> str:
    return f"{job['cadence']} of {job['name']}" if job["cadence"] else str(job["name"])


def load(found: Json, now: datetime) -> str:
    """Return in which minutes many jobs begin."""
    which = "all" if found["is_complete"] else "the first by name"
    heading = (
        f"{counted(found['jobs'], 'job')} ({which}) until {both(found['until'], now)};"
        f" capacity {found['capacity']} a minute; minutes with more: {found['minutes_over']}"
    )
    return f"{heading}\n{_CROWDS(found['crowds'], now)}"


def _names(crowd: Json) -> str:
    shown = crowd["jobs"][:_SHOWN]
    others = crowd["begin"] - len(shown)
    return ", ".join(shown) + (f" and {others} more" if others else "")


_CROWDS = Table(
    {
        "FIRST MINUTE": when("at"),
        "JOBS": "begin",
        "OVER": "over",
        "MINUTES": "times",
        "NAMES": lambda crowd, _: _names(crowd),
    },
    "no two jobs begin in the same minute",
)


def previewed(preview: Json, now: datetime) -> str:
    """Return the times of a backfill that has not begun, and those that it would leave out."""
    lines = [both(at, now) for at in preview["items"]]
    lines += [f"{both(one['at'], now)}  left out: {one['status']}" for one in preview["left_out"]]
    times, left_out = counted(preview["total"], "nominal time", ","), len(preview["left_out"])
    return "\n".join([*lines, f"would run {len(preview['items']):,} of {times}, and leave out {left_out:,}"])


def _number(name: str) -> Cell:
    return lambda backfill, _now: f"{backfill[name]:,}"


def _progress(backfill: Json, _now: datetime) -> str:
    return bar(backfill["total"] - backfill["remaining"] - len(backfill["open"]), backfill["total"])


BACKFILLS = Table(
    {
        "ID": "id",
        "STATE": "state",
        "PROGRESS": _progress,
        "EXECUTED": _number("executed"),
        "FAILED": _number("failed"),
        "LEFT OUT": _number("left_out"),
        "REMAINING": _number("remaining"),
        "OPEN": lambda backfill, _: len(backfill["open"]),
        "FROM": when("start"),
        "UNTIL": when("until"),
        "BY": "begun_by",
    },
    "no backfills",
)


DEFINITIONS = Table(
    {
        "ID": "id",
        "SINCE": when("since"),
        "BY": dashed("by"),
        "CHANGES": lambda stored, _: "; ".join(map(_change, stored["changes"])) or "-",
    }
)


def definition(stored: Json, now: datetime) -> str:
    """Return one definition in full, with what it changed."""
    until = f", until {both(stored['until'], now)}" if stored["until"] else ", in force"
    head = f"{stored['id']}  since {both(stored['since'], now)}{until}"
    fields = {name: _value(value) for name, value in stored["definition"].items() if name != "redacted"}
    lines = [facts(head, fields)]
    if stored["changes"]:
        lines += ["", _CHANGES(stored["changes"], now)]
    return "\n".join(lines)


_CHANGES = Table(
    {
        "FIELD": "field",
        "BEFORE": lambda entry, _: _value(entry["before"]),
        "AFTER": lambda entry, _: _value(entry["after"]),
    }
)


def _change(entry: Json) -> str:
    return f"{entry['field']}: {_value(entry['before'])} → {_value(entry['after'])}"


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
    if after := draft["definition"]["after"]:
        yield from ("", f"after: {after_in_words(after, draft['definition']['after_timeout'])}")
    yield ""
    if draft["runs_per_day"] is not None:
        dollars = draft["dollars_per_month"]
        number = f"{draft['runs_per_day']:.3g}"
        often = f"{number} {plural(float(number), 'run')} a day"
        price = f"{dollars:,.2f}" if dollars >= 1 else f"{dollars:.4f}"
        yield f"{often}, about ${price} a month without the handler's own calls"
    for load in draft["load"][:_SHOWN]:
        runs = counted(load["runs"], "run")
        yield f"{both(load['at'], now)}: {runs} of other jobs ({', '.join(load['jobs'])})"
