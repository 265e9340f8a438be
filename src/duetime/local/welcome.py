"""What `duetime local` says when it is ready, and when it stops."""

from __future__ import annotations

from duetime.app import App
from duetime.local.suggestions import commands
from duetime.settings import Settings


def welcome(app: App, settings: Settings, url: str, program: str = "duetime") -> str:
    """Where it listens, what it runs, and three commands to try."""
    count = len(app.handlers)
    lines = [
        f"duetime runs {count} handler{'s' if count > 1 else ''} at {url}: {', '.join(app.handlers)}",
        "",
        "  In another terminal, try:",
        *(f"    {each}" for each in commands(app, url, program)),
        "",
        "  Ctrl-C stops it. Everything is in memory, and gone then.",
    ]
    if not settings.enabled:
        lines.insert(1, "  The global switch is off: nothing fires.")
    return "\n".join(lines)
