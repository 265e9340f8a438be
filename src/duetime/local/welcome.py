"""The welcome text of `duetime local`."""

from __future__ import annotations

from collections.abc import Sequence

from duetime.app import App
from duetime.local.gateway import ARN, GROUPS, TENANT, USER
from duetime.local.job_lines import UpcomingRun, job_lines
from duetime.local.suggestions import commands, elsewhere
from duetime.settings import Settings


def welcome(
    app: App,
    settings: Settings,
    url: str,
    program: str = "duetime",
    *,
    jobs: Sequence[UpcomingRun] = (),
    has_console: bool = False,
) -> str:
    """Return the URL, the handlers and jobs, where to look, and a few commands to try."""
    handlers = [name for name, handler in app.handlers.items() if handler.job is None]
    parts = _counted(len(handlers), "handler"), _counted(len(app.jobs), "job")
    listed = f": {', '.join(handlers)}" if handlers else ""
    lines = [
        f"duetime runs {' and '.join(filter(None, parts))} at {url}{listed}",
        *(f"    {job_line}" for job_line in job_lines(jobs)),
        "",
        *_look(url, has_console=has_console),
        "  In another terminal, try:",
        *(f"    {command}" for command in commands(app, url, program)),
        "",
        f"  The API takes you for one of acme's admins; the headers {USER}, {TENANT}, {GROUPS}",
        f"  or {ARN} choose another caller.",
        *_outbox(settings, url, program),
        "",
        "  Ctrl-C stops it. Everything is in memory, and gone then.",
    ]
    if not settings.enabled:
        lines.insert(1, "  The global switch is off: nothing fires.")
    return "\n".join(lines)


def _look(url: str, *, has_console: bool) -> Sequence[str]:
    if has_console:
        return (f"  In a browser, {url}/ is the console: what ran, what will run, and what went wrong.", "")
    return (
        f"  In a browser, {url}/ shows what to try; the console is not built (`make console` builds it).",
        "",
    )


def _outbox(settings: Settings, url: str, program: str) -> Sequence[str]:
    if settings.events == "off":
        return ()
    command = f"{program} outbox mails{elsewhere(url)}"
    return ("", f"  Mails never leave this machine: see {url}/outbox, or `{command}`.")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}" if count else ""
