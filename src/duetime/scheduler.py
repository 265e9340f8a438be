"""The scheduler: schedule, look up and change actions, from any Lambda function or script."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Self, Unpack

from duetime import ids, instant
from duetime._lazy_property import lazy_property
from duetime.actions.actions import Actions
from duetime.actions.bulk import BulkResult, bulk_selection, change_many
from duetime.actions.hosted_types import HostedTypes
from duetime.actions.order import Order, ScheduleResult, takes
from duetime.actions.usage_quotas import Orders, UsageQuotas
from duetime.clock import Clock, SystemClock
from duetime.environment import file_of_rows
from duetime.errors import Forbidden, KeyConflict, Unsupported
from duetime.instant import Precision, When
from duetime.jobs.tenant_context import TenantContext, tenant_of
from duetime.model.action import Action, ActionRef, Status
from duetime.model.expiry import expiry_time
from duetime.model.idempotency import KeyTerms
from duetime.model.quota import has_quotas
from duetime.model.selection import Filters, Selection
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import Page
from duetime.settings import Settings
from duetime.telemetry import spans

if TYPE_CHECKING:
    from duetime.actions.batch_writes import BatchWrites
    from duetime.actions.batches import Batches, OpenBatch
    from duetime.actions.hand_overs import HandOvers
    from duetime.jobs.jobs import Jobs
    from duetime.jobs.trusted_reading import KnownRegion
    from duetime.model.hand_over import Beat
    from duetime.payload import Payload
    from duetime.ports.job_store import JobPorts, JobStore
    from duetime.ports.undelivered import UndeliveredPorts
    from duetime.undelivered.undelivered_client import UndeliveredClient


class Scheduler:
    """Schedules, finds and changes the actions of one tenant, in the name of one actor.

    Make one per process with `from_env`; several threads may share it.
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
        quotas: UsageQuotas | None = None,
        sees_system: bool = True,
        random_bytes: ids.Entropy = os.urandom,
    ) -> None:
        """Make a scheduler on given back ends; `from_env` makes one on DynamoDB.

        Args:
            store: the actions.
            tenant_id: the tenant that owns them.
            actor: the name that the audit shows for each change.
            clock: the source of the present time.
            settings: the deployment's settings.
            jobs: the back ends of `jobs`.
            undelivered: the back ends of `undelivered`.
            quotas: checks the quotas `pending` and `payload_bytes`; None: there are none.
            sees_system: whether the code's jobs, and their runs, are visible beside the tenant's own.
            random_bytes: the source of randomness for ids.
        """
        context = TenantContext(
            store=store,
            tenant_id=ids.tenant(tenant_id),
            actor=ids.key("actor", actor),
            clock=clock,
            settings=settings,
            sees_system=sees_system,
            random_bytes=random_bytes,
        )
        self._start(context, jobs, undelivered, quotas)

    @classmethod
    def in_context(
        cls,
        context: TenantContext,
        jobs: JobPorts | None,
        undelivered: UndeliveredPorts | None,
        quotas: UsageQuotas | None,
    ) -> Self:
        """Make a scheduler for a tenant and an actor that are already validated."""
        scheduler = cls.__new__(cls)
        scheduler._start(context, jobs, undelivered, quotas)  # noqa: SLF001 - its own class
        return scheduler

    def _start(
        self,
        context: TenantContext,
        jobs: JobPorts | None,
        undelivered: UndeliveredPorts | None,
        quotas: UsageQuotas | None,
    ) -> None:
        self._context, self.tenant_id, self.actor = context, context.tenant_id, context.actor
        self._job_ports = (lambda: jobs) if jobs else None
        self._undelivered_ports = (lambda: undelivered) if undelivered else None
        self._hosted: HostedTypes | None = None
        self._quotas = quotas

    @classmethod
    def from_env(
        cls,
        *,
        tenant_id: str | None = None,
        actor: str = "sdk",
        client: Any = None,
        sees_system: bool = True,
    ) -> Self:
        """Make a scheduler on DynamoDB; ``DUETIME_ACTIONS_TABLE`` or ``DUETIME_PREFIX`` names its table.

        With ``DUETIME_FILE``, it is made on that file of `duetime local` or of `App.embedded` instead.

        Args:
            tenant_id: the tenant; IAM limits which tenants the caller's role may write. None: the only one of
                ``DUETIME_TENANTS``, or ``default``.
            actor: the name that the audit shows for each change, such as a service's name.
            client: a boto3 DynamoDB client to use instead of a new one. `schedule_many` then writes one
                action per call, since that client may repeat a batch by itself.
            sees_system: whether the code's jobs, and their runs, are visible beside the tenant's own. Set
                False if the caller's role is bound to tenants.

        Scheduling then raises `UnknownType` for a type that no worker hosts, if the role may read the
        workers' manifests, and `SettingsError` if the stack does not read all the caller's due shards.
        ``DUETIME_CHECK_TYPES=false`` turns this off.

        Raises:
            SettingsError: the environment contradicts itself.
            InvalidArgument: the deployment has several tenants, and none is given; or the tenant or the actor
                cannot be part of a key.
            BackendMisconfigured: boto3 has no region.
        """
        return cls.over_clients(client, tenant_id=tenant_id, actor=actor, sees_system=sees_system)

    @classmethod
    def over_clients(
        cls,
        client: Any = None,
        at_once: Any = None,
        sqs: Any = None,
        *,
        tenant_id: str | None,
        actor: str,
        sees_system: bool,
    ) -> Self:
        """Make a scheduler as `from_env` does, over given clients.

        Args:
            client: of DynamoDB.
            at_once: makes the calls of a bulk, see `duetime.ports.at_once`; by default one by one.
            sqs: of SQS, to redrive undelivered inputs.
            tenant_id: see `from_env`, as for `actor` and `sees_system`.
            actor: see `from_env`.
            sees_system: see `from_env`.
        """
        settings, clock = Settings.from_env(), SystemClock()
        if client is None and (file := file_of_rows()) is not None:
            tenant = tenant_of(tenant_id, settings)
            return cls._over_file(file, settings, tenant_id=tenant, actor=actor, sees_system=sees_system)
        from duetime import aws  # noqa: PLC0415 - only callers of AWS load boto3

        scheduler = cls(
            aws.action_store(settings, client, at_once),
            tenant_id=tenant_of(tenant_id, settings),
            actor=actor,
            clock=clock,
            settings=settings,
            sees_system=sees_system,
        )
        if settings.check_types:
            scheduler._hosted = HostedTypes(
                aws.hosted_types(settings, clock, client), clock, settings.due_shards
            )
        if has_quotas(settings):
            brief = aws.AwsBackends(settings, clock, client, calls=aws.BRIEF)
            scheduler._quotas = UsageQuotas(brief.usage_counts, clock, settings)
        backends = aws.AwsBackends(settings, clock, client, sqs)
        scheduler._job_ports = lambda: backends.job_ports
        scheduler._undelivered_ports = lambda: backends.undelivered
        return scheduler

    @classmethod
    def _over_file(cls, file: str, settings: Settings, **options: Any) -> Self:
        from duetime.sqlite.client import ports_of  # noqa: PLC0415 - a Lambda never has a file

        ports, hosted = ports_of(file, settings)
        scheduler = cls(ports.store, **ports.of_schedulers(settings), **options)
        scheduler._hosted = hosted if settings.check_types else None
        return scheduler

    @takes(Order)
    def schedule(self, order: Order) -> Action:
        """Schedule a payload; it runs at `at`, or at once if that time has passed.

        A span ends at a whole second: it is rounded up, unless `precision` is ``"millisecond"``.

        A repeated `idempotency_key` returns the first action in its present state, whatever its due time. A
        key holds for its time to live (1 minute to 30 days; the settings give the default), and at least
        until its action is final.

        At most `concurrency_limit` (1 to 100) of the tenant's actions with one `concurrency_key` run at a
        time. Until then the action stays pending, and no attempt is counted.

        If its type declares a rate with a key, `rate_key` replaces the key of the payload.

        From `expires_at`, or `expires_after` its due time, no run begins any more: the action is skipped.

        While the tenant's action with one `debounce_key` awaits its first run, a further call schedules no
        other: it gives that action its own due time, payload and expiry, or a payload merged by the type's
        `merge`. The due time is never later than `at_most_after` the first call. All else stays as the first
        call has it.

        `after` holds it until these actions (ids or `Action`) and batches are executed, at most 20. If one is
        not, it fails. With the `after_failure` ``"skip"`` it is skipped then; with ``"run"`` it runs after
        any end of all. It is due at `at`, or at its release if that is later.

        With the setting `high_priority`, an action of the `priority` ``"high"`` does not wait behind others.

        Returns:
            The pending action, or the first one of its idempotency key, or that of its debounce key, with the
            change.

        Raises:
            InvalidArgument: `at` is naive without `tz`, does not exist there, or lies outside the years 1970
                to 2199; or the key's time to live is out of range; or it expires no later than it is due; or
                `at_most_after` ends before it is due; or the correlation id or a key cannot be part of a
                table key, or the limit is out of range; or there is both a debounce key and an idempotency
                key; or the priority is high, and the deployment lacks the setting `high_priority`.
            KeyConflict: the first action of the key has another type or payload; or the pending action of the
                key has another type.
            NotFound: the tenant has no such predecessor.
            InvalidPayload: the value is no `Payload`, or JSON cannot carry it; or the payload does not fit
                one DynamoDB item.
            UnknownType: no deployed worker hosts the payload's type; see `from_env`.
            OtherFormat: another version of duetime has made the deployment's tables.
            SettingsError: this caller has a higher `due_shards` than the stack; see `from_env`.
            QuotaExceeded: the tenant has as many pending actions, or payload bytes today, as it may have.
            BackendUnavailable: the action may or may not have been scheduled; with a key, call again.
        """
        return self.place(order).action

    def place(self, order: Order) -> ScheduleResult:
        """Schedule an order as `schedule` does, and return whether its action is new."""
        with self._span() as span:
            action, terms = self._new(order)
            first = self._place(order, action, terms)
            span.about(first)
        return ScheduleResult(first, is_new=first.id == action.id)

    def _place(self, order: Order, action: Action, terms: KeyTerms | None) -> Action:
        if action.debounced is not None:
            return self._place_debounced(order, action)
        counted = self._take([(action, terms)])
        first = self._put(order, action, terms)
        self._give_back(counted, [first])
        self._follow([first] if first.id == action.id else [])
        return first

    def _follow(self, placed: Iterable[Action]) -> None:
        if held := [action for action in placed if action.is_held]:
            from duetime.actions.chains import follow  # noqa: PLC0415 - few actions have predecessors

            for action in held:
                follow(action, self._context.store)

    def _place_debounced(self, order: Order, action: Action) -> Action:
        from duetime.actions.debounce import place_debounced  # noqa: PLC0415 - few calls have a key

        now, counted = self._context.clock.now(), list[Action]()
        placed = place_debounced(
            self._context.store,
            action,
            order.payload,
            by=self.actor,
            at=now,
            expiry_from=lambda due_at: order.expiry_from(due_at, now),
            count_new=lambda: counted.extend(self._take([(action, None)])),
        )
        self._give_back(counted, [placed])
        return placed

    def schedule_many(self, orders: Iterable[Order]) -> tuple[Action, ...]:
        """Schedule many payloads with few calls.

        All orders are checked before the first is written. The write is not all or nothing. Orders with an
        idempotency or debounce key are written first, each in its own call.

        Returns:
            For each order, the action that `schedule` returns.

        Raises:
            BackendUnavailable: some may not have been scheduled.
            KeyConflict: see `schedule`; some with a key may have been scheduled, and none without.
            DuetimeError: see `schedule`; none has been scheduled.
        """
        with self._span() as span:
            listed = list(orders)
            pairs = [self._new(order) for order in listed]
            span.set({spans.COUNT: len(pairs)})
            counted = self._take([pair for pair in pairs if pair[0].debounced is None])
            actions = [
                self._place_debounced(order, action)
                if action.debounced is not None
                else action
                if terms is None
                else self._put(order, action, terms)
                for order, (action, terms) in zip(listed, pairs, strict=True)
            ]
            self._give_back(counted, actions)
            unkeyed = [action for action, terms in pairs if terms is None and action.debounced is None]
            self._context.store.put_many(unkeyed)
            new = {action.id for action, _ in pairs}
            self._follow(action for action in actions if action.id in new)
        return tuple(actions)

    def batch(self, name: str, *, on_complete: Payload | None = None) -> OpenBatch:
        """Return a batch to fill; `duetime.actions.batches.OpenBatch` has its methods.

        ::

            with scheduler.batch("import-2027-03", on_complete=Report(month="2027-03")) as batch:
                batch.schedule_many(Order(ImportLine(number=n), at=timedelta(0)) for n in range(10_000))

        `on_complete` is scheduled with the batch, held until each member is final, and then runs once.

        Raises:
            InvalidArgument: the name is no batch's.
        """
        from duetime.actions.batches import OpenBatch  # noqa: PLC0415 - few callers have batches

        return OpenBatch(self._batch_writes, name, on_complete)

    @lazy_property
    def batches(self) -> Batches:
        """This tenant's batches: their progress, and changes of all members."""
        from duetime.actions.batches import Batches  # noqa: PLC0415 - few callers have batches

        return Batches(self._batch_writes)

    @lazy_property
    def _batch_writes(self) -> BatchWrites:
        from duetime.actions.batch_writes import BatchCallbacks, BatchWrites  # noqa: PLC0415 - as above

        return BatchWrites(
            self._context,
            BatchCallbacks(
                make=lambda orders: [self._new(order)[0] for order in orders],
                count=lambda members: (self._take([(member, None) for member in members]), None)[1],
                cancel=lambda row: self._actions.cancel(row.ref, row),
                redrive=lambda row, due_at: self._actions.redrive(row.ref, due_at, row),
            ),
        )

    @takes(Order)
    def transact_items(self, order: Order) -> tuple[Action, Sequence[Mapping[str, Any]]]:
        """Return an action, and the ``TransactItems`` entries that schedule it in your own transaction.

        ``client.transact_write_items(TransactItems=[{"Put": …}, *items])`` with a low-level DynamoDB client
        commits both or neither. This method writes nothing.

        If the idempotency key is taken, the condition of an entry does not hold and the transaction fails;
        `schedule` with the same key then returns the first action. Here, a key whose time has passed counts
        as taken until its action's row is removed.

        The arguments are those of `schedule`, without a debounce key and predecessors.
        """
        order.check_without("is not possible in a transaction of your own", "debounce_key", "after")
        with self._span() as span:
            action, terms = self._new(order)
            self._take([(action, terms)])
            span.about(action)
            return action, self._context.store.entries(action, terms)

    def get(self, action_id: str) -> Action:
        """Return an action in its present state.

        Raises:
            NotFound: this tenant has no such action.
        """
        return self._actions.get(action_id)

    def list(self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[Filters]) -> Page:
        """Return a page of the actions that meet all filters, without their payloads.

        The order depends on the index; see `duetime.actions.search`. Only one-shots are listed, unless
        ``job=`` or ``status="failed"`` selects runs of jobs. Filters without an index are applied to the
        rows read, so a page may be short and still have a cursor.

        Args:
            limit: the most actions, 1 to 200.
            cursor: the `cursor` of the previous page, with the same filters.
            filters: see `duetime.model.selection.Filters`.

        Raises:
            InvalidCursor: the cursor belongs to another query.
            InvalidArgument: there is no such filter or status, or a range ends before it begins; or a filter
                has no such value.
            NotFound: there is no such job.
        """
        return self._actions.page(Selection.parse(filters, self._context.clock.now()), limit, cursor)

    def cancel(self, action_id: str) -> Action:
        """Cancel a pending action; request that a running one stops, which its handler must check.

        Returns:
            The action: cancelled, or still processing with `cancel_request` set.

        Raises:
            NotFound: this tenant has no such action.
            StateConflict: it is settled already.
        """
        return self._actions.cancel(self._actions.ref(action_id))

    def cancel_many(
        self,
        *,
        dry_run: bool = False,
        limit: int = 200,
        cursor: str | None = None,
        **filters: Unpack[Filters],
    ) -> BulkResult:
        """Cancel all pending actions that meet the filters, and request that the running ones stop.

        Call again with the step's `cursor` until that is None::

            step = scheduler.cancel_many(correlation_id="order:17")
            while step.cursor:
                step = scheduler.cancel_many(correlation_id="order:17", cursor=step.cursor)

        Args:
            dry_run: change nothing, and return what would be changed.
            limit: the most actions in one step, 1 to 200.
            cursor: the `cursor` of the previous step, with the same filters.
            filters: see `list`; at least one, and none may be None.

        Raises:
            InvalidArgument: there is no filter, or one is None; or the status cannot be cancelled.
            BackendUnavailable: some may be cancelled; call again.
            DuetimeError: see `list`.
        """
        now, possible = self._context.clock.now(), {Status.PENDING, Status.PROCESSING}
        selection = bulk_selection(filters, now, "cancel", possible)
        page = self._actions.page(selection, limit, cursor)
        return change_many(
            page,
            lambda row: self._actions.cancel(row.ref, row),
            dry_run=dry_run,
            includes_runs=selection.has_runs,
        )

    def reschedule(
        self,
        action_id: str,
        at: When,
        *,
        tz: str | None = None,
        precision: Precision = "second",
        expires_at: datetime | None = None,
        expires_after: timedelta | None = None,
    ) -> Action:
        """Change the due time of a pending action; a wake for its old due time then has no effect.

        The arguments are those of `schedule`. Without a new expiry, the action's own stays.

        Raises:
            InvalidArgument: see `schedule`; or its own expiry is no later than `at`.
            NotFound: this tenant has no such action.
            StateConflict: it is not pending.
        """
        now = self._context.clock.now()
        due_at = instant.due_time(at, now=now, tz=tz, precision=precision)
        until = expiry_time(due_at, expires_at, expires_after, now=now, tz=tz)
        return self._actions.reschedule(self._actions.ref(action_id), due_at, until)

    def redrive(
        self,
        action_id: str,
        *,
        at: When = timedelta(0),
        tz: str | None = None,
        precision: Precision = "second",
    ) -> Action:
        """Run a failed action again, with all attempts that its policy allows.

        `at` and `precision` are those of `schedule`.

        Raises:
            NotFound: this tenant has no such action.
            StateConflict: it has not failed, or another action has its idempotency key now.
            SettingsError: see `schedule`.
        """
        self._check_shards()
        due_at = instant.due_time(at, now=self._context.clock.now(), tz=tz, precision=precision)
        return self._actions.redrive(self._actions.ref(action_id), due_at)

    def redrive_many(
        self,
        *,
        at: When = timedelta(0),
        tz: str | None = None,
        precision: Precision = "second",
        dry_run: bool = False,
        limit: int = 200,
        cursor: str | None = None,
        **filters: Unpack[Filters],
    ) -> BulkResult:
        """Run all failed actions that meet the filters again, `limit` in each step; see `cancel_many`.

        Args:
            at: their due time, now by default.
            tz: the zone of a local `at`.
            precision: see `schedule`.
            dry_run: change nothing, and return what would be changed.
            limit: the most actions in one step, 1 to 200.
            cursor: the `cursor` of the previous step, with the same filters.
            filters: see `cancel_many`; ``status="failed"`` is one.

        Raises:
            DuetimeError: see `cancel_many`, and `redrive` for `at`.
        """
        self._check_shards()
        now = self._context.clock.now()
        due_at = instant.due_time(at, now=now, tz=tz, precision=precision)
        selection = bulk_selection(filters, now, "redrive", {Status.FAILED})
        page = self._actions.page(selection, limit, cursor)
        return change_many(
            page,
            lambda row: self._actions.redrive(row.ref, due_at, row),
            dry_run=dry_run,
            includes_runs=selection.has_runs,
        )

    def dismiss(self, action_id: str, *, reason: str) -> Action:
        """Remove a failed action from the dead letters; it stays failed, and can still be redriven.

        A search with ``status="failed"`` alone, which finds dead letters, leaves it out.

        Args:
            action_id: of the failed action.
            reason: why no redrive is needed, in 1 to 500 characters.

        Raises:
            InvalidArgument: the reason is empty or too long.
            NotFound: this tenant has no such action.
            StateConflict: it has not failed, or was dismissed before.
        """
        return self._actions.dismiss(self._actions.ref(action_id), reason)

    def complete(self, token: str, *, result: Any = None) -> Action:
        """End a handed-over action as executed, by the token of its run; once.

        Args:
            token: what `Run.token` returned to the handler.
            result: stored with the action, at most 2 KB as JSON; tokens of hand-overs in it are masked.

        Returns:
            The executed action, without its payload.

        Raises:
            NotFound: no hand-over of this tenant has this token.
            HandOverEnded: the token was used, its time is over, or another run has taken the action over.
            StateConflict: the handler has not returned yet; call again in a second; or this region stands by;
                call the active one.
            InvalidArgument: JSON cannot carry the result, or it is larger than 2 KB.
            UnreadableRow: the action's row is damaged.
            BackendUnavailable: the action may or may not be executed; call again.
        """
        return self._hand_overs.complete(token, result)

    def fail(self, token: str, reason: str, *, retry: bool | timedelta = True) -> Action:
        """End a handed-over action as a failed attempt ends, by the token of its run; once.

        After a request to cancel, the action is cancelled instead.

        Args:
            token: see `complete`.
            reason: at most 500 characters of it are stored.
            retry: True: by the retry policy. A timedelta: after it, while the policy has attempts left.
                False: never.

        Returns:
            The action: pending again, failed or cancelled.

        Raises:
            InvalidArgument: the reason is empty, or `retry` is none of these.
            DuetimeError: see `complete`.
        """
        return self._hand_overs.fail(token, reason, retry)

    def approve(self, action_id: str, *, reason: str = "") -> Action:
        """Approve an action that waits for an approval, in this actor's name; once.

        It is executed, with the result ``{"approved": true, "by": actor, "reason": reason}``.

        Args:
            action_id: of an action whose handler returned `Run.await_approval`.
            reason: in the history, the result and the audit trail, at most 500 characters.

        Returns:
            The executed action, without its payload.

        Raises:
            NotFound: this tenant has no such action.
            StateConflict: it has never waited for an approval; or this region stands by; call the active one.
            HandOverEnded: it was decided before, has timed out, or was cancelled; nothing was changed.
            InvalidArgument: the reason is too long, or not printable.
            UnreadableRow: the action's row is damaged.
            BackendUnavailable: the decision may or may not be written; call again.
        """
        return self._decide(action_id, is_approved=True, reason=reason)

    def reject(self, action_id: str, *, reason: str) -> Action:
        """Reject an action that waits for an approval, in this actor's name; once.

        It fails without a retry; with ``on_reject="execute"`` it is executed, and the result has
        ``"approved": false``.

        Args:
            action_id: see `approve`.
            reason: in the history and the audit trail, 1 to 500 characters.

        Returns:
            The failed or executed action, without its payload.

        Raises:
            DuetimeError: see `approve`.
        """
        return self._decide(action_id, is_approved=False, reason=reason)

    def _decide(self, action_id: str, *, is_approved: bool, reason: str) -> Action:
        from duetime.model.decision import Decision  # noqa: PLC0415 - few callers decide

        decision = Decision(is_approved, self.actor, reason)
        return self._hand_overs.decide(self._actions.ref(action_id), decision)

    def heartbeat(self, token: str, *, progress: float | None = None, note: str = "") -> Beat:
        """Keep a handed-over action alive, by the token of its run, and store its progress.

        Args:
            token: see `complete`.
            progress: from 0 to 1; None stores none.
            note: stored with the progress, such as ``"12,000 of 30,000"``, at most 200 characters.

        Returns:
            Whether a cancel was requested, and when the next heartbeat must have come.

        Raises:
            InvalidArgument: the progress or the note is none of these, or a note comes without a progress.
            DuetimeError: see `complete`.
        """
        from duetime.model.hand_over import progress_of  # noqa: PLC0415 - few callers have a token

        return self._hand_overs.heartbeat(token, progress_of(progress, note))

    @lazy_property
    def jobs(self) -> Jobs:
        """The jobs that code declares, and this tenant's own.

        Raises:
            Unsupported: this scheduler has no back ends for jobs.
        """
        from duetime.jobs.jobs import Jobs  # noqa: PLC0415 - callers that only schedule load no cadences

        return Jobs(self._context, self._ports_of_jobs(), self._check_shards)

    @lazy_property
    def undelivered(self) -> UndeliveredClient:
        """The deployment's undelivered inputs of queues, streams and EventBridge, to list and redrive.

        Raises:
            Forbidden: this scheduler sees only its tenant's own data.
            Unsupported: it has no back ends for undelivered inputs.
        """
        from duetime.undelivered.undelivered_client import UndeliveredClient  # noqa: PLC0415 - rarely used

        if not self._context.sees_system:
            raise Forbidden("what is undelivered is the deployment's own, and for its operators only")
        if self._undelivered_ports is None:
            raise Unsupported(
                "this scheduler has no back ends for undelivered inputs; pass undelivered=UndeliveredPorts(…)"
            )
        return UndeliveredClient(self._undelivered_ports())

    @lazy_property
    def _hand_overs(self) -> HandOvers:
        from duetime.actions.hand_overs import HandOvers  # noqa: PLC0415 - few callers have a token

        context = self._context
        return HandOvers(
            context.store,
            self._jobs_or_none(),
            clock=context.clock,
            settings=context.settings,
            tenants={self.tenant_id, ids.SYSTEM_TENANT} if context.sees_system else {self.tenant_id},
            region=self._region,
            jitter_draw=partial(ids.share_of, context.random_bytes),
        )

    @lazy_property
    def _region(self) -> KnownRegion:
        from duetime.jobs.trusted_reading import KnownRegion  # noqa: PLC0415 - few callers have a token
        from duetime.ports.regions import NoRegions  # noqa: PLC0415 - as above

        regions = NoRegions() if self._job_ports is None else self._job_ports().regions
        return KnownRegion(regions, self._context.clock)

    def _jobs_or_none(self) -> Callable[[], JobStore] | None:
        return None if self._job_ports is None else (lambda: self._ports_of_jobs().jobs)

    @lazy_property
    def _actions(self) -> Actions:
        return Actions(
            self._context, self._history, self._jobs_or_none(), self._count_again, lambda: self._region
        )

    def _count_again(self, member: Action, /, *, is_redriven: bool) -> None:
        self._batch_writes.count_again(member, is_redriven=is_redriven)

    def _history(self, name: str, *, limit: int, cursor: str | None) -> Page:
        return self.jobs.history(name, limit=limit, cursor=cursor)

    def _check_shards(self) -> None:
        if self._hosted is not None:
            self._hosted.check_shards()

    def _ports_of_jobs(self) -> JobPorts:
        if self._job_ports is None:
            raise Unsupported("this scheduler has no back ends for jobs; pass jobs=JobPorts(…)")
        return self._job_ports()

    def _span(self) -> AbstractContextManager[spans.TraceSpan]:
        return spans.span(spans.SCHEDULE, lambda: {spans.TENANT: self.tenant_id})

    def _put(self, order: Order, action: Action, terms: KeyTerms | None) -> Action:
        store = self._context.store
        if terms is None:
            store.put(action)
            return action
        try:
            return store.put_once(action, terms)
        except KeyConflict as conflict:
            first = store.get(ActionRef(action.tenant_id, ids.ActionId(conflict.action_id)))
            if first is None or not order.is_repeat_of(first):
                raise
            return first

    def _take(self, orders: Orders) -> Sequence[Action]:
        if self._quotas is None:
            return ()
        return self._quotas.take_new(self.tenant_id, orders, self._context.store.first_of_key)

    def _give_back(self, counted: Sequence[Action], placed: Sequence[Action]) -> None:
        if self._quotas is None:
            return
        if repeats := {action.id for action in counted} - {action.id for action in placed}:
            self._quotas.give_back(self.tenant_id, [action for action in counted if action.id in repeats])

    def _new(self, order: Order) -> tuple[Action, KeyTerms | None]:
        action, terms = order.action(self._context, trace=spans.carried())
        if self._hosted is not None:
            self._hosted.check(action.type)
        return action, terms
