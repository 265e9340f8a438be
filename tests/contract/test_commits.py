"""A handler's own writes and the settle of its action in DynamoDB: exactly once, whatever is lost on the way."""

import logging
from collections import deque
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from duetime import App, Payload, Run
from duetime.action import Status
from duetime.aws.commits import Commit
from duetime.aws.jobs import DynamoJobStore
from duetime.aws.tables import JOBS, create_table_request
from duetime.errors import BackendMisconfigured, BackendUnavailable, CommitRefused, RefusedEntry
from duetime.heartbeat import Heartbeat
from duetime.lease import SettleResult
from duetime.memory.notes import MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.memory.wakes import MemoryQueues
from duetime.ports import Delivery, DueMessage
from duetime.run import RunCancelled
from duetime.settings import DUE_SHARDS, Settings
from duetime.testing import TurnedClock
from duetime.testing.contract.committing import (
    DONE,
    LOST,
    CommitContract,
    OccurrenceCommitContract,
    commit,
    commit_run,
    executed,
)
from duetime.testing.contract.job_specimens import added, standing_job, taken
from duetime.testing.contract.races import together
from duetime.testing.contract.specimens import (
    HOUR,
    NOON,
    ORPHANED_AT,
    claim,
    end,
    fresh,
    running,
    standing,
    terms,
)
from duetime.work import Result, Work, WorkerPorts

LEDGER = "ledger"


class Network:
    """Makes the calls of a client, but each commit as `weather` says, until that is used up."""

    def __init__(self, client, *weather, reads=True):
        self._client, self.weather, self.reads = client, deque(weather), reads

    def __getattr__(self, name):
        found = getattr(self._client, name)
        if name == "get_item":
            return partial(self._read, found)
        return partial(self._transact, found) if name == "transact_write_items" else found

    def _read(self, found, **asked):
        if not self.reads:
            raise EndpointConnectionError(endpoint_url="the table")
        return found(**asked)

    def _transact(self, found, **asked):
        if not self.weather or "ClientRequestToken" not in asked:
            return found(**asked)
        return self.weather.popleft()(partial(found, **asked))


def lost(_call):
    """It never arrives."""
    raise EndpointConnectionError(endpoint_url="the table")


def unanswered(call):
    """It arrives, and its answer does not."""
    call()
    raise ReadTimeoutError(endpoint_url="the table")


def fault(_call):
    """The service is ill, and says so."""
    raise ClientError({"Error": {"Code": "InternalServerError"}}, "TransactWriteItems")


def unanswered_fault(call):
    """The service has done it, and falls ill."""
    call()
    fault(call)


def twice(call):
    """It arrives, its answer does not, and the client repeats it by itself."""
    call()
    return call()


def cancelled(*codes):
    """It is cancelled for those reasons."""
    answer = {
        "Error": {"Code": "TransactionCanceledException", "Message": f"said the table {[*codes]}"},
        "CancellationReasons": [{"Code": each} for each in codes],
    }

    def weather(_call):
        raise ClientError(answer, "TransactWriteItems")

    return weather


CONFLICT = cancelled("TransactionConflict", "None")
THROTTLED = cancelled("ThrottlingError", "None")


class Ledger:
    """A table of the handler's own."""

    def __init__(self, client):
        self.client = client

    def item(self, account="a-1"):
        key = {"account": {"S": account}}
        return self.client.get_item(TableName=LEDGER, Key=key, ConsistentRead=True).get("Item")

    def balance(self, account="a-1"):
        item = self.item(account)
        return int(item["balance"]["N"]) if item else 0

    @staticmethod
    def book(amount=1, account="a-1", **more):
        """An entry that would show a second time."""
        return {
            "Update": {
                "TableName": LEDGER,
                "Key": {"account": {"S": account}},
                "UpdateExpression": "ADD balance :amount",
                "ExpressionAttributeValues": {":amount": {"N": str(amount)}},
                **more,
            }
        }

    @staticmethod
    def open(account="a-1", **more):
        """An entry that only the first one gets through."""
        return {
            "Put": {
                "TableName": LEDGER,
                "Item": {"account": {"S": account}, "balance": {"N": "100"}},
                "ConditionExpression": "attribute_not_exists(account)",
                **more,
            }
        }


@pytest.fixture
def ledger(table):
    table.client.create_table(
        TableName=LEDGER,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "account", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "account", "AttributeType": "S"}],
    )
    yield Ledger(table.client)
    table.client.delete_table(TableName=LEDGER)


@pytest.fixture
def store(table):
    return table.store()


@pytest.fixture
def over(table):
    """A store behind a network."""
    return lambda *weather, **more: table.store(Network(table.client, *weather, **more))


@pytest.fixture
def jobs_over(table):
    """A job store behind a network."""
    table.client.create_table(**create_table_request(JOBS, "duetime-jobs"))
    yield lambda *weather: DynamoJobStore(
        Network(table.client, *weather), table.name, "duetime-jobs", due_shards=DUE_SHARDS
    )
    table.client.delete_table(TableName="duetime-jobs")


class TestWhereEachTransactionIsMadeTwice(CommitContract):
    @pytest.fixture
    def store(self, over):
        return over(*[twice] * 99)


class TestWhereEachTransactionOfAJobIsMadeTwice(OccurrenceCommitContract):
    @pytest.fixture
    def store(self, table):
        return table.store()

    @pytest.fixture
    def jobs(self, jobs_over):
        return jobs_over(*[twice] * 99)

    def remove(self, store, row):
        raise NotImplementedError


class Unfenced(MemoryStore):
    def commit(self, claimed, settlement, *, entries, number):
        standing = self.get(claimed.ref) or claimed
        return super().commit(standing, settlement, entries=entries, number=number)


class Credulous(MemoryStore):
    def commit(self, claimed, settlement, *, entries, number):
        del entries, number
        return self.settle(claimed, settlement)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    {
        Unfenced: "test_a_run_that_was_taken_over_commits_nothing_without_entries_either",
        Credulous: "test_a_second_commit_of_a_run_is_not_the_first",
    }.items(),
)
def test_a_store_that_breaks_a_rule_of_commits_fails_the_sentence_that_says_it(broken, sentence):
    check = getattr(CommitContract(), sentence)
    check(MemoryStore())
    with pytest.raises(AssertionError):
        check(broken())


def test_both_are_written(store, ledger):
    claimed = running(store)
    assert commit(store, claimed, [ledger.book(), ledger.open("a-2")]) is DONE
    assert (ledger.balance(), ledger.balance("a-2")) == (1, 100)
    assert standing(store, claimed.ref).status is Status.EXECUTED


def test_neither_is_written_where_a_condition_of_the_handlers_does_not_hold(store, ledger):
    claimed = running(store)
    commit(store, running(store), [ledger.open("a-2")])
    item = ledger.item("a-2")
    asks = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    entries = [ledger.book(), ledger.open("a-2", **asks), ledger.open("a-3")]
    with pytest.raises(CommitRefused) as refused:
        commit(store, claimed, entries)
    assert refused.value.reasons == (RefusedEntry(1, "ConditionalCheckFailed", item),)
    assert (ledger.balance(), ledger.balance("a-3")) == (0, 0)
    assert store.get(claimed.ref) == claimed


def test_each_entry_that_was_refused_is_told_without_its_item_unless_it_asks_for_it(store, ledger):
    commit(store, running(store), [ledger.open(), ledger.open("a-2")])
    with pytest.raises(CommitRefused, match="entry 0: ConditionalCheckFailed, entry 2") as refused:
        commit(store, running(store), [ledger.open(), ledger.book(account="a-3"), ledger.open("a-2")])
    assert [(each.index, each.item) for each in refused.value.reasons] == [(0, None), (2, None)]


def test_nothing_is_written_under_an_old_fence(store, ledger):
    late = running(store)
    following = claim(store, late.ref, ORPHANED_AT)
    assert commit(store, late, [ledger.book()]) is LOST
    assert (ledger.balance(), store.get(late.ref)) == (0, following)


def test_of_a_run_and_the_one_that_takes_it_over_at_once_exactly_one_has_its_effect(store, ledger):
    for rounds in range(1, 9):
        late = running(store)

        def take_over(late=late):
            following = claim_or_none(store, late)
            return following and commit(store, following, [ledger.book()], at=ORPHANED_AT + HOUR)

        told = together([partial(commit, store, late, [ledger.book()], at=ORPHANED_AT), take_over])
        assert ledger.balance() == rounds
        assert sorted(each is DONE for each in told) == [False, True]
        assert standing(store, late.ref).status is Status.EXECUTED


def claim_or_none(store, late):
    claimed = store.claim(late.ref, terms(ORPHANED_AT))
    return claimed and claimed.action


def test_of_many_commits_of_one_run_at_once_one_is_made(store, ledger):
    claimed = running(store)
    calls = [
        partial(commit, store, claimed, [ledger.book()], number=n, at=NOON + n * HOUR) for n in range(1, 6)
    ]
    told = together(calls)
    assert sorted(each is DONE for each in told) == [False] * 4 + [True]
    assert ledger.balance() == 1


SOON = pytest.mark.parametrize(
    "weather",
    [
        [unanswered],
        [twice],
        [lost],
        [lost, lost],
        [lost, unanswered],
        [unanswered, lost, lost],
        [lost, lost, unanswered],
        [fault, unanswered_fault],
        [CONFLICT],
        [CONFLICT, CONFLICT, unanswered],
        [THROTTLED, lost],
    ],
    ids=lambda weather: ", ".join(getattr(each, "__name__", "") for each in weather),
)


@SOON
@pytest.mark.parametrize("entry", [Ledger.book, Ledger.open])
def test_whatever_is_lost_for_a_while_it_is_written_once_and_told(over, store, ledger, weather, entry):
    claimed = running(store)
    assert commit(over(*weather), claimed, [entry()]) is DONE
    assert ledger.balance() == (1 if entry is Ledger.book else 100)
    assert standing(store, claimed.ref).status is Status.EXECUTED


@SOON
def test_whatever_is_lost_for_a_while_a_jobs_run_is_written_and_counted_once(
    jobs_over, store, ledger, weather
):
    job = added(jobs_over())
    run = taken(store, jobs_over(), job)
    assert commit_run(jobs_over(*weather), run, job.ref, [ledger.book()]) is DONE
    after = standing_job(jobs_over(), job.ref)
    assert (ledger.balance(), after.tally.executed, after.running) == (1, 1, None)


def test_a_commit_without_entries_whose_answer_was_lost_is_told(table, store):
    claimed = running(store)
    network = Network(table.client)
    sends = deque([unanswered, unanswered])
    network.update_item = lambda **asked: (sends.popleft() if sends else lambda call: call())(
        partial(table.client.update_item, **asked)
    )
    assert commit(table.store(network), claimed) is DONE
    assert standing(store, claimed.ref).status is Status.EXECUTED


def test_without_any_answer_nobody_knows_and_the_row_is_as_it_was(over, store, ledger):
    claimed = running(store)
    with pytest.raises(BackendUnavailable):
        commit(over(*[lost] * 9), claimed, [ledger.book()])
    assert (store.get(claimed.ref), ledger.balance()) == (claimed, 0)


@pytest.mark.parametrize("first", [lost, unanswered])
def test_without_an_answer_and_without_a_row_to_read_nobody_knows(over, store, ledger, first):
    claimed = running(store)
    with pytest.raises(BackendUnavailable):
        commit(over(first, lost, lost, reads=False), claimed, [ledger.book()])
    assert ledger.balance() == (first is unanswered)
    assert (standing(store, claimed.ref).status is Status.EXECUTED) == (first is unanswered)


def test_without_an_answer_a_run_that_was_taken_over_meanwhile_has_lost_its_lease(over, store, ledger):
    late = running(store)
    claim(store, late.ref, ORPHANED_AT)
    assert commit(over(*[lost] * 9), late, [ledger.book()]) is LOST


@pytest.mark.parametrize(
    ("weather", "code"), [(CONFLICT, "TransactionConflict"), (THROTTLED, "ThrottlingError")]
)
def test_what_is_always_busy_is_refused_in_the_end(over, store, ledger, weather, code):
    claimed = running(store)
    with pytest.raises(CommitRefused) as refused:
        commit(over(*[weather] * 99), claimed, [ledger.book()])
    assert refused.value.reasons == (RefusedEntry(0, code),)
    assert store.get(claimed.ref) == claimed


def test_a_conflict_over_the_actions_own_row_names_no_entry(over, store, ledger):
    with pytest.raises(CommitRefused, match="the action was busy") as refused:
        commit(over(*[cancelled("None", "TransactionConflict")] * 99), running(store), [ledger.book()])
    assert refused.value.reasons == ()


def test_a_conflict_over_the_jobs_row_names_no_entry(jobs_over, store, ledger):
    job = added(jobs_over())
    run = taken(store, jobs_over(), job)
    busy = jobs_over(*[cancelled("None", "TransactionConflict", "None")] * 99)
    with pytest.raises(CommitRefused) as refused:
        commit_run(busy, run, job.ref, [ledger.book()])
    assert refused.value.reasons == ()


def test_a_commit_that_arrives_after_it_was_thought_refused_is_not_taken_for_the_next(over, store, ledger):
    claimed, late = running(store), []

    def overtaken(call):
        late.append(call)
        raise ReadTimeoutError(endpoint_url="the table")

    def then_refused(call):
        commit(store, running(store), [ledger.open()])
        return call()

    with pytest.raises(CommitRefused):
        commit(over(overtaken, then_refused), claimed, [ledger.open(), ledger.book(account="first")])
    table = store._client
    table.delete_item(TableName=LEDGER, Key={"account": {"S": "a-1"}})
    late.pop()()
    second = [ledger.book(account="second")]
    assert commit(store, claimed, second, number=2, at=NOON + HOUR) is LOST
    assert (ledger.balance("first"), ledger.balance("second")) == (1, 0)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([{"Put": {"TableName": LEDGER, "Item": {"account": "a-1"}}}], "as a low-level client takes it"),
        ([{"Put": {"TableName": "no-such-one", "Item": {"account": {"S": "a"}}}}], "that each entry names"),
        ([Ledger.book(), Ledger.book()], "repeating it will not help"),
    ],
    ids=["plain values", "a table that is not there", "two writes of one item"],
)
def test_entries_that_could_never_be_written_are_told_and_the_run_goes_on(store, ledger, entries, said):
    claimed = running(store)
    with pytest.raises(BackendMisconfigured, match=said):
        commit(store, claimed, entries)
    assert store.get(claimed.ref) == claimed
    assert commit(store, claimed, [ledger.book()], number=2) is DONE


def test_each_commit_has_a_token_of_its_own_and_its_repeat_the_same():
    claimed = running(MemoryStore())
    asked = Commit("duetime-actions", claimed, executed(), [Ledger.book()], 1)
    others = [
        asked,
        replace(asked, number=2),
        replace(asked, table="staging-actions"),
        replace(asked, claimed=replace(claimed, fence=2)),
        replace(asked, claimed=replace(claimed, claim_nonce="another")),
        replace(asked, entries=[Ledger.book(), Ledger.open()]),
    ]
    tokens = [each.request()["ClientRequestToken"] for each in others]
    assert len({*tokens}) == len(others)
    assert {len(each) for each in tokens} == {36}
    assert asked.request() == asked.request()


class Book(Payload):
    pass


class Shop:
    """A worker whose handler books and commits, over DynamoDB behind a network."""

    def __init__(self, table, client, handler):
        self.app, self.clock, settings = App(), TurnedClock(NOON), Settings()

        def book(payload: Book, run: Run) -> None:
            handler(run)

        self.app.action(book)
        self.steady, store = table.store(), table.store(client)
        self.queues, routes = MemoryQueues(self.clock, settings.queue_visibility), MemoryRoutes()
        heartbeat = Heartbeat(store, self.queues, clock=self.clock, settings=settings)
        jobs = DynamoJobStore(client, table.name, "duetime-jobs", due_shards=DUE_SHARDS)
        ports = WorkerPorts(store, jobs, self.queues, routes, heartbeat)
        self.work = Work(self.app, ports, clock=self.clock, settings=settings, instance="w")
        self.action = replace(fresh(self.steady), type="book", payload="{}")
        self.steady.put(self.action)

    def run(self):
        """Deliver its message, as if for the first time."""
        message = DueMessage(ref=self.action.ref, type="book", due_at=NOON, gen=1)
        return self.work(Delivery(message, NOON, "receipt"))

    @property
    def row(self):
        return standing(self.steady, self.action.ref)


def test_a_run_whose_commit_is_in_doubt_is_repeated_after_its_lease_and_has_its_effect_once(table, ledger):
    network = Network(table.client, *[lost] * 3)
    shop = Shop(table, network, lambda run: run.commit([ledger.book()]))
    assert shop.run() is Result.PUT_OFF
    assert (shop.row.status, shop.row.fence, ledger.balance()) == (Status.PROCESSING, 1, 0)
    shop.clock.wait_until(shop.queues.next_at())
    assert shop.clock.now() > shop.row.lease_until
    assert shop.run() is Result.RAN
    assert (shop.row.status, shop.row.attempt, shop.row.recoveries) == (Status.EXECUTED, 1, 1)
    assert ledger.balance() == 1


def test_a_run_whose_commit_was_made_but_could_not_be_known_is_not_repeated(table, ledger):
    network = Network(table.client, unanswered, lost, lost, reads=False)
    shop = Shop(table, network, lambda run: run.commit([ledger.book()]))
    assert shop.run() is Result.PUT_OFF
    network.reads = True
    shop.clock.wait_until(shop.queues.next_at())
    assert shop.run() is Result.NOTHING_TO_DO
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
    assert shop.run() is Result.PUT_OFF
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
        assert shop.run() is Result.RAN
    assert "lease lost" in caplog.text
    assert (shop.row.status, shop.row.fence, ledger.balance()) == (Status.PROCESSING, 2, 0)


def test_a_handler_may_catch_a_refusal_and_commit_something_else(table, ledger):
    def handler(run):
        try:
            run.commit([ledger.open(), ledger.book(account="opened")])
        except CommitRefused:
            run.commit([ledger.book()])

    commit(table.store(), running(table.store()), [ledger.open()])
    shop = Shop(table, table.client, handler)
    assert shop.run() is Result.RAN
    assert (ledger.balance(), ledger.balance("opened")) == (101, 0)
    assert (shop.row.status, shop.row.attempt) == (Status.EXECUTED, 1)
    assert shop.row.attempts[-1].finished_at is not None


def test_settling_after_a_lost_answer_changes_nothing_that_the_commit_has_done(over, store, ledger):
    claimed = running(store)
    with pytest.raises(BackendUnavailable):
        commit(over(unanswered, lost, lost, reads=False), claimed, [ledger.book()])
    before = standing(store, claimed.ref)
    assert store.settle(claimed, end(Status.FAILED, NOON + HOUR)) is SettleResult.SETTLED
    assert store.get(claimed.ref) == before
    assert before.expires_at - NOON > timedelta(days=1)
