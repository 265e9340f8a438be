"""Breakers in random worlds with faults: no two are open for one type, each closes, and nothing is lost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from unittest.mock import patch

import pytest

from duetime import App, Breaker, Payload, Run
from duetime.ids import new_action_id
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.breaker import FailureCount, pause_of_breaker
from duetime.model.outcome import of_error
from duetime.ports.meter import UNMETERED
from duetime.ports.work_pauses import WorkPauses
from duetime.retry import RetryPolicy
from duetime.testing import Faults, SimulatedCloud, TurnedClock
from duetime.wakeups.due_messages import message_of
from duetime.worker.breakers import Breakers
from duetime.worker.paused_work import PausedWork
from duetime_contract.specimens import ACME, fresh
from tests.backends import backends
from tests.proof.failing_worlds import RemovedGuards
from tests.proof.world import LOSE_ALL

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
TENANTS = ("acme", "bolt")
OPEN_FOR = 3 * MINUTE


class Receipt(Payload):
    pass


class World:
    """A service that is down for forty minutes, and many calls of it by two tenants."""

    def __init__(self, seed):
        app, self.is_down, self.probes = App(), True, []

        @app.action(
            breaker=Breaker(failures=3, within="5m", open_for=OPEN_FOR),
            retry=RetryPolicy(attempts=50, backoff=20),
        )
        def send_receipt(payload: Receipt, run: Run) -> None:
            del payload
            self.probes.append((run.tenant_id, self.cloud.now))
            self.cloud.clock.wait_until(self.cloud.now + 2 * SECOND)
            if self.is_down:
                raise ConnectionError("SES is down")

        self.quiet_since = self.quiet_until = NOON
        self.cloud = SimulatedCloud(app, start=NOON, faults=Faults(seed, lose_all=LOSE_ALL))

    def live(self):
        for number in range(12):
            for tenant in TENANTS:
                self.cloud.scheduler_for(tenant).schedule(Receipt(), at=number * MINUTE)
        for _ in range(15):
            self.cloud.advance(minutes=1)
            if any(map(self.has_two_open, TENANTS)):
                return  # they make work for each other, without an end
        self.cloud.end_faults()
        self.cloud.advance(minutes=15)
        self.quiet_since = self.cloud.now
        self.cloud.advance(minutes=10)
        self.quiet_until = self.cloud.now
        self.is_down = False
        self.cloud.advance(minutes=50)
        self.cloud.close()

    def pauses_of(self, tenant):
        return [pause for pause in self.cloud.memory.pauses.list() if pause.tenant_id == tenant]

    def has_two_open(self, tenant):
        """Whether two breakers of a tenant are or were open at once."""
        mine = sorted(self.pauses_of(tenant), key=lambda pause: pause.since)
        return any(one.end is None or after.since < one.end for one, after in pairwise(mine))

    def broken(self):
        """What is wrong after that."""
        for row in self.cloud.actions():
            if row.status is not Status.EXECUTED:
                yield f"{row.id} is {row.status}"
        for tenant in TENANTS:
            if any(pause.end is None for pause in self.pauses_of(tenant)):
                yield f"a breaker of {tenant} is still open"
            if self.has_two_open(tenant):
                yield f"two breakers of {tenant} were open at once"
            at = [
                when
                for who, when in self.probes
                if who == tenant and self.quiet_since < when < self.quiet_until
            ]
            if any(later - when < OPEN_FOR for when, later in pairwise(at)):
                yield f"two runs of {tenant} probed within one time"


class Probers:
    """Four processes that know one open breaker, and get messages of its type one after another."""

    def __init__(self, seed):
        self.draw, self.clock, stored = Random(seed), TurnedClock(NOON), WorkPauses(MemoryItems())  # noqa: S311 - repeatable
        app = App()

        @app.action(breaker=Breaker(failures=1, within="5m", open_for=OPEN_FOR), timeout=15 * MINUTE)
        def send_receipt(payload: Receipt) -> None: ...

        count = FailureCount(tenant_id=ACME, type="receipt")
        breaker = app.handlers["receipt"].breaker
        stored.begin(pause_of_breaker(breaker, count, None, pause_id=new_action_id(NOON), now=NOON))
        self.processes = []
        for _ in range(4):
            known = KnownPauses(stored, self.clock)
            over = backends(pauses=stored, clock=self.clock)
            probers = Breakers(over, known, app.handlers, UNMETERED)
            self.processes.append((PausedWork(known, "default"), probers))

    def two_probe(self):
        """Return whether two runs probe at once; the one that probes fails, after a while."""
        probing = None
        for _ in range(300):
            self.clock.wait_until(self.clock.now() + self.draw.choice([0, 0, 1, 20]) * SECOND)
            if probing and self.draw.random() < 0.1:
                process, row = probing
                process.end_probe(row, of_error(ValueError("down")), is_committed=False)
                probing = None
            paused, process = self.draw.choice(self.processes)
            row = replace(fresh(MemoryStore()), type="receipt", due_at=self.clock.now())
            hold = paused.hold_of(message_of(row))
            if hold is not None and process.try_probe(hold, message_of(row)):
                if probing:
                    return True
                probing = process, row
        return False


def first_broken(seeds):
    for seed in seeds:
        world = World(seed)
        world.live()
        if broken := list(world.broken()):
            return seed, broken
    return None


def test_breakers_open_one_at_a_time_probe_one_run_and_close(few_seeds):
    assert first_broken(few_seeds) is None


@pytest.mark.long
def test_breakers_open_one_at_a_time_in_many_more_worlds(many_seeds):
    assert first_broken(many_seeds) is None


def without_the_condition_on_the_count():
    return patch.object(WorkPauses, "count_failure", without_guards(WorkPauses.count_failure))


def without_guards(method):
    """Return the method of a kind of items, whose writes then have no guards."""

    def call(self, *args):
        return method(type(self)(Unguarded(self._items)), *args)

    return call


class Unguarded:
    """Items whose writes have no guards."""

    def __init__(self, items):
        self._items = items

    def write(self, *writes, **options):
        return self._items.write(*(replace(write, guard=()) for write in writes), **options)


COUNT = "failures are counted only as they were read"
REMOVED = RemovedGuards("breakers", first_broken, {COUNT: without_the_condition_on_the_count})


def test_without_the_condition_on_the_count_two_breakers_open():
    assert REMOVED.fails_without(COUNT)


def first_two_probes(seeds):
    """Return the first seed with which two runs probe at once; None if there is none."""
    return next(((seed, "two runs probe at once") for seed in seeds if Probers(seed).two_probe()), None)


def test_of_processes_that_know_an_open_breaker_one_probes():
    assert first_two_probes(range(12)) is None


@pytest.mark.long
def test_of_processes_that_know_an_open_breaker_one_probes_with_many_more_seeds(many_seeds):
    assert first_two_probes(range(many_seeds[0], many_seeds[-1] + 1)) is None


def without_the_condition_of_a_probe():
    return patch.object(WorkPauses, "replace", without_guards(WorkPauses.replace))


PROBE = "a probe replaces only the pause that it read"
PROBERS = RemovedGuards("probers", first_two_probes, {PROBE: without_the_condition_of_a_probe})


def test_without_the_condition_of_a_probe_two_runs_probe_at_once():
    assert PROBERS.fails_without(PROBE)
