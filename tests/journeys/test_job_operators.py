"""What operators do with a job, and what comes of it in simulated time."""

from datetime import timedelta

import pytest

from duetime import App, Payload, RetryPolicy, Run, daily, every
from duetime.errors import DeclarationError, InvalidPayload, NotFound, StateConflict
from duetime.model.action import Status
from duetime.model.new_action import IN_ROW_LIMIT, PAYLOAD_LIMIT
from duetime.scheduler import Scheduler
from duetime.testing import SimulatedCloud
from tests.journeys.recorded_job import DAY, HOUR, MIDNIGHT, MINUTE, RecordedJob, accounts, at


@pytest.fixture
def recorded():
    return RecordedJob(every(minutes=10))


class Size(Payload):
    width: int = 1


class Letter(Payload):
    text: str = ""


def letter(size):
    """A letter of so many bytes as JSON."""
    return Letter(text="x" * (size - len(Letter().to_json())))


def triggered_by(payload):
    """A cloud whose one job takes a payload of this type."""
    app = App()

    @app.job(daily("09:00"), name="press-print", payload=payload())
    def press(given: payload, run: Run) -> None:
        pass

    return SimulatedCloud(app, start=MIDNIGHT)


class TestATrigger:
    def test_runs_a_job_now_beside_its_times(self, recorded):
        recorded.cloud.advance(minutes=5)
        action = recorded.cloud.jobs.trigger(recorded.name)
        recorded.cloud.advance(minutes=15)
        assert [(trigger, ran_at) for trigger, _, ran_at in recorded.runs] == [
            ("manual", MIDNIGHT + 5 * MINUTE),
            ("cadence", MIDNIGHT + 10 * MINUTE),
            ("cadence", MIDNIGHT + 20 * MINUTE),
        ]
        run = recorded.cloud.scheduler.get(action.id)
        assert (run.status, run.created_by) == (Status.EXECUTED, "simulation")
        assert recorded.job.tally.triggered_by == "simulation"

    def test_works_while_the_job_is_paused(self, recorded):
        recorded.cloud.jobs.pause(recorded.name)
        recorded.cloud.jobs.trigger(recorded.name)
        recorded.cloud.advance(hours=1)
        assert recorded.runs == [("manual", MIDNIGHT, MIDNIGHT)]

    def test_while_it_runs_is_rejected_under_skip_with_the_running_id(self):
        refused = []

        def trigger_meanwhile(run):
            with pytest.raises(StateConflict) as conflict:
                recorded.cloud.jobs.trigger(recorded.name)
            refused.append(str(conflict.value))

        recorded = RecordedJob(every(minutes=10), lasts=[MINUTE])
        recorded.stop_if_cancel_requested = trigger_meanwhile
        recorded.cloud.advance(minutes=10)
        running = "press-print.000001.20260303T001000Z"
        assert refused == [f"cannot trigger job press-print: {running} is running, and its overlap is 'skip'"]

    def test_while_it_runs_waits_under_queue_one(self):
        recorded = RecordedJob(every(minutes=10), overlap="queue_one", lasts=[MINUTE])
        recorded.stop_if_cancel_requested = lambda _run: (
            recorded.cloud.jobs.trigger(recorded.name),
            recorded.cloud.advance(minutes=1),
        )
        recorded.cloud.advance(minutes=15)
        assert [(run[0], run[2]) for run in recorded.runs] == [
            ("cadence", MIDNIGHT + 10 * MINUTE),
            ("manual", MIDNIGHT + 12 * MINUTE),
        ]

    def test_gives_the_run_the_given_payload(self):
        app, given = App(), []

        @app.job(daily("09:00"), name="press-print", payload=Size(width=7))
        def press(size: Size, run: Run) -> None:
            given.append((run.trigger, size.width))

        cloud = SimulatedCloud(app, start=MIDNIGHT)
        cloud.jobs.trigger("press-print")
        cloud.advance(seconds=1)
        cloud.jobs.trigger("press-print", payload=Size(width=9))
        cloud.advance(hours=9)
        assert given == [("manual", 7), ("manual", 9), ("cadence", 7)]

    @pytest.mark.parametrize(
        ("size", "is_offloaded"), [(IN_ROW_LIMIT, False), (IN_ROW_LIMIT + 1, True), (PAYLOAD_LIMIT, True)]
    )
    def test_has_a_payload_of_any_size_that_fits(self, size, is_offloaded):
        cloud = triggered_by(Letter)
        assert cloud.jobs.trigger("press-print", payload=letter(size)).payload_size == size * is_offloaded

    def test_with_a_payload_that_does_not_fit_is_rejected(self):
        with pytest.raises(InvalidPayload, match="400,001 bytes"):
            triggered_by(Letter).jobs.trigger("press-print", payload=letter(PAYLOAD_LIMIT + 1))

    def test_keeps_its_payload_through_retries_a_redrive_and_a_change_of_the_job(self):
        app, given = App(), []

        @app.job(daily("09:00"), name="press-print", payload=Size(width=7), retry=RetryPolicy(2, 60))
        def press(size: Size, run: Run) -> None:
            given.append((run.attempt, size.width))
            if len(given) < 3:
                raise ValueError("jammed")

        cloud = SimulatedCloud(app, start=MIDNIGHT)
        run = cloud.jobs.trigger("press-print", payload=Size(width=9))
        cloud.advance(minutes=5)
        assert cloud.scheduler.get(run.id).status == "failed"
        after = App()
        after.job(daily("10:00"), name="press-print", payload=Size(width=8))(press)
        cloud.deploy(after)
        cloud.scheduler.redrive(run.id)
        cloud.advance(minutes=5)
        assert given == [(1, 9), (2, 9), (3, 9)]
        (listed,) = [row for row in cloud.jobs.history("press-print") if row.trigger == "manual"]
        assert (listed.status, listed.payload) == ("executed", '{"width":9}')

    def test_twice_in_one_second_runs_twice(self):
        recorded = RecordedJob(overlap="allow")
        first, second = (recorded.cloud.jobs.trigger(recorded.name) for _ in range(2))
        recorded.cloud.advance(seconds=1)
        assert first.id != second.id
        assert len(recorded.runs) == 2


class TestSkippingTheNext:
    def test_skips_it_and_no_other(self, recorded):
        recorded.cloud.advance(minutes=15)
        skipped = recorded.cloud.jobs.skip_next(recorded.name)
        assert (skipped.status, skipped.nominal_at) == (Status.SKIPPED, MIDNIGHT + 20 * MINUTE)
        recorded.cloud.advance(minutes=30)
        assert recorded.begun == at(10, 30, 40)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 3, "requested": 1}

    def test_twice_skips_the_two_next(self, recorded):
        skipped = [recorded.cloud.jobs.skip_next(recorded.name).nominal_at for _ in range(2)]
        recorded.cloud.advance(minutes=30)
        assert (skipped, recorded.begun) == (at(10, 20), at(30))

    def test_of_one_cadence_does_not_affect_the_others(self):
        recorded = RecordedJob(every(minutes=10), every(minutes=15))
        recorded.cloud.advance(minutes=1)
        recorded.cloud.jobs.skip_next(recorded.name, cadence="Every_15m")
        recorded.cloud.advance(minutes=30)
        assert recorded.begun == at(10, 20, 30)

    def test_of_a_job_that_is_due_next_year_works(self):
        recorded = RecordedJob(daily("09:00", months="jan"))
        assert recorded.cloud.jobs.skip_next(recorded.name).nominal_at.year == 2027

    def test_once_more_than_is_planned_skips_on(self):
        recorded = RecordedJob(daily("09:00"))
        skipped = [recorded.cloud.jobs.skip_next(recorded.name).nominal_at for _ in range(5)]
        assert skipped == [MIDNIGHT + 9 * HOUR + index * DAY for index in range(5)]
        recorded.cloud.advance(days=6)
        assert recorded.begun == [MIDNIGHT + 9 * HOUR + 5 * DAY]
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 1, "requested": 5}

    def test_omits_paused_runs(self, recorded):
        recorded.cloud.advance(minutes=1)
        recorded.cloud.jobs.pause(recorded.name, until=timedelta(minutes=24))
        assert recorded.cloud.jobs.skip_next(recorded.name).nominal_at == MIDNIGHT + 30 * MINUTE
        recorded.cloud.advance(minutes=54)
        assert recorded.begun == at(40, 50)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {
            "executed": 2,
            "paused": 2,
            "requested": 1,
        }

    def test_finds_due_runs_behind_a_paused_cadence(self):
        recorded = RecordedJob(every(minutes=10), daily("09:00"))
        recorded.cloud.advance(minutes=1)
        recorded.cloud.jobs.pause(recorded.name, cadence="Every_10m")
        assert recorded.cloud.jobs.skip_next(recorded.name).nominal_at == MIDNIGHT + 9 * HOUR
        recorded.cloud.advance(days=2)
        assert recorded.begun == [MIDNIGHT + 33 * HOUR]

    def test_of_a_cadence_skips_no_run_of_another_cadence(self):
        recorded = RecordedJob(every(minutes=10), every(minutes=15))
        recorded.cloud.advance(minutes=16)
        assert (
            recorded.cloud.jobs.skip_next(recorded.name, cadence="Every_15m").nominal_at
            == MIDNIGHT + 45 * MINUTE
        )

    def test_under_a_pause_without_end_fails_with_a_remedy(self, recorded):
        recorded.cloud.jobs.pause(recorded.name)
        with pytest.raises(StateConflict, match="resume it first"):
            recorded.cloud.jobs.skip_next(recorded.name)

    def test_without_a_planned_run_is_rejected(self, recorded):
        with pytest.raises(StateConflict, match="it has no next run"):
            RecordedJob().cloud.jobs.skip_next("press-print")
        with pytest.raises(StateConflict, match="no cadence"):
            recorded.cloud.jobs.skip_next(recorded.name, cadence="Daily_09_00")


class TestSettings:
    def test_of_retries_apply_to_later_runs(self):
        recorded = RecordedJob(every(hours=1), fails=9, retry=RetryPolicy(attempts=1))
        recorded.cloud.jobs.set(recorded.name, attempts=3, backoff=[MINUTE, 120], jitter=0)
        recorded.cloud.advance(minutes=90)
        assert [ran_at for _, _, ran_at in recorded.runs] == at(60, 61, 63)
        recorded.cloud.jobs.set(recorded.name)
        recorded.cloud.advance(minutes=60)
        assert len(recorded.runs) == 4

    def test_of_one_cadence_go_before_those_of_the_job(self):
        recorded = RecordedJob(every(minutes=10), daily("00:15"), fails=99, retry=RetryPolicy(attempts=1))
        recorded.cloud.jobs.set(recorded.name, attempts=1)
        recorded.cloud.jobs.set(recorded.name, attempts=2, backoff=60, jitter=0, cadence="Daily_00_15")
        recorded.cloud.advance(minutes=25)
        assert [ran_at for _, _, ran_at in recorded.runs] == at(10, 15, 16, 20)

    def test_survive_a_deploy(self):
        recorded = RecordedJob(every(hours=1), fails=9)
        recorded.cloud.jobs.set(recorded.name, attempts=1)
        recorded.deploy(every(minutes=30))
        recorded.cloud.advance(minutes=45)
        assert recorded.begun == at(30)
        assert recorded.at(Status.FAILED) == at(30)

    def test_out_of_their_range_are_rejected(self, recorded):
        for bad in ({"attempts": 0}, {"backoff": -1}, {"jitter": 2}, {"backoff": "60"}):
            with pytest.raises(DeclarationError):
                recorded.cloud.jobs.set(recorded.name, **bad)
        assert recorded.job.tuning == {}


class TestARunByItsId:
    def test_is_shown_cancelled_and_given_another_time(self, recorded):
        recorded.cloud.advance(minutes=1)
        scheduler = recorded.cloud.scheduler
        first, second = (f"press-print.000001.20260303T00{number}000Z" for number in (1, 2))
        assert scheduler.cancel(first).status is Status.CANCELLED
        assert scheduler.reschedule(second, at=MIDNIGHT + 25 * MINUTE).status is Status.PENDING
        recorded.cloud.advance(minutes=30)
        assert [ran_at for _, _, ran_at in recorded.runs] == at(25, 30)
        assert scheduler.get(first).cancelled_by == "simulation"
        with pytest.raises(StateConflict, match=r"cannot .* action "):
            scheduler.cancel(second)

    def test_that_failed_is_driven_again(self):
        recorded = RecordedJob(every(hours=1), fails=1, retry=RetryPolicy(attempts=1))
        recorded.cloud.advance(minutes=61)
        (failed, *_) = recorded.rows
        recorded.cloud.scheduler.redrive(failed.id)
        recorded.cloud.advance(minutes=1)
        assert recorded.cloud.scheduler.get(failed.id).status is Status.EXECUTED
        assert [nominal for _, nominal, _ in recorded.runs] == at(60, 60)

    def test_is_not_there_for_a_scheduler_that_does_not_see_the_systems(self, recorded):
        recorded.cloud.advance(minutes=10)
        memory = recorded.cloud.memory
        blind = Scheduler(
            memory.store,
            tenant_id="acme",
            actor="test",
            clock=recorded.cloud.clock,
            settings=memory.settings,
            jobs=memory.job_ports,
            sees_system=False,
        )
        ran = recorded.rows[0].id
        assert recorded.cloud.scheduler.get(ran).status is Status.EXECUTED
        for call in (blind.get, blind.cancel, blind.redrive):
            with pytest.raises(NotFound, match="no action"):
                call(ran)
        with pytest.raises(NotFound, match="no job"):
            blind.jobs.get(recorded.name)
        assert list(blind.jobs.list()) == []
