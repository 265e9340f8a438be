"""Backfills in simulated time: past nominal times run beside the current runs, each once."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from duetime import App, Fatal, Registration, RetryPolicy, Run, daily, every, interval, on_event
from duetime.errors import BackendUnavailable, InvalidArgument, NotFound, StateConflict, UnknownType
from duetime.ids import PLANNER, new_action_id
from duetime.model.action import Status, Trigger
from duetime.model.backfill import MOST_TIMES, BackfillState
from duetime.model.work_pause import PauseScope, WorkPause
from duetime.settings import Made, Settings
from duetime.testing import Faults, SimulatedCloud, WorkerDied
from tests.journeys.recorded_job import DAY, HOUR, MIDNIGHT, MINUTE, PATIENT, SECOND, RecordedJob, grid

NAME = "press-print"


@pytest.fixture
def recorded():
    """A job of each ten minutes that has run for an hour."""
    recorded = RecordedJob(every(minutes=10))
    recorded.cloud.advance(hours=1)
    return recorded


def begin(recorded, start=MIDNIGHT - HOUR, until=MIDNIGHT, **options):
    return recorded.cloud.jobs.backfill(NAME, start, until, **options)


def only(recorded):
    (backfill,) = recorded.cloud.jobs.backfills(NAME)
    return backfill


def of_backfills(recorded):
    return [at for trigger, at, _ in recorded.runs if trigger == "backfill"]


def rows_of(recorded):
    return [row for row in recorded.rows if row.trigger is Trigger.BACKFILL]


class TestABackfill:
    def test_runs_each_past_time_once_and_before_the_job_was_declared(self, recorded):
        backfill = begin(recorded)
        recorded.cloud.advance(minutes=1)
        assert of_backfills(recorded) == grid(MIDNIGHT - 70 * MINUTE, 10 * MINUTE, 6)
        done = only(recorded)
        assert (done.id, done.state, done.total, done.executed) == (
            backfill.id,
            BackfillState.COMPLETED,
            6,
            6,
        )
        assert {row.id for row in rows_of(recorded)} == {backfill.run_id(at) for at in of_backfills(recorded)}

    def test_leaves_out_what_has_passed_since_the_last_plan(self, recorded):
        begun_at = recorded.cloud.now
        recorded.cloud.clock.wait_until(begun_at + 35 * MINUTE)  # no pass meanwhile
        begin(recorded, MIDNIGHT + 10 * MINUTE, begun_at + 35 * MINUTE)
        recorded.cloud.advance(hours=1)
        assert of_backfills(recorded) == []
        assert set(Counter(at for _, at, _ in recorded.runs).values()) == {1}

    def test_leaves_out_what_ran_and_includes_its_first_instant_alone(self, recorded):
        begin(recorded, MIDNIGHT - 10 * MINUTE, MIDNIGHT + 10 * MINUTE)
        recorded.cloud.advance(seconds=1)
        begin(recorded, MIDNIGHT + 10 * MINUTE, MIDNIGHT + 30 * MINUTE)
        recorded.cloud.advance(minutes=1)
        assert of_backfills(recorded) == [MIDNIGHT - 10 * MINUTE, MIDNIGHT]
        later, earlier = recorded.cloud.jobs.backfills(NAME)
        assert (later.executed, later.left_out) == (0, 2)
        assert (earlier.executed, earlier.left_out) == (2, 0)

    def test_again_runs_what_ran(self, recorded):
        begin(recorded, MIDNIGHT, MIDNIGHT + HOUR, again=True)
        recorded.cloud.advance(minutes=1)
        assert of_backfills(recorded) == grid(MIDNIGHT - 10 * MINUTE, 10 * MINUTE, 6)
        assert (only(recorded).executed, only(recorded).left_out) == (6, 0)

    def test_runs_what_failed_was_skipped_or_was_missed(self):
        recorded = RecordedJob(every(minutes=10), fails=1, retry=RetryPolicy(attempts=1))
        recorded.cloud.advance(minutes=15)
        recorded.cloud.jobs.skip_next(NAME)
        recorded.cloud.advance(minutes=10)
        recorded.outage(30 * MINUTE)
        recorded.cloud.advance(minutes=5)
        before = {at for _, at, _ in recorded.runs}
        begin(recorded, MIDNIGHT, MIDNIGHT + HOUR)
        recorded.cloud.advance(minutes=1)
        assert of_backfills(recorded) == [
            at
            for at in grid(MIDNIGHT - 10 * MINUTE, 10 * MINUTE, 6)
            if at not in before or at == MIDNIGHT + 10 * MINUTE
        ]
        assert MIDNIGHT + 20 * MINUTE in of_backfills(recorded)
        assert MIDNIGHT + 30 * MINUTE in of_backfills(recorded)

    def test_leaves_out_what_an_earlier_backfill_ran(self, recorded):
        begin(recorded)
        recorded.cloud.advance(minutes=1)
        begin(recorded, MIDNIGHT - 2 * HOUR, MIDNIGHT)
        recorded.cloud.advance(minutes=1)
        assert Counter(of_backfills(recorded)).most_common(1)[0][1] == 1
        assert len(of_backfills(recorded)) == 12

    def test_newest_runs_the_latest_time_first(self, recorded):
        begin(recorded, order="newest", at_once=1)
        recorded.cloud.advance(minutes=5)
        assert of_backfills(recorded) == grid(MIDNIGHT - 70 * MINUTE, 10 * MINUTE, 6)[::-1]
        assert only(recorded).state is BackfillState.COMPLETED

    @pytest.mark.parametrize("at_once", [1, 3])
    def test_has_at_most_so_many_open_runs(self, at_once):
        seen = []
        recorded = RecordedJob(every(minutes=10))
        recorded.cloud.advance(hours=1)
        recorded.lasts.extend([SECOND] * 20)
        recorded.stop_if_cancel_requested = lambda _run: seen.append(
            sum(not row.status.is_final for row in rows_of(recorded))
        )
        begin(recorded, MIDNIGHT - 2 * HOUR, at_once=at_once)
        recorded.cloud.advance(minutes=9)
        assert max(seen) == at_once
        assert len(of_backfills(recorded)) == 12

    def test_counts_a_run_that_waits_for_its_retry_as_open(self, recorded):
        recorded.fails = 1
        recorded.deploy(every(minutes=10), retry=RetryPolicy(attempts=2, backoff=60, jitter=0))
        begin(recorded, at_once=1)
        recorded.cloud.advance(seconds=30)
        assert of_backfills(recorded) == [MIDNIGHT - HOUR]
        assert only(recorded).open == (MIDNIGHT - HOUR,)
        recorded.cloud.advance(minutes=2)
        assert only(recorded).executed == 6

    def test_does_not_hinder_the_current_runs_nor_wait_for_them(self):
        recorded = RecordedJob(every(minutes=10), settings=PATIENT)
        recorded.cloud.advance(minutes=9)
        recorded.lasts.append(3 * MINUTE)
        begin(recorded, at_once=1)
        recorded.cloud.advance(minutes=11)
        assert MIDNIGHT + 10 * MINUTE in [at for trigger, at, _ in recorded.runs if trigger == "cadence"]
        assert not recorded.skipped()
        assert recorded.job.tally.executed == 2

    def test_is_not_in_the_statistics_of_its_job(self, recorded):
        before = recorded.job.tally
        recorded.fails = 6
        begin(recorded)
        recorded.cloud.advance(minutes=5)
        assert recorded.job.tally == before

    def test_counts_failed_runs_and_goes_on(self, recorded):
        recorded.deploy(every(minutes=10), retry=RetryPolicy(attempts=1))
        recorded.fails = 2
        begin(recorded, at_once=1)
        recorded.cloud.advance(minutes=1)
        assert (only(recorded).failed, only(recorded).executed) == (2, 4)
        assert only(recorded).state is BackfillState.COMPLETED

    def test_measures_the_end_of_retries_from_its_own_begin(self, recorded):
        recorded.deploy(
            every(minutes=10), retry=RetryPolicy(attempts=3, backoff=1, jitter=0, give_up_after=HOUR)
        )
        recorded.fails = 1
        begin(recorded, MIDNIGHT - 10 * MINUTE, MIDNIGHT)
        recorded.cloud.advance(minutes=1)
        assert only(recorded).executed == 1

    def test_gives_its_runs_the_nominal_time_and_its_begin_as_due_time(self, recorded):
        begin(recorded, at_once=1)
        recorded.cloud.advance(minutes=1)
        first = rows_of(recorded)[0]
        assert (first.nominal_at, first.created_by) == (MIDNIGHT - HOUR, "simulation")
        assert first.due_at == MIDNIGHT + HOUR
        assert first.cadence is not None

    def test_of_days_at_a_change_of_clocks_has_their_local_times(self):
        recorded = RecordedJob(daily("02:30", tz="Europe/Paris"), start=datetime(2026, 11, 2, tzinfo=UTC))
        begin(recorded, datetime(2026, 10, 24, tzinfo=UTC), datetime(2026, 10, 27, tzinfo=UTC))
        begin(recorded, datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 3, 31, tzinfo=UTC), order="newest")
        recorded.cloud.advance(minutes=1)
        assert [f"{at:%m-%d %H:%M}" for at in sorted(of_backfills(recorded))] == [
            "03-28 01:30",
            "03-29 01:00",
            "03-30 00:30",
            "10-24 00:30",
            "10-25 00:30",
            "10-26 01:30",
        ]

    def test_of_an_interval_has_its_times_since_the_job_was_declared(self):
        recorded = RecordedJob(interval(minutes=45))
        recorded.cloud.jobs.pause(NAME)
        recorded.cloud.advance(hours=3)
        recorded.cloud.jobs.resume(NAME)
        begin(recorded, MIDNIGHT - DAY, MIDNIGHT + 3 * HOUR)
        recorded.cloud.advance(seconds=30)
        assert of_backfills(recorded) == grid(MIDNIGHT, 45 * MINUTE, 3)

    def test_of_a_registered_job_belongs_to_its_tenant(self):
        registered = Registration(name="acme-press", handler=NAME, cadences=["every 10m"])
        app, ran = App(), []

        @app.job(name=NAME)
        def press(run: Run) -> None:
            ran.append((run.tenant_id, run.job, run.nominal_at, run.is_backfill))

        cloud = SimulatedCloud(app, start=MIDNIGHT)
        cloud.jobs.register(registered)
        cloud.jobs.backfill("acme-press", MIDNIGHT - 20 * MINUTE, MIDNIGHT)
        cloud.advance(seconds=30)
        assert ran == [
            ("acme", "acme-press", MIDNIGHT - 20 * MINUTE, True),
            ("acme", "acme-press", MIDNIGHT - 10 * MINUTE, True),
        ]
        with pytest.raises(NotFound, match="no job"):
            cloud.scheduler_for("globex").jobs.backfills("acme-press")

    def test_in_explain_is_an_entry_beside_the_time(self):
        recorded = RecordedJob(every(minutes=10))
        recorded.cloud.jobs.pause(NAME, reason="no paper")
        recorded.cloud.advance(minutes=25)
        recorded.cloud.jobs.resume(NAME)
        backfill = begin(recorded, MIDNIGHT - 10 * MINUTE, MIDNIGHT + 20 * MINUTE)
        recorded.cloud.advance(seconds=30)
        found = recorded.cloud.jobs.explain(NAME, MIDNIGHT - DAY, recorded.cloud.now)
        note = f"run by backfill {backfill.id} of simulation"
        shown = [(entry.at, entry.account.value, entry.note) for entry in found]
        assert (MIDNIGHT - 10 * MINUTE, "executed", note) in shown
        assert (MIDNIGHT + 10 * MINUTE, "executed", note) in shown
        assert [at for at, _, _ in shown] == sorted(at for at, _, _ in shown)
        paused = [entry for entry in found if entry.account.value == "skipped"]
        assert sum(entry.count for entry in paused) == 2

    def test_of_thousands_of_times_has_few_rows_at_once(self):
        recorded = RecordedJob(every(minutes=1))
        recorded.cloud.advance(minutes=1)
        begin(recorded, MIDNIGHT - 6 * DAY, at_once=4)
        assert len(rows_of(recorded)) == 4
        assert only(recorded).total == 6 * 24 * 60


class TestForgottenTimes:
    def test_are_left_out_after_the_retention_unless_again(self):
        settings = Settings(retention=3 * DAY, lease=11 * HOUR, made=Made(queue_visibility=12 * HOUR))
        recorded = RecordedJob(daily("12:00"), settings=settings)
        recorded.cloud.advance(days=2)
        recorded.cloud.jobs.pause(NAME)
        recorded.cloud.advance(days=2)
        recorded.cloud.jobs.resume(NAME)
        recorded.cloud.advance(days=6)
        for row in [row for row in recorded.rows if row.nominal_at < MIDNIGHT + 4 * DAY]:
            recorded.cloud.memory.store.remove(row.ref)
        noons = grid(MIDNIGHT - 12 * HOUR, DAY, 4)
        preview = recorded.cloud.jobs.preview_backfill(NAME, MIDNIGHT - DAY, MIDNIGHT + 4 * DAY)
        assert preview.times == (MIDNIGHT - 12 * HOUR, *noons)
        assert dict(preview.left_out) == {noons[0]: "forgotten", noons[1]: "forgotten"}
        assert preview.to_run == (MIDNIGHT - 12 * HOUR, noons[2], noons[3])
        begin(recorded, MIDNIGHT - DAY, MIDNIGHT + 4 * DAY)
        recorded.cloud.advance(seconds=30)
        assert of_backfills(recorded) == [*preview.to_run]


class TestAPreview:
    def test_names_the_times_and_those_left_out_and_writes_nothing(self, recorded):
        rows = recorded.rows
        preview = recorded.cloud.jobs.preview_backfill(NAME, MIDNIGHT - 10 * MINUTE, MIDNIGHT + 20 * MINUTE)
        assert preview.to_run == (MIDNIGHT - 10 * MINUTE, MIDNIGHT)
        assert dict(preview.left_out) == {MIDNIGHT + 10 * MINUTE: "executed"}
        assert (recorded.rows, recorded.cloud.jobs.backfills(NAME)) == (rows, [])

    def test_of_again_leaves_out_none(self, recorded):
        preview = recorded.cloud.jobs.preview_backfill(NAME, MIDNIGHT, MIDNIGHT + HOUR, again=True)
        assert preview.to_run == preview.times


class TestAnOperator:
    def test_pauses_and_resumes_it(self, recorded):
        backfill = begin(recorded, MIDNIGHT - 3 * HOUR, at_once=1)
        paused = recorded.cloud.jobs.pause_backfill(NAME)
        assert (paused.state, paused.changed_by) == (BackfillState.PAUSED, "simulation")
        recorded.cloud.advance(minutes=30)
        assert of_backfills(recorded) == [MIDNIGHT - 3 * HOUR]
        assert (only(recorded).executed, only(recorded).remaining) == (1, 17)
        assert recorded.cloud.jobs.resume_backfill(NAME, backfill.id).state is BackfillState.RUNNING
        recorded.cloud.advance(minutes=5)
        assert only(recorded).executed == 18

    def test_cancels_it_and_its_pending_runs(self, recorded):
        recorded.deploy(every(minutes=10), retry=RetryPolicy(attempts=2, backoff=HOUR, jitter=0))
        recorded.fails = 2
        begin(recorded, MIDNIGHT - 3 * HOUR, at_once=2)
        recorded.cloud.advance(seconds=5)
        recorded.cloud.jobs.cancel_backfill(NAME)
        recorded.cloud.advance(hours=2)
        done = only(recorded)
        assert (done.state, done.cancelled, done.executed, done.open) == (BackfillState.CANCELLED, 2, 0, ())
        assert done.ended_at is not None
        assert len(of_backfills(recorded)) == 2
        assert {row.status for row in rows_of(recorded)} == {Status.CANCELLED}

    def test_has_running_runs_stop(self, recorded):
        recorded.lasts.append(2 * SECOND)
        stop = recorded.stop_if_cancel_requested

        def cancel(run):
            recorded.cloud.jobs.cancel_backfill(NAME)
            stop(run)

        recorded.stop_if_cancel_requested = cancel
        begin(recorded, at_once=1)
        recorded.cloud.advance(minutes=2)
        assert (only(recorded).cancelled, only(recorded).executed) == (1, 0)

    def test_cannot_change_one_that_has_ended(self, recorded):
        backfill = begin(recorded)
        recorded.cloud.advance(minutes=1)
        for change in ("pause", "resume", "cancel"):
            with pytest.raises(StateConflict, match=f"cannot {change} backfill {backfill.id} of job"):
                getattr(recorded.cloud.jobs, f"{change}_backfill")(NAME, backfill.id)
        with pytest.raises(NotFound, match="no unfinished backfill"):
            recorded.cloud.jobs.pause_backfill(NAME)
        with pytest.raises(NotFound, match="no backfill 'nonesuch'"):
            recorded.cloud.jobs.get_backfill(NAME, "nonesuch")

    def test_names_one_of_several(self, recorded):
        recorded.cloud.jobs.pause_backfill(NAME, begin(recorded, at_once=1).id)
        other = begin(recorded, MIDNIGHT - 3 * HOUR, MIDNIGHT - HOUR, at_once=1)
        with pytest.raises(StateConflict, match="it has 2 of them"):
            recorded.cloud.jobs.cancel_backfill(NAME)
        assert recorded.cloud.jobs.cancel_backfill(NAME, other.id).state is BackfillState.CANCELLED

    def test_of_a_paused_job_waits_until_it_is_resumed(self, recorded):
        begin(recorded, at_once=1)
        recorded.cloud.jobs.pause(NAME)
        recorded.cloud.advance(minutes=30)
        assert of_backfills(recorded) == [MIDNIGHT - HOUR]
        recorded.cloud.jobs.resume(NAME)
        recorded.cloud.advance(minutes=5)
        assert only(recorded).executed == 6

    def test_of_a_paused_tenant_waits(self):
        app, ran = App(), []

        @app.job(name=NAME)
        def press(run: Run) -> None:
            ran.append(run.nominal_at)

        cloud = SimulatedCloud(app, start=MIDNIGHT)
        cloud.jobs.register(Registration(name="acme-press", handler=NAME, cadences=["every 10m"]))
        cloud.jobs.backfill("acme-press", MIDNIGHT - 30 * MINUTE, MIDNIGHT, at_once=1)
        pause = WorkPause(
            id=new_action_id(cloud.now),
            scope=PauseScope.TENANT,
            name="acme",
            reason="unpaid",
            by="ops",
            since=cloud.now,
        )
        cloud.memory.pauses.begin(pause)
        cloud.advance(minutes=5)
        assert ran == []
        cloud.memory.pauses.end(pause.ended(by="ops", at=cloud.now))
        cloud.advance(minutes=30)
        assert ran[:3] == grid(MIDNIGHT - 40 * MINUTE, 10 * MINUTE, 3)


class TestBadInput:
    def wrong(self, recorded, message, error=InvalidArgument, **given):
        options = {"start": MIDNIGHT - HOUR, "until": MIDNIGHT} | given
        with pytest.raises(error, match=message):
            begin(recorded, **options)
        assert recorded.cloud.jobs.backfills(NAME) == []

    def test_of_a_range(self, recorded):
        self.wrong(recorded, "from .* is not before until", start=MIDNIGHT)
        self.wrong(recorded, "until .* is in the future", until=MIDNIGHT + DAY)
        self.wrong(
            recorded,
            "from .* to .* has no nominal time; the next is 2026-03-03T00:00:00.000000Z",
            start=MIDNIGHT - 9 * MINUTE,
            until=MIDNIGHT - MINUTE,
        )
        self.wrong(recorded, f"has more than {MOST_TIMES:,} nominal times", start=MIDNIGHT - 400 * DAY)

    @pytest.mark.parametrize("at_once", [0, 101])
    def test_of_a_bound(self, recorded, at_once):
        self.wrong(recorded, "at_once .* is out of range; 1 to 100 are allowed", at_once=at_once)

    def test_of_an_order(self, recorded):
        self.wrong(recorded, "order 'first' is unknown; use oldest or newest", order="first")

    def test_of_a_paused_job(self, recorded):
        recorded.cloud.jobs.pause(NAME)
        self.wrong(recorded, "it is paused; resume it first", StateConflict)

    def test_of_a_removed_job(self, recorded):
        recorded.cloud.deploy(App())
        self.wrong(recorded, "code no longer declares it", StateConflict)

    def test_of_a_job_without_times(self):
        recorded = RecordedJob(on_event("shop", "Sold"))
        self.wrong(recorded, "it has no nominal times", StateConflict)

    def test_of_the_systems_own_job(self, recorded):
        with pytest.raises(StateConflict, match="the clock runs it"):
            recorded.cloud.jobs.backfill("duetime-sweep", MIDNIGHT - HOUR, MIDNIGHT)

    def test_of_a_job_whose_handler_is_gone(self):
        app = App()

        @app.job(name=NAME)
        def press(run: Run) -> None:
            raise Fatal(run.id)

        cloud = SimulatedCloud(app, start=MIDNIGHT)
        cloud.jobs.register(Registration(name="acme-press", handler=NAME, cadences=["every 10m"]))
        cloud.deploy(App())
        with pytest.raises(UnknownType):
            cloud.jobs.backfill("acme-press", MIDNIGHT - HOUR, MIDNIGHT)

    def test_of_an_overlap(self, recorded):
        first = begin(recorded, at_once=1)
        with pytest.raises(StateConflict, match=f"backfill {first.id} of simulation is running, and has"):
            begin(recorded, MIDNIGHT - 2 * HOUR, MIDNIGHT - 30 * MINUTE)
        beside = begin(recorded, MIDNIGHT - 2 * HOUR, MIDNIGHT - HOUR)
        recorded.cloud.advance(minutes=9)
        assert (beside.total, len(of_backfills(recorded))) == (6, 12)

    def test_a_repeated_call_returns_the_backfill_that_the_first_one_began(self, recorded):
        first = begin(recorded, at_once=1)
        assert begin(recorded, at_once=1).id == first.id
        assert len(recorded.cloud.jobs.backfills(NAME)) == 1


class TestACrash:
    def test_of_a_run_repeats_that_run(self):
        app, ran, deaths = App(), [], []

        @app.job(every(minutes=10), name=NAME)
        def press(run: Run) -> None:
            ran.append((run.nominal_at, run.fence))
            if run.is_backfill and len(deaths) < 2:
                deaths.append(run.nominal_at)
                raise WorkerDied

        cloud = SimulatedCloud(app, start=MIDNIGHT)
        cloud.jobs.backfill(NAME, MIDNIGHT - HOUR, MIDNIGHT, at_once=2)
        for _ in range(20):
            try:
                cloud.advance(minutes=15)
            except WorkerDied:
                continue
        (done,) = cloud.jobs.backfills(NAME)
        assert (done.state, done.executed, len(deaths)) == (BackfillState.COMPLETED, 6, 2)

    @pytest.mark.parametrize("is_after", [True, False], ids=["after", "before"])
    def test_around_the_write_of_the_backfill_loses_and_doubles_none(self, recorded, is_after):
        crashes = [0]

        def crash(change, *arguments):
            crashes[0] += 1
            if crashes[0] % 3:
                if is_after:
                    change(*arguments)
                raise BackendUnavailable("the jobs table", "it crashed")
            return change(*arguments)

        recorded.hook("jobs").hooks["change_backfill"] = crash
        begin(recorded, MIDNIGHT - 2 * HOUR, at_once=2)
        recorded.cloud.advance(hours=2)
        assert crashes[0] > 5
        assert sorted(of_backfills(recorded)) == grid(MIDNIGHT - 130 * MINUTE, 10 * MINUTE, 12)
        assert (only(recorded).state, only(recorded).executed) == (BackfillState.COMPLETED, 12)

    def test_before_its_rows_are_put_begins_them_with_the_next_pass(self, recorded):
        puts = [0]

        def crash(put, row):
            puts[0] += row.trigger is Trigger.BACKFILL
            if row.trigger is Trigger.BACKFILL and puts[0] % 2:
                raise BackendUnavailable("the actions table", "it crashed")
            return put(row)

        recorded.hook("store").hooks["put"] = crash
        begin(recorded, MIDNIGHT - 2 * HOUR)
        recorded.cloud.advance(hours=1)
        assert sorted(of_backfills(recorded)) == grid(MIDNIGHT - 130 * MINUTE, 10 * MINUTE, 12)

    def test_before_its_rows_are_put_and_a_cancel_begin_none(self, recorded):
        def crash(put, row):
            if row.trigger is Trigger.BACKFILL and row.status is Status.PENDING:
                raise BackendUnavailable("the actions table", "it crashed")
            return put(row)

        recorded.hook("store").hooks["put"] = crash
        begin(recorded, at_once=2)
        recorded.cloud.jobs.cancel_backfill(NAME)
        recorded.cloud.advance(minutes=5)
        assert (of_backfills(recorded), only(recorded).cancelled) == ([], 2)
        assert only(recorded).ended_at is not None

    def test_before_its_rows_are_put_and_the_end_of_its_version_cancel_it(self, recorded):
        """The versions of a job are stored for a time; the backfill's own is gone."""

        def crash(put, row):
            if row.trigger is Trigger.BACKFILL:
                raise BackendUnavailable("the actions table", "it crashed")
            return put(row)

        recorded.hook("store").hooks["put"] = crash
        begin(recorded, at_once=2)
        assert len(only(recorded).open) == 2
        recorded.deploy(every(minutes=7))
        recorded.hook("jobs").hooks["versions"] = lambda versions, ref: versions(ref)[1:]
        recorded.cloud.advance(minutes=5)
        done = only(recorded)
        assert (done.state, done.open, done.changed_by) == (BackfillState.CANCELLED, (), PLANNER)
        assert done.ended_at is not None
        assert rows_of(recorded) == []

    def test_of_every_worker_leaves_the_rest_to_the_sweep(self, recorded):
        hooked = recorded.hook("jobs")

        def only_in_passes(find, ref):
            if recorded.lasts:
                raise BackendUnavailable("the jobs table", "it crashed")
            return find(ref)

        begin(recorded, at_once=3)
        recorded.lasts.extend([SECOND, SECOND, SECOND, SECOND])
        hooked.hooks["find_backfill"] = only_in_passes
        recorded.stop_if_cancel_requested = lambda _run: None
        recorded.cloud.advance(minutes=9)
        recorded.lasts.clear()
        recorded.cloud.advance(minutes=9)
        assert only(recorded).executed == 6


class TestADeploy:
    def test_of_another_cadence_leaves_its_times(self, recorded):
        begin(recorded, MIDNIGHT - 2 * HOUR, at_once=1)
        recorded.deploy(every(minutes=7))
        recorded.cloud.advance(minutes=9)
        assert of_backfills(recorded) == grid(MIDNIGHT - 130 * MINUTE, 10 * MINUTE, 12)
        assert {row.id.split(".")[1] for row in rows_of(recorded)} == {"000001"}

    def test_without_its_job_lets_it_wait_for_the_job(self, recorded):
        begin(recorded, MIDNIGHT - 2 * HOUR, at_once=1)
        recorded.cloud.deploy(App())
        recorded.cloud.advance(minutes=30)
        waiting = only(recorded)
        assert (waiting.state, waiting.remaining) == (BackfillState.RUNNING, 11)
        assert of_backfills(recorded) == []
        recorded.deploy(every(minutes=10))
        recorded.cloud.advance(minutes=9)
        assert only(recorded).state is BackfillState.COMPLETED
        assert only(recorded).executed + only(recorded).skipped == 12

    def test_with_the_switch_off_lets_it_wait(self, recorded):
        begin(recorded, at_once=1)
        recorded.switch(on=False)
        recorded.cloud.advance(minutes=30)
        done = only(recorded).executed
        recorded.switch(on=True)
        recorded.cloud.advance(hours=1)
        assert (done, only(recorded).executed) == (0, 6)


@pytest.mark.parametrize("seed", range(6))
def test_under_faults_each_time_runs_under_one_id_and_none_is_lost(seed):
    app, ran = App(), []

    @app.job(every(minutes=5), name=NAME, overlap="allow")
    def press(run: Run) -> None:
        ran.append(run.id)
        run.clock.wait_until(run.now() + 20 * SECOND)

    cloud = SimulatedCloud(app, start=MIDNIGHT, faults=Faults(seed=seed))
    try:
        cloud.advance(minutes=11)
        cloud.jobs.backfill(NAME, MIDNIGHT - 2 * HOUR, MIDNIGHT, at_once=3, order="newest")
        cloud.advance(hours=2)
        cloud.end_faults()
        cloud.advance(hours=14)
        cloud.check()
        (done,) = cloud.jobs.backfills(NAME)
        rows = [row for row in cloud.actions() if row.trigger is Trigger.BACKFILL]
        assert sorted(row.nominal_at for row in rows) == grid(MIDNIGHT - 125 * MINUTE, 5 * MINUTE, 24)
        assert done.state is BackfillState.COMPLETED
        assert done.ended == 24
    finally:
        cloud.close()


def test_passes_and_runs_without_a_backfill_call_nothing_of_it(recorded):
    hooked, called = recorded.hook("jobs"), []
    for name in ("find_backfill", "backfills", "change_backfill", "begin_backfill"):
        hooked.hooks[name] = lambda method, *_given: called.append(method)
    recorded.cloud.advance(hours=7)
    assert (called, len(recorded.runs)) == ([], 48)
    recorded.cloud.jobs.backfills(NAME)
    assert len(called) == 1
