"""``duetime doctor``: judges a deployment by its health and jobs. Findings name sections of the runbook."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from duetime._english import counted
from duetime.cli.client import Json, client_of
from duetime.cli.failures import BadUsage, did_you_mean
from duetime.cli.output import pasted, print_content, print_either
from duetime.cli.tables import Table, both, local, plain
from duetime.cli.views import tenant
from duetime.clock import SystemClock

_ANSWERS = "A part does not answer"
_LATE = "Many are late"
_SWEEP = "The sweep or the catch-up lags"
_SWITCH = "The switch"
_DEAD = "Dead letters"
_UNDELIVERED = "Something is undelivered"
_FAILURES = "Messages stay in the failure queue"
_TYPES = "A bad deploy of handlers"
_JOB = "A job keeps failing"

SECTIONS = (_ANSWERS, _LATE, _SWEEP, _SWITCH, _DEAD, _UNDELIVERED, _FAILURES, _TYPES, _JOB)
"""The headings in docs/runbook.md that findings name."""

# The number of jobs that a finding names, and of pages of 100 jobs that are read.
_NAMED, _MOST_PAGES = 5, 10


class Finding(NamedTuple):
    """The result of one check: ``ok``; ``look``, if a person should look; or ``ill``."""

    about: str
    state: Literal["ok", "look", "ill"]
    message: str
    remedy: str = ""
    section: str = ""

    def with_connection(self, connection: str) -> Finding:
        """Return the finding; if its remedy is a command, add the options of the connection to it."""
        is_command = self.remedy.startswith("duetime ")
        return self._replace(remedy=f"{self.remedy} {connection}") if connection and is_command else self


def diagnose(health: Json, now: datetime) -> Sequence[Finding]:
    """Return the findings of all checks, the most important first."""
    return [
        *_parts(health),
        _switch(health),
        _sweep(health, now),
        _catch_up(health, now),
        _overdue(health, now),
        *_held(health),
        *_failure_queue(health),
        *_counted(health, "undelivered", "undelivered", "duetime undelivered list", _UNDELIVERED),
        *_counted(
            health, "failed_last_day", "dead letters", "duetime dead-letters list --due-after -1d", _DEAD
        ),
        *_types(health),
    ]


def _parts(health: Json) -> Iterator[Finding]:
    for name, state in health["parts"].items():
        if state == "ok":
            yield Finding(name, "ok", "answers")
        else:
            yield Finding(name, "ill", state, "read the API's log", _ANSWERS)


def _switch(health: Json) -> Finding:
    if health["enabled"]:
        return Finding("switch", "ok", f"on; timers: {health['timers']}; {health['due_shards']} due shards")
    return Finding("switch", "look", "off: nothing fires", "set enabled, and deploy", _SWITCH)


def _sweep(health: Json, now: datetime) -> Finding:
    until, last = health["swept_until"], health["last_sweep"]
    if until is None:
        return Finding(
            "sweep", "look", "has not passed yet", "it is woken each minute: repeat in two", _SWEEP
        )
    message = f"all shards swept {both(until, now)}"
    if "sweep" in health["ill"]:
        why = f"; its last pass {last['status']}: {last['message'] or '-'}" if last else ""
        return Finding("sweep", "ill", message + why, "read the log of duetime-sweep", _SWEEP)
    return Finding("sweep", "ok", message)


def _catch_up(health: Json, now: datetime) -> Finding:
    last = health["last_catch_up"]
    if last is None:
        return Finding("catch-up", "ok", "has not passed yet: it is woken every six hours")
    message = f"{last['status']} {both(last['began_at'], now)}"
    if "catch-up" in health["ill"]:
        return Finding("catch-up", "ill", message, "read the log of duetime-catch-up", _SWEEP)
    if last["status"] == "failed":
        return Finding(
            "catch-up",
            "look",
            f"{message}: {last['message'] or '-'}",
            "duetime jobs trigger duetime-catch-up",
            _SWEEP,
        )
    return Finding("catch-up", "ok", message)


def _overdue(health: Json, now: datetime) -> Finding:
    oldest = health["oldest_overdue"]
    if oldest is None and health["held"] and health["held"]["more"]:
        return Finding("overdue", "look", "not known: all that was read is held", "duetime pauses", _LATE)
    if oldest is None:
        return Finding("overdue", "ok", "nothing")
    message = f"{oldest['type']} {oldest['id']} of {oldest['tenant_id']}, due {both(oldest['due_at'], now)}"
    if "overdue" in health["ill"]:
        return Finding("overdue", "ill", message, "raise worker_concurrency, or see the sweep", _LATE)
    return Finding("overdue", "ok", message)


def _held(health: Json) -> Iterator[Finding]:
    held, late = health["held"], health["held_too_long"]
    if late is not None and late["count"]:
        message = f"{_many(late)} should have begun after a pause, or probed a breaker"
        yield Finding("held", "ill", message, "duetime jobs trigger duetime-catch-up", _LATE)
    elif held is not None and held["count"]:
        message = f"{_many(held)} until the end of a pause or a breaker"
        yield Finding("held", "look", message, "duetime pauses", _LATE)
    elif held is not None:
        yield Finding("held", "ok", "nothing")


def _many(part: Json) -> str:
    return f"{part['count']}{' or more' if part['more'] else ''}"


def _failure_queue(health: Json) -> Iterator[Finding]:
    waiting = health["failure_queue"]
    if waiting:
        expected = "gone within a minute, or the function `undelivered` fails"
        yield Finding("failure queue", "look", f"{waiting} waiting", expected, _FAILURES)


def _counted(health: Json, name: str, about: str, command: str, section: str) -> Iterator[Finding]:
    part = health[name]
    if part is None:
        return
    when = " in the last day" if name == "failed_last_day" else ""
    if part["count"]:
        yield Finding(about, "look", _many(part) + when, command, section)
    else:
        yield Finding(about, "ok", f"nothing{when}")


def _types(health: Json) -> Iterator[Finding]:
    types = health["types"]
    if types:
        yield Finding("handlers", "ok", f"workers run {counted(len(types), 'type')}")
    elif types is not None:
        yield Finding("handlers", "ill", "no worker has published a type", "deploy an app", _TYPES)


def diagnose_jobs(jobs: Sequence[Json], now: datetime) -> Sequence[Finding]:
    """Return the findings of jobs: those that keep failing, and those that are paused."""
    failing = {
        job["name"]: f"{job['name']} ({job['consecutive_failures']} in a row)"
        for job in jobs
        if job["consecutive_failures"] > 1 and not job["paused"]
    }
    paused = {
        job["name"]: f"{job['name']} (until {local(job['paused']['until'], now)})"
        if job["paused"]["until"]
        else job["name"]
        for job in jobs
        if job["paused"]
    }
    found = [
        Finding("jobs", "look", f"{what}: {_named([*named.values()])}", f"{command} {min(named)}", _JOB)
        for what, named, command in (
            ("failing", failing, "duetime jobs show"),
            ("paused", paused, "duetime jobs resume"),
        )
        if named
    ]
    return found or [Finding("jobs", "ok", "none fails again and again, none is paused")]


def _named(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f", and {more} more" if more > 0 else "")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; return 1 if a part is ill."""
    client = client_of(arguments)
    me = client.call("getCaller").body
    health = client.call("getHealthDetails").body
    now = SystemClock().now()
    found = [*diagnose(health, now)]
    if "jobs:read" in me["permissions"]:
        pages = islice(client.pages("listJobs", {"limit": 100}), _MOST_PAGES)
        found += diagnose_jobs([job for page in pages for job in page["items"]], now)
    found = [finding.with_connection(pasted(arguments)) for finding in found]
    findings = [one._asdict() for one in found]
    content = {
        "url": client.url,
        "me": me,
        "health": health,
        "findings": findings,
        "status": "ill" if is_ill(found) else "ok",
    }
    of = f" of {plain(name)}" if (name := tenant(me)) else ""
    # Sections of the runbook: addresses if its URL is set, else commands.
    runbook = health.get("runbook")
    before = f"{plain(runbook)}#" if runbook else "duetime deployment runbook "
    sections = dict.fromkeys(f"  {before}{anchor(one.section)}" for one in found if one.section)
    lines = [f"{client.url}, as {plain(me['actor'])}{of}\n", FINDINGS(findings, now)]
    lines += ["", "see the runbook:", *sections] if sections else []
    return print_either(arguments, content, lambda: "\n".join(lines)) or int(is_ill(found))


def is_ill(found: Sequence[Finding]) -> bool:
    """Return whether something does not work, or a deploy would fail."""
    return any(finding.state == "ill" for finding in found)


FINDINGS = Table({"CHECK": "about", "STATE": "state", "FINDING": "message", "REMEDY": "{remedy:-}"})

_HEADING = re.compile(r"^(#{2,3} .+)$", re.MULTILINE)


def print_runbook(arguments: argparse.Namespace) -> int:
    """Print a section, or the list of sections."""
    installed = Path(__file__).with_name("runbook.md")
    checkout = Path(__file__).parents[3] / "docs" / "runbook.md"
    file = installed if installed.is_file() else checkout
    sections = sections_of(file.read_text(encoding="utf-8"))
    if arguments.section is None:
        listed = "\n".join(f"duetime deployment runbook {name}" for name in sections)
        return print_content(arguments, {"sections": [*sections]}, lambda *_: listed)
    name = anchor(arguments.section)
    if name not in sections:
        raise BadUsage(
            f"the runbook has no section {arguments.section!r}{did_you_mean(name, sections) or ';'}"
            " `duetime deployment runbook` lists all"
        )
    return print_content(arguments, {"section": name, "text": sections[name]}, lambda *_: sections[name])


def sections_of(text: str) -> Mapping[str, str]:
    """Return the sections of a page by their anchors, in their order. A section contains its subsections."""
    _, *parts = _HEADING.split(text)
    sections: dict[str, str] = {}
    chapter = ""
    for heading, content in zip(parts[::2], parts[1::2], strict=True):
        section = f"{heading}{content.rstrip()}"
        name = anchor(heading.lstrip("# "))
        sections[name] = section
        if heading.startswith("## "):
            chapter = name
        elif chapter:
            sections[chapter] += f"\n\n{section}"
    return sections


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as in links."""
    return re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
