"""The simulated cloud: the real steps over memory back ends and a manual clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import UUID

from duetime import ids, instant
from duetime.app import App
from duetime.aws.items import to_item
from duetime.aws.keys import Item, is_row, ref_of
from duetime.aws.store import DynamoStore
from duetime.clock import SystemClock
from duetime.errors import CommitRejected, RejectedEntry, Unsupported
from duetime.jobs.jobs import Jobs
from duetime.memory.store import MemoryStore
from duetime.model.action import Action, ActionRef, Status
from duetime.model.built_in import DEADLINE, RESERVED
from duetime.ports.job_store import JobPorts
from duetime.ports.row_store import OnCommit
from duetime.ports.wakeups import Delivery
from duetime.scheduler import Scheduler
from duetime.settings import Settings
from duetime.testing.faults import DeadLetter, Faults
from duetime.testing.invariants import InvariantBroken, broken_in
from duetime.testing.journey import Journal, JournaledCloud
from duetime.testing.recorded_metrics import RecordedMetrics
from duetime.testing.turned_clock import TurnedClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from duetime_faults.faulty_cloud import FaultyCloud


_NO_REASON = "None"
_MILLISECOND = timedelta(milliseconds=1)
"""The precision of the creation time in an id."""


class TableSync:
    """Copies rows that changed: `read` from the table into the cloud, `write` back.

    Args:
        client: of DynamoDB; `duetime.testing.create_tables` has created the tables.
        settings: name the table.
        memory: the cloud's store.
    """

    def __init__(self, client: DynamoDBClient, settings: Settings, memory: MemoryStore) -> None:
        self._client, self._memory, self._settings = client, memory, settings
        self.store = DynamoStore(
            client, settings.made.actions_table, due_shards=settings.due_shards, due_order=settings.due_order
        )
        self._items: dict[ActionRef, Item] = {}
        self._rows: dict[ActionRef, Action] = {}

    def read(self) -> datetime | None:
        """Copy the table's new and changed rows; return the instant after the newest was created."""
        changed = [item for item in self._all() if self._items.get(ref_of(item)) != item]
        for item in changed:
            row = self.store.get(ref_of(item))
            if row is not None:
                self._items[row.ref], self._rows[row.ref] = item, row
                with self._memory.lock:
                    self._memory.write(self._memory.get(row.ref), row)
        one_shots = [ref_of(item).id for item in changed if ids.is_one_shot(ref_of(item).id)]
        return max([ids.created_at(name) + _MILLISECOND for name in one_shots], default=None)

    def write(self) -> None:
        """Copy the cloud's changed rows into the table."""
        for row in self._memory.rows():
            if self._rows.get(row.ref) != row:
                item = to_item(row, due_order=self._settings.due_order)
                self._client.put_item(TableName=self._settings.made.actions_table, Item=item)
                self._items[row.ref], self._rows[row.ref] = item, row

    def commit(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write the entries of a handler's commit in one transaction.

        Raises:
            CommitRejected: a condition of an entry does not hold.
        """
        cancelled = self._client.exceptions.TransactionCanceledException
        try:
            self._client.transact_write_items(TransactItems=list(entries))  # type: ignore[arg-type]
        except cancelled as error:
            reasons: Any = error.response.get("CancellationReasons", [])
            raise CommitRejected(
                [
                    RejectedEntry(index, reason["Code"])
                    for index, reason in enumerate(reasons)
                    if reason.get("Code", _NO_REASON) != _NO_REASON
                ]
            ) from error

    def _all(self) -> list[Item]:
        pages = self._client.get_paginator("scan").paginate(TableName=self._settings.made.actions_table)
        return [item for page in pages for item in page["Items"] if is_row(item)]


_START = datetime(2026, 1, 1, tzinfo=UTC)
_NAMES = ("prefix", "made.actions_table", "made.jobs_table", "made.schedule_group", "made.job_group")
"""The settings that name a deployment's data."""
_FRACTION = timedelta(seconds=1)
"""A worker sleeps for the last fraction of a second; here its delivery waits for the clock."""


class SimulatedCloud:
    """Runs an app in simulated time: ``cloud.advance(hours=3)`` does all that happens in three hours.

    `advance` runs the handlers one after another. With `faults` they may overlap in simulated time; a
    handler takes time by ``run.clock.wait_until(…)``. ``cloud.metrics`` holds the metrics.
    """

    def __init__(
        self,
        app: App,
        *,
        start: datetime | None = None,
        tenant_id: str = "acme",
        actor: str = "simulation",
        settings: Settings | None = None,
        faults: Faults | None = None,
        resources: Mapping[Any, object] | None = None,
        on_commit: OnCommit | None = None,
        dynamodb: DynamoDBClient | None = None,
    ) -> None:
        """Create a cloud.

        Args:
            app: the app that it runs.
            start: the initial time; by default 2026-01-01 in UTC, with `dynamodb` the present.
            tenant_id: the tenant of its `scheduler`.
            actor: the actor of its `scheduler`.
            settings: the deployment's settings.
            faults: the faults to inject; the same seed repeats them.
            resources: replacements of the app's resources, by type.
            on_commit: receives the entries of each commit, and may raise `CommitRejected`.
            dynamodb: a client, such as moto's, in whose tables (`create_tables`) your code schedules and
                handlers commit. `advance` runs what its actions table holds, and writes the results there.

        Raises:
            DeclarationError: the app is incomplete, or lacks such a resource.
            Unsupported: there are both `faults` and `dynamodb`, or `faults` without duetime-contract.
        """
        if dynamodb is not None and faults is not None:
            raise Unsupported("faults are injected into memory back ends; omit dynamodb, or faults")
        usual = Settings() if dynamodb is None else Settings.from_env()
        self.clock = TurnedClock(start or (_START if dynamodb is None else SystemClock().now()))
        self._settings, self._given = settings or usual, resources or {}
        app = app.with_resources(self._given)
        self._story, self.metrics = Journal(self.clock), RecordedMetrics()
        options: dict[str, Any] = {
            "clock": self.clock,
            "settings": self._settings,
            "story": self._story,
            "meter": self.metrics,
        }
        self._faulty = None if faults is None else _faulty_cloud()(app, faults=faults, **options)
        self._cloud = self._faulty or JournaledCloud(app, **options)
        self._table = None if dynamodb is None else self._joined(dynamodb)
        self._cloud.store.on_commit = on_commit or (self._table.commit if self._table else None)
        self._waiting_out: list[Delivery] = []
        self.scheduler = self.scheduler_for(tenant_id, actor)

    def _joined(self, dynamodb: DynamoDBClient) -> TableSync:

        return TableSync(dynamodb, self._settings, self._cloud.store)

    def scheduler_for(
        self, tenant_id: str, actor: str = "simulation", *, meets_faults: bool = False
    ) -> Scheduler:
        """Return a scheduler for another tenant of the same cloud.

        Args:
            tenant_id: the tenant.
            actor: the actor.
            meets_faults: whether its calls may be throttled and their answers lost, so that they raise
                `BackendUnavailable`, and its clock is off.
        """
        backends = self._cloud.seen_by_caller(actor if meets_faults else None)
        return Scheduler(
            self._table.store if self._table else backends.store,
            tenant_id=tenant_id,
            actor=actor,
            clock=backends.clock,
            settings=self._settings,
            jobs=JobPorts(backends.jobs, backends.routes, backends.job_wakes.precision),
            undelivered=self._cloud.undelivered_ports,
            quotas=self._cloud.usage_quotas,
            random_bytes=self._cloud.random_bytes,
        )

    @property
    def memory(self) -> JournaledCloud:
        """The memory cloud below the simulation, for tests that lose or break something."""
        return self._cloud

    @property
    def jobs(self) -> Jobs:
        """The jobs, as their operators see them."""
        return self.scheduler.jobs

    def deploy(self, app: App, *, settings: Settings | None = None) -> tuple[str, ...]:
        """Deploy another version of the app; return a line for each changed job.

        The cloud's resources replace this app's, too.

        Args:
            app: the app.
            settings: the deployment's new settings; by default, they stay. Schedulers that you hold keep the
                settings before, as callers do that are deployed later; `scheduler` has the new ones.

        Raises:
            DeclarationError: the app is incomplete.
            Unsupported: the settings name other tables: that is another deployment.
        """
        self._check_names(settings or self._settings)
        app = app.with_resources(
            {kind: value for kind, value in self._given.items() if kind in app.resources}
        )
        app.complete()  # before anything changes
        changes = self._cloud.deploy(app, settings).changes
        if settings is not None:
            self._settings = settings
            self.scheduler = self.scheduler_for(self.scheduler.tenant_id, self.scheduler.actor)
        return changes

    def _check_names(self, settings: Settings) -> None:
        for name in _NAMES:
            now, new = map(attrgetter(name), (self._settings, settings))
            if now != new:
                raise Unsupported(
                    f"a deploy cannot change {name} from {now!r} to {new!r}: make another cloud"
                )

    def send_event(
        self,
        source: str,
        type: str,  # noqa: A002 - EventBridge's word
        detail: Mapping[str, Any],
        *,
        id: str | None = None,  # noqa: A002 - as above
    ) -> None:
        """Put an event on the bus; the same `id` means the same event."""
        at = self.now.replace(microsecond=0)
        event_id = str(UUID(bytes=self._cloud.random_bytes(16))) if id is None else id
        self._cloud.event(
            {
                "id": event_id,
                "time": instant.text(at),
                "source": source,
                "detail-type": type,
                "detail": detail,
            }
        )
        self._do_what_is_due()

    @property
    def now(self) -> datetime:
        """The simulated time."""
        return self.clock.now()

    def actions(self, status: Status | str | None = None) -> tuple[Action, ...]:
        """Return all tenants' actions by id, optionally of one status.

        The system's passes, and its checks of deadlines, are left out.
        """
        return tuple(
            row
            for row in self._cloud.store.rows()
            if status in {None, row.status}
            and not (row.job or "").startswith(RESERVED)
            and row.type != DEADLINE
        )

    def events(self, type: str | None = None) -> tuple[Mapping[str, Any], ...]:  # noqa: A002 - EventBridge's word
        """Return the published lifecycle events as subscribers get them, optionally of one type."""
        return tuple(event for event in self._cloud.bus.published if type in {None, event["detail-type"]})

    def advance(self, span: timedelta | None = None, /, **units: float) -> None:
        """Let time pass: ``advance(minutes=5)`` or ``advance(timedelta(minutes=5))``."""
        self._read_table()
        until = self.now + (span or timedelta(**units))
        self._do_what_is_due()
        while (next_at := self._next_at()) <= until:
            self.clock.wait_until(next_at)
            self._do_what_is_due()
        self.clock.wait_until(until)
        self._write_table()

    def end_faults(self) -> None:
        """Inject no more faults; delayed and paused work continues at its time."""
        if self._faulty is not None:
            self._faulty.dice.are_fair = True
            self._story.record("simulation", "", "the faults are over")

    @property
    def dead_letters(self) -> Sequence[DeadLetter]:
        """Messages that were received too often, and functions that failed too often."""
        return () if self._faulty is None else tuple(self._faulty.calls.dead_letters)

    def story(self, about: str | None = None) -> str:
        """Return the journal, optionally of one action's id or job's name."""
        return "\n".join(self._story.lines(about))

    def check(self) -> None:
        """Check the scheduler's invariants.

        Faults are repaired within minutes, at the latest by the next catch-up: end them, advance, then check.

        Raises:
            InvariantBroken: an invariant does not hold; the message has the seed and the story.
        """
        broken = [*(self._faulty.broken() if self._faulty else ()), *broken_in(self._cloud)]
        if broken:
            seed = self._faulty.dice.faults.seed if self._faulty else None
            raise InvariantBroken(broken, seed=seed, story=self.story())

    def close(self) -> None:
        """End all processes. A cloud with faults has a thread for each unfinished handler."""
        if self._faulty is not None:
            self._faulty.processes.end()

    def _next_at(self) -> datetime:
        return min([self._cloud.next_at(), *(delivery.message.due_at for delivery in self._waiting_out)])

    def _do_what_is_due(self) -> None:
        ready = [delivery for delivery in self._waiting_out if not self._waits(delivery)]
        self._waiting_out = [delivery for delivery in self._waiting_out if self._waits(delivery)]
        for deliveries in self._cloud.batches_of(ready):
            self._run(*deliveries)
        while (delivery := self._cloud.turn()) is not None:
            deliveries = [delivery, *self._cloud.companions(delivery)]
            self._waiting_out += filter(self._waits, deliveries)
            if now := [delivery for delivery in deliveries if not self._waits(delivery)]:
                self._run(*now)

    def _waits(self, delivery: Delivery) -> bool:
        return self.now < delivery.message.due_at <= self.now + _FRACTION

    def _run(self, *deliveries: Delivery) -> None:
        self._cloud.run(*deliveries)
        self._write_table()
        self._read_table()

    def _write_table(self) -> None:
        if self._table is not None:
            self._table.write()

    def _read_table(self) -> None:
        """Take the table's rows; the clock is at least at the whole second after the newest one's creation.

        A span of that row then ends at the latest when the clock has advanced by it.
        """
        if self._table is not None and (newest := self._table.read()) is not None:
            self.clock.wait_until(newest + (instant.EARLIEST - newest) % _FRACTION)


def _faulty_cloud() -> type[FaultyCloud]:
    try:
        from duetime_faults.faulty_cloud import FaultyCloud  # noqa: PLC0415 - another distribution has it
    except ImportError:
        raise Unsupported(
            "faults need the distribution duetime-contract: pip install duetime-contract"
        ) from None
    return FaultyCloud
