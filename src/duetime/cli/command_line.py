"""The words of a command line: ``help``, ``--json`` anywhere, and what may be left out."""

from __future__ import annotations

from collections.abc import Sequence

JSON = "--json"

_HELP = "help"
OF_ACTIONS = ("why", "pause", "resume", "pauses", "limits")
"""Commands of the group ``actions`` that need no group before them."""
_LIMITS = ["actions", "limits"]
"""A group that lists if no command follows."""


def expand(words: Sequence[str]) -> list[str]:
    """Return the words as the parser reads them."""
    found = json_at_end(words)
    if found[:1] == [_HELP]:
        found = [*found[1:], "--help"]
    if found[:1] and found[0] in OF_ACTIONS:
        found = ["actions", *found]
    if found[:2] == _LIMITS and _begins_with_option(found[2:]):
        found = [*_LIMITS, "list", *found[2:]]
    return found


def _begins_with_option(words: Sequence[str]) -> bool:
    return not words or (words[0].startswith("-") and words[0] not in {"-h", "--help"})


def json_at_end(words: Sequence[str]) -> list[str]:
    """Return the words with ``--json`` after the others, where the command itself reads it."""
    end = words.index("--") if "--" in words else len(words)
    before = [word for word in words[:end] if word != JSON]
    return [*before, *[JSON] * (len(before) < end), *words[end:]]
