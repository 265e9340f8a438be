"""Formats logs for the terminal: a line for each run, the handlers' logs, and warnings.

::

    12:00:03.012  executed        send-receipt       …9c1f2e7a  acme   9 ms late, ran 2 ms
    12:00:09.004  retried         send-receipt       …9c1f2e7b  acme   4 ms late, ran 1 ms: ConnectionError: …
    12:00:10.003  executed        billing-heartbeat  …T120010Z  system 3 ms late, ran 1 ms
    12:00:24.104  mail            to o…@example.com: send-receipt failed
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TextIO

from duetime._masking import printable
from duetime.cadence.words import duration_text
from duetime.local.environment import wants_colour
from duetime.telemetry.tracebacks import traceback_of

_COLOURS = {"executed": 32, "failed": 31, "cancelled": 33, "skipped": 33, "retried": 33, "put off": 33}
_BY_LEVEL = {logging.WARNING: 33, logging.ERROR: 31, logging.CRITICAL: 31}
_FAINT = 2
_SECOND = 1_000
_HOUR = 3_600
_NOISY = ("boto3", "botocore", "moto", "responses", "urllib3", "werkzeug", "asyncio")
_NEWS, _OUTBOX = "duetime.local.news", "duetime.local.outbox"
_SHOWN_LOGGERS = {"duetime.handlers", _NEWS, _OUTBOX}
_STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


@contextmanager
def run_lines(stream: TextIO, *, verbose: bool, shows_tenants: bool = True) -> Iterator[None]:
    """Write all logs of this process to `stream` in this form within the block."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(RunLines(in_colour=wants_colour(stream), shows_tenants=shows_tenants))
    if not verbose:
        handler.addFilter(_is_worth_a_line)
    levels = {"": logging.INFO, "duetime": logging.DEBUG if verbose else logging.INFO}
    levels |= dict.fromkeys(_NOISY, logging.WARNING)
    before = {name: logging.getLogger(name).level for name in levels}
    _set(levels)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        _set(before)


def _set(levels: Mapping[str, int]) -> None:
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Return whether a record is a run, a warning, or from the user's handlers or libraries."""
    if record.levelno >= logging.WARNING or hasattr(record, "late_ms"):
        return True
    return record.name in _SHOWN_LOGGERS or record.name.partition(".")[0] != "duetime"


class RunLines(logging.Formatter):
    """Formats a record as one line, with the stack of an error below."""

    def __init__(self, *, in_colour: bool, shows_tenants: bool = True) -> None:
        super().__init__()
        self._in_colour, self._shows_tenants = in_colour, shows_tenants

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        at = datetime.fromtimestamp(record.created).astimezone()
        line = f"{at:%H:%M:%S}.{at.microsecond // 1000:03}  "
        line += self._run(record) if hasattr(record, "late_ms") else self._other(record)
        if record.exc_info and record.levelno >= logging.WARNING:
            line += "\n" + traceback_of(record.exc_info[1])
        return line

    def _run(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = vars(record)
        status = record.getMessage()
        tenant = f"  {_one_line(fields['tenant']):10}" if self._shows_tenants else ""
        line = (
            f"{self._painted(f'{status:14}', _COLOURS.get(status))}  {_one_line(fields['type']):20}"
            f"  …{fields['action'][-8:]}"
            f"{tenant}  {_span(fields['late_ms'])} late, ran {_span(fields['ran_ms'])}"
        )
        return f"{line}: {_one_line(fields['reason'])}" if fields.get("reason") else line

    def _other(self, record: logging.LogRecord) -> str:
        if record.name == "duetime.handlers":
            text = f"{'':14}  {_one_line(vars(record).get('type', '')):20}  {_one_line(record.getMessage())}"
            return self._painted(text, _FAINT)
        if record.name in {_NEWS, _OUTBOX}:
            return f"{vars(record).get('word', 'deployed'):14}  {_one_line(record.getMessage())}"
        extras = {name: var for name, var in vars(record).items() if name not in _STANDARD}
        extra_text = "".join(f"  {name}={_one_line(extra)}" for name, extra in extras.items())
        where = record.name.removeprefix("duetime.")
        return self._painted(
            f"{record.levelname.lower():14}  {where}: {_one_line(record.getMessage())}{extra_text}",
            _BY_LEVEL.get(record.levelno, _FAINT),
        )

    def _painted(self, text: str, colour: int | None) -> str:
        return f"\033[{colour}m{text}\033[0m" if self._in_colour and colour else text


def _span(milliseconds: float) -> str:
    if milliseconds < _SECOND:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / _SECOND
    return f"{seconds:.1f} s" if seconds < _HOUR else duration_text(round(seconds))


def _one_line(text: object) -> str:
    return printable(" ".join(str(text).split()))
