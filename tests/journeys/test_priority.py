"""Priority in simulated time: a high action does not wait behind normal ones."""

from datetime import timedelta

import pytest

from duetime import App, Order, Payload, Retry, RetryPolicy, Run, Status
from duetime.errors import DeclarationError, InvalidArgument
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud
from tests.journeys.conftest import NOON

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
BURST, WORKERS = 600, 10


class Report(Payload):
    """Takes a second."""


class Alert(Payload):
    """A type with a high priority."""

    fails: int = 0


class Newsroom:
    """An app whose handlers record how late they began, by tenant and type."""

    def __init__(self, *, faults=None, **settings):
        self.app, self.late = App(), {}

        @self.app.action
        def report(payload: Report, run: Run) -> None:
            self.begin("report", run)

        @self.app.action(priority="high", retry=RetryPolicy(attempts=3, backoff=[60], jitter=0))
        def alert(payload: Alert, run: Run) -> None:
            self.begin("alert", run)
            if run.attempt <= payload.fails:
                raise Retry

        self.cloud = SimulatedCloud(
            self.app, start=NOON, settings=Settings(**settings), faults=faults or Faults.only(7)
        )
        self.cloud.memory.concurrency = WORKERS
        self.scheduler = self.cloud.scheduler

    def begin(self, kind, run):
        self.late.setdefault((run.tenant_id, kind), []).append(run.now() - run.due_at)
        run.clock.wait_until(run.now() + SECOND)

    def workers_of(self, action):
        """The queues whose workers ran an action's attempts."""
        attempts = self.scheduler.get(action.id).attempts
        return [attempt.instance.rpartition("-")[0] for attempt in attempts]


@pytest.fixture
def open_newsroom():
    made = []

    def open_(**settings):
        made.append(Newsroom(**settings))
        return made[-1]

    yield open_
    for newsroom in made:
        newsroom.cloud.close()


def test_a_high_action_starts_within_a_second_beside_a_burst_of_normal_ones(open_newsroom):
    newsroom = open_newsroom()
    newsroom.scheduler.schedule_many([Order(Report(), SECOND)] * BURST)
    newsroom.cloud.advance(10 * SECOND)
    newsroom.scheduler.schedule(Alert(), at=timedelta(0))
    newsroom.scheduler.schedule(Report(), at=timedelta(0))
    newsroom.cloud.advance(HOUR)
    reports, [alert] = newsroom.late["acme", "report"], newsroom.late["acme", "alert"]
    assert alert < SECOND
    assert max(reports) >= SECOND * (BURST / WORKERS - 10)


def test_a_single_action_of_a_normal_type_may_be_high(open_newsroom):
    newsroom = open_newsroom(high_priority=True)
    newsroom.scheduler.schedule_many([Order(Report(), SECOND)] * BURST)
    newsroom.cloud.advance(10 * SECOND)
    high = newsroom.scheduler.schedule(Report(), at=timedelta(0), priority="high")
    normal = newsroom.scheduler.schedule(Report(), at=timedelta(0))
    newsroom.cloud.advance(HOUR)
    began = [newsroom.scheduler.get(action.id).attempts[0].started_at for action in (high, normal)]
    assert began[0] - high.due_at < SECOND <= 10 * SECOND < began[1] - normal.due_at


def test_high_actions_of_one_tenant_do_not_delay_those_of_another(open_newsroom):
    newsroom = open_newsroom()
    newsroom.cloud.scheduler_for("noisy").schedule_many([Order(Alert(), SECOND)] * BURST)
    newsroom.cloud.advance(10 * SECOND)
    newsroom.cloud.scheduler_for("quiet").schedule(Alert(), at=timedelta(0))
    newsroom.cloud.advance(HOUR)
    assert max(newsroom.late["noisy", "alert"]) >= SECOND * (BURST / WORKERS - 1)
    [quiet] = newsroom.late["quiet", "alert"]
    assert quiet <= SECOND


@pytest.mark.parametrize("timers", ["eventbridge", "wheel"])
@pytest.mark.parametrize("at", [timedelta(0), 5 * MINUTE, 5 * HOUR], ids=["now", "near", "far"])
def test_each_sender_routes_a_high_action_to_the_high_queue(open_newsroom, timers, at):
    newsroom = open_newsroom(timers=timers, high_priority=True)
    actions = [
        newsroom.scheduler.schedule(Alert(fails=1), at=at),
        newsroom.scheduler.schedule(Report(), at=at, priority="high"),
    ]
    normal = newsroom.scheduler.schedule(Report(), at=at)
    newsroom.cloud.advance(at + HOUR)
    assert [newsroom.workers_of(action) for action in actions] == [["default_high"] * 2, ["default_high"]]
    assert newsroom.workers_of(normal) == ["default"]


def test_the_sweep_and_a_worker_that_puts_off_send_to_the_high_queue(open_newsroom):
    newsroom = open_newsroom(faults=Faults.only(3, drop_message=0.3))
    some = [newsroom.scheduler.schedule(Alert(), at=MINUTE) for _ in range(20)]
    newsroom.cloud.advance(HOUR)
    assert [newsroom.workers_of(action) for action in some] == [["default_high"]] * 20
    assert max(newsroom.late["acme", "alert"]) > MINUTE, "none was left to the sweep"
    waiting = [newsroom.scheduler.schedule(Alert(), at=MINUTE, concurrency_key="line") for _ in range(3)]
    newsroom.cloud.advance(HOUR)
    assert [newsroom.workers_of(action) for action in waiting] == [["default_high"]] * 3


def test_high_actions_run_after_a_deploy_that_ends_the_high_queue(open_newsroom):
    newsroom = open_newsroom(high_priority=True)
    action = newsroom.scheduler.schedule(Report(), at=MINUTE, priority="high")
    far = newsroom.scheduler.schedule(Report(), at=5 * HOUR, priority="high")
    app = App()

    @app.action
    def report(payload: Report, run: Run) -> None:
        newsroom.begin("report", run)

    newsroom.cloud.deploy(app, settings=Settings())
    newsroom.cloud.advance(6 * HOUR)
    assert newsroom.scheduler.get(action.id).status is Status.EXECUTED
    assert newsroom.workers_of(far) == ["default"]


def test_without_the_setting_a_high_action_is_rejected_with_what_to_enable(open_newsroom):
    newsroom = open_newsroom()
    with pytest.raises(InvalidArgument, match="set high_priority=true and deploy, or declare the type"):
        newsroom.scheduler.schedule(Report(), at=MINUTE, priority="high")
    with pytest.raises(InvalidArgument, match="use 'normal' or 'high'"):
        newsroom.scheduler.schedule(Report(), at=MINUTE, priority="urgent")
    assert newsroom.cloud.actions() == ()


def test_a_type_with_another_word_is_rejected_where_it_is_declared():
    def report(payload: Report) -> None: ...

    with pytest.raises(DeclarationError, match="priority is 'urgent'; use 'normal' or 'high'"):
        App().action(priority="urgent")(report)


def test_a_worker_without_high_types_needs_no_high_queue():
    newsroom, plain = App(), App()

    @newsroom.action(priority="high")
    def alert(payload: Alert) -> None: ...

    @plain.action
    def report(payload: Report) -> None: ...

    assert newsroom.manifest.deployed(high_priority=False).has_high_queue
    assert not plain.manifest.deployed(high_priority=False).has_high_queue
    assert plain.manifest.deployed(high_priority=True).has_high_queue
    assert "high" not in plain.manifest.to_json()
