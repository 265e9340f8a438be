"""What is deployed, cached: a caller's early check of the types that it schedules, and of its due shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from duetime._english import nearest
from duetime.clock import Clock
from duetime.errors import DuetimeError, OtherFormat, SettingsError, UnknownType
from duetime.model.built_in import RESERVED
from duetime.model.deployed_shards import Hosted

REREAD_AFTER = timedelta(minutes=10)
REREAD_UNKNOWN_AFTER = timedelta(seconds=5)
"""The age up to which the types are used: to accept a type, and to reject one, since a deploy may add it."""


class HostedTypes:
    """Checks types, and the caller's `due_shards`, against the workers' manifests.

    If they cannot be read, or no app is deployed, every type passes, and the next attempt is ten minutes
    later. Types of duetime's own always pass.

    Args:
        read: reads the manifests; it may raise `DuetimeError`.
        clock: the source of the present time.
        due_shards: the caller's number; 0: it is not checked.
    """

    def __init__(self, read: Callable[[], Hosted], clock: Clock, due_shards: int = 0) -> None:
        self._read, self._clock, self._due_shards = read, clock, due_shards
        self._most_due_shards: int | None = None
        self._types: frozenset[str] = frozenset()
        self._read_at: datetime | None = None

    def check(self, type_name: str) -> None:
        """Check that a worker hosts the type.

        Raises:
            UnknownType: none does.
            OtherFormat: this version does not read the deployment's tables.
            SettingsError: the caller has more due shards than the stack.
        """
        if type_name.startswith(RESERVED):
            return
        self.check_shards()
        if self._types and type_name not in self._types:
            self._refresh(REREAD_UNKNOWN_AFTER)
        if self._types and type_name not in self._types:
            raise _not_hosted(type_name, self._types)

    def check_shards(self) -> None:
        """Check that the stack reads all due shards of the caller.

        Raises:
            SettingsError: the caller has more than the stack.
        """
        self._refresh(REREAD_AFTER)
        if self._has_too_many():
            self._refresh(REREAD_UNKNOWN_AFTER)
        if self._most_due_shards is not None and self._has_too_many():
            own, deployed = self._due_shards, self._most_due_shards
            problem = f"this caller has due_shards={own}, the deployed stack reads {deployed}"
            remedy = f"set DUETIME_DUE_SHARDS={deployed} for the caller, or first deploy the stack with {own}"
            raise SettingsError([f"{problem}: {remedy}"])

    def _has_too_many(self) -> bool:
        return self._most_due_shards is not None and self._due_shards > self._most_due_shards

    def _refresh(self, oldest: timedelta) -> None:
        now = self._clock.now()
        if self._read_at is not None and now - self._read_at < oldest:
            return
        self._read_at = now
        try:
            hosted = self._read()
        except OtherFormat:
            self._read_at = None
            raise
        except DuetimeError:
            hosted = Hosted(())
        self._types = frozenset(name for name in hosted.types if not name.startswith(RESERVED))
        self._most_due_shards = hosted.most_due_shards


def _not_hosted(type_name: str, hosted: Iterable[str]) -> UnknownType:
    near = nearest(type_name, hosted)
    remedy = "deploy its worker first"
    if type_name.startswith("target-"):
        remedy = "grant the target in the stack: scheduler.grant_target(…)"
    meant = f"did you mean {near!r}? " if near else ""
    error = UnknownType(type_name, hosted, f"{meant}{remedy}, or set DUETIME_CHECK_TYPES=false")
    error.code = "type-not-hosted"
    return error
