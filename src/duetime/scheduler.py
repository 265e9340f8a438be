"""The scheduler: what callers use to schedule, look up and change actions, from any Lambda or script."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from duetime import ids, instant
from duetime.action import Action, ActionRef
from duetime.cancel import cancel
from duetime.clock import Clock, SystemClock
from duetime.errors import ActionConflict, ActionNotFound, InvalidCursor, OperatorsOnly, Unsupported
from duetime.idempotency import KeyTerms
from duetime.lease import Moved, Refused
from duetime.order import Order, Placed, When
from duetime.ports import ActionStore, Page
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.job_ports import JobPorts
    from duetime.jobs import Jobs
    from duetime.payload import Payload
    from duetime.undelivered_desk import UndeliveredDesk
    from duetime.undelivered_ports import UndeliveredPorts

LARGEST_PAGE = 200


class Scheduler:
    """Schedules actions for one tenant, in one actor's name.

    Make one per process with `from_env`; it is safe to use from several threads.
    """

    def __init__(
        self,
        store: ActionStore,
        *,
        tenant_id: str,
        actor: str,
        clock: Clock,
        settings: Settings,
        jobs: JobPorts | None = None,
        undelivered: UndeliveredPorts | None = None,
        sees_system: bool = True,
        entropy: ids.Entropy = os.urandom,
    ) -> None:
        """Make one over given back ends; `from_env` does it for DynamoDB.

        Args:
            store: the actions.
            tenant_id: whose actions.
            actor: in whose name.
            clock: what tells the time.
            settings: the deployment's.
            jobs: the jobs' back ends, for `jobs`.
            undelivered: the back ends for `undelivered`.
            sees_system: whether code's jobs, and their runs, are shown and changed beside the tenant's own.
            entropy: what makes ids random.
        """
        self._store = store
        self._job_ports = (lambda: jobs) if jobs else None
        self._undelivered_ports = (lambda: undelivered) if undelivered else None
        self._sees_system = sees_system
        self._clock, self._entropy = clock, entropy
        self._settings = settings
        self.tenant_id = ids.tenant(tenant_id)
        self.actor = ids.actor(actor)

    @classmethod
    def from_env(cls, *, tenant_id: str = "default", actor: str = "sdk", client: Any = None) -> Self:
        """A scheduler on DynamoDB; the table's name comes from ``DUETIME_ACTIONS_TABLE`` (or ``DUETIME_PREFIX``).

        Args:
            tenant_id: whose actions; IAM bounds which tenants the caller's role may write.
            actor: who schedules, for the audit: a service's name.
            client: a boto3 DynamoDB client to use instead of a new one; `schedule_many` then goes one by one, since
                that client may repeat a batch by itself.

        Raises:
            SettingsError: the environment contradicts itself.
            InvalidIdentifier: the tenant or the actor cannot be part of a key.
        """
        from duetime.aws import action_store, job_ports, undelivered_ports  # noqa: PLC0415 - boto3 is loaded by those who talk to AWS

        settings, clock = Settings.from_env(), SystemClock()
        made = cls(
            action_store(settings, client), tenant_id=tenant_id, actor=actor, clock=clock, settings=settings
        )
        made._job_ports = lambda: job_ports(settings, clock, client)
        made._undelivered_ports = lambda: undelivered_ports(settings, client)
        return made

    @cached_property
    def jobs(self) -> Jobs:
        """The jobs that code declares, and this tenant's own.

        Raises:
            Unsupported: this scheduler was made without back ends for jobs.
        """
        from duetime.jobs import Jobs  # noqa: PLC0415 - who only schedules loads no cadences

        return Jobs(
            self._store,
            self._ports_of_jobs(),
            tenant_id=self.tenant_id,
            actor=self.actor,
            clock=self._clock,
            settings=self._settings,
            sees_system=self._sees_system,
            entropy=self._entropy,
        )

    def _ports_of_jobs(self) -> JobPorts:
        if self._job_ports is None:
            raise Unsupported("this scheduler was made without back ends for jobs; pass jobs=JobPorts(…)")
        return self._job_ports()

    def schedule(
        self,
        payload: Payload,
        *,
        at: When,
        tz: str | None = None,
        correlation_id: str | None = None,
        idempotency_key: str | None = None,
        idempotency_ttl: timedelta | None = None,
    ) -> Action:
        """Schedule a payload; it runs once `at` has come, at once if that has passed.

        The same `idempotency_key` again gets the first action, as it is then, whatever its due time. A key holds for
        its time to live (1 minute to 30 days; the settings' by default), and at least until its action is final.

        Returns:
            The pending action, or the first one of its key; its `id` leads back to it.

        Raises:
            InvalidTime: `at` is naive without `tz`, does not exist there, or lies outside the years 1970 to 2199; or
                the key's time to live is none.
            InvalidIdentifier: the correlation id or the idempotency key cannot be part of a key.
            IdempotencyConflict: the first action of the key has another type or payload.
            InvalidPayload: JSON cannot carry the payload.
            PayloadTooLarge: it does not fit one DynamoDB item.
            BackendUnavailable: nobody knows whether it was scheduled; with a key, call again.
        """
        order = Order(payload, at, tz, correlation_id, idempotency_key, idempotency_ttl)
        return self.place(order).action

    def place(self, order: Order) -> Placed:
        """Schedule what `order` says, as `schedule` does, and tell whether that is a new action."""
        action, terms = self._new(order)
        if terms is None:
            self._store.put(action)
            return Placed(action, is_new=True)
        first = self._store.put_once(action, terms)
        return Placed(first, is_new=first.id == action.id)

    def schedule_many(self, orders: Iterable[Order]) -> tuple[Action, ...]:
        """Schedule many payloads with few calls. All are checked before the first is written; not all or nothing.

        Those with an idempotency key come first, each in a call of its own; each gets what `schedule` returns.

        Raises:
            BackendUnavailable: some may not have been scheduled.
            IdempotencyConflict: as `schedule`; some with a key may have been scheduled, and none without.
            DuetimeError: as `schedule`; then none has been.
        """
        made = [self._new(each) for each in orders]
        actions = [action if terms is None else self._store.put_once(action, terms) for action, terms in made]
        self._store.put_many([action for action, terms in made if terms is None])
        return tuple(actions)

    def transact_items(
        self,
        payload: Payload,
        *,
        at: When,
        tz: str | None = None,
        correlation_id: str | None = None,
        idempotency_key: str | None = None,
        idempotency_ttl: timedelta | None = None,
    ) -> tuple[Action, Sequence[Mapping[str, Any]]]:
        """Schedule inside a transaction of your own: the action, and entries for its ``TransactItems``.

        ``client.transact_write_items(TransactItems=[{"Put": …}, *items])`` with a low-level DynamoDB client commits
        both or neither. Nothing is written here.

        If the idempotency key is taken, the condition of one of these entries does not hold, and the transaction fails;
        `schedule` with the same key, while it holds, then tells the first action. A key whose time has passed counts
        as taken here until its action's row is removed.
        """
        order = Order(payload, at, tz, correlation_id, idempotency_key, idempotency_ttl)
        action, terms = self._new(order)
        return action, self._store.entries(action, terms)

    def get(self, action_id: str) -> Action:
        """The action as of now.

        Raises:
            ActionNotFound: this tenant has no such action.
        """
        action = self._store.get(self._ref(action_id))
        if action is None:
            raise ActionNotFound(action_id)
        return action

    def list(self, *, correlation_id: str | None = None, limit: int = 50, cursor: str | None = None) -> Page:
        """A page of actions, without their payloads: those of a correlation id, oldest first; or all, newest first.

        Args:
            correlation_id: only the actions scheduled with it.
            limit: how many at most, 1 to 200.
            cursor: the `cursor` of the page before.

        Raises:
            InvalidCursor: the cursor belongs to another query.
        """
        if not 1 <= limit <= LARGEST_PAGE:
            raise ValueError(f"limit is {limit}; allowed is 1 to {LARGEST_PAGE}")
        if cursor is not None and not ids.is_action_id(cursor):
            raise InvalidCursor
        if correlation_id is None:
            return self._store.of_tenant(self.tenant_id, limit=limit, cursor=cursor)
        wanted = ids.correlation_id(correlation_id)
        return self._store.by_correlation(self.tenant_id, wanted, limit=limit, cursor=cursor)

    def cancel(self, action_id: str) -> Action:
        """Cancel a pending action; ask a running one to stop, which it does if its handler looks.

        Returns:
            The action: cancelled, or still processing with `cancel_requested_at` set.

        Raises:
            ActionNotFound: this tenant has no such action.
            ActionConflict: it is settled already.
        """
        ref, now = self._ref(action_id), self._clock.now()
        jobs = None if self._job_ports is None else (lambda: self._ports_of_jobs().jobs)
        expires_at = now + self._settings.retention
        outcome = cancel(ref, self._store, jobs, by=self.actor, at=now, expires_at=expires_at)
        if isinstance(outcome, Moved):
            return outcome.action
        raise _refusal(ref, outcome, "cancel", "a pending or running one")

    def reschedule(self, action_id: str, at: When, *, tz: str | None = None) -> Action:
        """Give a pending action another due time; an earlier wake of it then changes nothing.

        Raises:
            InvalidTime: as `schedule`.
            ActionNotFound: this tenant has no such action.
            ActionConflict: it is not pending.
        """
        ref, now = self._ref(action_id), self._clock.now()
        due_at = instant.resolve(at, now=now, tz=tz)
        outcome = self._store.reschedule(ref, due_at, by=self.actor, at=now)
        if isinstance(outcome, Moved):
            return outcome.action
        raise _refusal(ref, outcome, "reschedule", "a pending one")

    def redrive(self, action_id: str, *, at: When = timedelta(0), tz: str | None = None) -> Action:
        """Run a failed action again, now or at another time, with all the attempts that its policy allows.

        Raises:
            ActionNotFound: this tenant has no such action.
            ActionConflict: it has not failed, or another action has its idempotency key by now.
        """
        ref, now = self._ref(action_id), self._clock.now()
        due_at = instant.resolve(at, now=now, tz=tz)
        outcome = self._store.redrive(ref, due_at, by=self.actor, at=now)
        if isinstance(outcome, Moved):
            return outcome.action
        possible = "a failed one"
        if outcome.taken_by is not None:
            possible = f"one that still has its idempotency key (action {outcome.taken_by} has it now)"
        raise _refusal(ref, outcome, "redrive", possible)

    @cached_property
    def undelivered(self) -> UndeliveredDesk:
        """What queues, streams and EventBridge gave up on, of the whole deployment: to be listed, and redriven.

        Raises:
            OperatorsOnly: this scheduler sees nothing but its tenant's own.
            Unsupported: it was made without back ends for it.
        """
        from duetime.undelivered_desk import UndeliveredDesk  # noqa: PLC0415 - few look at it

        if not self._sees_system:
            raise OperatorsOnly("what is undelivered")
        if self._undelivered_ports is None:
            raise Unsupported(
                "this scheduler was made without back ends for it; pass undelivered=UndeliveredPorts(…)"
            )
        return UndeliveredDesk(self._undelivered_ports())

    def _new(self, order: Order) -> tuple[Action, KeyTerms | None]:
        return order.action(
            now=self._clock.now(),
            tenant_id=self.tenant_id,
            actor=self.actor,
            settings=self._settings,
            entropy=self._entropy,
        )

    def _ref(self, action_id: str) -> ActionRef:
        if not ids.is_action_id(action_id):
            raise ActionNotFound(action_id)
        own = ActionRef(self.tenant_id, ids.ActionId(action_id))
        is_own = ids.is_one_shot(action_id) or not self._sees_system or self._store.get(own) is not None
        return own if is_own else ActionRef(ids.SYSTEM_TENANT, own.id)


def _refusal(ref: ActionRef, refused: Refused, asked: str, possible: str) -> ActionNotFound | ActionConflict:
    if refused.action is None:
        return ActionNotFound(ref.id)
    return ActionConflict(ref.id, asked=asked, status=refused.action.status.value, possible=possible)
