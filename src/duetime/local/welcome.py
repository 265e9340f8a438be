"""The welcome text and the start page of `duetime local`: the app's handlers and jobs, and commands to try.

The page loads nothing from other addresses.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from itertools import islice
from pathlib import Path

from duetime._english import counted
from duetime.api import PREFIX
from duetime.app import App
from duetime.cadence import parse
from duetime.declare.example_payload import example_of
from duetime.declare.handler import Handler
from duetime.local.gateway import ARN, GROUPS, TENANT, USER
from duetime.local.wsgi_app import EXPORTS
from duetime.model.job import Job
from duetime.settings import Settings
from duetime.sqlite.rows import Found

DEFAULT_PORT = 8080
"""The port that the command line uses by default."""

_LONGEST_LIST = 20


@dataclass(frozen=True, slots=True)
class UpcomingRun:
    """A job, its cadences in words, and its next nominal time in words, empty where no time makes it due."""

    name: str
    cadences: str
    next_run: str


@dataclass(frozen=True, slots=True)
class SavedData:
    """The folder of a cloud's tables, and what an earlier process left in it."""

    folder: Path
    found: Found
    found_at: datetime

    @property
    def text(self) -> str:
        """What the folder holds, on one line."""
        found, parts = self.found, list[str]()
        if found.next_due_at is not None:
            due = _time(found.next_due_at, self.found_at)
            is_late = found.next_due_at <= self.found_at
            first = f"the first was due {due}" if is_late else f"the next due {due}"
            parts.append(f"{counted(found.pending, 'pending action')}, {first}")
        if found.planned:
            parts.append(counted(found.planned, "planned run"))
        if found.cut_short:
            parts.append(f"{found.cut_short} cut short, to run again once their leases end")
        return f"{self.folder} has {'; '.join(parts) or 'no action that waits'}."


def welcome(
    app: App,
    settings: Settings,
    url: str,
    program: str = "duetime",
    *,
    jobs: Sequence[UpcomingRun] = (),
    has_console: bool = False,
    data: SavedData | None = None,
) -> str:
    """Return the URL, the handlers and jobs, where to look, and a few commands to try."""
    handlers = [name for name, handler in app.handlers.items() if handler.job is None]
    parts = (
        counted(len(handlers), "handler") if handlers else "",
        counted(len(app.jobs), "job") if app.jobs else "",
    )
    listed = f": {', '.join(handlers)}" if handlers else ""
    lines = [
        f"duetime runs {' and '.join(filter(None, parts))} at {url}{listed}",
        *(f"    {job_line}" for job_line in job_lines(jobs)),
        *([] if data is None else [f"  {data.text}"]),
        "",
        *_look(url, has_console=has_console),
        "  In another terminal, try:",
        *(f"    {command}" for command in commands(app, url, program)),
        "",
        f"  For Scheduler.from_env in a program of yours{_without_option(url)}, first run:",
        f"    {use_from_python(url)}",
        "",
        *_callers(settings),
        *_outbox(settings, url, program),
        "",
        "  Ctrl-C stops it and discards all data." if data is None else "  Ctrl-C stops it; its tables stay.",
    ]
    if not settings.enabled:
        lines.insert(1, "  The global switch is off: nothing fires.")
    return "\n".join(lines)


def _callers(settings: Settings) -> Sequence[str]:
    if settings.only_tenant:
        return ("  The API treats you as an admin.",)
    return (
        f"  The API treats you as an admin of acme; the headers {USER}, {TENANT}, {GROUPS}",
        f"  or {ARN} choose another caller.",
    )


def _look(url: str, *, has_console: bool) -> Sequence[str]:
    if has_console:
        return (f"  In a browser, {url}/ is the console: what ran, what will run, and what went wrong.", "")
    return (
        f"  In a browser, {url}/ shows what to try; the console is not built (`make setup` builds it).",
        "",
    )


def _outbox(settings: Settings, url: str, program: str) -> Sequence[str]:
    if settings.events == "off":
        return ()
    command = f"{program} outbox mails{_url_option(url)}"
    return ("", f"  Mails never leave this machine: see {url}/outbox, or `{command}`.")


def upcoming_runs(jobs: Iterable[Job], now: datetime) -> Sequence[UpcomingRun]:
    """Return the next run of each job after `now`."""
    return [
        UpcomingRun(job.name, " and ".join(_words(job)), _next_run(job, now))
        for job in sorted(jobs, key=lambda job: job.name)
    ]


def job_lines(jobs: Sequence[UpcomingRun]) -> Sequence[str]:
    """Return a line for each of the first 20 jobs."""
    width = max((len(job.name) for job in jobs), default=0)
    lines = [_line(job, width) for job in islice(jobs, _LONGEST_LIST)]
    return [*lines, f"and {len(jobs) - _LONGEST_LIST} more"] if len(jobs) > _LONGEST_LIST else lines


def _line(job: UpcomingRun, width: int) -> str:
    return f"{job.name:{width}}  {'; '.join(filter(None, (job.cadences, job.next_run)))}"


def _words(job: Job) -> Sequence[str]:
    return [parse(cadence).describe() for cadence in job.definition.cadences]


def _next_run(job: Job, now: datetime) -> str:
    if job.is_paused:
        return "paused"
    at = job.cadence_set.next_after(now)
    if at is None:
        return ""
    return f"next {_time(at, now)}"


def _time(at: datetime, now: datetime) -> str:
    here, today = at.astimezone(), now.astimezone().date()
    return f"{here:%H:%M:%S %Z}" if here.date() == today else f"{here:%Y-%m-%d %H:%M:%S %Z}"


def commands(app: App, url: str, program: str = "duetime") -> tuple[str, ...]:
    """Return commands that schedule, list, trigger a job, and call the API.

    Args:
        app: the app.
        url: the local cloud's URL.
        program: the command that starts the command line.
    """
    return (
        *(
            f"{program} {for_type_}{_url_option(url)}"
            for for_type_ in (*_for_types(app), "actions list", *_for_jobs(app))
        ),
        f"curl {url}/api/v1/actions/query",
    )


def _url_option(url: str) -> str:
    return "" if url.endswith(f":{DEFAULT_PORT}") else f" --url {url}"


def _without_option(url: str) -> str:
    return ", or commands without --url" if _url_option(url) else ""


def _for_jobs(app: App) -> tuple[str, ...]:
    ready = [name for name, handler in app.handlers.items() if handler.job and not _is_bare(handler)]
    return ("jobs list", *(f"jobs trigger {name}" for name in ready[:1])) if app.jobs else ()


def _is_bare(handler: Handler) -> bool:
    return handler.payload is not None and (handler.job is None or handler.job.payload is None)


def _for_types(app: App) -> tuple[str, ...]:
    """Return a command that schedules a type with an example payload; else one with a payload to fill in."""
    types = {
        name: handler.payload
        for name, handler in app.handlers.items()
        if handler.payload and handler.job is None
    }
    for name, payload in types.items():
        if example := example_of(payload):
            return (f"schedule {name} --payload {shlex.quote(example)} --in 3s",)
    return tuple(f"schedule {type_} --payload {shlex.quote('{…}')} --in 3s" for type_ in list(types)[:1])


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>duetime, the local cloud</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
  pre, code {{ font-family: ui-monospace, monospace; font-size: .9em; }}
  pre {{ background: #8881; padding: .75rem 1rem; overflow-x: auto; border-radius: .3rem; }}
  th, td {{ text-align: left; padding: .25rem 1.5rem .25rem 0; vertical-align: top; }}
  :root {{ color-scheme: light dark; }}
</style>
</head>
<body>
<h1>duetime, the local cloud</h1>
<p>{state} {place}</p>
<h2>Handlers</h2>
<table>
<thead><tr><th scope="col">Type</th><th scope="col">Runs</th><th scope="col">What it does</th></tr></thead>
<tbody>
{handlers}
</tbody>
</table>
{jobs}<h2>Try</h2>
<pre>{commands}</pre>
<h2>Look</h2>
<ul>
{links}
</ul>
<h2>Use it from another program</h2>
<p>With these in its environment, <code>Scheduler.from_env</code> and the command line use this
cloud; <code>{use}</code> sets them:</p>
<pre>{environment}</pre>
</body>
</html>
"""

_JOBS = """<h2>Jobs</h2>
<table>
<thead><tr><th scope="col">Job</th><th scope="col">When</th><th scope="col">Next</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
"""

_LINKS = {
    f"{PREFIX}/actions/query": "the actions",
    f"{PREFIX}/dead-letters": "what has failed",
    f"{PREFIX}/jobs": "the jobs",
    f"{PREFIX}/health": "whether all parts answer",
    "/outbox": "the events, mails and messages that were sent",
}


def page(
    app: App,
    settings: Settings,
    url: str,
    environment: dict[str, str],
    jobs: Sequence[UpcomingRun] = (),
    *,
    folder: Path | None = None,
) -> str:
    """Return the page's HTML."""
    place = "Everything here is gone when it stops."
    if folder is not None:
        place = f"Actions and jobs are in {folder} and stay there; what was sent is gone when it stops."
    state = "The global switch is on." if settings.enabled else "The global switch is off: nothing fires."
    rows = "\n".join(
        _cells(f"<code>{escape(job.name)}</code>", escape(job.cadences), escape(job.next_run)) for job in jobs
    )
    return _PAGE.format(
        state=escape(state),
        place=escape(place),
        handlers="\n".join(_row(name, handler) for name, handler in app.handlers.items()),
        jobs=_JOBS.format(rows=rows) if jobs else "",
        commands=escape("\n".join(commands(app, url))),
        links="\n".join(f'<li><a href="{path}">{path}</a>: {what}</li>' for path, what in _LINKS.items()),
        use=escape(use_from_python(url)),
        environment=escape(exports(environment)),
    )


def exports(environment: Mapping[str, str]) -> str:
    """Return the lines that set the environment in a shell."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment.items())


def use_from_python(url: str) -> str:
    """Return the command that sets the environment of the local cloud at `url` in a shell."""
    return f'eval "$(curl -s {url}{EXPORTS})"'


def _row(type_name: str, handler: Handler) -> str:
    summary = (handler.function.__doc__ or "").strip().partition("\n")[0]
    return _cells(
        f"<code>{escape(type_name)}</code>", f"<code>{escape(handler.where)}</code>", escape(summary)
    )


def _cells(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
