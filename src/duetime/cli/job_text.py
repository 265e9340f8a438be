"""Formats jobs from the API's JSON as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from duetime._english import counted, plural
from duetime.cli.action_text import payload, tenant, took, why
from duetime.cli.client import Json
from duetime.cli.tables import coloured, facts, plain, table
from duetime.cli.times import both, local, relative, span
from duetime.errors import truncate

_LONGEST_PAYLOAD = 120
"""Characters of a payload in a list."""

_STATES = {"open": "open", "at_risk": "at risk", "met": "met", "missed": "missed"}


def listed(jobs: Sequence[Json], now: datetime) -> str:
    """Return a table with one row a job."""
    rows = [
        [job["name"], _when(job), local(job["next_due_at"], now), _latest(job, now), _state(job, now)]
        for job in jobs
    ]
    return table(["NAME", "CADENCE", "NEXT RUN", "LAST RUN", "STATE"], rows)


def words(job: Json) -> str:
    """Return its cadences in words."""
    return "; ".join(entry["words"] for entry in job["cadences"])


def _when(job: Json) -> str:
    """Return its cadences in words, and the job that it runs after."""
    return f"{words(job)}, after {job['after']}" if job["after"] else words(job)


def after_in_words(after: str, timeout: int | None) -> str:
    """Return for which job's run another one waits, and how long: by default 12 hours."""
    from duetime.model.job import USUAL_WAIT  # noqa: PLC0415 - few jobs wait

    limit = span(timedelta(seconds=USUAL_WAIT if timeout is None else timeout))
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
    lines = [facts(head, _facts(job, now)), "", _cadences(job["cadences"], now)]
    if job["next_runs"]:
        has_deadline = any(entry.get("deadline_at") for entry in job["next_runs"])
        rows = [
            [
                local(entry["at"], now),
                ", ".join(entry["cadences"]),
                *([local(entry["deadline_at"], now)] if has_deadline else []),
            ]
            for entry in job["next_runs"]
        ]
        lines += ["", table(["NEXT RUNS", "CADENCES", *(["DEADLINE"] if has_deadline else [])], rows)]
    return "\n".join(lines)


def _facts(job: Json, now: datetime) -> Iterator[tuple[str, str]]:
    for name in ("description", "category"):
        if job[name]:
            yield name, job[name]
    who = "code" if job["origin"] == "code" else f"{job['registered_by']}, at run time"
    yield "declared by", f"{who}; worker {job['worker']}" if job["origin"] == "code" else who
    yield from tenant(job)
    yield "version", f"{job['version']}, since {both(job['since'], now)}"
    if job["disabled_at"]:
        yield "disabled", f"{both(job['disabled_at'], now)}: it is no longer declared"
    if job["paused"]:
        yield "paused", _pause(job["paused"], now)
    yield "handler", job["type"]
    yield "payload", "-" if payload(job) == "null" else payload(job)
    yield "retry", "as its handler declares" if job["retry"] is None else policy(job["retry"])
    for entry in job["tuning"]:
        yield "set", f"{entry['cadence'] or 'all cadences'}: {policy(entry)}"
    yield "overlap", job["overlap"]
    yield "catch-up", f"of the latest {counted(job['catch_up'], 'missed run')}" if job["catch_up"] else "none"
    yield "precision", job["precision"]
    if job.get("deadline") or job.get("within"):
        late = (
            f"within {span(timedelta(seconds=job['within']))}" if job["within"] else f"by {job['deadline']}"
        )
        yield "deadline", f"a nominal time must succeed {late}"
    if job.get("every_success_within"):
        yield "silence", f"a run must succeed every {span(timedelta(seconds=job['every_success_within']))}"
    if job.get("after"):
        yield "after", after_in_words(job["after"], job["after_timeout"])
    if job.get("dollars_per_month") is not None:
        yield "price", _price(job["dollars_per_month"], job["runs_per_day"])
    yield from _runs(job, now)


def _price(dollars: float, runs: float) -> str:
    cents = f"{dollars:,.2f}" if dollars >= 1 else f"{dollars:.2g}"
    often = float(f"{runs:.3g}")  # to three digits
    return f"{cents} dollars a month, by {often:,g} {plural(often, 'run')} a day"


def _runs(job: Json, now: datetime) -> Iterator[tuple[str, str]]:
    for name in ("running", "waiting"):
        if job[name]:
            yield name, job[name]
    if job["last_run"]:
        yield "last run", f"{job['last_run']['id']}, {_last_run(job, now)}"
    tally = job["tally"]
    in_a_row = tally["consecutive_failures"]
    since = f", {in_a_row} in a row" if in_a_row else ""
    yield "runs", f"{tally['executed']} executed, {tally['failed']} failed{since}"
    if tally["last_error"]:
        yield "last error", tally["last_error"]


def _pause(item: Json, now: datetime) -> str:
    if item.get("parts"):
        return "\n".join(_pause(part, now) for part in item["parts"])
    reason = f": {item['reason']}" if item["reason"] else ""
    until = f"; until {both(item['until'], now)}" if item["until"] else ""
    return f"since {both(item['since'], now)} by {item['by']}{reason}{until}"


def policy(item: Json) -> str:
    """Return a retry policy, or the settings that override one, in words."""
    parts = []
    if item["attempts"] is not None:
        parts.append(counted(item["attempts"], "attempt"))
    if item["backoff"] is not None:
        parts.append("back-off " + ", ".join(span(timedelta(seconds=wait)) for wait in item["backoff"]))
    if item["jitter"] is not None:
        parts.append(f"jitter {item['jitter']:g}")
    if item.get("give_up_after") is not None:
        parts.append(f"given up after {span(timedelta(seconds=item['give_up_after']))}")
    return "; ".join(parts)


def _cadences(cadences: Sequence[Json], now: datetime) -> str:
    rows = [
        [
            cadence["name"],
            cadence["words"],
            cadence["text"],
            _pause(cadence["paused"], now) if cadence["paused"] else "-",
        ]
        for cadence in cadences
    ]
    return table(["CADENCE", "IN WORDS", "TEXT", "PAUSED"], rows)


def accounts(occurrences: Sequence[Json]) -> str:
    """Return a table with one row an occurrence, or a group of occurrences, with its status."""
    rows = [
        [
            _second(occurrence["at"]),
            f"{occurrence['local'].replace('T', ' ')} {occurrence['tz']}",
            occurrence["account"],
            occurrence["action_id"] or "-",
            _account(occurrence),
        ]
        for occurrence in occurrences
    ]
    return table(["NOMINAL TIME", "LOCAL", "ACCOUNT", "RUN", "WHY"], rows)


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


def history(runs: Sequence[Json], now: datetime) -> str:
    """Return a table with one row a run."""
    rows = [
        [
            both(run["nominal_at"], now),
            run["status"],
            run["trigger"],
            str(len(run["attempts"])),
            took(run["attempts"][-1]) if run["attempts"] else "-",
            run["id"],
            "; ".join(filter(None, (why(run).removeprefix("-"), _given(run)))),
        ]
        for run in runs
    ]
    return table(["NOMINAL TIME", "STATUS", "TRIGGER", "ATTEMPTS", "TOOK", "ID", "WHY"], rows)


def _given(run: Json) -> str:
    """Return the payload of a triggered run, cut short: `duetime actions show` prints all of it."""
    text = payload(run)
    return "" if text == "null" else f"payload {truncate(text, _LONGEST_PAYLOAD)}"
