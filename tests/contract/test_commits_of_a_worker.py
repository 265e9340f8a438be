"""What a worker makes of a commit that is in doubt, comes late or is refused: its effect is there once."""

import logging
from dataclasses import replace

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from duetime import App, Breaker, Payload, Run
from duetime.aws.jobs import DynamoJobStore
from duetime.errors import BackendUnavailable, CommitRejected
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.notes import MemoryRoutes
from duetime.memory.wakes import MemoryQueues
from duetime.model.action import Status
from duetime.model.breaker import FailureCount, pause_of_breaker
from duetime.model.run import RunCancelled
from duetime.ports.wakeups import Delivery, DueMessage
from duetime.ports.work_pauses import WorkPauses
from duetime.settings import DUE_SHARDS, Settings
from duetime.testing import TurnedClock
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import DeliveryResult, Worker
from duetime_contract.committing import commit
from duetime_contract.specimens import NOON, ORPHANED_AT, SECOND, claim, fresh, running, stored_row
from tests.backends import backends
from tests.contract.commit_faults import Network, lost, unanswered
from tests.contract.commit_faults import store as store  # noqa: PLC0414 - a fixture
from tests.contract.ledger import ledger as ledger  # noqa: PLC0414 - a fixture


class Book(Payload):
    pass


class Shop:
    """A worker whose handler books and commits, over DynamoDB behind a network."""

    def __init__(self, table, client, handler, *, breaker=None):
        self.app, self.clock, settings = App(), TurnedClock(NOON), Settings()
        self.pauses = WorkPauses(MemoryItems())

        def book(payload: Book, run: Run) -> None:
            handler(run)

        self.app.action(breaker=breaker)(book)
        self.steady, store = table.store(), table.store(client)
        self.queues, routes = MemoryQueues(self.clock, settings.made.queue_visibility), MemoryRoutes()
        jobs = DynamoJobStore(client, table.name, "duetime-jobs", due_shards=DUE_SHARDS)
        given = {"clock": self.clock, "settings": settings, "pauses": self.pauses}
        over = backends(store, jobs=jobs, queues=self.queues, routes=routes, **given)
        self.work = Worker(self.app.handler_set, over, Heartbeat(over), instance="w")
        self.action = replace(fresh(self.steady), type="book", payload="{}")
        self.steady.put(self.action)

    def run(self):
        """Deliver its message, as if for the first time."""
        message = DueMessage(ref=self.action.ref, type="book", due_at=NOON, generation=1)
        return self.work(Delivery(message, NOON, "receipt"))

    @property
    def row(self):
        return stored_row(self.steady, self.action.ref)


def test_a_run_whose_commit_is_in_doubt_is_repeated_after_its_lease_and_has_its_effect_once(table, ledger):
    network = Network(table.client, *[lost] * 3)
    shop = Shop(table, network, lambda run: run.commit([ledger.book()]))
    assert shop.run() is DeliveryResult.PUT_OFF
    assert (shop.row.status, shop.row.fence, ledger.balance()) == (Status.PROCESSING, 1, 0)
    shop.clock.wait_until(shop.queues.next_at())
    assert shop.clock.now() > shop.row.lease_until
    assert shop.run() is DeliveryResult.RAN
    assert (shop.row.status, shop.row.attempt, shop.row.recoveries) == (Status.EXECUTED, 1, 1)
    assert ledger.balance() == 1


def test_a_probe_whose_commit_is_in_doubt_lets_another_run_probe(table, ledger):
    breaker = Breaker(failures=1, within="1m", open_for="1s")
    network = Network(table.client, *[lost] * 3)
    shop = Shop(table, network, lambda run: run.commit([ledger.book()]), breaker=breaker)
    count = FailureCount(tenant_id=shop.action.tenant_id, type="book")
    shop.pauses.begin(pause_of_breaker(breaker, count, "down", pause_id=shop.action.id, now=NOON - SECOND))
    assert shop.run() is DeliveryResult.PUT_OFF
    assert shop.row.status is Status.PROCESSING
    [opened] = shop.pauses.list()
    assert (opened.ended_at, opened.breaker.probe) == (None, None)


def test_a_run_whose_commit_was_made_but_could_not_be_known_is_not_repeated(table, ledger):
    network = Network(table.client, unanswered, lost, lost, reads=False)
    shop = Shop(table, network, lambda run: run.commit([ledger.book()]))
    assert shop.run() is DeliveryResult.PUT_OFF
    network.reads = True
    shop.clock.wait_until(shop.queues.next_at())
    assert shop.run() is DeliveryResult.NOTHING_TO_DO
    assert (shop.row.status, shop.row.fence, ledger.balance()) == (Status.EXECUTED, 1, 1)


def test_a_commit_that_arrives_when_its_run_has_been_taken_over_is_not_made(table, ledger):
    late = []

    def overtaken(call):
        late.append(call)
        raise ReadTimeoutError(endpoint_url="the table")

    shop = Shop(table, Network(table.client, overtaken, lost, lost), lambda run: run.commit([ledger.book()]))
    shop.run()
    shop.clock.wait_until(shop.queues.next_at())
    shop.run()
    with pytest.raises(ClientError, match="ConditionalCheckFailed"):
        late.pop()()
    assert (shop.row.status, shop.row.fence, ledger.balance()) == (Status.EXECUTED, 2, 1)


@pytest.mark.parametrize("then", [None, ValueError("gave up"), "commit something else"])
def test_a_run_in_doubt_is_left_alone_whatever_its_handler_does(table, ledger, then):
    def handler(run):
        with pytest.raises(BackendUnavailable):
            run.commit([ledger.book()])
        if then == "commit something else":
            with pytest.raises(BackendUnavailable):
                run.commit([ledger.book(account="other")])
        elif then is not None:
            raise then

    shop = Shop(table, Network(table.client, *[lost] * 3), handler)
    assert shop.run() is DeliveryResult.PUT_OFF
    assert (shop.row.status, shop.row.attempts[-1].ending) == (Status.PROCESSING, None)
    assert (ledger.balance(), ledger.balance("other")) == (0, 0)


def test_a_run_that_was_taken_over_stops_at_its_commit_and_settles_nothing(table, ledger, caplog):
    def handler(run):
        claim(shop.steady, shop.action.ref, ORPHANED_AT)
        with pytest.raises(RunCancelled):
            run.commit([ledger.book()])
        assert run.cancelled
        run.commit([ledger.book()])

    shop = Shop(table, table.client, handler)
    with caplog.at_level(logging.WARNING):
        assert shop.run() is DeliveryResult.RAN
    assert "lease lost" in caplog.text
    assert (shop.row.status, shop.row.fence, ledger.balance()) == (Status.PROCESSING, 2, 0)


def test_a_handler_can_catch_a_rejection_and_commit_other_entries(table, ledger):
    def handler(run):
        try:
            run.commit([ledger.open(), ledger.book(account="opened")])
        except CommitRejected:
            run.commit([ledger.book()])

    commit(table.store(), running(table.store()), [ledger.open()])
    shop = Shop(table, table.client, handler)
    assert shop.run() is DeliveryResult.RAN
    assert (ledger.balance(), ledger.balance("opened")) == (101, 0)
    assert (shop.row.status, shop.row.attempt) == (Status.EXECUTED, 1)
    assert shop.row.attempts[-1].finished_at is not None
