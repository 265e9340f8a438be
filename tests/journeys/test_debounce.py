"""Debounce in simulated time: of a burst of calls, one run begins after the last of them."""

from datetime import timedelta

import pytest

from duetime import App, Order, Payload, Retry, RetryPolicy, Run, Status
from duetime.errors import DeclarationError, InvalidArgument, InvalidPayload, KeyConflict
from duetime.model.metric import Metric
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.journeys.conftest import NOON
from tests.journeys.recorded_job import PATIENT
from tests.journeys.shop import SCHEMA, types

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
QUIET, BOUND = 30 * SECOND, 2 * MINUTE
KEYED = {"debounce_key": "doc:42", "at": QUIET, "at_most_after": BOUND}


class Reindex(Payload):
    text: str = ""
    fails: bool = False


def both(old, new):
    return Collect(names=sorted({*old.names, *new.names}))


class Collect(Payload, merge=both):
    names: list[str]


class Library:
    """An app whose handlers record what they were given, and when."""

    def __init__(self):
        self.app, self.begun = App(), []

        @self.app.action(retry=RetryPolicy(attempts=2, backoff=[60], jitter=0))
        def reindex(payload: Reindex, run: Run) -> None:
            self.begun.append((run.now() - NOON, payload.text))
            if payload.fails and run.attempt == 1:
                raise Retry

        @self.app.action
        def collect(payload: Collect, run: Run) -> None:
            self.begun.append((run.now() - NOON, payload.names))

        self.cloud = SimulatedCloud(self.app, start=NOON, settings=PATIENT)
        self.scheduler = self.cloud.scheduler

    def call(self, text="", **more):
        payload = more.pop("payload", Reindex(text=text, fails=more.pop("fails", False)))
        return self.scheduler.schedule(payload, **{**KEYED, **more})


@pytest.fixture
def library():
    made = Library()
    yield made
    made.cloud.close()


def test_of_a_burst_one_run_begins_after_the_last_call_with_its_payload(library):
    calls = []
    for number in range(3):
        calls.append(library.call(str(number)))
        library.cloud.advance(10 * SECOND)
    library.cloud.advance(HOUR)
    assert library.begun == [(20 * SECOND + QUIET, "2")]
    assert {call.id for call in calls} == {calls[0].id}
    row = library.scheduler.get(calls[0].id)
    assert (row.status, row.debounced.calls, row.attempt) == (Status.EXECUTED, 2, 1)


def test_calls_without_end_move_it_no_later_than_the_first_ones_bound(library):
    for number in range(20):
        library.call(str(number), at_most_after=HOUR if number else BOUND)
        library.cloud.advance(10 * SECOND)
    library.cloud.advance(HOUR)
    assert library.begun[0] == (BOUND, "11")
    assert library.begun[1] == (19 * 10 * SECOND + QUIET, "19")


def test_a_call_without_a_bound_moves_it_as_it_says(library):
    library.call("far", at=2 * HOUR, at_most_after=None)
    library.call("near", at=MINUTE, at_most_after=None)
    library.cloud.advance(3 * HOUR)
    assert library.begun == [(MINUTE, "near")]


def test_a_far_action_that_moves_has_one_timer(library):
    for hours in (2, 3, 4):
        library.call(str(hours), at=hours * HOUR, at_most_after=None)
        library.cloud.advance(MINUTE)
    assert len(library.cloud.memory.timers) == 1
    library.cloud.advance(9 * HOUR)
    assert library.begun == [(4 * HOUR + 2 * MINUTE, "4")]


@pytest.mark.parametrize("fails", [False, True], ids=["it has run", "it waits for its next attempt"])
def test_a_call_after_the_run_began_schedules_another(library, fails):
    first = library.call("first", fails=fails)
    library.cloud.advance(QUIET + SECOND)
    second = library.call("second")
    assert second.id != first.id
    library.cloud.advance(HOUR)
    texts = ["first", "second", "first"] if fails else ["first", "second"]
    assert [text for _, text in library.begun] == texts


def test_a_redriven_action_takes_no_further_call(library):
    first = library.call("first", fails=True)
    library.scheduler.cancel(first.id)
    second = library.call("second")
    assert second.id != first.id
    library.cloud.advance(HOUR)
    assert [text for _, text in library.begun] == ["second"]


def test_payloads_are_merged_where_the_type_says_so(library):
    for name in ("tea", "coffee", "tea"):
        action = library.call(payload=Collect(names=[name]))
    assert library.scheduler.get(action.id).payload == '{"names":["coffee","tea"]}'
    library.cloud.advance(HOUR)
    assert library.begun == [(QUIET, ["coffee", "tea"])]


def test_merged_payloads_may_become_large_and_small_again(library):
    library.call(payload=Collect(names=["x" * 1_500]))
    action = library.call(payload=Collect(names=["y" * 1_500]))
    assert action.payload_size == len(action.payload)
    library.cloud.advance(HOUR)
    assert library.begun == [(QUIET, ["x" * 1_500, "y" * 1_500])]


def test_a_merge_that_fails_rejects_the_call_and_changes_nothing(library):
    class Odd(Payload, merge=lambda _old, new: 1 / new.by):
        by: int

    first = library.call(payload=Odd(by=1))
    with pytest.raises(InvalidPayload, match="its merge raised ZeroDivisionError"):
        library.call(payload=Odd(by=0))
    with pytest.raises(InvalidPayload, match="its merge returned float; it must return a Odd"):
        library.call(payload=Odd(by=2))
    assert library.scheduler.get(first.id) == first


def test_merged_payloads_have_a_limit(library):
    library.call(payload=Collect(names=["x" * 300_000]))
    with pytest.raises(InvalidPayload, match="bytes"):
        library.call(payload=Collect(names=["y" * 300_000]))


def test_a_merge_that_is_no_function_is_rejected_where_it_is_declared():
    with pytest.raises(DeclarationError, match="use a function of two payloads"):
        type("Odd", (Payload,), {}, merge="union")


def test_the_expiry_moves_with_the_due_time(library):
    library.call("first", expires_after=MINUTE)
    action = library.call("second", at=BOUND, expires_after=HOUR)
    assert action.expires_at == NOON + BOUND + HOUR
    later = library.call("third", at=BOUND + MINUTE, at_most_after=HOUR, expires_after=HOUR)
    assert (later.due_at, later.expires_at) == (NOON + BOUND, NOON + BOUND + HOUR)


def test_a_call_revives_an_action_that_has_expired_unseen(library):
    library.scheduler.schedule(Reindex(text="other"), at=timedelta(0))
    first = library.call("first", at=timedelta(0), expires_after=SECOND, concurrency_key="index")
    again = library.call("second", concurrency_key="ignored")
    assert (again.id, again.slot_key) == (first.id, "index")
    library.cloud.advance(HOUR)
    assert "second" in [text for _, text in library.begun]


def test_in_bulk_each_call_counts(library):
    orders = [Order(Reindex(text=text), QUIET, debounce_key="doc:42") for text in ("1", "2", "3")]
    plain = Order(Reindex(text="plain"), QUIET)
    first, second, third, other = library.scheduler.schedule_many([*orders, plain])
    assert first.id == second.id == third.id != other.id
    library.cloud.advance(HOUR)
    assert sorted(text for _, text in library.begun) == ["3", "plain"]


def test_one_key_is_of_one_type_and_one_tenant(library):
    first = library.call("first")
    with pytest.raises(KeyConflict, match=f"action {first.id}, which has the type 'reindex'"):
        library.call(payload=Collect(names=[]))
    theirs = library.cloud.scheduler_for("globex").schedule(Collect(names=[]), **KEYED)
    assert theirs.id != first.id
    assert library.call("second").id == first.id


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"at_most_after": 29 * SECOND}, InvalidArgument, "before the first due time"),
        ({"at_most_after": -MINUTE}, InvalidArgument, "no timedelta above 0"),
        ({"at_most_after": 600}, InvalidArgument, "no timedelta above 0"),
        ({"debounce_key": None}, InvalidArgument, "pass debounce_key as well"),
        ({"debounce_key": "a#b"}, InvalidArgument, "'#'"),
        ({"idempotency_key": "order-17"}, InvalidArgument, "pass one of them"),
    ],
    ids=str,
)
def test_a_call_that_cannot_be_meant_is_rejected(library, given, error, text):
    with pytest.raises(error, match=text):
        library.call(**given)
    assert library.cloud.actions() == ()


def test_a_bound_of_the_due_time_is_allowed(library):
    library.cloud.advance(timedelta(milliseconds=300))
    assert library.call("exact", at=QUIET, at_most_after=QUIET).due_at == NOON + QUIET + SECOND


def test_a_further_call_is_an_event_and_is_counted(library):
    cloud = SimulatedCloud(library.app, settings=Settings(events="all"), actor="ada")
    for text in ("first", "second"):
        action = cloud.scheduler.schedule(Reindex(text=text), **KEYED)
    cloud.advance(SECOND)
    assert types(cloud, action.id) == ["action.scheduled", "action.coalesced"]
    event = cloud.events()[-1]["detail"]
    assert event["by"] == "ada"
    assert (event["action"]["debounce_key"], event["action"]["coalesced"]) == ("doc:42", 1)
    SCHEMA.validate(event)
    assert cloud.metrics.total(Metric.COALESCED) == 1
    cloud.close()
