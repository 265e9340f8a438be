"""One kind of fault at a time in simulated time: what it does to an action, and what it does not."""

from collections import Counter
from contextlib import suppress
from datetime import timedelta
from unittest.mock import patch

import pytest

from duetime import App, Payload, Run, Status, every
from duetime.errors import BackendUnavailable
from duetime.memory.store import MemoryStore
from duetime.ports.actions import DuePage
from duetime.settings import Settings
from duetime.testing import Faults, InvariantBroken, SimulatedCloud, WorkerDied
from tests.journeys.conftest import NOON

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
SEEDS = range(10)


class Errand(Payload):
    number: int = 0
    lasts: float = 0


class Booking(Payload):
    pass


class Shaky:
    """A cloud in which only the named kinds of faults occur, and what its handlers did there."""

    def __init__(self, seed=1, *, has_job=False, **faults):
        self.has_job = has_job
        self.begun, self.done, self.booked = [], [], []
        self.deaths = 0
        self.cloud = SimulatedCloud(
            self.app(),
            start=NOON,
            settings=Settings(max_recoveries=100),
            faults=Faults.only(seed, **faults),
            on_commit=self.booked.extend,
        )

    def app(self):
        app = App()

        @app.action
        def errand(payload: Errand, run: Run) -> None:
            self.begun.append((run.nominal_at, run.now()))
            if self.deaths:
                self.deaths -= 1
                raise WorkerDied
            run.clock.wait_until(run.now() + timedelta(seconds=payload.lasts))
            self.done.append(payload.number)

        @app.action
        def book(payload: Booking, run: Run) -> None:
            run.commit([{"Put": {"Item": run.id}}])

        if self.has_job:
            app.job(every(minutes=5), name="errands-all")(self.run_all)
        return app

    def run_all(self, run: Run) -> None:
        self.done.append(run.nominal_at)

    def schedule(self, number=0, *, at=30 * MINUTE, lasts=0):
        return self.cloud.scheduler.schedule(Errand(number=number, lasts=lasts), at=at)

    def rest(self):
        """The faults are over, and all that they have left is seen to."""
        self.cloud.end_faults()
        self.cloud.advance(hours=13)
        self.cloud.close()
        self.cloud.check()

    def row(self, action):
        return self.cloud.scheduler.get(action.id)

    @property
    def rows(self):
        return self.cloud.actions()


def test_a_lost_stream_record_is_repaired_by_the_sweep_within_minutes():
    shaky = Shaky(drop=1)
    action = shaky.schedule(at=MINUTE)
    shaky.cloud.advance(minutes=2)
    assert "the stream loses the batch with it" in shaky.cloud.story(action.id)
    assert shaky.done == []
    shaky.cloud.end_faults()
    shaky.cloud.advance(minutes=6)
    [(due_at, began_at)] = shaky.begun
    assert timedelta(minutes=5) <= began_at - due_at <= timedelta(minutes=7)
    row = shaky.row(action)
    assert (row.status, row.attempt, row.recoveries) == (Status.EXECUTED, 1, 0)


def test_a_lost_message_is_resent_by_the_sweep_within_minutes():
    shaky = Shaky(drop_message=1)
    action = shaky.schedule(at=MINUTE)
    shaky.cloud.advance(minutes=2)
    shaky.cloud.end_faults()
    shaky.cloud.advance(minutes=6)
    assert "its message is lost" in shaky.cloud.story(action.id)
    assert shaky.done == [0]
    assert shaky.row(action).fence == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_far_actions_run_once_with_half_of_all_wakes_lost(seed):
    shaky = Shaky(seed, drop=0.5)
    for number in range(10):
        shaky.schedule(number, at=HOUR + number * MINUTE)
    shaky.cloud.advance(hours=2)
    shaky.rest()
    assert sorted(shaky.done) == list(range(10))
    assert {(row.status, row.attempt, row.recoveries) for row in shaky.rows} == {(Status.EXECUTED, 1, 0)}


@pytest.mark.parametrize(
    "seed", [*SEEDS[:4], *(pytest.param(seed, marks=pytest.mark.long) for seed in SEEDS[4:])]
)
def test_a_job_whose_wakes_are_lost_and_doubled_runs_at_each_nominal_time_once(seed):
    shaky = Shaky(seed, has_job=True, drop=0.3, double=0.3)
    shaky.cloud.advance(hours=3)
    times = [NOON + n * 5 * MINUTE for n in range(1, 37)]
    runs = [row for row in shaky.cloud.actions() if row.nominal_at <= shaky.cloud.now]
    assert [row.nominal_at for row in runs] == times
    assert Counter(shaky.done) == Counter(row.nominal_at for row in runs if row.status is Status.EXECUTED)
    shaky.rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_message_delivered_twice_runs_once(seed):
    shaky = Shaky(seed, double=1)
    action = shaky.schedule()
    shaky.cloud.advance(hours=1)
    row = shaky.row(action)
    assert shaky.done == [0]
    assert (row.status, row.fence, row.attempt) == (Status.EXECUTED, 1, 1)
    shaky.rest()
    assert shaky.row(action) == row


@pytest.mark.parametrize("seed", SEEDS)
def test_a_late_and_overtaken_action_runs_once_and_never_early(seed):
    shaky = Shaky(seed, delay=1, reorder=1)
    for number in range(10):
        shaky.schedule(number, at=number * MINUTE)
    shaky.cloud.advance(hours=1)
    assert sorted(shaky.done) == list(range(10))
    assert all(due_at <= began_at <= due_at + 7 * MINUTE for due_at, began_at in shaky.begun)
    shaky.rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_late_stream_record_of_a_changed_row_sends_no_wake(seed):
    shaky = Shaky(seed, delay=1, double=0.5)
    moved, cancelled = shaky.schedule(1, at=2 * MINUTE), shaky.schedule(2, at=2 * MINUTE)
    shaky.cloud.scheduler.reschedule(moved.id, 40 * MINUTE)
    shaky.cloud.scheduler.cancel(cancelled.id)
    shaky.cloud.advance(hours=2)
    [(_, began_at)] = shaky.begun
    assert began_at >= NOON + 40 * MINUTE
    assert (shaky.row(cancelled).status, shaky.row(cancelled).attempt) == (Status.CANCELLED, 0)
    shaky.rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_whose_claim_or_settle_has_no_response_has_its_effect_once(seed):
    shaky = Shaky(seed, lose_answer=0.5)
    action = shaky.schedule()
    shaky.cloud.advance(hours=3)
    row = shaky.row(action)
    assert shaky.done == [0]
    assert (row.status, row.attempt) == (Status.EXECUTED, 1)
    assert [number for number, _ in row.numbered_attempts()] == [1] * row.fence == [1] * (1 + row.recoveries)
    shaky.rest()


def test_a_worker_that_dies_in_the_middle_is_taken_over_after_its_lease_as_the_same_attempt():
    shaky = Shaky()
    shaky.deaths = 1
    action = shaky.schedule(at=MINUTE)
    shaky.cloud.advance(minutes=10)
    (_, first), (_, second) = shaky.begun
    assert 5 * MINUTE < second - first < 6 * MINUTE
    row = shaky.row(action)
    assert (row.status, row.attempt, row.recoveries, row.fence) == (Status.EXECUTED, 1, 1, 2)
    shaky.rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_processes_that_die_at_any_call_lose_nothing_and_use_up_no_attempt(seed):
    shaky = Shaky(seed, crash=0.1)
    actions = [shaky.schedule(number, at=number * 10 * MINUTE) for number in range(5)]
    shaky.cloud.advance(hours=2)
    shaky.rest()
    effects = Counter(shaky.done)
    for number, action in enumerate(actions):
        row = shaky.row(action)
        assert (row.status, row.attempt, row.fence) == (Status.EXECUTED, 1, 1 + row.recoveries)
        assert 1 <= effects[number] <= row.fence


@pytest.mark.parametrize("seed", SEEDS)
def test_a_throttled_store_only_delays(seed):
    shaky = Shaky(seed, throttle=0.4)
    for number in range(5):
        shaky.schedule(number, at=number * 10 * MINUTE)
    shaky.cloud.advance(hours=2)
    shaky.rest()
    assert {(row.status, row.attempt) for row in shaky.rows} == {(Status.EXECUTED, 1)}
    assert set(shaky.done) == set(range(5))


@pytest.mark.parametrize("seed", SEEDS)
def test_workers_paused_beyond_their_lease_settle_nothing_with_skewed_clocks(seed):
    shaky = Shaky(seed, pause=0.3, double=0.05, skew=timedelta(seconds=5))
    actions = [shaky.schedule(number, at=number * MINUTE, lasts=200) for number in range(5)]
    shaky.cloud.advance(hours=2)
    shaky.rest()  # each lease ended by its holder's clock before the next one began
    for action in actions:
        row = shaky.row(action)
        assert (row.status, row.attempt) == (Status.EXECUTED, 1)
        assert row.attempts[-1].finished_at is not None
        assert all(attempt.finished_at is None for attempt in row.attempts[:-1])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_commit_is_made_once_despite_lost_and_late_requests_and_dead_workers(seed):
    shaky = Shaky(seed, lose_answer=0.2, late=0.2, crash=0.1, double=0.3)
    actions = [shaky.cloud.scheduler.schedule(Booking(), at=n * MINUTE) for n in range(10)]
    shaky.cloud.advance(hours=2)
    shaky.rest()
    assert Counter(write["Put"]["Item"] for write in shaky.booked) == Counter(action.id for action in actions)
    assert {row.status for row in shaky.rows} == {Status.EXECUTED}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_caller_that_repeats_with_a_key_until_a_response_schedules_once(seed):
    shaky = Shaky(seed, lose_answer=0.4, throttle=0.4)
    clerk = shaky.cloud.scheduler_for("acme", "clerk", meets_faults=True)
    answers = []
    while len(answers) < 3:
        with suppress(BackendUnavailable):
            answers.append(clerk.schedule(Errand(number=7), at=MINUTE, idempotency_key="order-7").id)
    shaky.cloud.advance(hours=1)
    shaky.rest()
    [row] = shaky.rows
    assert set(answers) == {row.id}
    assert (row.status, row.attempt) == (Status.EXECUTED, 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_late_request_undoes_no_later_change_and_runs_nothing_twice(seed):
    shaky = Shaky(seed, late=0.5)
    clerk = shaky.cloud.scheduler_for("acme", "clerk", meets_faults=True)
    action = shaky.schedule(at=2 * HOUR)
    for minutes in (30, 90, 20, 60):
        with suppress(BackendUnavailable):
            clerk.reschedule(action.id, minutes * MINUTE)
        shaky.cloud.advance(seconds=20)
    due_at = shaky.cloud.scheduler.reschedule(action.id, at=45 * MINUTE).due_at
    shaky.cloud.advance(minutes=44)
    assert shaky.row(action).due_at == due_at
    assert "its late store." in shaky.cloud.story()
    shaky.rest()
    assert shaky.done == [0]


def broken_cloud(seed):
    """A cloud whose sweep finds nothing."""
    shaky = Shaky(seed, drop=0.5)
    with patch.object(MemoryStore, "due", lambda *_, **__: DuePage((), None)):
        for number in range(8):
            shaky.schedule(number, at=number * MINUTE)
        shaky.cloud.advance(hours=1)
        with pytest.raises(InvariantBroken) as broken:
            shaky.rest()
    return broken.value


def test_a_broken_invariant_prints_a_story_that_its_seed_repeats():
    broken = broken_cloud(seed=5)
    assert broken.seed == 5
    assert any("is pending since 03-01 12:" in finding for finding in broken.broken)
    report = str(broken).splitlines()
    assert report[: len(broken.broken)] == list(broken.broken)
    assert "seed=5" in report[-1]
    lost = broken.broken[0].split()[0]
    mine = [line for line in report[report.index("The story:") :] if lost in line]
    assert mine[0].endswith("errand for acme")
    assert mine[1].endswith("✗ the stream loses the batch with it")
    assert str(broken_cloud(seed=5)) == str(broken)
    assert str(broken_cloud(seed=6)) != str(broken)
