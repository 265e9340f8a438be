"""The steps of a worker's breakers: what counts as a failure, which run probes, and how a probe ends."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from duetime.errors import DeclarationError
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.keyed_items import MemoryItems
from duetime.model.action import Action, ActionRef, Ending
from duetime.model.breaker import Breaker, FailureCount, after_probe, begins_probe, pause_of_breaker
from duetime.model.outcome import CANCELLED, EXPIRED, SUCCEEDED, Outcome
from duetime.model.work_pause import Hold, PauseScope, WorkPause
from duetime.ports.meter import NoMeter
from duetime.ports.wakeups import DueMessage
from duetime.ports.work_pauses import WorkPauses
from duetime.settings import Settings
from duetime.testing.turned_clock import TurnedClock
from duetime.worker.breakers import Breakers
from tests.backends import backends
from tests.journeys.conftest import NOON

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
RULE, SETTINGS = Breaker(failures=2, within="1m", open_for="5m"), Settings()
FAILED = Outcome(Ending.FAILED, "ConnectionError: no ship", may_retry=True)
PUT_OFF = Outcome(Ending.RETRY, "for a newer worker", may_retry=True, retry_after=MINUTE, is_put_off=True)


class Deployment:
    """The breakers of one process, over pauses that others share."""

    def __init__(self, rule=RULE):
        self.clock, self.pauses = TurnedClock(NOON), WorkPauses(MemoryItems())
        self.handlers = {
            "receipt": SimpleNamespace(timeout=MINUTE, breaker=rule),
            "errand": SimpleNamespace(timeout=MINUTE, breaker=None),
        }
        self.breakers = self.process()

    def process(self):
        known = KnownPauses(self.pauses, self.clock)
        over = backends(pauses=self.pauses, clock=self.clock, settings=SETTINGS)
        return Breakers(over, known, self.handlers, NoMeter())

    def end(self, outcome=FAILED, *, type_name="receipt", is_committed=False, tenant="acme"):
        self.breakers.ended(action(type_name, tenant), outcome, is_committed=is_committed)

    def failures(self, type_name="receipt", tenant="acme"):
        return len(self.pauses.failures(tenant, type_name).failed_at)

    def open(self):
        self.end()
        self.end()
        return self.only

    @property
    def only(self):
        [pause] = self.pauses.list()
        return pause

    def probe(self, number=1, breakers=None):
        return (breakers or self.breakers).try_probe(Hold(self.only, NOON), message(number))


def action(type_name="receipt", tenant="acme", number=1):
    return Action(
        tenant_id=tenant, id=f"a-{number}", type=type_name, due_at=NOON, due_shard="0", created_by="ada",
        payload="{}",
    )  # fmt: skip


def message(number=1, type_name="receipt"):
    return DueMessage(ref=ActionRef("acme", f"a-{number}"), type=type_name, due_at=NOON, generation=1)


@pytest.fixture
def made():
    return Deployment()


@pytest.mark.parametrize(
    ("outcome", "more", "counted"),
    [
        (FAILED, {}, 1),
        (FAILED, {"is_committed": True}, 0),
        (FAILED, {"type_name": "errand"}, 0),
        (FAILED, {"type_name": "unknown"}, 0),
        (SUCCEEDED, {}, 0),
        (CANCELLED, {}, 0),
        (EXPIRED, {}, 0),
        (PUT_OFF, {}, 0),
        (replace(PUT_OFF, is_put_off=False), {}, 1),
    ],
    ids=[
        "a failure",
        "it has committed",
        "a type without a breaker",
        "a type that the worker lacks",
        "a success",
        "a cancelled run",
        "an expired one",
        "one that was put off",
        "one that is retried",
    ],
)
def test_only_a_failed_run_of_a_type_with_a_breaker_counts(made, outcome, more, counted):
    made.end(outcome, **more)
    assert made.failures(more.get("type_name", "receipt")) == counted


def test_it_opens_with_the_last_of_its_failures_and_counts_from_0_again(made):
    made.end()
    assert list(made.pauses.list()) == []
    made.end()
    state = made.only.breaker
    assert (made.only.name, made.only.tenant_id, made.only.is_operators) == ("receipt", "acme", False)
    assert (state.open_for, state.probes_at, state.probe) == (5 * MINUTE, NOON + 5 * MINUTE, None)
    assert made.failures() == 0


def test_a_failure_under_the_open_breaker_of_its_type_and_tenant_is_not_counted(made):
    made.open()
    made.end()
    assert made.failures() == 0
    made.end(tenant="globex")
    assert made.failures(tenant="globex") == 1
    made.handlers["errand"] = made.handlers["receipt"]
    made.end(type_name="errand")
    assert made.failures("errand") == 1


def test_a_failure_under_an_operators_pause_of_its_type_is_counted(made):
    pause = WorkPause(
        id="p", scope=PauseScope.TYPE, name="receipt", tenant_id="acme", reason="x", by="ops", since=NOON
    )
    made.pauses.begin(pause)
    made.end()
    assert made.failures() == 1


def test_a_breaker_that_another_process_has_just_opened_is_not_opened_again():
    made = Deployment(Breaker(failures=1, within="1m", open_for="5m"))
    late = made.process()
    late.ended(action(), SUCCEEDED, is_committed=False)
    late.as_counted(action(), FAILED)
    late._known.find(lambda _pause: False)  # it has read that there is no pause
    made.end()
    late.ended(action(), FAILED, is_committed=False)
    assert made.only.breaker is not None


def test_one_run_probes_from_the_end_of_the_pause_until_its_process_must_have_died(made):
    made.open()
    made.clock.wait_until(NOON + 5 * MINUTE - SECOND)
    assert not made.probe()
    assert made.breakers.probed_by(message().ref) is None
    made.clock.wait_until(NOON + 5 * MINUTE)
    assert made.probe()
    assert made.breakers.probed_by(message().ref) == made.only.id
    assert (made.only.breaker.probe, made.only.breaker.revision) == ("a-1", 1)
    until = NOON + 5 * MINUTE + MINUTE + SETTINGS.lease
    assert made.only.breaker.probe_until == until
    assert not made.probe(2)
    made.clock.wait_until(until - SECOND)
    assert not made.probe(2, made.process())
    made.clock.wait_until(until)
    assert made.probe(2)
    assert made.only.breaker.probe == "a-2"


def test_of_two_processes_that_read_the_same_one_probes(made):
    hold, other = Hold(made.open(), NOON), made.process()
    made.clock.wait_until(NOON + 5 * MINUTE)
    assert made.breakers.try_probe(hold, message(1))
    assert not other.try_probe(hold, message(2))
    assert other.probed_by(message(2).ref) is None


def test_a_type_that_the_worker_lacks_is_not_probed(made):
    hold = Hold(made.open(), NOON)
    made.clock.wait_until(NOON + 5 * MINUTE)
    assert not made.breakers.try_probe(hold, message(type_name="unknown"))


@pytest.fixture
def probing(made):
    made.open()
    made.clock.wait_until(NOON + 5 * MINUTE)
    assert made.probe()
    made.clock.wait_until(NOON + 6 * MINUTE)
    return made


@pytest.mark.parametrize(
    ("outcome", "is_committed", "then"),
    [
        (SUCCEEDED, False, "closed"),
        (FAILED, True, "closed"),
        (FAILED, False, "open"),
        (CANCELLED, False, "given back"),
        (PUT_OFF, False, "given back"),
    ],
)
def test_a_probe_closes_the_breaker_opens_it_again_or_leaves_it_to_another(
    probing, outcome, is_committed, then
):
    assert probing.breakers.end_probe(action(), outcome, is_committed=is_committed)
    pause = probing.only
    assert (pause.ended_by, pause.ended_at) == (
        ("duetime", NOON + 6 * MINUTE) if then == "closed" else (None, None)
    )
    if then != "closed":
        state, again = pause.breaker, NOON + (11 if then == "open" else 5) * MINUTE
        assert (state.probe, state.probe_until, state.probes_at, state.revision) == (None, None, again, 2)
    assert not probing.breakers.end_probe(action(), outcome, is_committed=is_committed)


def test_a_run_that_does_not_probe_ends_no_probe(probing):
    other = action(number=2)
    assert not probing.breakers.end_probe(other, SUCCEEDED, is_committed=False)
    probing.breakers.give_back(other.ref)
    assert probing.only.breaker.probe == "a-1"


def test_a_probe_that_has_not_begun_is_left_to_another(probing):
    probing.breakers.give_back(action().ref)
    assert probing.only.breaker.probes_at == NOON + 5 * MINUTE
    assert probing.probe(2)


def test_a_probe_that_another_process_has_taken_changes_nothing_more(probing):
    probing.clock.wait_until(NOON + 20 * MINUTE)
    assert probing.probe(2, probing.process())
    taken = probing.only
    probing.breakers.end_probe(action(), FAILED, is_committed=False)
    assert probing.only == taken


@pytest.mark.parametrize(
    ("outcome", "counted"),
    [
        (SUCCEEDED, SUCCEEDED),
        (PUT_OFF, PUT_OFF),
        (replace(FAILED, may_retry=False), replace(FAILED, may_retry=False)),
        (
            FAILED,
            replace(
                FAILED,
                message="a probe of the breaker failed: ConnectionError: no ship",
                retry_after=5 * MINUTE,
                is_put_off=True,
            ),
        ),
    ],
    ids=["it succeeded", "it was put off", "no retry can help", "it failed"],
)
def test_only_a_probe_that_failed_and_may_be_retried_is_put_off(probing, outcome, counted):
    assert probing.breakers.as_counted(action(), outcome) == counted
    assert probing.breakers.as_counted(action(number=2), outcome) == outcome


def test_failures_count_within_the_window_and_only_so_many_as_open_it():
    rule, count = Breaker(failures=3, within="1m", open_for="5m"), FailureCount(tenant_id="acme", type="x")
    for seconds in (0, 30, 60):
        count = count.failed(rule, NOON + seconds * SECOND, f"n-{seconds}")
    assert [at - NOON for at in count.failed_at] == [
        30 * SECOND,
        60 * SECOND,
    ]  # the first has left the window
    assert not count.opens(rule)
    count = count.failed(rule, NOON + 61 * SECOND, "n")
    assert (count.opens(rule), count.revision, count.nonce, count.at) == (True, 4, "n", NOON + 61 * SECOND)
    count = count.failed(rule, NOON + 62 * SECOND, "n")
    assert len(count.failed_at) == 3
    assert count.opened().failed_at == ()


def test_a_breaker_that_one_failure_opens_states_one_failure():
    rule = Breaker(failures=1, within="30s", open_for="5m")
    count = FailureCount(tenant_id="acme", type="x").failed(rule, NOON, "n").failed(rule, NOON, "n")
    assert len(count.failed_at) == 1
    pause = pause_of_breaker(rule, count, None, pause_id="p", now=NOON)
    assert pause.reason == "the breaker opened after 1 failure within 30 s; the last: no reason"
    assert (pause.since, pause.until, pause.end) == (NOON, None, None)


@pytest.mark.parametrize(
    "declared",
    [
        {"failures": 0},
        {"failures": 101},
        {"failures": True},
        {"failures": "3"},
        {"within": "0s"},
        {"within": timedelta(seconds=1) - timedelta.resolution},
        {"open_for": timedelta(hours=24) + timedelta.resolution},
        {"open_for": "000001s"},
        {"open_for": "86401s"},
        {"within": "1d"},
        {"within": 60},
        {"within": None},
    ],
    ids=str,
)
def test_a_breaker_out_of_its_bounds_is_rejected(declared):
    with pytest.raises(DeclarationError, match=next(iter(declared))):
        Breaker(**{"failures": 3, "within": "1m", "open_for": "5m", **declared})


def test_a_breaker_may_have_the_bounds_themselves():
    least = Breaker(failures=1, within="1s", open_for=SECOND)
    assert (least.window, least.pause) == (SECOND, SECOND)
    most = Breaker(failures=100, within="24h", open_for="86400s")
    assert (most.window, most.pause) == (24 * 60 * MINUTE, 24 * 60 * MINUTE)


def test_no_run_probes_under_a_pause_that_has_ended_and_only_its_probe_ends_a_probe(made):
    opened, now = made.open(), NOON + 5 * MINUTE
    begun = begins_probe(opened, "a-1", now, now + MINUTE)
    assert begun is not None
    assert begins_probe(opened.ended(by="ops", at=now), "a-1", now, now + MINUTE) is None
    assert begins_probe(replace(opened, breaker=None), "a-1", now, now + MINUTE) is None
    assert begins_probe(begun, "a-2", now, now + MINUTE) is None
    assert after_probe(begun, "a-2", now, is_failed=True) is None
    assert after_probe(replace(begun, breaker=None), "a-1", now, is_failed=True) is None


def test_the_reason_of_an_open_breaker_ends_with_the_last_failure(made):
    reason = "the breaker opened after 2 failures within 60 s; the last: ConnectionError: no ship"
    assert made.open().reason == reason
