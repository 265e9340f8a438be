"""Two simulated regions: one runs the app, one stands by. ``regions.fail_over()`` switches.

The rows replicate with a lag; `split` cuts replication, and one region from the item of the active region.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

from duetime.app import App
from duetime.memory.keyed_items import MemoryItems
from duetime.model.action import Action, ActionRef, Status
from duetime.model.active_region import ActiveRegion, epoch_of
from duetime.model.change import Change
from duetime.ports.batches import BATCH
from duetime.ports.job_state import CURRENT, DEFINITION, STATE
from duetime.ports.job_store import JobPorts
from duetime.ports.keyed_items import Key
from duetime.ports.row_store import OnCommit
from duetime.ports.work_pauses import FAILURES, PAUSE
from duetime.scheduler import Scheduler
from duetime.settings import Settings
from duetime.testing.faults import Faults
from duetime.testing.journey import Journal, short
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.failover import Reconciled, Switch, TakeOver
from duetime_faults.dice import Dice
from duetime_faults.faulty_cloud import FaultyCloud
from duetime_faults.replication import ReplicatedItems, Replication
from duetime_faults.shared_region import MemoryActiveRegions, SharedRegionItem

FIRST, SECOND = "eu-central-1", "eu-west-1"
_START = datetime(2026, 1, 1, tzinfo=UTC)
_OPERATOR = "operator"
OF_BATCHES = BATCH.partition.rpartition("}")[2]
"""Batches do not replicate here."""


class RegionalCloud(FaultyCloud):
    """One region: a faulty cloud that also gets replicas."""

    _is_replica = False

    def _changed(self, change: Change) -> None:
        if not self._is_replica:
            super()._changed(change)
            return
        self._story.record_change("replication", change)
        if change.new is not None:
            self.watch.replicated(change.new)
        if self._lets_through(change):
            self.stream.add(change)

    def _called(self, function: str, began_at: datetime, error: BaseException | None) -> None:
        if self.steps.region.is_active():
            super()._called(function, began_at, error)

    def broken(self) -> Iterator[str]:
        """Yield forbidden writes. A row and its job's statistics replicate apart, so those may differ."""
        yield from self.watch.broken
        yield from self._liveness.broken
        yield from self._counts.broken(self.store.rows())

    def replicated(self) -> dict[str, ReplicatedItems]:
        """Return the items that replicate, by kind."""
        store, jobs = self.store, self.job_store.items
        shared = {PAUSE.partition, FAILURES.partition}
        maps: dict[str, tuple[MutableMapping[Any, Any], Callable[[Any, Any], None]]] = {
            "row": (store.table.by_ref, self._apply_row),
            **{
                name: (view, view.__setitem__)
                for name, view in (
                    ("item", ItemsBut(store.items, lambda key: key.partition.endswith(OF_BATCHES))),
                    ("switch", ItemsBut(self.items, lambda key: key.partition not in shared)),
                    ("job", JobItems(jobs)),
                    ("history", ItemsBut(jobs, lambda key: key.sort.startswith(CURRENT))),
                )
            },
        }
        return {kind: ReplicatedItems(items, apply) for kind, (items, apply) in maps.items()}

    def _apply_row(self, ref: ActionRef, row: Action) -> None:
        self._is_replica = True
        try:
            self.store.write(self.store.get(ref), row)
        finally:
            self._is_replica = False

    def live_runs(self) -> Iterator[Action]:
        """Yield the rows whose lease is live by the clock of a worker in this region."""
        return (
            row
            for row in self.store.table.by_ref.values()
            if row.status is Status.PROCESSING and not row.is_handed_over and self.watch.is_live(row)
        )


class ItemsBut(MutableMapping[Key, Any]):
    """The items of a table that replicate each by itself, by key; all but some."""

    def __init__(self, items: MemoryItems, is_left_out: Callable[[Key], bool]) -> None:
        self._items, self._is_left_out = items, is_left_out

    def __getitem__(self, key: Key) -> Any:
        if (item := self._items.item_at(key)) is None:
            raise KeyError(key)
        return item

    def __setitem__(self, key: Key, item: Any) -> None:
        self._items.replace(key, item)

    def __delitem__(self, key: Key) -> None:
        self._items.replace(key, None)

    def __iter__(self) -> Iterator[Key]:
        keys = (Key(place, sort) for place, part in self._items.partitions.items() for sort in part.items)
        return (key for key in keys if not self._is_left_out(key))

    def __len__(self) -> int:
        return len([*self])


class JobItems(ItemsBut):
    """State and definition of each job, by the key of the state: they replicate at once."""

    def __init__(self, items: MemoryItems) -> None:
        super().__init__(items, lambda key: key.sort != STATE)

    def __getitem__(self, key: Key) -> Any:
        return super().__getitem__(key), self._items.item_at(key._replace(sort=DEFINITION))

    def __setitem__(self, key: Key, item: Any) -> None:
        state, definition = item
        self._items.replace(key, state)
        self._items.replace(key._replace(sort=DEFINITION), definition)


class TwoRegions:
    """Two regions of one app, with one clock.

    Args:
        app: the app, deployed in both.
        faults: those of each region; the seed also draws the lag of each item.
        lag: the longest lag of replication.
        settings: those of both regions.
        on_commit: receives the region and the entries of each commit.
    """

    def __init__(
        self,
        app: App,
        *,
        faults: Faults,
        lag: timedelta = timedelta(seconds=5),
        settings: Settings | None = None,
        start: datetime = _START,
        on_commit: Callable[[str, Any], object] | None = None,
    ) -> None:
        self.clock, self.settings, self.lag = TurnedClock(start), settings or Settings(), lag
        self.shared = SharedRegionItem(
            ActiveRegion(epoch=1, region=FIRST, target=FIRST, moved_at=start, by=_OPERATOR)
        )
        self._lags, self.broken = Dice(faults), list[str]()
        self.clouds = {
            name: self._cloud(app, name, replace(faults, seed=2 * faults.seed + number), on_commit)
            for number, name in enumerate((FIRST, SECOND))
        }
        items = {name: cloud.replicated() for name, cloud in self.clouds.items()}
        draw, numbers = lambda: self._lags.random.random() * self.lag, count()
        self.replications = {
            FIRST: Replication(items[FIRST], items[SECOND], draw, numbers),
            SECOND: Replication(items[SECOND], items[FIRST], draw, numbers),
        }
        self.gone: str | None = None

    def _cloud(
        self, app: App, name: str, faults: Faults, on_commit: Callable[[str, Any], object] | None
    ) -> RegionalCloud:
        regions = MemoryActiveRegions(name, self.shared)
        story = Journal(self.clock)
        cloud = RegionalCloud(
            app, clock=self.clock, settings=self.settings, faults=faults, story=story, regions=regions
        )
        cloud.store.on_commit = None if on_commit is None else self._commit_in(name, on_commit)
        return cloud

    @staticmethod
    def _commit_in(name: str, on_commit: Callable[[str, Any], object]) -> OnCommit:
        return partial(on_commit, name)

    @property
    def now(self) -> datetime:
        """The simulated time."""
        return self.clock.now()

    @property
    def active(self) -> RegionalCloud:
        """The region that is active, or was last."""
        item = self.shared.item
        return self.clouds[(item and (item.region or item.source)) or FIRST]

    def scheduler(self, region: str, tenant_id: str = "acme") -> Scheduler:
        """Return a caller's scheduler in a region, without faults."""
        cloud = self.clouds[region]
        backends = cloud.seen_by_caller(None)
        return Scheduler(
            backends.store,
            tenant_id=tenant_id,
            actor="caller",
            clock=self.clock,
            settings=self.settings,
            jobs=JobPorts(backends.jobs, backends.routes, backends.job_wakes.precision, backends.regions),
            random_bytes=cloud.random_bytes,
        )

    def advance(self, span: timedelta | None = None, /, **units: float) -> None:
        """Let time pass in both regions."""
        until = self.now + (span or timedelta(**units))
        self._turn()
        while (next_at := self._next_at()) <= until:
            self.clock.wait_until(next_at)
            self._turn()
        self.clock.wait_until(until)

    def split(self) -> None:
        """Cut the first region off: from the second, and from the item of the active region."""
        self.shared.unreachable.add(FIRST)
        for replication in self.replications.values():
            replication.is_cut = True

    def heal(self) -> None:
        """End the split; what was delayed arrives, and the last writer of each item wins."""
        self.shared.unreachable.clear()
        for replication in self.replications.values():
            replication.heal(self.now)

    def destroy(self) -> list[Action]:
        """Destroy the first region; return the rows whose last write never reaches the second."""
        self.gone = FIRST
        self.clouds[FIRST].processes.end()
        self.replications[SECOND].is_cut = True
        return [replica.value for replica in self.replications[FIRST].lose() if replica.kind == "row"]

    def end_faults(self) -> None:
        """Inject no more faults."""
        for cloud in self.clouds.values():
            cloud.dice.are_fair = True

    def fail_over(self, target: str = SECOND) -> Reconciled:
        """Switch to a region as the command does; both regions go on meanwhile."""
        cloud = self.clouds[target]
        regions = MemoryActiveRegions(target, self.shared)
        switch = Switch(regions, clock=self.clock, settings=self.settings, by=_OPERATOR)
        fenced = switch.fence(target)
        self.advance(switch.quiet_time)
        switch.activate(fenced)
        return TakeOver(cloud.seen_by_caller(None))(fenced.moved_at)

    def story(self, about: str | None = None) -> str:
        """Return the journals of both regions."""
        parts = (f"{name}:\n{cloud.story(about)}" for name, cloud in self.clouds.items())
        return "\n\n".join(parts)

    def close(self) -> None:
        """End all processes."""
        for cloud in self.clouds.values():
            cloud.processes.end()

    def _next_at(self) -> datetime:
        sources = [cloud.next_at() for name, cloud in self.clouds.items() if name != self.gone]
        arrivals = (replication.next_at() for replication in self.replications.values())
        return min([*sources, *(at for at in arrivals if at is not None)])

    def _turn(self) -> None:
        for replication in self.replications.values():
            replication.deliver(self.now)
        for name, cloud in self.clouds.items():
            if name != self.gone:
                cloud.turn()
                self.replications[name].send(self.now)
                self._check_epochs()

    def _check_epochs(self) -> None:
        """All live leases are of one epoch: once it has moved, none of the former region is live."""
        live = {epoch_of(row.fence): (name, row) for name, row in self._live()}
        if len(live) > 1:
            runs = ", ".join(f"{short(row.id)} of epoch {at} in {name}" for at, (name, row) in live.items())
            self.broken.append(f"{self.now:%H:%M:%S} live leases of two epochs: {runs}")

    def _live(self) -> Iterator[tuple[str, Action]]:
        for name, cloud in self.clouds.items():
            if name != self.gone:
                yield from ((name, row) for row in cloud.live_runs())
