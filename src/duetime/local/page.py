"""Renders the start page: handlers, jobs and commands to try. It loads nothing from other addresses."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from html import escape

from duetime.api import PREFIX
from duetime.app import App
from duetime.declare.handler import Handler
from duetime.local.welcome import UpcomingRun, commands
from duetime.settings import Settings

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
<p>{state} Everything here is in memory and is gone when it stops.</p>
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
<p>With these in its environment, boto3 and <code>Scheduler.from_env</code> talk to this cloud:</p>
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
    f"{PREFIX}/scheduling/query": "the actions of the tenant acme",
    f"{PREFIX}/dead-letters": "what has failed",
    f"{PREFIX}/background-jobs": "the jobs",
    f"{PREFIX}/health": "whether all parts answer",
    "/outbox": "the events, mails and messages that were sent",
}


def page(
    app: App, settings: Settings, url: str, environment: dict[str, str], jobs: Sequence[UpcomingRun] = ()
) -> str:
    """Return the page's HTML."""
    state = "The global switch is on." if settings.enabled else "The global switch is off: nothing fires."
    return _PAGE.format(
        state=escape(state),
        handlers="\n".join(_row(name, handler) for name, handler in app.handlers.items()),
        jobs=_JOBS.format(rows="\n".join(_job_row(job) for job in jobs)) if jobs else "",
        commands=escape("\n".join(commands(app, url))),
        links="\n".join(f'<li><a href="{path}">{path}</a>: {what}</li>' for path, what in _LINKS.items()),
        environment=escape("\n".join(_export(*item) for item in environment.items())),
    )


def _row(type_name: str, handler: Handler) -> str:
    summary = (handler.function.__doc__ or "").strip().partition("\n")[0]
    return _cells(
        f"<code>{escape(type_name)}</code>", f"<code>{escape(handler.where)}</code>", escape(summary)
    )


def _job_row(job: UpcomingRun) -> str:
    return _cells(f"<code>{escape(job.name)}</code>", escape(job.cadences), escape(job.next_run))


def _cells(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _export(name: str, value: str) -> str:
    return f"export {name}={shlex.quote(value)}"
