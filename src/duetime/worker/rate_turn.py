"""Step 4, *claim*, of a type with a rate limit: the start is counted just before the claim is written.

::

    row read ── may it start now? ── yes ──> count the start ──> claim
                      │
                      no ──> reserve the next free instant
                               ├─ within a second: wait it out, count the start, claim
                               └─ later: the row is due at that instant; its own wake leads back here

A run with a reserved instant waits for no other's. It still counts its start at the time of its claim: runs
that are late together must not exceed the limit. If it may not start within a second then, it reserves again.

The row of a dead run is processing, so it is not moved: its message comes again at the free instant.

The start is counted by a write of its own with the claim's `now`. If the claim then fails, one start fewer
happens than the limit allows. The row was read as claimable just before, so only a race wastes a start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from duetime import ids
from duetime.declare.handler import Handler
from duetime.declare.rate import Rate
from duetime.errors import InvalidArgument, InvalidPayload
from duetime.ids import SYSTEM_TENANT
from duetime.jobs.trusted_reading import KnownLimits
from duetime.model.action import Action, Status
from duetime.model.lease import ClaimTerms
from duetime.model.outcome import Outcome, of_error
from duetime.model.rate_limit import Pace, RateBucket, bucket_of
from duetime.model.run import WorkerDied
from duetime.ports.action_store import ActionStore
from duetime.retry import Fatal
from duetime.worker.claim_results import Waiting

LONGEST_WAIT = timedelta(seconds=1)
"""How long a process waits for a run's instant instead of moving the row, as for fractions of a second."""

LONGEST_DEFERRAL = timedelta(days=365)
"""A run whose instant is later than that is due then, and reserves none."""


@dataclass(frozen=True, slots=True)
class StartsAt:
    """The claim must be repeated at an instant, within a second."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Deferred:
    """The row waits for its instant, and has a wake of its own."""


StartRefused = StartsAt | Deferred | Waiting


class RateTurn:
    """One delivery's way through the rate limit of its type; not shared between threads."""

    def __init__(self, handler: Handler, rate: Rate, store: ActionStore, limits: KnownLimits) -> None:
        self._handler, self._rate, self._store, self._limits = handler, rate, store, limits
        self._granted_at: datetime | None = None
        self._has_slot = False
        self._waits_until: datetime | None = None
        self.failure: Outcome | None = None
        """Why the run must end without its handler: its key is unknown, so it was not counted."""

    def __call__(self, row: Action, terms: ClaimTerms) -> StartRefused | None:
        """Count the start of a run that is about to be claimed; return None if the claim may follow.

        Raises:
            BackendUnavailable: a service did not respond; the message must come again.
        """
        if not _begins(row, terms) or self._granted_at == terms.now:
            return None
        limit = self._limits.of(row.type, self._rate.limit)
        bucket = self._bucket(row, limit.shards)
        if bucket is None:  # its handler will not begin
            return None
        is_dead = row.status is Status.PROCESSING
        is_reserved = is_dead or self._has_slot or row.has_rate_slot
        free_at = self._store.start_within_rate(bucket, limit.pace, terms.now, is_reserved=is_reserved)
        if free_at is None:
            self._granted_at = terms.now
            return None
        if self._waits_until is None:
            self._waits_until = terms.now + LONGEST_WAIT
        if is_reserved and free_at <= self._waits_until:
            return StartsAt(free_at)
        return self._reserve(row, terms, bucket, limit.pace)

    def _reserve(self, row: Action, terms: ClaimTerms, bucket: RateBucket, pace: Pace) -> StartRefused:
        latest = terms.now + LONGEST_DEFERRAL
        expires_at = terms.expiry.of(row)
        if expires_at is not None:
            latest = min(latest, expires_at)
        slot = self._store.next_start(bucket, pace, terms.now)
        if has_slot := slot < latest:
            slot = self._store.reserve_start(bucket, pace, terms.now)
        if has_slot and self._waits_until is not None and slot <= self._waits_until:
            self._has_slot = True
            return StartsAt(slot)
        if row.status is Status.PROCESSING:
            return Waiting(max(1, ceil((slot - terms.now).total_seconds())))
        self._store.defer(row, min(slot, latest), held_by=terms.held_by)
        return Deferred()

    def _bucket(self, row: Action, shards: int) -> RateBucket | None:
        """Return the counter of the action; None if its key cannot be computed, which is noted."""
        if self._rate.scope == "type":
            return bucket_of(row.type, shards, row.id, tenant_id=SYSTEM_TENANT)
        if self._rate.scope == "tenant":
            return bucket_of(row.type, shards, row.id, tenant_id=row.tenant_id)
        if row.payload_version > self._handler.version:  # it waits for a newer worker
            return None
        try:
            key = row.rate_key or self._key(row)
        except (InvalidArgument, InvalidPayload) as error:
            cause = type(error.__cause__ or error).__name__  # its text may show a sensitive value
            self.failure = of_error(Fatal(f"its rate key cannot be computed from its payload: {cause}"))
        except WorkerDied:
            raise
        except BaseException as error:  # noqa: BLE001 - of a payload's own validator
            self.failure = of_error(Fatal(f"its payload's validator raised {type(error).__name__}"))
        else:
            return bucket_of(row.type, shards, row.id, tenant_id=row.tenant_id, key=key)
        return None

    def key_of(self, row: Action) -> str | None:
        """Return an action's rate key, for pauses; None if its type has none, or it cannot be computed."""
        if self._rate.scope != "key":
            return None
        try:
            return row.rate_key or self._key(row)
        except Exception:  # noqa: BLE001 - of a payload's own validator; the run fails for it
            return None

    def _key(self, row: Action) -> str:
        if row.payload_size and row.payload is None:
            row = self._store.get(row.ref) or row
        return self._rate.key_of(self._handler.read(row.payload, row.payload_version))


class RateTurns:
    """Makes the turns of one process's deliveries."""

    def __init__(self, handlers: Mapping[str, Handler], store: ActionStore, limits: KnownLimits) -> None:
        self._handlers, self._store, self._limits = handlers, store, limits

    def require_limits(self, type_name: str) -> None:
        """Check that the set limits are known, if a type has a rate limit.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        handler = self._handlers.get(type_name)
        if handler is not None and handler.rate is not None:
            self._limits.require()

    def of(self, type_name: str, action_id: ids.ActionId) -> RateTurn | None:
        """Return the turn of an action; None if its type has no rate limit."""
        handler = self._handlers.get(type_name)
        if handler is None or handler.rate is None or not ids.is_one_shot(action_id):
            return None
        return RateTurn(handler, handler.rate, self._store, self._limits)


def _begins(row: Action, terms: ClaimTerms) -> bool:
    """Return whether a claim of the row, as read, may begin a run of its handler."""
    if terms.is_fenced_off(row):
        return False
    if row.status is Status.PROCESSING:
        return row.nonce != terms.nonce and terms.may_take_over(row)
    return row.status is Status.PENDING and row.due_at <= terms.now and not terms.is_expired(row)
