"""Repeat a compare-and-set change until no other writer interferes."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final, TypeVar

from duetime.errors import BackendUnavailable

T = TypeVar("T")

ATTEMPTS = 10


class Conflict(Enum):
    """The result of a change that another writer has overtaken."""

    CHANGED = "changed"


CHANGED: Final = Conflict.CHANGED


def change_with_retry(
    change: Callable[[], T | Conflict], subject: str, *, table: str = "the jobs table"
) -> T:
    """Call `change` until it returns a result other than `CHANGED`.

    Args:
        change: reads a row, changes it, and writes it if the row is unchanged; else it returns `CHANGED`.
        subject: what changes, for the error message, as in ``job acme-report``.
        table: where it is stored, for the error message.

    Raises:
        BackendUnavailable: ten attempts in a row met another writer.
    """
    result = retry_on_conflict(change)
    if isinstance(result, Conflict):
        raise BackendUnavailable(table, f"{subject} kept changing")
    return result


def retry_on_conflict(change: Callable[[], T]) -> T:
    """Call `change` as `change_with_retry` does, and return `CHANGED` after ten attempts."""
    for _ in range(ATTEMPTS):
        result = change()
        if not isinstance(result, Conflict):
            break
    return result
