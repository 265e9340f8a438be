"""The embedded scheduler's last resort.

Log what handlers raise, even if no logging is set up.

A worker logs it at INFO, which a process without logging, or with it at WARNING, would swallow: a job could
fail there for weeks unseen.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_LOGGERS = ("duetime.worker.worker", "duetime.telemetry.run_log")
_FAILURES = ("handler raised", "failed")
_LINE = "%(asctime)s duetime: %(type)s: %(message)s (%(action)s)"


@contextmanager
def failures_told() -> Iterator[None]:
    """Within the block, send handlers' exceptions and final failures to logging's handlers or stderr."""
    with ExitStack() as stack:
        for name in _LOGGERS:
            stack.enter_context(_heard(logging.getLogger(name)))
        yield


@contextmanager
def _heard(logger: logging.Logger) -> Iterator[None]:
    if logger.hasHandlers() and logger.isEnabledFor(logging.INFO):
        yield
        return
    own, level = _own(logger), logger.level
    logger.addFilter(_is_worth_it)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeFilter(_is_worth_it)
        if own is not None:
            logger.removeHandler(own)


def _own(logger: logging.Logger) -> logging.Handler | None:
    """A handler where there is none."""
    if logger.hasHandlers():
        return None
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(_LINE, defaults={"type": "-", "action": "-"}))
    logger.addHandler(handler)
    return handler


def _is_worth_it(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or record.getMessage() in _FAILURES
