"""The scheduler: what callers use to schedule, look up and change actions, from any Lambda or script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from duetime.actions.actions import Actions
from duetime.actions.order import Order, ScheduleResult
from duetime.clock import SystemClock
from duetime.errors import OperatorsOnly, Unsupported
from duetime.instant import When
from duetime.model.action import Action
from duetime.model.idempotency import KeyTerms
from duetime.settings import Settings
from duetime.telemetry import spans

if TYPE_CHECKING:
    from duetime.payload import Payload
    from duetime.undelivered.undelivered_client import UndeliveredClient


class Scheduler(Actions):
    """Schedules actions for one tenant, in one actor's name.

    Make one per process with `from_env`; it is safe to use from several threads.
    """

    @classmethod
    def from_env(
        cls,
        *,
        tenant_id: str = "default",
        actor: str = "sdk",
        client: Any = None,
        sees_system: bool = True,
    ) -> Self:
        """A scheduler on DynamoDB; the table's name comes from ``DUETIME_ACTIONS_TABLE`` (or ``DUETIME_PREFIX``).

        Args:
            tenant_id: whose actions; IAM bounds which tenants the caller's role may write.
            actor: who schedules, for the audit: a service's name.
            client: a boto3 DynamoDB client to use instead of a new one; `schedule_many` then goes one by one, since
                that client may repeat a batch by itself.
            sees_system: whether code's jobs, and their runs, are shown beside the tenant's own; False where the
                caller's role is bound to tenants.

        Raises:
            SettingsError: the environment contradicts itself.
            BackendMisconfigured: boto3 is told of no region.
            InvalidIdentifier: the tenant or the actor cannot be part of a key.
        """
        from duetime import aws  # noqa: PLC0415 - boto3 is loaded by those who talk to AWS

        settings, clock = Settings.from_env(), SystemClock()
        made = cls(
            aws.action_store(settings, client),
            tenant_id=tenant_id,
            actor=actor,
            clock=clock,
            settings=settings,
            sees_system=sees_system,
        )
        made._job_ports = lambda: aws.job_ports(settings, clock, client)
        made._undelivered_ports = lambda: aws.undelivered_ports(settings, client)
        return made

    def schedule(
        self,
        payload: Payload,
        *,
        at: When,
        tz: str | None = None,
        correlation_id: str | None = None,
        idempotency_key: str | None = None,
        idempotency_ttl: timedelta | None = None,
        concurrency_key: str | None = None,
        concurrency_limit: int = 1,
    ) -> Action:
        """Schedule a payload; it runs once `at` has come, at once if that has passed.

        The same `idempotency_key` again gets the first action, as it is then, whatever its due time. A key holds for
        its time to live (1 minute to 30 days; the settings' by default), and at least until its action is final.

        Of the tenant's actions with one `concurrency_key` it begins only while fewer than `concurrency_limit` (1 to 100)
        run; until then it waits, pending, and nothing is counted against it.

        Returns:
            The pending action, or the first one of its key; its `id` leads back to it.

        Raises:
            InvalidTime: `at` is naive without `tz`, does not exist there, or lies outside the years 1970 to 2199; or
                the key's time to live is none.
            InvalidIdentifier: the correlation id or one of the keys cannot be part of a key, or the limit is none.
            IdempotencyConflict: the first action of the key has another type or payload.
            InvalidPayload: it is no `Payload`, or JSON cannot carry it.
            PayloadTooLarge: it does not fit one DynamoDB item.
            BackendUnavailable: nobody knows whether it was scheduled; with a key, call again.
        """
        order = Order(
            payload,
            at,
            tz,
            correlation_id,
            idempotency_key,
            idempotency_ttl,
            concurrency_key,
            concurrency_limit,
        )
        return self.place(order).action

    def place(self, order: Order) -> ScheduleResult:
        """Schedule what `order` says, as `schedule` does, and tell whether that is a new action."""
        with self._span() as told:
            action, terms = self._new(order)
            first = self._put(action, terms)
            told.about(first)
        return ScheduleResult(first, is_new=first.id == action.id)

    def schedule_many(self, orders: Iterable[Order]) -> tuple[Action, ...]:
        """Schedule many payloads with few calls. All are checked before the first is written; not all or nothing.

        Those with an idempotency key come first, each in a call of its own; each gets what `schedule` returns.

        Raises:
            BackendUnavailable: some may not have been scheduled.
            IdempotencyConflict: as `schedule`; some with a key may have been scheduled, and none without.
            DuetimeError: as `schedule`; then none has been.
        """
        with self._span() as told:
            made = [self._new(order) for order in orders]
            told.tell({spans.COUNT: len(made)})
            actions = [
                action if terms is None else self._store.put_once(action, terms) for action, terms in made
            ]
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
        concurrency_key: str | None = None,
        concurrency_limit: int = 1,
    ) -> tuple[Action, Sequence[Mapping[str, Any]]]:
        """Schedule inside a transaction of your own: the action, and entries for its ``TransactItems``.

        ``client.transact_write_items(TransactItems=[{"Put": …}, *items])`` with a low-level DynamoDB client commits
        both or neither. Nothing is written here.

        If the idempotency key is taken, the condition of one of these entries does not hold, and the transaction fails;
        `schedule` with the same key, while it holds, then tells the first action. A key whose time has passed counts
        as taken here until its action's row is removed.
        """
        order = Order(
            payload,
            at,
            tz,
            correlation_id,
            idempotency_key,
            idempotency_ttl,
            concurrency_key,
            concurrency_limit,
        )
        with self._span() as told:
            action, terms = self._new(order)
            told.about(action)
            return action, self._store.entries(action, terms)

    @cached_property
    def undelivered(self) -> UndeliveredClient:
        """What queues, streams and EventBridge gave up on, of the whole deployment: to be listed, and redriven.

        Raises:
            OperatorsOnly: this scheduler sees nothing but its tenant's own.
            Unsupported: it was made without back ends for it.
        """
        from duetime.undelivered.undelivered_client import UndeliveredClient  # noqa: PLC0415 - few look at it

        if not self._sees_system:
            raise OperatorsOnly("what is undelivered")
        if self._undelivered_ports is None:
            raise Unsupported(
                "this scheduler was made without back ends for it; pass undelivered=UndeliveredPorts(…)"
            )
        return UndeliveredClient(self._undelivered_ports())

    def _span(self) -> AbstractContextManager[spans.TraceSpan]:
        return spans.span(spans.SCHEDULE, lambda: {spans.TENANT: self.tenant_id})

    def _put(self, action: Action, terms: KeyTerms | None) -> Action:
        if terms is not None:
            return self._store.put_once(action, terms)
        self._store.put(action)
        return action

    def _new(self, order: Order) -> tuple[Action, KeyTerms | None]:
        return order.action(
            now=self._clock.now(),
            tenant_id=self.tenant_id,
            actor=self.actor,
            settings=self._settings,
            random_bytes=self._entropy,
            trace=spans.carried(),
        )
