"""The traceback of a failure as text: without secrets, with short messages and without control characters."""

from __future__ import annotations

import logging
import textwrap
import traceback
from collections.abc import Iterator

from duetime._masking import masked, printable, without_tokens
from duetime.errors import truncate
from duetime.model.outcome import leaves_of, named

_DEEPEST = 10
"""The most exceptions of a chain that are logged, outermost first."""
_LED_TO = "\n\nThe above exception was the direct cause of the following exception:\n"
_WHILE = "\n\nDuring handling of the above exception, another exception occurred:\n"


def traceback_of(error: BaseException | None) -> str:
    """Return the tracebacks of an exception and its causes; its source lines are masked too."""
    return printable(masked("\n".join(reversed(list(_tracebacks(error, set()))))))


def mask_traceback(record: logging.LogRecord) -> bool:
    """Set the traceback of a record, so that no formatter of the process writes the exception itself."""
    if record.exc_info and record.exc_info[1] is not None:
        record.exc_text = traceback_of(record.exc_info[1])
    return True


def mask_tokens(record: logging.LogRecord) -> bool:
    """Mask the tokens of hand-overs in the line of a handler, which else is the handler's own."""
    try:
        message = record.getMessage()
    except Exception:  # noqa: BLE001 - a wrong placeholder, which logging reports where it writes
        return True
    if (shown := without_tokens(message)) != message:
        record.msg, record.args = shown, None
    for name, value in list(vars(record).items()):
        if isinstance(value, str):
            setattr(record, name, without_tokens(value))
    return mask_traceback(record)


def _tracebacks(link: BaseException | None, seen: set[int]) -> Iterator[str]:
    """Yield the tracebacks of an exception and of what led to it, each once: a part may lead to its group."""
    joined = ""
    for _ in range(_DEEPEST):
        if link is None or id(link) in seen:
            return
        seen.add(id(link))
        stack = "".join(traceback.format_tb(link.__traceback__))
        notes = getattr(link, "__notes__", None)
        lines = [truncate(named(link)), *map(truncate, notes if isinstance(notes, list) else ())]
        parts = leaves_of(link) if isinstance(link, BaseExceptionGroup) else ()
        for number, part in enumerate(parts[:_DEEPEST], 1):
            within = "\n".join(reversed(list(_tracebacks(part, seen))))
            lines += [f"\nPart {number} of {len(parts)}:", textwrap.indent(within, "  ")]
        yield f"Traceback (most recent call last):\n{stack}" + "\n".join(lines) + joined
        cause = link.__cause__
        joined = _LED_TO if cause is not None else _WHILE
        link = cause if cause is not None or link.__suppress_context__ else link.__context__
