"""Log failures of handlers even in a process without logging.

A worker logs them at INFO. A process without logging, or with logging at WARNING, would never show them: a
job could fail there for weeks.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_LOGGERS = ("duetime.worker.worker", "duetime.telemetry.run_log")
_LINE = "%(asctime)s duetime: %(type)s: %(message)s (%(action)s)"


@contextmanager
def failures_logged() -> Iterator[None]:
    """Within the block, send handlers' exceptions and final failures to logging's handlers or stderr."""
    with ExitStack() as stack:
        for name in _LOGGERS:
            stack.enter_context(_failures_of(logging.getLogger(name)))
        yield


@contextmanager
def _failures_of(logger: logging.Logger) -> Iterator[None]:
    has_handlers, level = logger.hasHandlers(), logger.level
    if has_handlers and logger.isEnabledFor(logging.INFO):
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(_LINE, defaults={"type": "-", "action": "-"}))
    if not has_handlers:
        logger.addHandler(handler)
    logger.addFilter(_is_failure)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeFilter(_is_failure)
        logger.removeHandler(handler)


def _is_failure(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or hasattr(record, "is_failure")
