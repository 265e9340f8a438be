"""The words of a command line: ``help``, short names, ``--json`` anywhere, and other names of commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence

JSON = "--json"

_HELP = "help"
OF_ACTIONS = ("why", "pause", "resume", "pauses", "limits")
"""Commands of the group ``actions`` that need no group before them."""
_LIMITS = ["actions", "limits"]
"""A group that lists if no command follows."""
_MOVED = {
    "app": ("check", "simulate", "cost"),
    "deployment": ("preflight", "rehearse", "verify", "restore", "runbook"),
    "access": ("audit", "grants", "whoami"),
}
_RUNS = ["audit", "runs"]
"""Not a trail of changes, so it needs no group before it."""
GROUP_OF = {name: group for group, names in _MOVED.items() for name in names}
"""The commands that were at the top level, with their present group."""


def expand(words: Sequence[str]) -> list[str]:
    """Return the words as the parser reads them; print a note to standard error for an old name."""
    found = json_at_end(words)
    if found[:1] == [_HELP]:
        found = [*found[1:], "--help"]
    if found[:1] and found[0] in OF_ACTIONS:
        found = ["actions", *found]
    if found[:2] == _LIMITS and _begins_with_option(found[2:]):
        found = [*_LIMITS, "list", *found[2:]]
    if found[:2] == _RUNS:
        found = ["access", *found]
    if found and (group := GROUP_OF.get(found[0])):
        new = f"duetime {group} {found[0]}"
        print(
            f"duetime: note: `duetime {found[0]}` is now `{new}`; the old name still works", file=sys.stderr
        )
        found = [group, *found]
    return found


def _begins_with_option(words: Sequence[str]) -> bool:
    return not words or (words[0].startswith("-") and words[0] not in {"-h", "--help"})


def json_at_end(words: Sequence[str]) -> list[str]:
    """Return the words with ``--json`` after the others, where the command itself reads it."""
    end = words.index("--") if "--" in words else len(words)
    before = [word for word in words[:end] if word != JSON]
    return [*before, *[JSON] * (len(before) < end), *words[end:]]
