"""A job that runs after another one, on the same nominal day, in simulated time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Registration, Run, daily, every, ids, manual, weekly
from duetime.actions.why import WhySources, why
from duetime.check import problems
from duetime.errors import DeclarationError
from duetime.jobs.claim_policy import Bounds, ClaimContext, Proceed, Skip, decide, wait_ends_at
from duetime.model.action import Action
from duetime.model.expiry import Expiry
from duetime.model.row_parts import RunPlan
from duetime.retry import Fatal, RetryPolicy
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud, TurnedClock
from duetime.wakeups.count_batch import Release
from tests.backends import backends

START = datetime(2027, 3, 1, tzinfo=UTC)  # a Monday
HOUR, MINUTE, DAY = timedelta(hours=1), timedelta(minutes=1), timedelta(days=1)
ONCE = RetryPolicy(attempts=1)
IMPORT, REPORT = "books-import", "books-report"


class Books:
    """Two jobs: a report after an import, and when each of them ran."""

    def __init__(self, first=None, second=None, *, faults=None, retry=ONCE, **options):
        self.ran, self.fails, self.error = [], 0, Fatal("no file")
        self.first, self.second = first or daily("02:00"), second or daily("03:00")
        self.retry = retry
        self.cloud = SimulatedCloud(
            self.app(**options), start=START, **({"faults": faults} if faults else {})
        )

    def app(self, *, after=IMPORT, **options):
        app = App()

        @app.job(self.first, name=IMPORT, retry=self.retry)
        def import_books(run: Run) -> None:
            if self.fails:
                self.fails -= 1
                raise self.error
            self.ran.append((IMPORT, run.nominal_at, run.clock.now()))

        @app.job(self.second, name=REPORT, after=after, **options)
        def report(run: Run) -> None:
            self.ran.append((REPORT, run.nominal_at, run.clock.now()))

        return app

    def times(self, name=REPORT):
        return [(nominal - START, at - START) for ran, nominal, at in self.ran if ran == name]

    def runs(self, name=REPORT):
        return list(self.cloud.jobs.history(name))

    def run(self, at, name=REPORT):
        (run,) = (run for run in self.runs(name) if run.nominal_at == START + at and run.trigger != "manual")
        return run


class TestARunAfterAnotherJob:
    def test_begins_at_its_own_time_if_the_other_has_succeeded(self):
        books = Books()
        books.cloud.advance(days=2)
        assert [at for _, at in books.times()] == [3 * HOUR, DAY + 3 * HOUR]
        assert books.run(3 * HOUR).waits_for is None

    def test_waits_for_a_redrive_of_the_other_and_begins_at_its_success(self):
        books = Books()
        books.fails = 1
        books.cloud.advance(hours=6)
        assert books.times() == []
        (failed,) = (run for run in books.runs(IMPORT) if run.status == "failed")
        assert books.run(3 * HOUR).waits_for == failed.id
        books.cloud.scheduler.redrive(failed.id)
        books.cloud.advance(seconds=5)
        ((nominal, at),) = books.times()
        assert nominal == 3 * HOUR
        assert timedelta(hours=6) <= at <= timedelta(hours=6, seconds=5)
        assert [ran for ran, *_ in books.ran] == [IMPORT, REPORT]
        assert books.run(3 * HOUR).status == "executed"

    def test_is_skipped_at_the_time_out_with_the_reason(self):
        books = Books(after_timeout=2 * HOUR)
        books.fails = 1
        books.cloud.advance(hours=4, minutes=59)
        assert books.run(3 * HOUR).status == "pending"
        books.cloud.advance(minutes=1, seconds=1)
        skipped = books.run(3 * HOUR)
        assert (skipped.status, skipped.skip_reason) == ("skipped", "predecessor")
        assert skipped.note == (
            "books-import of 2027-03-01T02:00:00Z has not succeeded: it is failed,"
            " 2 hours after this run was due"
        )
        books.cloud.advance(days=1)
        assert books.times() == [(DAY + 3 * HOUR, DAY + 3 * HOUR)]

    def test_looks_at_the_other_some_forty_times_in_twelve_hours(self):
        books = Books()
        books.fails = 1
        books.cloud.advance(hours=14, minutes=59)
        waiting = books.run(3 * HOUR)
        assert (waiting.status, waiting.waits_for) == ("pending", books.run(2 * HOUR, IMPORT).id)
        assert 20 < waiting.generation <= 42
        assert books.run(2 * HOUR, IMPORT).followers == (waiting.id,)

    def test_whose_wake_is_lost_looks_again_within_half_an_hour(self):
        books = Books()
        books.fails = 1
        books.cloud.advance(hours=8)
        (failed,) = (run for run in books.runs(IMPORT) if run.status == "failed")
        memory = books.cloud.memory.store
        with memory.lock:
            memory.write(failed, replace(memory.get(failed.ref), is_awaited=False))
        books.cloud.scheduler.redrive(failed.id)
        books.cloud.advance(minutes=31)
        ((_, at),) = books.times()
        assert timedelta(hours=8, seconds=5) < at <= timedelta(hours=8, minutes=31)

    def test_is_made_due_once_by_a_success_and_not_by_a_failure(self):
        books = Books()
        books.fails = 1
        books.cloud.advance(hours=4)
        store, waiting = books.cloud.memory.store, books.run(3 * HOUR)
        release = Release(backends(store, clock=TurnedClock(books.cloud.now)))
        assert [release(waiting.ref, has_success=False), release(waiting.ref, has_success=True)] == [
            False,
            True,
        ]
        woken = store.get(waiting.ref)
        assert (woken.due_at, woken.generation) == (books.cloud.now, waiting.generation + 1)
        assert woken.waits_for == waiting.waits_for
        assert not release(waiting.ref, has_success=True)
        assert store.get(waiting.ref) == woken

    def test_waits_for_a_later_time_of_the_day_if_there_is_no_earlier_one(self):
        books = Books(first=daily("09:00"))
        books.cloud.advance(hours=10)
        ((_, at),) = books.times()
        assert 9 * HOUR <= at < 9 * HOUR + 5 * timedelta(seconds=1)
        assert [ran for ran, *_ in books.ran] == [IMPORT, REPORT]

    def test_waits_for_the_last_of_several_times_before_its_own(self):
        books = Books(first=every(hours=1))
        books.cloud.advance(hours=2, minutes=30)
        books.fails = 1
        books.cloud.advance(minutes=40)
        assert books.times() == []
        assert books.run(3 * HOUR).waits_for == books.run(3 * HOUR, IMPORT).id

    def test_does_not_wait_on_a_day_without_a_time_of_the_other(self):
        books = Books(first=weekly("mon", "02:00"))
        books.fails = 1
        books.cloud.advance(days=2)
        assert books.times() == [(DAY + 3 * HOUR, DAY + 3 * HOUR)]

    def test_goes_by_the_day_in_its_own_zone(self):
        books = Books(first=daily("22:00"), second=daily("08:00", tz="Asia/Tokyo"))
        books.fails = 1
        books.cloud.advance(hours=23, minutes=30)  # 22:00 in UTC is 07:00 of the next day in Tokyo
        assert books.run(23 * HOUR).waits_for == books.run(22 * HOUR, IMPORT).id

    def test_does_not_wait_if_an_operator_triggers_it(self):
        books = Books()
        books.fails = 1
        books.cloud.advance(hours=3, minutes=1)
        books.cloud.jobs.trigger(REPORT)
        books.cloud.advance(seconds=1)
        assert len(books.times()) == 1

    def test_does_not_wait_in_a_backfill_and_begins_after_a_backfill_of_the_other(self):
        books = Books()
        books.fails = 1
        books.cloud.advance(hours=3, minutes=1)
        books.cloud.jobs.backfill(REPORT, START - 2 * DAY, START)
        books.cloud.advance(minutes=1)
        assert len(books.times()) == 2
        books.cloud.jobs.backfill(IMPORT, START, START + 3 * HOUR)
        books.cloud.advance(minutes=5)
        assert len(books.times()) == 3

    def test_is_explained_while_it_waits(self):
        books = Books()
        books.fails = 1
        books.cloud.advance(hours=3, minutes=1)
        waiting, other = books.run(3 * HOUR), books.run(2 * HOUR, IMPORT)
        (entry,) = books.cloud.jobs.explain(REPORT, START, START + 4 * HOUR)
        assert (entry.account, entry.note) == ("pending", f"it waits for {other.id}")
        cloud = books.cloud
        sources = WhySources(
            cloud.memory.store,
            Settings(),
            hold_of=lambda _row: None,
            skip_of=lambda _row: None,
            job_of=lambda _ref: cloud.jobs.get(REPORT),
            expiry_of=lambda _row: Expiry(),
        )
        assert why(waiting, cloud.now, sources).sentence.startswith(
            f"It waits for the success of {other.id}, which is failed, until 2027-03-01T15:00:00Z;"
            " then it is skipped. That success wakes it; without one it looks again at 2027-03-01T03:0"
        )

    def test_follows_the_present_definition(self):
        books = Books()
        books.fails = 2
        books.cloud.advance(hours=4)
        books.cloud.deploy(books.app(after=None))
        books.cloud.advance(minutes=16)  # a quarter of the wait: no run wakes it
        assert [nominal for nominal, _ in books.times()] == [3 * HOUR]

    def test_that_catches_up_a_missed_time_waits_from_when_it_was_planned(self):
        row = Action(
            tenant_id="system",
            id=ids.occurrence_id(REPORT, 1, START + 3 * HOUR),
            type=REPORT,
            due_at=START + DAY,
            first_due_at=START + 3 * HOUR,
            due_shard="0",
            created_by="duetime",
            payload=None,
            planned=RunPlan(START + DAY),
        )
        job = Books(after_timeout=HOUR).cloud.jobs.get(REPORT)
        assert wait_ends_at(row, job) == START + DAY + HOUR
        assert wait_ends_at(replace(row, planned=RunPlan(START)), job) == START + 4 * HOUR

    @pytest.mark.parametrize(
        ("late", "begins"),
        [(20 * MINUTE, True), (5 * HOUR + 9 * MINUTE, True), (5 * HOUR + 11 * MINUTE, False)],
    )
    def test_whose_look_comes_late_is_missed_only_after_its_time_out(self, late, begins):
        books = Books(after_timeout=6 * HOUR)
        books.fails = 1
        books.cloud.advance(hours=4)
        waiting, job = books.run(3 * HOUR), books.cloud.jobs.get(REPORT)
        context = ClaimContext(row=waiting, job=job, holder=None, waiting=None)
        now = START + 4 * HOUR + late
        decision = decide(context, "a", Bounds(now=now, skew=MINUTE, grace=10 * MINUTE))
        assert isinstance(decision, Proceed if begins else Skip)
        if not begins:
            assert decision.reason == "missed"

    def test_that_waits_is_not_overdue(self):
        books = Books()
        books.fails = 1
        books.cloud.advance(hours=9)
        waiting = books.run(3 * HOUR)
        assert books.cloud.now < waiting.due_at <= books.cloud.now + 31 * MINUTE
        assert waiting.nominal_at == START + 3 * HOUR

    @pytest.mark.parametrize("seed", range(8))
    def test_runs_once_and_after_the_other_under_faults(self, seed):
        faults, slow = Faults(seed), RetryPolicy(attempts=5, backoff=20 * MINUTE, jitter=0)
        books = Books(daily("00:30"), daily("00:40"), faults=faults, retry=slow)
        books.fails, books.error = 2, OSError("no file yet")
        try:
            books.cloud.advance(hours=4)
            books.cloud.end_faults()
            books.cloud.advance(hours=1)
            books.cloud.check()
            ((_, first),) = books.times(IMPORT)[:1]
            assert books.run(40 * MINUTE).status == "executed"
            assert all(first <= at for _, at in books.times())
        finally:
            books.cloud.close()


class TestADeclaration:
    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"after": REPORT}, "after is 'books-report', the job itself; name another job"),
            ({"after": "Import"}, "after is 'Import', which is no name of a job"),
            ({"after_timeout": HOUR}, 'after_timeout is given without after; add after="the-other-job"'),
            ({"after": IMPORT, "after_timeout": 30}, "after_timeout is 30 seconds; allowed is 0:01:00 to"),
        ],
    )
    def test_of_one_job_is_rejected_with_the_remedy(self, options, problem):
        with pytest.raises(DeclarationError) as refused:
            App().job(daily("03:00"), name=REPORT, **options)(lambda: None)
        assert problem in str(refused.value)

    def test_of_a_job_without_times_is_rejected(self):
        with pytest.raises(DeclarationError, match="after is given, but no cadence has times"):
            App().job(manual(), name=REPORT, after=IMPORT)(lambda: None)

    def test_after_an_unknown_job_is_a_problem_and_fails_the_deploy(self):
        books = Books()
        app = books.app(after="books-imports")
        expected = (
            "books-report: after is 'books-imports', and there is no such job; did you mean books-import?"
        )
        assert problems(app) == [expected]
        with pytest.raises(DeclarationError) as refused:
            books.cloud.deploy(app)
        assert str(refused.value) == expected

    def test_of_a_circle_and_after_a_job_without_times_is_a_problem(self):
        app = App()
        for name, after in (("job-one", "job-two"), ("job-two", "job-three"), ("job-three", "job-one")):
            app.job(daily("03:00"), name=name, after=after)(lambda: None)
        app.job(daily("03:00"), name="job-four", after="job-five")(lambda: None)
        app.job(name="job-five")(lambda: None)
        found = problems(app)
        assert len(found) == 4
        assert "job-one after job-two after job-three after job-one" in " ".join(found)
        assert "after is 'job-five', which has no nominal times; name a job with a cadence" in " ".join(found)

    def test_at_run_time_follows_a_job_of_the_tenant_alone(self):
        app, ran = App(), []
        app.job(daily("01:00"), name="codes-own")(lambda: None)

        def record(run: Run) -> None:
            ran.append(run.job)

        app.job(name="acme-work")(record)
        cloud = SimulatedCloud(app, start=START)
        cloud.jobs.register(Registration(name="acme-first", handler="acme-work", cadences=["daily 02:00"]))
        second = {"name": "acme-second", "handler": "acme-work", "cadences": ["daily 02:00"]}
        for after in ("codes-own", "acme-missing"):
            with pytest.raises(DeclarationError, match="name a registered job of this tenant"):
                cloud.jobs.register(Registration(**second, after=after))
        cloud.jobs.register(Registration(**second, after="acme-first", after_timeout=HOUR))
        circle = Registration(
            name="acme-first",
            handler="acme-work",
            cadences=["daily 02:00"],
            after="acme-second",
            replace=True,
        )
        with pytest.raises(DeclarationError, match="acme-first after acme-second after acme-first"):
            cloud.jobs.register(circle)
        cloud.advance(hours=2, minutes=5)
        assert len(ran) == 2
