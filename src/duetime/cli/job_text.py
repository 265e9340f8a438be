"""A job, as the API's JSON tells it, in words for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from duetime.cli.action_text import payload, took, why
from duetime.cli.tables import coloured, plain, table
from duetime.cli.times import both, local, relative, span

Json = Mapping[str, Any]


def listed(jobs: Sequence[Json], now: datetime) -> str:
    """One line a job."""
    rows = [
        [job["name"], words(job), local(job["next_due_at"], now), _latest(job, now), state(job, now)]
        for job in jobs
    ]
    return table(["NAME", "CADENCE", "NEXT RUN", "LAST RUN", "STATE"], rows)


def words(job: Json) -> str:
    """Its cadences in words."""
    return "; ".join(each["words"] for each in job["cadences"])


def _latest(job: Json, now: datetime) -> str:
    """Its last run; of a job that keeps no tally, the latest of its runs that are told beside it."""
    recent = None if job["last_run"] else next(iter(job["recent_runs"] or ()), None)
    if recent is None:
        return _last_run(job, now)
    return f"{recent['status']} {_ago(recent['started_at'] or recent['nominal_at'], now)}"


def _last_run(job: Json, now: datetime) -> str:
    last = job["last_run"]
    return "-" if last is None else f"{last['status']} {_ago(last['started_at'], now)}"


def _ago(written: str, now: datetime) -> str:
    return relative(datetime.fromisoformat(written), now)


def state(job: Json, now: datetime) -> str:
    """Where it stands, in a few words."""
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
    paused = sum(each["paused"] is not None for each in job["cadences"])
    if paused:
        return f"{paused} of {len(job['cadences'])} cadences paused"
    failures = job["consecutive_failures"]
    return f"{failures} failures in a row" if failures > 1 else "enabled"


def in_full(job: Json, now: datetime) -> str:
    """Everything that is known of it."""
    title = f"  {plain(job['title'])}" if job["title"] else ""
    lines = [f"{job['name']}{title}  {coloured(state(job, now))}"]
    lines += [f"  {name:<14}  {plain(value)}" for name, value in _facts(job, now)]
    lines += ["", _cadences(job["cadences"], now)]
    if job["next_runs"]:
        rows = [[local(each["at"], now), ", ".join(each["cadences"])] for each in job["next_runs"]]
        lines += ["", table(["NEXT RUNS", "CADENCES"], rows)]
    return "\n".join(lines)


def _facts(job: Json, now: datetime) -> Iterator[tuple[str, str]]:
    for name in ("description", "category"):
        if job[name]:
            yield name, job[name]
    who = "code" if job["origin"] == "code" else f"{job['registered_by']}, at run time"
    yield "declared by", f"{who}; worker {job['worker']}" if job["origin"] == "code" else who
    yield "tenant", job["tenant_id"]
    yield "version", f"{job['version']}, since {both(job['since'], now)}"
    if job["disabled_at"]:
        yield "disabled", f"{both(job['disabled_at'], now)}: it is no longer declared"
    if job["paused"]:
        yield "paused", pause(job["paused"], now)
    yield "handler", job["type"]
    yield "payload", "-" if payload(job) == "null" else payload(job)
    yield "retry", "as its handler says" if job["retry"] is None else policy(job["retry"])
    for each in job["tuning"]:
        yield "set", f"{each['cadence'] or 'all cadences'}: {policy(each)}"
    yield "overlap", job["overlap"]
    yield "catch-up", f"of the latest {job['catch_up']} missed runs" if job["catch_up"] else "none"
    yield "precision", job["precision"]
    yield from _runs(job, now)


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


def pause(told: Json, now: datetime) -> str:
    """A pause: since when, by whom, why, and until when."""
    reason = f": {told['reason']}" if told["reason"] else ""
    until = f"; until {both(told['until'], now)}" if told["until"] else ""
    return f"since {both(told['since'], now)} by {told['by']}{reason}{until}"


def policy(told: Json) -> str:
    """What is said of retries: a whole policy, or what is set on top of one."""
    said = []
    if told["attempts"] is not None:
        said.append(f"{told['attempts']} attempts")
    if told["backoff"] is not None:
        said.append("back-off " + ", ".join(span(timedelta(seconds=each)) for each in told["backoff"]))
    if told["jitter"] is not None:
        said.append(f"jitter {told['jitter']:g}")
    if told.get("give_up_after") is not None:
        said.append(f"given up after {span(timedelta(seconds=told['give_up_after']))}")
    return "; ".join(said)


def _cadences(cadences: Sequence[Json], now: datetime) -> str:
    rows = [
        [
            cadence["name"],
            cadence["words"],
            cadence["text"],
            pause(cadence["paused"], now) if cadence["paused"] else "-",
        ]
        for cadence in cadences
    ]
    return table(["CADENCE", "IN WORDS", "TEXT", "PAUSED"], rows)


def accounts(occurrences: Sequence[Json]) -> str:
    """One line a nominal time, or a fold of several, and what became of it."""
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


def _account(each: Json) -> str:
    many = f"{each['count'] or 'many'} times, until {_second(each['until'])}" if each["until"] else ""
    said = each["note"] if each["note"].startswith(each["reason"]) else f"{each['reason']}: {each['note']}"
    return "; ".join(filter(None, (many, said.removesuffix(": "))))


def _second(written: str) -> str:
    return f"{datetime.fromisoformat(written):%Y-%m-%dT%H:%M:%SZ}"


def history(runs: Sequence[Json], now: datetime) -> str:
    """One line a run."""
    rows = [
        [
            both(run["nominal_at"], now),
            run["status"],
            run["trigger"],
            str(len(run["attempts"])),
            took(run["attempts"][-1]) if run["attempts"] else "-",
            run["id"],
            why(run).removeprefix("-"),
        ]
        for run in runs
    ]
    return table(["NOMINAL TIME", "STATUS", "TRIGGER", "ATTEMPTS", "TOOK", "ID", "WHY"], rows)
